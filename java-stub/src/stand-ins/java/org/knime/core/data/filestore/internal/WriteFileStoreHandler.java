/*
 * STAND-IN, never shipped: the name and the signatures are those of KNIME's public API, so that our classes compile and
 * run in tests where KNIME is not installed. What it does is our own, and only as much as the tests need.
 */
package org.knime.core.data.filestore.internal;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.util.HashMap;
import java.util.Map;
import java.util.UUID;

import org.knime.core.data.IDataRepository;
import org.knime.core.data.filestore.FileStore;
import org.knime.core.data.filestore.FileStoreKey;
import org.knime.core.data.filestore.FileStoreUtil;
import org.knime.core.data.filestore.internal.FileStoreProxy.FlushCallback;

/** Makes the files of one node in one folder. */
public class WriteFileStoreHandler implements IWriteFileStoreHandler {

    private final UUID m_storeUUID;

    private final Map<String, FileStoreKey> m_copies = new HashMap<>();

    private IDataRepository m_repository;

    private File m_baseDir;

    private int m_nextIndex;

    /**
     * @param name the name of the node
     * @param storeUUID the id of the handler
     */
    public WriteFileStoreHandler(final String name, final UUID storeUUID) {
        m_storeUUID = storeUUID;
    }

    /** @param dataRepository who is to know this handler */
    public void addToRepository(final IDataRepository dataRepository) {
        m_repository = dataRepository;
        dataRepository.addFileStoreHandler(this);
    }

    /** @param baseDir the folder */
    public void setBaseDir(final File baseDir) {
        m_baseDir = baseDir;
    }

    /** @return the folder */
    public File getBaseDir() {
        return m_baseDir;
    }

    @Override
    public IDataRepository getDataRepository() {
        return m_repository;
    }

    @Override
    public final UUID getStoreUUID() {
        return m_storeUUID;
    }

    @Override
    public FileStore createFileStore(final String name) throws IOException {
        return FileStoreUtil.createFileStore(this, new FileStoreKey(m_storeUUID, m_nextIndex++, null, -1, name));
    }

    @Override
    public FileStore getFileStore(final FileStoreKey key) {
        return FileStoreUtil.createFileStore(this, key);
    }

    @Override
    public FileStoreKey translateToLocal(final FileStore fs, final FlushCallback flushCallback) {
        final var key = FileStoreUtil.getFileStoreKey(fs);
        return mustBeFlushedPriorSave(fs) ? m_copies.computeIfAbsent(key.saveToString(), known -> copy(fs, key)) : key;
    }

    private FileStoreKey copy(final FileStore fs, final FileStoreKey key) {
        try {
            final var local = createFileStore(key.getName());
            Files.copy(fs.getFile().toPath(), local.getFile().toPath());
            return FileStoreUtil.getFileStoreKey(local);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public boolean mustBeFlushedPriorSave(final FileStore fs) {
        return !FileStoreUtil.getFileStoreKey(fs).getStoreUUID().equals(m_storeUUID);
    }
}
