package org.knime.core.node.agentic.tool.mcp;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** Cuts a stream of server-sent events into the data of each event. Does no I/O. */
final class EventStream {

    private final ByteArrayOutputStream m_line = new ByteArrayOutputStream();

    private final List<String> m_data = new ArrayList<>();

    private boolean m_afterReturn;

    /** Takes the next bytes and gives the data of the events that they complete; events without data are left out. */
    List<String> push(final byte[] bytes) {
        final List<String> events = new ArrayList<>();
        for (final var letter : bytes) {
            // A line ends with a line feed, a carriage return or both.
            final var isSecondHalf = letter == '\n' && m_afterReturn;
            m_afterReturn = letter == '\r';
            if (letter != '\n' && letter != '\r') {
                m_line.write(letter);
            } else if (!isSecondHalf) {
                endLine(events);
            }
        }
        return events;
    }

    private void endLine(final List<String> events) {
        final var line = m_line.toString(StandardCharsets.UTF_8);
        m_line.reset();
        if (line.startsWith("data:")) {
            m_data.add(line.substring(line.startsWith("data: ") ? 6 : 5));
        } else if (line.isEmpty()) {
            final var data = String.join("\n", m_data);
            m_data.clear();
            if (!data.isBlank()) {
                events.add(data);
            }
        }
    }
}
