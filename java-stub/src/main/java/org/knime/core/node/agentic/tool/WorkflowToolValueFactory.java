package org.knime.core.node.agentic.tool;

import java.io.IOException;
import java.util.List;
import java.util.Map;

import org.knime.core.data.DataCell;
import org.knime.core.data.DataValue;
import org.knime.core.data.IDataRepository;
import org.knime.core.data.MissingCell;
import org.knime.core.data.filestore.FileStoreCell;
import org.knime.core.data.filestore.internal.IWriteFileStoreHandler;
import org.knime.core.data.v2.FileStoreAwareValueFactory;
import org.knime.core.data.v2.ReadValue;
import org.knime.core.data.v2.ValueFactory;
import org.knime.core.data.v2.WriteValue;
import org.knime.core.node.ExecutionContext;
import org.knime.core.node.agentic.tool.ToolValue.ToolPort;
import org.knime.core.node.port.PortObject;
import org.knime.core.node.workflow.capture.CombinedExecutor;
import org.knime.core.node.workflow.capture.CombinedExecutor.PortId;
import org.knime.core.table.access.IntAccess.IntReadAccess;
import org.knime.core.table.access.IntAccess.IntWriteAccess;
import org.knime.core.table.access.ListAccess.ListReadAccess;
import org.knime.core.table.access.ListAccess.ListWriteAccess;
import org.knime.core.table.access.StringAccess.StringReadAccess;
import org.knime.core.table.access.StringAccess.StringWriteAccess;
import org.knime.core.table.access.StructAccess.StructReadAccess;
import org.knime.core.table.access.StructAccess.StructWriteAccess;
import org.knime.core.table.schema.DataSpec;
import org.knime.core.table.schema.IntDataSpec;
import org.knime.core.table.schema.ListDataSpec;
import org.knime.core.table.schema.StringDataSpec;
import org.knime.core.table.schema.StructDataSpec;

/**
 * Reads and writes workflow tools in the older stored form: the keys of the file stores, and beside them a struct of
 * name, description, parameters, input ports, output ports and message port. Its cells are KNIME's own.
 *
 * @deprecated columns of this form stay readable; {@link ToolValueFactory} is for new ones and holds MCP tools as well
 */
