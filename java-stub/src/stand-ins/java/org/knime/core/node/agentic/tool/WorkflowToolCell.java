/*
 * STAND-IN, never shipped: the name and the signatures are those of KNIME's public API, so that our classes compile and
 * run in tests where KNIME is not installed. What it does is our own, and only as much as the tests need.
 */
package org.knime.core.node.agentic.tool;

import java.io.IOException;
import java.nio.file.Files;
import java.util.List;
import java.util.Map;
import java.util.Objects;

import org.knime.core.data.DataCell;
import org.knime.core.data.filestore.FileStoreCell;
import org.knime.core.node.ExecutionContext;
import org.knime.core.node.port.PortObject;
import org.knime.core.node.workflow.capture.CombinedExecutor;
import org.knime.core.node.workflow.capture.CombinedExecutor.PortId;

/**
 * KNIME's cell of a workflow tool, which loads and runs the workflow. This one reads its file as KNIME's does, and says
 * in the message what would have been run.
 */
public final class WorkflowToolCell extends FileStoreCell implements WorkflowToolValue {

    private static final long serialVersionUID = 1L;

    private final String m_name;

    private final String m_description;

    private final String m_parameterSchema;

    private final transient ToolPort[] m_inputs;

    private final transient ToolPort[] m_outputs;

    private final int m_messageOutputPortIndex;

    private byte[] m_workflow = {};

    WorkflowToolCell(final String name, final String description, final String parameterSchema,
        final ToolPort[] inputs, final ToolPort[] outputs, final int messageOutputPortIndex) {
        m_name = name;
        m_description = description;
        m_parameterSchema = parameterSchema;
        m_inputs = inputs;
        m_outputs = outputs;
        m_messageOutputPortIndex = messageOutputPortIndex;
    }

    @Override
    protected void postConstruct() throws IOException {
        m_workflow = Files.readAllBytes(getFileStores()[0].getFile().toPath());
    }

    @Override
    public String getName() {
        return m_name;
    }

    @Override
    public String getDescription() {
        return m_description;
    }

    @Override
    public String getParameterSchema() {
        return m_parameterSchema;
    }

    @Override
    public ToolPort[] getInputs() {
        return m_inputs;
    }

    @Override
    public ToolPort[] getOutputs() {
        return m_outputs;
    }

    @Override
    public int getMessageOutputPortIndex() {
        return m_messageOutputPortIndex;
    }

    @Override
    public WorkflowToolResult execute(final String parameters, final PortObject[] inputs, final ExecutionContext exec,
        final Map<String, String> executionHints) {
        return new WorkflowToolResult(
            m_name + " would run " + m_workflow.length + " bytes of workflow with " + parameters, null,
            new PortObject[m_outputs.length], null, null);
    }

    @Override
    public WorkflowToolResult execute(final CombinedExecutor workflowExecutor, final String parameters,
        final List<PortId> inputs, final ExecutionContext exec, final Map<String, String> executionHints) {
        final var result = execute(parameters, new PortObject[0], exec, executionHints);
        return new WorkflowToolResult(result.message() + " in the combined workflow", new String[m_outputs.length],
            result.outputs(), null, null);
    }

    @Override
    public String toString() {
        return m_name;
    }

    @Override
    protected boolean equalsDataCell(final DataCell dc) {
        return super.equalsDataCell(dc) && m_name.equals(((WorkflowToolCell)dc).m_name);
    }

    @Override
    public int hashCode() {
        return Objects.hash(m_name, m_description);
    }
}
