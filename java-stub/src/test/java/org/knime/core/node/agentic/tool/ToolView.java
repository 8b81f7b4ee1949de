package org.knime.core.node.agentic.tool;

import java.util.Arrays;
import java.util.List;
import java.util.Objects;

import org.knime.core.node.agentic.tool.ToolValue.ToolPort;
import org.knime.core.node.agentic.tool.mcp.JsonText;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;

/** What a tool means, however its texts are spaced and whichever of null, empty and {} says that there is nothing. */
record ToolView(ToolType type, String name, String description, JsonNode parameters, List<ToolPort> inputs,
    List<ToolPort> outputs, int messagePort, String serverUri, String toolName, String provider, JsonNode annotations,
    String fingerprint, JsonNode outputSchema) {

    static ToolView of(final ToolCell tool) {
        return new ToolView(tool.getToolType(), tool.getName(), Objects.requireNonNullElse(tool.getDescription(), ""),
            json(tool.getParameterSchema()), Arrays.asList(tool.getInputs()), Arrays.asList(tool.getOutputs()),
            tool.getToolType() == ToolType.MCP ? -1 : tool.getMessageOutputPortIndex(), tool.getServerUri(),
            tool.getToolName(), tool.getProvider(), json(tool.getAnnotations()), tool.getFingerprint(),
            json(tool.getOutputSchema()));
    }

    private static JsonNode json(final String text) {
        try {
            return text == null || text.isEmpty() ? JsonNodeFactory.instance.objectNode() : JsonText.read(text);
        } catch (JsonProcessingException e) {
            throw new IllegalArgumentException(e);
        }
    }
}
