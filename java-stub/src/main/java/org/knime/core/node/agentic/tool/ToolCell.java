package org.knime.core.node.agentic.tool;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.util.List;
import java.util.Map;
import java.util.Objects;

import org.knime.core.data.DataCell;
import org.knime.core.data.DataCellDataInput;
import org.knime.core.data.DataCellDataOutput;
import org.knime.core.data.DataCellSerializer;
import org.knime.core.data.DataType;
import org.knime.core.data.filestore.FileStore;
import org.knime.core.data.filestore.FileStoreCell;
import org.knime.core.data.filestore.FileStoreUtil;
import org.knime.core.node.ExecutionContext;
import org.knime.core.node.port.PortObject;
import org.knime.core.node.workflow.capture.CombinedExecutor;
import org.knime.core.node.workflow.capture.CombinedExecutor.PortId;

/**
 * The cell of every tool, whatever its kind.
 *
 * One class, because KNIME gives a column a value factory of its own only if all of its cells are of one class. It is a
 * file store cell for the sake of workflows; an MCP tool has no files. It offers the values of both kinds, and
 * {@link #getToolType()} says which of them is meant: what belongs to the other kind is null, empty or -1.
 */
public final class ToolCell extends FileStoreCell implements ToolValue, WorkflowToolValue, MCPToolValue {

    /** Data type of tools of any kind. */
    public static final DataType TYPE = DataType.getType(ToolCell.class);

    private static final long serialVersionUID = 1L;

    /** The keys in it are those that were stored; the files of the cell, if it has any, count. */
    private final ToolContent m_content;

    ToolCell(final ToolContent content, final FileStore... fileStores) {
        super(fileStores);
        m_content = content;
    }

    /** For a cell that is read: its files, if any, come later. */
    ToolCell(final ToolContent content) {
        m_content = content;
    }

    /**
     * The cell of any tool.
     *
     * @param tool an MCP tool, or a workflow in a cell with its files
     * @return the tool itself if it is such a cell already
     * @throws InvalidToolCellException if the tool cannot be stored, for example because its address holds a password
     * @throws IllegalArgumentException if the tool is neither
     */
    public static ToolCell of(final ToolValue tool) {
        if (tool instanceof ToolCell cell) {
            return cell;
        }
        if (tool.getToolType() == ToolType.MCP && tool instanceof MCPToolValue mcpTool) {
            return new ToolCell(ToolContent.of(mcpTool));
        }
        if (tool instanceof WorkflowToolValue workflow && tool instanceof FileStoreCell files) {
            return new ToolCell(ToolContent.of(workflow, WorkflowFileStores.keys(files)),
                FileStoreUtil.getFileStores(files));
        }
        throw new IllegalArgumentException(
            "A %s is neither an MCP tool nor a cell with a workflow".formatted(tool.getClass().getName()));
    }

    ToolContent content() {
        return m_content;
    }

    @Override
    public ToolType getToolType() {
        return m_content.toolType();
    }

    @Override
    public String getName() {
        return m_content.name();
    }

    @Override
    public String getDescription() {
        return m_content.description();
    }

    @Override
    public String getParameterSchema() {
        return m_content.parameterSchema();
    }

    @Override
    public ToolPort[] getInputs() {
        return m_content.inputs();
    }

    @Override
    public ToolPort[] getOutputs() {
        return m_content.outputs();
    }

    @Override
    public int getMessageOutputPortIndex() {
        return m_content.messageOutputPortIndex();
    }

    @Override
    public String getServerUri() {
        return m_content.toolType() == ToolType.MCP ? m_content.serverUri() : null;
    }

    @Override
    public String getToolName() {
        return m_content.callText("tool_name").filter(name -> !name.isEmpty()).orElse(m_content.name());
    }

    @Override
    public String getProvider() {
        return m_content.callText("provider").orElse(null);
    }

    @Override
    public String getFingerprint() {
        return m_content.callText("fingerprint").orElse(null);
    }

    @Override
    public String getAnnotations() {
        return m_content.annotations().orElse(null);
    }

    @Override
    public String getOutputSchema() {
        return m_content.outputSchema().orElse(null);
    }

    /** Runs the workflow, or calls the MCP server; every failure becomes the message. */
    @Override
    public WorkflowToolResult execute(final String parameters, final PortObject[] inputs, final ExecutionContext exec,
        final Map<String, String> executionHints) {
        if (getToolType() == ToolType.MCP) {
            final var result = MCPToolValue.super.execute(parameters, inputs, exec, executionHints);
            return new WorkflowToolResult(result.message(), null, result.outputs(), null, null);
        }
        try {
            return workflow().execute(parameters, inputs, exec, executionHints);
        } catch (IOException e) {
            return lost(e);
        }
    }

