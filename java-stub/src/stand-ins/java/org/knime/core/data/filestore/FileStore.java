/*
 * STAND-IN, never shipped: the name and the signatures are those of KNIME's public API, so that our classes compile and
 * run in tests where KNIME is not installed. What it does is our own, and only as much as the tests need.
 */
package org.knime.core.data.filestore;

import java.io.File;

import org.knime.core.data.filestore.internal.IFileStoreHandler;
import org.knime.core.data.filestore.internal.WriteFileStoreHandler;

/** A file that belongs to a cell. */
public final class FileStore {

    private final WriteFileStoreHandler m_handler;

    private final FileStoreKey m_key;

    FileStore(final WriteFileStoreHandler storeHandler, final FileStoreKey key) {
        m_handler = storeHandler;
        m_key = key;
    }

    FileStoreKey getKey() {
        return m_key;
    }

    IFileStoreHandler getFileStoreHandler() {
        return m_handler;
    }

    /** @return the file or folder */
    public File getFile() {
        return new File(m_handler.getBaseDir(), m_key.getIndex() + "_" + m_key.getName());
    }
}
