package org.knime.core.node.agentic.tool;

import java.io.IOException;
import java.util.List;
import java.util.Map;

import org.knime.core.data.DataCell;
import org.knime.core.data.DataValue;
import org.knime.core.data.IDataRepository;
import org.knime.core.data.MissingCell;
import org.knime.core.data.filestore.internal.IWriteFileStoreHandler;
import org.knime.core.data.v2.FileStoreAwareValueFactory;
import org.knime.core.data.v2.ReadValue;
import org.knime.core.data.v2.ValueFactory;
import org.knime.core.data.v2.WriteValue;
import org.knime.core.node.ExecutionContext;
import org.knime.core.node.port.PortObject;
import org.knime.core.node.workflow.capture.CombinedExecutor;
import org.knime.core.node.workflow.capture.CombinedExecutor.PortId;
import org.knime.core.table.access.ByteAccess.ByteReadAccess;
import org.knime.core.table.access.ByteAccess.ByteWriteAccess;
import org.knime.core.table.access.IntAccess.IntReadAccess;
import org.knime.core.table.access.IntAccess.IntWriteAccess;
import org.knime.core.table.access.ReadAccess;
import org.knime.core.table.access.StringAccess.StringReadAccess;
import org.knime.core.table.access.StringAccess.StringWriteAccess;
import org.knime.core.table.access.StructAccess.StructReadAccess;
import org.knime.core.table.access.StructAccess.StructWriteAccess;
import org.knime.core.table.access.WriteAccess;
import org.knime.core.table.schema.DataSpec;

