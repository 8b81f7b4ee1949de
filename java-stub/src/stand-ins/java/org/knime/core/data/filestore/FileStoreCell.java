/*
 * STAND-IN, never shipped: the name and the signatures are those of KNIME's public API, so that our classes compile and
 * run in tests where KNIME is not installed. What it does is our own, and only as much as the tests need.
 */
package org.knime.core.data.filestore;

import java.io.IOException;
import java.util.Arrays;

import org.knime.core.data.DataCell;
import org.knime.core.data.IDataRepository;
import org.knime.core.data.filestore.internal.FileStoreProxy.FlushCallback;

/** A cell with files of its own. */
public abstract class FileStoreCell extends DataCell implements FlushCallback {

    private static final long serialVersionUID = 1L;

    private transient FileStore[] m_fileStores;

    private boolean m_isFlushed;

    /** @param fileStores the files of a new cell */
    protected FileStoreCell(final FileStore[] fileStores) {
        m_fileStores = fileStores.clone();
    }

    /** For a cell that is read: its files come later. */
    protected FileStoreCell() {
        m_fileStores = new FileStore[0];
        m_isFlushed = true;
    }

    final int getNumFileStores() {
        return m_fileStores.length;
    }

    final FileStoreKey[] getFileStoreKeys() {
        return Arrays.stream(m_fileStores).map(FileStore::getKey).toArray(FileStoreKey[]::new);
    }

    /** @return the files */
    protected FileStore[] getFileStores() {
        return m_fileStores.clone();
    }

    final void retrieveFileStoreHandlersFrom(final FileStoreKey[] fileStoreKeys, final IDataRepository repository,
        final boolean postConstruct) throws IOException {
        m_fileStores = new FileStore[fileStoreKeys.length];
        for (var i = 0; i < fileStoreKeys.length; i++) {
            final var key = fileStoreKeys[i];
            m_fileStores[i] = repository.getHandlerNotNull(key.getStoreUUID()).getFileStore(key);
        }
        if (postConstruct) {
            postConstruct();
        }
    }

    /**
     * Called when the files of a cell that was read are there.
     *
     * @throws IOException if they cannot be read
     */
    protected void postConstruct() throws IOException {
        // for subclasses
    }

    void callFlushIfNeeded() throws IOException {
        if (!m_isFlushed) {
            flushToFileStore();
            m_isFlushed = true;
        }
    }

    /**
     * Called before the files of a new cell must be complete.
     *
     * @throws IOException if they cannot be written
     */
    protected void flushToFileStore() throws IOException {
        // for subclasses
    }

    @Override
    public String toString() {
        return Arrays.toString(getFileStoreKeys());
    }

    @Override
    protected boolean equalsDataCell(final DataCell dc) {
        return Arrays.equals(getFileStoreKeys(), ((FileStoreCell)dc).getFileStoreKeys()) || equalFileStoreContent(dc);
    }

    /**
     * @param dc a cell of the same class with other files
     * @return whether the files are equal all the same
     */
    protected boolean equalFileStoreContent(final DataCell dc) {
        return false;
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(getFileStoreKeys());
    }
}
