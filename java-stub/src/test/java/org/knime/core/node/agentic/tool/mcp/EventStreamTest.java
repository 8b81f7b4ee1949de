package org.knime.core.node.agentic.tool.mcp;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class EventStreamTest {

    private static List<String> events(final String text, final int size) {
        final var stream = new EventStream();
        final var bytes = text.getBytes(StandardCharsets.UTF_8);
        final List<String> events = new ArrayList<>();
        for (var start = 0; start < bytes.length; start += size) {
            final var end = Math.min(bytes.length, start + size);
            events.addAll(stream.push(Arrays.copyOfRange(bytes, start, end)));
        }
        return events;
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 7, 1000})
    void eventsAreCutWhereverTheBytesAre(final int size) {
        final var text = ": a comment\nid: 1\ndata:\n\nevent: message\ndata: {\"a\":\ndata: \"ü🟡\"}\n\ndata:no space\n\n";
        assertEquals(List.of("{\"a\":\n\"ü🟡\"}", "no space"), events(text, size));
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 1000})
    void aLineEndsWithAnyOfTheThreeEndings(final int size) {
        assertEquals(List.of("one", "two", "three"),
            events("data: one\r\n\r\ndata: two\r\rdata: three\n\n", size));
    }

    @Test
    void anEventThatIsNotCompleteIsNotGiven() {
        assertEquals(List.of(), events("data: half\n", 1000));
    }

    @Test
    void spacesAfterTheFirstBelongToTheData() {
        assertEquals(List.of(" two"), events("data:  two\n\n", 1000));
    }
}
