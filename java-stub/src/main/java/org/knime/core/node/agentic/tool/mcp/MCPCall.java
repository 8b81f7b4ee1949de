package org.knime.core.node.agentic.tool.mcp;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;

/**
 * What is to be called.
 *
 * @param serverUri where the server is
 * @param toolName the name by which the server knows the tool
 * @param arguments a JSON object; null and empty mean no arguments
 * @param annotations the server's hints on the tool as a JSON object, may be null
 */
public record MCPCall(String serverUri, String toolName, String arguments, String annotations) {

    JsonNode argumentObject() throws MCPException {
        return object(arguments, "The arguments for the tool '%s' are not a JSON object.".formatted(toolName));
    }

    /** Whether the tool says of itself that calling it twice does no harm. */
    boolean isRepeatable() throws MCPException {
        final var hints = object(annotations, "The hints on the tool '%s' are not a JSON object.".formatted(toolName));
        return hints.path("readOnlyHint").asBoolean(false) || hints.path("idempotentHint").asBoolean(false);
    }

    private static JsonNode object(final String text, final String otherwise) throws MCPException {
        if (text == null || text.isBlank()) {
            return JsonNodeFactory.instance.objectNode();
        }
        try {
            final var node = JsonText.read(text);
            if (node.isObject()) {
                return node;
            }
        } catch (JsonProcessingException e) { // NOSONAR: said below
            // the same as any other value that is no object
        }
        throw new MCPException(otherwise);
    }
}