    /** As above; an MCP tool has no ports and thus leaves nothing in the combined workflow. */
    @Override
    public WorkflowToolResult execute(final CombinedExecutor workflowExecutor, final String parameters,
        final List<PortId> inputs, final ExecutionContext exec, final Map<String, String> executionHints) {
        if (getToolType() == ToolType.MCP) {
            final var result = MCPToolValue.super.execute(parameters, new PortObject[0], exec, executionHints);
            return new WorkflowToolResult(result.message(), new String[0], result.outputs(), null, null);
        }
        try {
            return workflow().execute(workflowExecutor, parameters, inputs, exec, executionHints);
        } catch (IOException e) {
            return lost(e);
        }
    }

    /** KNIME's own cell of this workflow, which knows how to run it. */
    private WorkflowToolCell workflow() throws IOException {
        final var stores = getFileStores();
        if (stores.length == 0) {
            throw new IOException("its file stores are not here (" + m_content.workflowFilestore() + ")");
        }
        final var cell = new WorkflowToolCell(getName(), orEmpty(getDescription()), orEmpty(getParameterSchema()),
            getInputs(), getOutputs(), getMessageOutputPortIndex());
        FileStoreUtil.retrieveFileStoreHandlersFrom(cell, FileStoreUtil.getFileStoreKeys(this),
            FileStoreUtil.getFileStoreHandler(stores[0]).getDataRepository());
        return cell;
    }

    private WorkflowToolResult lost(final IOException why) {
        final var message = "The workflow of the tool '%s' cannot be loaded: %s. Make the tool again from its workflow."
            .formatted(getName(), why.getMessage());
        return new WorkflowToolResult(message, null, null, null, null);
    }

    private static String orEmpty(final String text) {
        return text == null ? "" : text;
    }

    @Override
    public String toString() {
        final var description = orEmpty(getDescription());
        return description.isEmpty() ? getName() : (getName() + ": " + description);
    }

    /** Copies of a workflow have other keys; then the files themselves are compared. */
    @Override
    protected boolean equalsDataCell(final DataCell dc) {
        final var other = (ToolCell)dc;
        final var haveFiles = getFileStores().length > 0 && other.getFileStores().length > 0;
        return haveFiles ? (m_content.equalsBesideFiles(other.m_content) && super.equalsDataCell(dc))
            : m_content.equals(other.m_content);
    }

    @Override
    protected boolean equalFileStoreContent(final DataCell dc) {
        final var mine = getFileStores();
        final var others = ((ToolCell)dc).getFileStores();
        if (mine.length != others.length) {
            return false;
        }
        for (var i = 0; i < mine.length; i++) {
            if (!haveEqualFiles(mine[i], others[i])) {
                return false;
            }
        }
        return true;
    }

    private static boolean haveEqualFiles(final FileStore mine, final FileStore other) {
        final var file = mine.getFile().toPath();
        final var otherFile = other.getFile().toPath();
        try {
            return Files.isRegularFile(file) && Files.isRegularFile(otherFile) && Files.mismatch(file, otherFile) < 0;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public int hashCode() {
        return Objects.hash(m_content.toolType(), m_content.name(), m_content.description(), m_content.serverUri());
    }

    /** Writes and reads the cell for KNIME's row-based tables; its files are kept by KNIME itself. */
    public static final class ToolCellSerializer implements DataCellSerializer<ToolCell> {

        private static final byte VERSION = 1;

        /** For KNIME, which makes it from the extension point. */
        public ToolCellSerializer() {
            // nothing to set up
        }

        @Override
        public void serialize(final ToolCell cell, final DataCellDataOutput output) throws IOException {
            final var content = cell.content();
            output.writeByte(VERSION);
            output.writeByte(content.toolType().code());
            write(content.name(), output);
            write(content.description(), output);
            write(content.parameterSchema(), output);
            write(content.inputSpec(), output);
            write(content.outputSpec(), output);
            output.writeInt(content.messageOutputPortIndex());
            write(content.workflowFilestore(), output);
            write(content.serverUri(), output);
        }

        @Override
        public ToolCell deserialize(final DataCellDataInput input) throws IOException {
            final var version = input.readByte();
            if (version != VERSION) {
                throw new IOException(
                    "The tool was written by a newer version (format %d); update KNIME.".formatted(version));
            }
            return new ToolCell(new ToolContent(ToolContent.typeOf(input.readByte()), read(input), read(input),
                read(input), read(input), read(input), input.readInt(), read(input), read(input)));
        }

        private static void write(final String text, final DataCellDataOutput output) throws IOException {
            output.writeBoolean(text != null);
            if (text != null) {
                output.writeUTF(text);
            }
        }

        private static String read(final DataCellDataInput input) throws IOException {
            return input.readBoolean() ? input.readUTF() : null;
        }
    }
}
