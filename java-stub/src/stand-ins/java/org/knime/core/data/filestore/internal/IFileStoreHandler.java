/*
 * STAND-IN, never shipped: the name and the signatures are those of KNIME's public API, so that our classes compile and
 * run in tests where KNIME is not installed. What it does is our own, and only as much as the tests need.
 */
package org.knime.core.data.filestore.internal;

import org.knime.core.data.IDataRepository;
import org.knime.core.data.filestore.FileStore;
import org.knime.core.data.filestore.FileStoreKey;

/** Knows the files of one node. */
public interface IFileStoreHandler {

    /** @return who knows the other handlers */
    IDataRepository getDataRepository();

    /**
     * @param key a key
     * @return the file store of that key
     */
    FileStore getFileStore(final FileStoreKey key);
}
