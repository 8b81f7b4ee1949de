package org.knime.core.node.agentic.tool;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.UUID;

import org.knime.core.data.IDataRepository;
import org.knime.core.data.filestore.internal.IFileStoreHandler;
import org.knime.core.data.filestore.internal.IWriteFileStoreHandler;
import org.knime.core.data.filestore.internal.WriteFileStoreHandler;

/** File store handlers of several nodes, each with a folder of its own. */
final class FileStores implements IDataRepository {

    /** The handler whose keys are in the golden file. */
    static final UUID GOLDEN = UUID.fromString("6f1c2a54-0f5e-4a3c-9d0c-7f3f5ad8a001");

    private final Map<UUID, IFileStoreHandler> m_handlers = new HashMap<>();

    private final Path m_folder;

    FileStores(final Path folder) {
        m_folder = folder;
    }

    /** The handler of one node. */
    WriteFileStoreHandler node(final UUID id) throws IOException {
        final var handler = new WriteFileStoreHandler("node", id);
        final File folder = Files.createDirectories(m_folder.resolve(id.toString())).toFile();
        handler.setBaseDir(folder);
        handler.addToRepository(this);
        return handler;
    }

    /** The handler with the workflows that the golden file names. */
    WriteFileStoreHandler golden() throws IOException {
        final var handler = node(GOLDEN);
        for (final var name : new String[]{"0_workflow_a", "1_data_area_a", "2_workflow_b"}) {
            Files.writeString(handler.getBaseDir().toPath().resolve(name), "content of " + name);
        }
        return handler;
    }

    @Override
    public void addFileStoreHandler(final IWriteFileStoreHandler handler) {
        m_handlers.put(handler.getStoreUUID(), handler);
    }

    @Override
    public IFileStoreHandler getHandlerNotNull(final UUID storeHandlerUUID) {
        final var handler = m_handlers.get(storeHandlerUUID);
        if (handler == null) {
            throw new IllegalStateException("nobody knows " + storeHandlerUUID);
        }
        return handler;
    }
}