@Deprecated(since = "5.12")
public final class WorkflowToolValueFactory
    implements ValueFactory<StructReadAccess, StructWriteAccess>, FileStoreAwareValueFactory {

    private static final StructDataSpec PORT = new StructDataSpec(StringDataSpec.INSTANCE, StringDataSpec.INSTANCE,
        StringDataSpec.INSTANCE, StringDataSpec.INSTANCE);

    private final WorkflowFileStores m_fileStores = new WorkflowFileStores();

    /** For KNIME, which makes it from the extension point. */
    public WorkflowToolValueFactory() {
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
        return new StructDataSpec(StringDataSpec.INSTANCE,
            new StructDataSpec(StringDataSpec.INSTANCE, StringDataSpec.INSTANCE, StringDataSpec.INSTANCE,
                new ListDataSpec(PORT), new ListDataSpec(PORT), IntDataSpec.INSTANCE));
    }

    @Override
    public WorkflowToolReadValue createReadValue(final StructReadAccess access) {
        return new WorkflowToolReadValue(access);
    }

    @Override
    public WorkflowToolWriteValue createWriteValue(final StructWriteAccess access) {
        return new WorkflowToolWriteValue(access);
    }

    /** The workflow tool at which a column stands. */
    public final class WorkflowToolReadValue implements ReadValue, WorkflowToolValue {

        private final StructReadAccess m_access;

        private final StructReadAccess m_tool;

        private WorkflowToolReadValue(final StructReadAccess access) {
            m_access = access;
            m_tool = access.getAccess(1);
        }

        /** The tool as a cell to keep; a damaged one becomes a missing cell that says why. */
        @Override
        public DataCell getDataCell() {
            try {
                return cell();
            } catch (InvalidToolCellException | IOException e) {
                return new MissingCell(e.getMessage());
            }
        }

        /**
         * The tool as a cell to keep.
         *
         * @return the cell
         * @throws InvalidToolCellException if the stored tool is damaged
         * @throws IOException if the files of its workflow are not here
         */
        public WorkflowToolCell cell() throws IOException {
            ToolJson.object(ToolField.PARAMETER_SCHEMA, getParameterSchema());
            final var cell = new WorkflowToolCell(getName(), getDescription(), getParameterSchema(), getInputs(),
                getOutputs(), getMessageOutputPortIndex());
            try {
                m_fileStores.load(cell, text(m_access, 0));
            } catch (IOException e) {
                throw new IOException(
                    "the workflow of the tool '%s' cannot be loaded: %s".formatted(getName(), e.getMessage()), e);
            }
            return cell;
        }

        @Override
        public String getName() {
            return text(m_tool, 0);
        }

        @Override
        public String getDescription() {
            return text(m_tool, 1);
        }

        @Override
        public String getParameterSchema() {
            return text(m_tool, 2);
        }

        @Override
        public ToolPort[] getInputs() {
            return ports(m_tool.getAccess(3));
        }

        @Override
        public ToolPort[] getOutputs() {
            return ports(m_tool.getAccess(4));
        }

        @Override
        public int getMessageOutputPortIndex() {
            final IntReadAccess index = m_tool.getAccess(5);
            return index.isMissing() ? -1 : index.getIntValue();
        }

        @Override
        public WorkflowToolResult execute(final String parameters, final PortObject[] inputs,
            final ExecutionContext exec, final Map<String, String> executionHints) {
            try {
                return cell().execute(parameters, inputs, exec, executionHints);
            } catch (IOException e) {
                return new WorkflowToolResult(e.getMessage(), null, null, null, null);
            }
        }

        @Override
        public WorkflowToolResult execute(final CombinedExecutor workflowExecutor, final String parameters,
            final List<PortId> inputs, final ExecutionContext exec, final Map<String, String> executionHints) {
            try {
                return cell().execute(workflowExecutor, parameters, inputs, exec, executionHints);
            } catch (IOException e) {
                return new WorkflowToolResult(e.getMessage(), null, null, null, null);
            }
        }

        private static String text(final StructReadAccess struct, final int index) {
            final StringReadAccess access = struct.getAccess(index);
            return access.isMissing() ? null : access.getStringValue();
        }

        private static ToolPort[] ports(final ListReadAccess list) {
            final var ports = new ToolPort[list.isMissing() ? 0 : list.size()];
            final StructReadAccess port = list.getAccess();
            for (var i = 0; i < ports.length; i++) {
                list.setIndex(i);
                ports[i] = new ToolPort(text(port, 2), text(port, 0), text(port, 1), text(port, 3));
            }
            return ports;
        }
    }

    /** Writes workflow tools to where a column stands. */
    public final class WorkflowToolWriteValue implements WriteValue<WorkflowToolValue> {

        private final StructWriteAccess m_access;

        private WorkflowToolWriteValue(final StructWriteAccess access) {
            m_access = access;
        }

        /**
         * Writes a workflow tool.
         *
         * @throws IllegalArgumentException if the tool is no workflow
         */
        @Override
        public void setValue(final WorkflowToolValue value) {
            if (value.getToolType() != ToolType.WORKFLOW) {
                throw new IllegalArgumentException(
                    "the older workflow-tool column cannot hold an MCP tool; use ToolValueFactory");
            }
            if (value instanceof WorkflowToolReadValue stored) {
                m_access.setFrom(stored.m_access);
                return;
            }
            final DataValue kept = value instanceof ReadValue other ? other.getDataCell() : value;
            if (kept instanceof WorkflowToolValue tool) {
                write(tool);
            } else {
                m_access.setMissing();
            }
        }

        private void write(final WorkflowToolValue tool) {
            final var keys = tool instanceof FileStoreCell cell ? m_fileStores.keep(cell) : "";
            setText(m_access, 0, keys.isEmpty() ? null : keys);
            final StructWriteAccess access = m_access.getWriteAccess(1);
            setText(access, 0, tool.getName());
            setText(access, 1, tool.getDescription());
            setText(access, 2, tool.getParameterSchema());
            setPorts(access.getWriteAccess(3), tool.getInputs());
            setPorts(access.getWriteAccess(4), tool.getOutputs());
            access.<IntWriteAccess> getWriteAccess(5).setIntValue(tool.getMessageOutputPortIndex());
        }

        private static void setPorts(final ListWriteAccess list, final ToolPort[] ports) {
            list.create(ports.length);
            final StructWriteAccess port = list.getWriteAccess();
            for (var i = 0; i < ports.length; i++) {
                list.setWriteIndex(i);
                setText(port, 0, ports[i].name());
                setText(port, 1, ports[i].description());
                setText(port, 2, ports[i].type());
                setText(port, 3, ports[i].spec());
            }
        }

        private static void setText(final StructWriteAccess struct, final int index, final String text) {
            final StringWriteAccess access = struct.getWriteAccess(index);
            if (text == null) {
                access.setMissing();
            } else {
                access.setStringValue(text);
            }
        }
    }
}
