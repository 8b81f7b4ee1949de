/*
 * STAND-IN, never shipped: the name and the signatures are those of KNIME's public API, so that our classes compile and
 * run in tests where KNIME is not installed. What it does is our own, and only as much as the tests need.
 */
package org.knime.core.data.filestore;

import java.io.IOException;

import org.knime.core.data.IDataRepository;
import org.knime.core.data.filestore.internal.FileStoreProxy.FlushCallback;
import org.knime.core.data.filestore.internal.IFileStoreHandler;
import org.knime.core.data.filestore.internal.WriteFileStoreHandler;

/** The framework's way to the files of cells. */
public final class FileStoreUtil {

    private FileStoreUtil() {
    }

    /**
     * @param store a file store
     * @return its key
     */
    public static FileStoreKey getFileStoreKey(final FileStore store) {
        return store.getKey();
    }

    /**
     * @param cell a cell
     * @return the keys of its files
     */
    public static FileStoreKey[] getFileStoreKeys(final FileStoreCell cell) {
        return cell.getFileStoreKeys();
    }

    /**
     * @param cell a cell
     * @return its files
     */
    public static FileStore[] getFileStores(final FileStoreCell cell) {
        return cell.getFileStores();
    }

    /**
     * @param cell a cell
     * @return the number of its files
     */
    public static int getNumFileStores(final FileStoreCell cell) {
        return cell.getNumFileStores();
    }

    /**
     * @param filestore a file store
     * @return the handler that made it
     */
    public static IFileStoreHandler getFileStoreHandler(final FileStore filestore) {
        return filestore.getFileStoreHandler();
    }

    /**
     * Completes the files of a cell.
     *
     * @param flushCallback the cell
     * @throws IOException if they cannot be written
     */
    public static void invokeFlush(final FlushCallback flushCallback) throws IOException {
        ((FileStoreCell)flushCallback).callFlushIfNeeded();
    }

    /**
     * Gives a cell that was read its files.
     *
     * @param fsCell the cell
     * @param fileStoreKeys the keys of the files
     * @param repository who knows them
     * @throws IOException if they cannot be read
     */
    public static void retrieveFileStoreHandlersFrom(final FileStoreCell fsCell, final FileStoreKey[] fileStoreKeys,
        final IDataRepository repository) throws IOException {
        retrieveFileStoreHandlersFrom(fsCell, fileStoreKeys, repository, true);
    }

    /**
     * Gives a cell its files.
     *
     * @param fsCell the cell
     * @param fileStoreKeys the keys of the files
     * @param repository who knows them
     * @param postConstruct whether the cell is told
     * @throws IOException if they cannot be read
     */
    public static void retrieveFileStoreHandlersFrom(final FileStoreCell fsCell, final FileStoreKey[] fileStoreKeys,
        final IDataRepository repository, final boolean postConstruct) throws IOException {
        fsCell.retrieveFileStoreHandlersFrom(fileStoreKeys, repository, postConstruct);
    }

    /**
     * @param handler a handler
     * @param key a key
     * @return the file store of that key
     */
    public static FileStore createFileStore(final WriteFileStoreHandler handler, final FileStoreKey key) {
        return new FileStore(handler, key);
    }
}
