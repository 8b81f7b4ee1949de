package org.knime.core.node.agentic.tool;

import java.io.IOException;
import java.util.Arrays;
import java.util.stream.Collectors;

import org.knime.core.data.IDataRepository;
import org.knime.core.data.filestore.FileStoreCell;
import org.knime.core.data.filestore.FileStoreKey;
import org.knime.core.data.filestore.FileStoreUtil;
import org.knime.core.data.filestore.internal.IWriteFileStoreHandler;

/** How the value factories turn keys in a column into files of a cell, and back. */
final class WorkflowFileStores {

    private static final String SEPARATOR = ";";

    private IDataRepository m_repository;

    private IWriteFileStoreHandler m_handler;

    void initializeForReading(final IDataRepository repository) {
        m_repository = repository;
    }

    void initializeForWriting(final IWriteFileStoreHandler handler) {
        m_handler = handler;
        m_repository = handler.getDataRepository();
    }

    /** Gives a cell that was read its files. */
    void load(final FileStoreCell cell, final String keys) throws IOException {
        if (keys == null || keys.isEmpty()) {
            return;
        }
        if (m_repository == null) {
            throw new IOException("nothing is known of file stores here");
        }
        try {
            final var loaded = Arrays.stream(keys.split(SEPARATOR)).map(FileStoreKey::load);
            FileStoreUtil.retrieveFileStoreHandlersFrom(cell, loaded.toArray(FileStoreKey[]::new), m_repository);
        } catch (IllegalArgumentException | IllegalStateException e) {
            // a text that is no key, or a key that nobody knows
            throw new IOException(e.getMessage(), e);
        }
    }

    /** The keys of a cell's files, after they were completed and, if they are another node's, copied. */
    String keep(final FileStoreCell cell) {
        try {
            final var stores = FileStoreUtil.getFileStores(cell);
            if (m_handler != null && Arrays.stream(stores).anyMatch(m_handler::mustBeFlushedPriorSave)) {
                final var local = Arrays.stream(stores).map(store -> m_handler.translateToLocal(store, cell));
                FileStoreUtil.retrieveFileStoreHandlersFrom(cell, local.toArray(FileStoreKey[]::new), m_repository,
                    false);
            }
            FileStoreUtil.invokeFlush(cell);
            return keys(cell);
        } catch (IOException e) {
            throw new IllegalStateException("The workflow of a tool could not be kept: " + e.getMessage(), e);
        }
    }

    /** The keys of a cell's files, empty if it has none. */
    static String keys(final FileStoreCell cell) {
        return Arrays.stream(FileStoreUtil.getFileStoreKeys(cell)).map(FileStoreKey::saveToString)
            .collect(Collectors.joining(SEPARATOR));
    }
}
