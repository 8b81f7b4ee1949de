package org.knime.core.node.agentic.tool;

import org.knime.core.node.CanceledExecutionException;
import org.knime.core.node.ExecutionContext;
import org.knime.core.node.agentic.tool.ToolValue.ToolResult;
import org.knime.core.node.agentic.tool.mcp.MCPCall;
import org.knime.core.node.agentic.tool.mcp.MCPClient;
import org.knime.core.node.agentic.tool.mcp.MCPException;
import org.knime.core.node.agentic.tool.mcp.MCPSettings;
import org.knime.core.node.port.PortObject;

/**
 * What came of calling an MCP tool.
 *
 * @param message what the model is told
 * @param outputs no data, null if the call failed
 */
record MCPToolResult(String message, PortObject[] outputs) implements ToolResult {

    /** Calls a tool on its server; every failure becomes the message. */
    static MCPToolResult ofCall(final MCPToolValue tool, final String parameters, final ExecutionContext exec) {
        try {
            if (tool.getProvider() != null) {
                throw new MCPException(("The tool '%s' needs the credentials of the provider '%s', which only the Python "
                    + "side has; call it from an agent that runs there.").formatted(tool.getName(),
                        tool.getProvider()));
            }
            final var call = new MCPCall(tool.getServerUri(), tool.getToolName(), parameters, tool.getAnnotations());
            final var answer = new MCPClient(MCPSettings.fromSystemProperties()).call(call, () -> isCanceled(exec));
            return answer.isError() ? failed(answer.text()) : new MCPToolResult(answer.text(), new PortObject[0]);
        } catch (MCPException e) {
            return failed(e.getMessage());
        }
    }

    private static MCPToolResult failed(final String message) {
        return new MCPToolResult(message, null);
    }

    private static boolean isCanceled(final ExecutionContext exec) {
        if (exec == null) {
            return false;
        }
        try {
            exec.checkCanceled();
            return false;
        } catch (CanceledExecutionException e) { // NOSONAR: the answer to the question
            return true;
        }
    }
}
