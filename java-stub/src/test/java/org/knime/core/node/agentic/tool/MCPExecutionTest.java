package org.knime.core.node.agentic.tool;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Map;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.knime.core.node.CanceledExecutionException;
import org.knime.core.node.ExecutionContext;
import org.knime.core.node.agentic.tool.WorkflowToolValue.WorkflowToolResult;
import org.knime.core.node.agentic.tool.mcp.MCPSettings;
import org.knime.core.node.port.PortObject;

/** Calls servers of the official Python SDK, over every way in which they answer. */
@Timeout(60)
class MCPExecutionTest {

    private static final PortObject[] NO_INPUTS = {};

    /** How a server answers. Each server serves all tests, and ends with this process, which closes its input. */
    enum Answers {

        EVENTS, JSON("--json"), STATELESS("--stateless", "--json");

        private final String[] m_options;

        private PythonServer m_server;

        Answers(final String... options) {
            m_options = options;
        }

        synchronized String url() {
            try {
                if (m_server == null) {
                    m_server = PythonServer.start("sdk", m_options);
                }
                return m_server.url();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    private static WorkflowToolResult call(final String url, final String name, final String parameters) {
        return ToolCell.of(new PlainTool(name, url)).execute(parameters, NO_INPUTS, null, Map.of());
    }

    @ParameterizedTest
    @EnumSource
    void aToolIsCalledAndItsTextIsTheMessage(final Answers answers) {
        final var result = call(answers.url(), "echo", "{\"text\": \"größer 換算 🟡\"}");
        assertEquals("größer 換算 🟡", result.message());
        assertArrayEquals(NO_INPUTS, result.outputs());
    }

    @ParameterizedTest
    @EnumSource
    void aStructuredResultIsTheTextThatTheServerMadeOfIt(final Answers answers) {
        final var result = call(answers.url(), "add", "{\"a\": 1.5, \"b\": 2}");
        assertTrue(result.message().replaceAll("\\s", "").contains("{\"sum\":3.5}"), result.message());
        assertNotNull(result.outputs());
    }

    @ParameterizedTest
    @EnumSource
    void aToolsOwnFailureIsTheMessageAndTheCallHasFailed(final Answers answers) {
        final var result = call(answers.url(), "fail", "");
        assertTrue(result.message().contains("the printer is on fire"), result.message());
        assertNull(result.outputs());
    }

    @ParameterizedTest
    @EnumSource
    void aToolThatTheServerDoesNotKnowHasFailed(final Answers answers) {
        final var result = call(answers.url(), "nothing", "{}");
        assertTrue(result.message().contains("nothing"), result.message());
        assertNull(result.outputs());
    }

    @ParameterizedTest
    @EnumSource
    void argumentsThatDoNotFitHaveFailed(final Answers answers) {
        assertNull(call(answers.url(), "add", "{\"a\": \"one\"}").outputs());
    }

    @ParameterizedTest
    @EnumSource
    void aLargeAnswerComesWhole(final Answers answers) {
        assertEquals("ä".repeat(2_000_000), call(answers.url(), "large", "{\"letters\": 2000000}").message());
    }

    @Test
    void progressBeforeTheAnswerIsPassedOver() {
        assertEquals("done", call(Answers.EVENTS.url(), "reports", "{}").message());
    }

    @Test
    void aRedirectWithinTheServerIsFollowed() {
        assertEquals("a", call(Answers.JSON.url() + "/", "echo", "{\"text\": \"a\"}").message());
    }

    @Test
    void aServerThatHasLostTheSessionGetsTheCallOnceMore() throws IOException {
        try (var server = PythonServer.start("sdk", "--forget-once")) {
            assertEquals("a", call(server.url(), "echo", "{\"text\": \"a\"}").message());
        }
    }

    @Test
    void aCallInACombinedWorkflowLeavesNothingThere() {
        final var tool = ToolCell.of(new PlainTool("echo", Answers.JSON.url()));
        final var result = tool.execute(null, "{\"text\": \"a\"}", List.of(), null, Map.of());
        assertEquals("a", result.message());
        assertEquals(0, result.outputIds().length);
        assertEquals(0, result.outputs().length);
    }

    @Test
    void anyMCPToolCanBeCalledNotOnlyACell() {
        final MCPToolValue tool = new PlainTool("echo", Answers.JSON.url());
        assertEquals("a", tool.execute("{\"text\": \"a\"}", NO_INPUTS, null, Map.of()).message());
    }

    @Test
    void aSlowToolIsGivenUpAfterTheConfiguredTime() {
        System.setProperty(MCPSettings.CALL_SECONDS, "1");
        try {
            final var result = call(Answers.EVENTS.url(), "slow", "{\"seconds\": 30}");
            assertEquals("The server at '%s' did not answer within 1 s.".formatted(Answers.EVENTS.url()),
                result.message());
            assertNull(result.outputs());
        } finally {
            System.clearProperty(MCPSettings.CALL_SECONDS);
        }
    }

    @Test
    void aCanceledNodeWaitsNoLonger() {
        final var asked = new int[1];
        final var exec = new ExecutionContext(() -> {
            asked[0]++;
            if (asked[0] > 5) {
                throw new CanceledExecutionException();
            }
        }, null);
        final var tool = ToolCell.of(new PlainTool("slow", Answers.EVENTS.url()));
        final var result = tool.execute("{\"seconds\": 30}", NO_INPUTS, exec, Map.of());
        assertEquals("The call was canceled.", result.message());
        assertNull(result.outputs());
    }
}
