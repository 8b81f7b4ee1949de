package org.knime.core.node.agentic.tool.mcp;

import java.util.regex.Pattern;

/**
 * Text on its way to a chat model, without what a person would not see: such characters can carry instructions that
 * nobody notices. Takes out the same as the Python side.
 */
final class ModelText {

    private static final Pattern TERMINAL_CODE =
        Pattern.compile("\\x1b(?:\\[[0-?]*[ -/]*[@-~]|\\][^\\x07\\x1b]*(?:\\x07|\\x1b\\\\)?)");

    private static final Pattern NEW_LINE = Pattern.compile("\\r\\n?|[\\x0b\\f\\x85\\u2028\\u2029]");

    /** Control characters but tab and new line, marks of direction, zero width, fillers, tags. */
    private static final Pattern INVISIBLE = Pattern.compile("[" //
        + "\\x00-\\x08\\x0e-\\x1f\\x7f-\\x9f" //
        + "\\u00ad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f" //
        + "\\u200b-\\u200f\\u202a-\\u202e\\u2060-\\u206f\\ufeff" //
        + "\\u3164\\uffa0\\ufff0-\\ufffb" //
        + "\\x{1bca0}-\\x{1bca3}\\x{1d173}-\\x{1d17a}" //
        + "\\x{e0000}-\\x{e0fff}" //
        + "]+");

    private static final Pattern VARIATIONS = Pattern.compile("([\\ufe00-\\ufe0f])[\\ufe00-\\ufe0f]+");

    /** Half of a character; nothing can encode it. */
    private static final Pattern SURROGATE = Pattern.compile("\\p{Cs}");

    private ModelText() {
    }

    /** The text as a person sees it. */
    static String of(final String text) {
        final var lines = NEW_LINE.matcher(TERMINAL_CODE.matcher(text).replaceAll("")).replaceAll("\n");
        final var visible = INVISIBLE.matcher(lines).replaceAll("");
        return SURROGATE.matcher(VARIATIONS.matcher(visible).replaceAll("$1")).replaceAll("\ufffd");
    }
}
