/*
 * STAND-IN, never shipped: the name and the signatures are those of KNIME's public API, so that our classes compile and
 * run in tests where KNIME is not installed. What it does is our own, and only as much as the tests need.
 */
package org.knime.core.data.filestore.internal;

import java.io.IOException;
import java.util.UUID;

import org.knime.core.data.filestore.FileStore;
import org.knime.core.data.filestore.FileStoreKey;
import org.knime.core.data.filestore.internal.FileStoreProxy.FlushCallback;

/** Makes the files of one node. */
public interface IWriteFileStoreHandler extends IFileStoreHandler {

    /**
     * @param name the name of the file
     * @return a new file store
     * @throws IOException if it cannot be made
     */
    FileStore createFileStore(final String name) throws IOException;

    /**
     * Copies a file of another handler.
     *
     * @param fs the file store
     * @param flushCallback the cell it belongs to
     * @return the key of the copy
     */
    FileStoreKey translateToLocal(FileStore fs, FlushCallback flushCallback);

    /**
     * @param fs a file store
     * @return whether it has to be copied before a table with it is kept
     */
    boolean mustBeFlushedPriorSave(final FileStore fs);

    /** @return the id of the handler */
    UUID getStoreUUID();
}
