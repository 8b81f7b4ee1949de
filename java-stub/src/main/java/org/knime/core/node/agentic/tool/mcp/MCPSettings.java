package org.knime.core.node.agentic.tool.mcp;

import java.time.Duration;
import java.util.Arrays;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Limits of a call.
 *
 * @param connect time for reaching the server and for the MCP handshake
 * @param call time for one call, a repetition after a lost session included
 * @param answerBytes size of one answer
 * @param hosts the only hosts that may be called, in lower case; empty allows all
 */
public record MCPSettings(Duration connect, Duration call, int answerBytes, Set<String> hosts) {

    /** Name of the system property with the seconds for reaching a server. */
    public static final String CONNECT_SECONDS = "knime.mcp.connect.seconds";

    /** Name of the system property with the seconds for one call. */
    public static final String CALL_SECONDS = "knime.mcp.call.seconds";

    /** Name of the system property with the size of one answer in bytes. */
    public static final String ANSWER_BYTES = "knime.mcp.answer.bytes";

    /** Name of the system property with the hosts that may be called, separated by commas. */
    public static final String HOSTS = "knime.mcp.hosts";

    /**
     * The settings of this Java process: 10 seconds to connect, 60 seconds and 32 MiB for an answer, and all hosts,
     * unless system properties say otherwise.
     *
     * @return the settings
     * @throws MCPException if a property is not a number above zero
     */
    public static MCPSettings fromSystemProperties() throws MCPException {
        final var hosts = System.getProperty(HOSTS, "").toLowerCase(Locale.ROOT).split(",");
        return new MCPSettings(Duration.ofSeconds(positive(CONNECT_SECONDS, 10)),
            Duration.ofSeconds(positive(CALL_SECONDS, 60)), positive(ANSWER_BYTES, 32 * 1024 * 1024),
            Arrays.stream(hosts).map(String::strip).filter(host -> !host.isEmpty()).collect(Collectors.toSet()));
    }

    private static int positive(final String name, final int otherwise) throws MCPException {
        final var text = System.getProperty(name, Integer.toString(otherwise)).strip();
        if (!text.matches("0*[1-9][0-9]{0,8}")) {
            throw new MCPException("The system property '%s' is '%s'; it must be a number above zero.".formatted(name,
                text));
        }
        return Integer.parseInt(text);
    }
}
