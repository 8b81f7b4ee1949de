package org.knime.core.node.agentic.tool;

import java.util.List;
import java.util.Map;

import org.knime.core.node.ExecutionContext;
import org.knime.core.node.port.PortObject;
import org.knime.core.node.workflow.WorkflowManager;
import org.knime.core.node.workflow.capture.CombinedExecutor;

/**
 * A tool that is a workflow. KNIME has this interface already; new is that it names its kind.
 */
public interface WorkflowToolValue extends ToolValue {

    @Override
    default ToolType getToolType() {
        return ToolType.WORKFLOW;
    }

    /**
     * Which output is the message to the model.
     *
     * @return the index of the output, -1 for none
     */
    int getMessageOutputPortIndex();

    /**
     * Runs the workflow. Hints: "execution-mode" (DEFAULT, DETACHED or DEBUG), "with-view-nodes" (true or false).
     */
    @Override
    WorkflowToolResult execute(String parameters, PortObject[] inputs, ExecutionContext exec,
        Map<String, String> executionHints);

    /**
     * Runs the workflow as a part of another one, in which the calls of a whole conversation come together.
     *
     * @param workflowExecutor the executor of that other workflow
     * @param parameters the arguments as a JSON object
     * @param inputs where in that workflow the inputs come from
     * @param exec to ask whether the call is canceled
     * @param executionHints as above
     * @return what came of it, failures included
     */
    WorkflowToolResult execute(CombinedExecutor workflowExecutor, String parameters,
        List<CombinedExecutor.PortId> inputs, ExecutionContext exec, Map<String, String> executionHints);

    /**
     * What came of a call.
     *
     * @param message what the model is told
     * @param outputIds where in the combined workflow the outputs are; null without one
     * @param outputs the data, null if the call failed
     * @param virtualProject the workflow that ran, if it is still needed; the caller disposes it
     * @param viewNodeIds ids of the nodes with views, null if they were not asked for
     */
    record WorkflowToolResult(String message, String[] outputIds, PortObject[] outputs, WorkflowManager virtualProject,
        String[] viewNodeIds) implements ToolResult {
    }
}
