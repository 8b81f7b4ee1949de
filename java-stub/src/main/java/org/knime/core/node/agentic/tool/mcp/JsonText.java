package org.knime.core.node.agentic.tool.mcp;

import java.math.BigDecimal;
import java.math.MathContext;
import java.util.Iterator;
import java.util.function.Consumer;
import java.util.stream.IntStream;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParseException;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;

/**
 * JSON as the Python side reads and writes it: strict when reading, a space after commas and colons and every letter as
 * it is when writing. Texts that both sides make of the same value are therefore equal.
 */
public final class JsonText {

    /** Python reads no longer integers. */
    private static final int DIGITS = 4300;

    private static final ObjectMapper MAPPER = JsonMapper
        .builder(JsonFactory.builder().streamReadConstraints(StreamReadConstraints.builder().maxNumberLength(DIGITS)
            .maxStringLength(Integer.MAX_VALUE).maxNameLength(Integer.MAX_VALUE).build()).build())
        .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS).build();

    private JsonText() {
    }

    /**
     * Reads one JSON value.
     *
     * @param text the text
     * @return the value
     * @throws JsonProcessingException if the text is anything but one JSON value
     */
    public static JsonNode read(final String text) throws JsonProcessingException {
        final var node = MAPPER.readTree(text);
        if (node.isMissingNode()) {
            throw new JsonParseException((JsonParser)null, "there is no value");
        }
        return node;
    }

    /**
     * Writes one JSON value.
     *
     * @param node the value
     * @return the text
     */
    public static String of(final JsonNode node) {
        final var text = new StringBuilder();
        write(node, text);
        return text.toString();
    }

    private static void write(final JsonNode node, final StringBuilder text) {
        switch (node.getNodeType()) {
            case OBJECT -> writeAll('{', node.fields(), entry -> {
                quote(entry.getKey(), text);
                text.append(": ");
                write(entry.getValue(), text);
            }, '}', text);
            case ARRAY -> writeAll('[', node.elements(), item -> write(item, text), ']', text);
            case STRING -> quote(node.textValue(), text);
            case NUMBER -> text.append(node.isFloatingPointNumber() ? number(node.doubleValue()) : node.asText());
            default -> text.append(node.asText());
        }
    }

    private static <T> void writeAll(final char start, final Iterator<T> items, final Consumer<T> write,
        final char end, final StringBuilder text) {
        text.append(start);
        while (items.hasNext()) {
            write.accept(items.next());
            text.append(items.hasNext() ? ", " : "");
        }
        text.append(end);
    }

    private static void quote(final String value, final StringBuilder text) {
        text.append('"');
        for (var i = 0; i < value.length(); i++) {
            final var letter = value.charAt(i);
            switch (letter) {
                case '"', '\\' -> text.append('\\').append(letter);
                case '\n' -> text.append("\\n");
                case '\r' -> text.append("\\r");
                case '\t' -> text.append("\\t");
                case '\b' -> text.append("\\b");
                case '\f' -> text.append("\\f");
                default -> text.append(letter < ' ' ? "\\u%04x".formatted((int)letter) : letter);
            }
        }
        text.append('"');
    }

    /** A number as Python writes it: with an exponent from 1e16 on and below 1e-4. */
    private static String number(final double value) {
        if (Double.isInfinite(value) || value == 0) {
            return value == 0 ? Double.toString(value) : (value > 0 ? "Infinity" : "-Infinity");
        }
        final var digits = shortest(value).stripTrailingZeros();
        final var exponent = digits.precision() - digits.scale() - 1;
        if (exponent >= -4 && exponent < 16) {
            final var plain = digits.toPlainString();
            return plain.contains(".") ? plain : (plain + ".0");
        }
        final var mantissa = digits.movePointLeft(exponent).toPlainString();
        return "%se%s%02d".formatted(mantissa, exponent < 0 ? "-" : "+", Math.abs(exponent));
    }

    /** The fewest digits that still mean this number; Java's own are at times more. */
    private static BigDecimal shortest(final double value) {
        final var exact = new BigDecimal(value);
        return IntStream.rangeClosed(1, 16).mapToObj(digits -> exact.round(new MathContext(digits)))
            .filter(rounded -> rounded.doubleValue() == value).findFirst()
            .orElseGet(() -> exact.round(new MathContext(17)));
    }
}
