package org.knime.core.node.agentic.tool;

import java.util.Map;

import org.knime.core.node.ExecutionContext;
import org.knime.core.node.port.PortObject;

/**
 * A tool of an MCP server.
 *
 * A cell never holds a command line, a header or a credential; it refers to a provider that has them by its name.
 */
public interface MCPToolValue extends ToolValue {

    @Override
    default ToolType getToolType() {
        return ToolType.MCP;
    }

    /**
     * Where the server is.
     *
     * @return an http or https URL without user and password, or "stdio:" and the name of a registered provider
     */
    String getServerUri();

    /**
     * The name by which the server knows the tool.
     *
     * @return the name for the wire
     */
    default String getToolName() {
        return getName();
    }

    /**
     * The registered provider whose credentials a call needs.
     *
     * @return its name, null if a call needs none
     */
    default String getProvider() {
        return null;
    }

    /**
     * What the server says of the tool, such as that it only reads. Hints, not to be trusted.
     *
     * @return a JSON object, may be null
     */
    default String getAnnotations() {
        return null;
    }

    /**
     * Digest of the definition at the time it was listed, to notice a tool that has changed.
     *
     * @return the digest, may be null
     */
    default String getFingerprint() {
        return null;
    }

    /**
     * What structured results look like.
     *
     * @return a JSON Schema, may be null
     */
    default String getOutputSchema() {
        return null;
    }

    /** An MCP tool takes no tables. */
    @Override
    default ToolPort[] getInputs() {
        return new ToolPort[0];
    }

    /** An MCP tool gives no tables. */
    @Override
    default ToolPort[] getOutputs() {
        return new ToolPort[0];
    }

    /**
     * Calls the tool on its server, over streamable HTTP. Servers that need a provider's credentials or a command are
     * not called; the message says so.
     */
    @Override
    default ToolResult execute(final String parameters, final PortObject[] inputs, final ExecutionContext exec,
        final Map<String, String> executionHints) {
        return MCPToolResult.ofCall(this, parameters, exec);
    }
}
