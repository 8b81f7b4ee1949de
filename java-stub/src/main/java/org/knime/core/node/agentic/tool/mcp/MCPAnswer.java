package org.knime.core.node.agentic.tool.mcp;

import java.util.ArrayList;
import java.util.List;

import com.fasterxml.jackson.databind.JsonNode;

/**
 * What a tool gave back.
 *
 * @param text the result for a model, never empty
 * @param isError whether the tool itself reports a failure
 */
public record MCPAnswer(String text, boolean isError) {

    private static final int LETTERS_OF_UNKNOWN_BLOCKS = 500;

    /**
     * Reads the result of a call. The text is the same as on the Python side: the blocks' texts joined by newlines,
     * blocks without text named in brackets, a structured value as JSON if no text block carries it already, and
     * nothing that a person would not see.
     *
     * @param result the result in MCP's JSON form
     * @return the answer
     */
    public static MCPAnswer of(final JsonNode result) {
        final var isError = result.path("isError").asBoolean(false);
        final List<String> lines = new ArrayList<>();
        var hasText = false;
        for (final var block : result.path("content")) {
            hasText |= "text".equals(block.path("type").asText());
            lines.add(ModelText.of(line(block)));
        }
        lines.removeIf(String::isEmpty);
        final var structured = result.path("structuredContent");
        if (!hasText && !structured.isMissingNode() && !structured.isNull()) {
            lines.add(ModelText.of(JsonText.of(structured)));
        }
        final var otherwise = isError ? "The tool failed and gave no reason." : "Done; no output.";
        return new MCPAnswer(lines.isEmpty() ? otherwise : String.join("\n", lines), isError);
    }

    private static String line(final JsonNode block) {
        final var kind = block.path("type").asText();
        return switch (kind) {
            case "text" -> block.path("text").asText("");
            case "image", "audio" -> "[%s: %s, %d bytes]".formatted(kind,
                block.path("mimeType").asText("unknown type"), block.path("data").asText("").length() * 3L / 4);
            case "resource" -> resource(block.path("resource"));
            case "resource_link" -> "[link to %s: %s]".formatted(orElse(block.path("name"), "a resource"),
                block.path("uri").asText("?"));
            default -> "[%s: %s]".formatted(kind, start(JsonText.of(block)));
        };
    }

    private static String resource(final JsonNode resource) {
        if (resource.path("text").isTextual()) {
            return resource.path("text").textValue();
        }
        return "[resource %s: %s]".formatted(resource.path("uri").asText("?"),
            orElse(resource.path("mimeType"), "binary"));
    }

    private static String orElse(final JsonNode node, final String otherwise) {
        final var text = node.asText("");
        return text.isEmpty() || node.isNull() ? otherwise : text;
    }

    private static String start(final String text) {
        final var letters = text.codePointCount(0, text.length());
        return letters <= LETTERS_OF_UNKNOWN_BLOCKS ? text
            : text.substring(0, text.offsetByCodePoints(0, LETTERS_OF_UNKNOWN_BLOCKS));
    }
}
