package org.knime.core.node.agentic.tool;

import java.util.Optional;

import org.knime.core.node.agentic.tool.mcp.JsonText;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.databind.JsonNode;

/** Reads the JSON in the fields of a cell; what it refuses, and why, is the same as on the Python side. */
final class ToolJson {

    private static final int DEEPEST = 400;

    private ToolJson() {
    }

    /** The JSON object in a field, empty for a missing or empty text. */
    static Optional<JsonNode> object(final ToolField field, final String text) {
        return read(field, text).map(node -> required(field, node, node.isObject(), "must be a JSON object"));
    }

    /** The JSON array in a field, empty for a missing or empty text. */
    static Optional<JsonNode> array(final ToolField field, final String text) {
        return read(field, text).map(node -> required(field, node, node.isArray(), "must be a JSON array"));
    }

    /** The text under a key, empty if there is none. */
    static Optional<String> optionalText(final ToolField field, final JsonNode of, final String key) {
        return member(of, key).map(node -> {
            if (!node.isTextual()) {
                throw new InvalidToolCellException(field, "'%s' must be a text".formatted(key));
            }
            return node.textValue();
        });
    }

    /** The object under a key, empty if there is none. */
    static Optional<JsonNode> optionalObject(final ToolField field, final JsonNode of, final String key) {
        return member(of, key).map(node -> {
            if (!node.isObject()) {
                throw new InvalidToolCellException(field, "'%s' must be a JSON object".formatted(key));
            }
            return node;
        });
    }

    private static Optional<JsonNode> member(final JsonNode of, final String key) {
        return Optional.ofNullable(of.get(key)).filter(node -> !node.isNull());
    }

    private static Optional<JsonNode> read(final ToolField field, final String text) {
        if (text == null || text.isEmpty()) {
            return Optional.empty();
        }
        if (isTooDeep(text)) {
            throw new InvalidToolCellException(field, "is nested deeper than %d levels".formatted(DEEPEST));
        }
        try {
            return Optional.of(JsonText.read(text));
        } catch (JacksonException e) { // NOSONAR: its message is of this parser and would differ from Python's
            throw new InvalidToolCellException(field, "is not JSON");
        }
    }

    private static JsonNode required(final ToolField field, final JsonNode node, final boolean isRight,
        final String wanted) {
        if (!isRight) {
            throw new InvalidToolCellException(field, "%s, not %s".formatted(wanted, kind(node)));
        }
        return node;
    }

    private static String kind(final JsonNode node) {
        return switch (node.getNodeType()) {
            case OBJECT -> "an object";
            case ARRAY -> "an array";
            case STRING -> "a text";
            case BOOLEAN -> "a boolean";
            case NULL -> "null";
            default -> "a number";
        };
    }

    /** Whether brackets outside of texts nest too deep, be the whole JSON or not. */
    private static boolean isTooDeep(final String text) {
        var depth = 0;
        var isInText = false;
        for (var i = 0; i < text.length(); i++) {
            final var letter = text.charAt(i);
            if (letter == '"') {
                isInText = !isInText;
            } else if (isInText) {
                i += letter == '\\' ? 1 : 0; // NOSONAR: what follows a backslash ends no text
            } else if (letter == '[' || letter == '{') {
                depth++;
            } else if (letter == ']' || letter == '}') {
                depth--;
            }
            if (depth > DEEPEST) {
                return true;
            }
        }
        return false;
    }
}