/** Reads and writes tools of both kinds as one struct of nine fields. */
public final class ToolValueFactory
    implements ValueFactory<StructReadAccess, StructWriteAccess>, FileStoreAwareValueFactory {

    private final WorkflowFileStores m_fileStores = new WorkflowFileStores();

    /** For KNIME, which makes it from the extension point. */
    public ToolValueFactory() {
        // set up by the two methods below
    }

    @Override
    public void initializeForReading(final IDataRepository repository) {
        m_fileStores.initializeForReading(repository);
    }

    @Override
    public void initializeForWriting(final IWriteFileStoreHandler fileStoreHandler) {
        m_fileStores.initializeForWriting(fileStoreHandler);
    }

    @Override
    public DataSpec getSpec() {
        return ToolField.structSpec();
    }

    @Override
    public ToolReadValue createReadValue(final StructReadAccess access) {
        return new ToolReadValue(access);
    }

    @Override
    public ToolWriteValue createWriteValue(final StructWriteAccess access) {
        return new ToolWriteValue(access);
    }

    /**
     * The tool at which a column stands. It is read again with every question, because the column moves on;
     * {@link #getDataCell()} gives one to keep.
     */
    public final class ToolReadValue implements ReadValue, ToolValue, WorkflowToolValue, MCPToolValue {

        private final StructReadAccess m_access;

        private ToolReadValue(final StructReadAccess access) {
            m_access = access;
        }

        /**
         * The tool as a cell to keep. A damaged one becomes a missing cell that says why, so that it does not take the
         * other rows of the table with it.
         */
        @Override
        public DataCell getDataCell() {
            try {
                return cell();
            } catch (InvalidToolCellException e) {
                return new MissingCell(e.getMessage());
            }
        }

        /**
         * The tool as a cell to keep. If the files of its workflow are not here it comes without: that fails when the
         * tool is called, and not when the table is looked at.
         *
         * @return the cell
         * @throws InvalidToolCellException if the stored tool is damaged
         */
        public ToolCell cell() {
            final var content = content();
            final var cell = new ToolCell(content);
            if (content.toolType() == ToolType.MCP) {
                return cell;
            }
            try {
                m_fileStores.load(cell, content.workflowFilestore());
                return cell;
            } catch (IOException e) { // NOSONAR: the call says that they are not here
                return new ToolCell(content);
            }
        }

        private ToolContent content() {
            final ByteReadAccess type = field(ToolField.TOOL_TYPE);
            final IntReadAccess messagePort = field(ToolField.MESSAGE_OUTPUT_PORT_INDEX);
            return new ToolContent(ToolContent.typeOf(type.isMissing() ? null : type.getByteValue()),
                text(ToolField.NAME), text(ToolField.DESCRIPTION), text(ToolField.PARAMETER_SCHEMA),
                text(ToolField.INPUT_SPEC), text(ToolField.OUTPUT_SPEC),
                messagePort.isMissing() ? -1 : messagePort.getIntValue(), text(ToolField.WORKFLOW_FILESTORE),
                text(ToolField.SERVER_URI));
        }

        private <R extends ReadAccess> R field(final ToolField field) {
            return m_access.getAccess(field.index());
        }

        private String text(final ToolField field) {
            final StringReadAccess access = field(field);
            return access.isMissing() ? null : access.getStringValue();
        }

        @Override
        public ToolType getToolType() {
            final ByteReadAccess type = field(ToolField.TOOL_TYPE);
            return ToolContent.typeOf(type.isMissing() ? null : type.getByteValue());
        }

        @Override
        public String getName() {
            return text(ToolField.NAME);
        }

        @Override
        public String getDescription() {
            return text(ToolField.DESCRIPTION);
        }

        @Override
        public String getParameterSchema() {
            return text(ToolField.PARAMETER_SCHEMA);
        }

        @Override
        public ToolPort[] getInputs() {
            return content().inputs();
        }

        @Override
        public ToolPort[] getOutputs() {
            return content().outputs();
        }

        @Override
        public int getMessageOutputPortIndex() {
            return content().messageOutputPortIndex();
        }

        @Override
        public String getServerUri() {
            return cell().getServerUri();
        }

        @Override
        public String getToolName() {
            return cell().getToolName();
        }

        @Override
        public String getProvider() {
            return cell().getProvider();
        }

        @Override
        public String getAnnotations() {
            return cell().getAnnotations();
        }

        @Override
        public String getFingerprint() {
            return cell().getFingerprint();
        }

        @Override
        public String getOutputSchema() {
            return cell().getOutputSchema();
        }

        @Override
        public WorkflowToolResult execute(final String parameters, final PortObject[] inputs,
            final ExecutionContext exec, final Map<String, String> executionHints) {
            return cell().execute(parameters, inputs, exec, executionHints);
        }

        @Override
        public WorkflowToolResult execute(final CombinedExecutor workflowExecutor, final String parameters,
            final List<PortId> inputs, final ExecutionContext exec, final Map<String, String> executionHints) {
            return cell().execute(workflowExecutor, parameters, inputs, exec, executionHints);
        }
    }

    /** Writes tools to where a column stands. */
    public final class ToolWriteValue implements WriteValue<ToolValue> {

        private final StructWriteAccess m_access;

        private ToolWriteValue(final StructWriteAccess access) {
            m_access = access;
        }

        /**
         * Writes a tool of any kind, KNIME's own workflow tools included. A tool read from such a column is copied as it
         * is stored, also if it is damaged.
         *
         * @throws InvalidToolCellException if the tool cannot be stored, for example because its address holds a
         *             password
         */
        @Override
        public void setValue(final ToolValue value) {
            if (value instanceof ToolReadValue stored) {
                m_access.setFrom(stored.m_access);
                return;
            }
            final DataValue kept = value instanceof ReadValue other ? other.getDataCell() : value;
            if (kept instanceof ToolValue tool) {
                write(ToolCell.of(tool));
            } else {
                m_access.setMissing();
            }
        }

        private void write(final ToolCell cell) {
            final var content = cell.content();
            final var keys = m_fileStores.keep(cell);
            this.<ByteWriteAccess> field(ToolField.TOOL_TYPE).setByteValue(content.toolType().code());
            setText(ToolField.NAME, content.name());
            setText(ToolField.DESCRIPTION, content.description());
            setText(ToolField.PARAMETER_SCHEMA, content.parameterSchema());
            setText(ToolField.INPUT_SPEC, content.inputSpec());
            setText(ToolField.OUTPUT_SPEC, content.outputSpec());
            this.<IntWriteAccess> field(ToolField.MESSAGE_OUTPUT_PORT_INDEX)
                .setIntValue(content.messageOutputPortIndex());
            // Without files the keys are kept as they were read: they may be known where the table goes.
            setText(ToolField.WORKFLOW_FILESTORE, keys.isEmpty() ? content.workflowFilestore() : keys);
            setText(ToolField.SERVER_URI, content.serverUri());
        }

        private <W extends WriteAccess> W field(final ToolField field) {
            return m_access.getWriteAccess(field.index());
        }

        private void setText(final ToolField field, final String text) {
            final StringWriteAccess access = field(field);
            if (text == null) {
                access.setMissing();
            } else {
                access.setStringValue(text);
            }
        }
    }
}
