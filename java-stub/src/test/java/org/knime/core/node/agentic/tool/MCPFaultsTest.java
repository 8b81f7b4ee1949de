package org.knime.core.node.agentic.tool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.knime.core.node.agentic.tool.WorkflowToolValue.WorkflowToolResult;
import org.knime.core.node.agentic.tool.mcp.JsonText;
import org.knime.core.node.agentic.tool.mcp.MCPSettings;
import org.knime.core.node.port.PortObject;

import com.fasterxml.jackson.databind.JsonNode;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;

/** What happens when a server misbehaves. Each test says how it answers the calls of tools, one after the other. */
@Timeout(60)
class MCPFaultsTest {

    private static final PortObject[] NO_INPUTS = {};

    private static final String RESULT =
        "{\"jsonrpc\": \"2.0\", \"id\": %s, \"result\": {\"content\": [{\"type\": \"text\", \"text\": \"here\"}]}}";

    private final List<String> m_methods = new CopyOnWriteArrayList<>();

    private final List<JsonNode> m_messages = new CopyOnWriteArrayList<>();

    private final List<Answer> m_answers = new CopyOnWriteArrayList<>();

    private final CountDownLatch m_deleted = new CountDownLatch(1);

    private final CountDownLatch m_twoAnswers = new CountDownLatch(2);

    private final CountDownLatch m_over = new CountDownLatch(1);

    private ExecutorService m_threads;

    private HttpServer m_server;

    private String m_protocol = "2025-11-25";

    private int m_sessions;

    /** How a call is answered. */
    private interface Answer {

        void to(HttpExchange exchange, JsonNode message) throws IOException;
    }

    @BeforeEach
    void start() throws IOException {
        m_threads = Executors.newCachedThreadPool();
        m_server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        m_server.setExecutor(m_threads);
        m_server.createContext("/mcp", this::handle);
        m_server.start();
    }

    @AfterEach
    void stop() {
        m_over.countDown();
        m_server.stop(0);
        m_threads.shutdownNow();
        Stream.of(MCPSettings.CALL_SECONDS, MCPSettings.CONNECT_SECONDS, MCPSettings.ANSWER_BYTES, MCPSettings.HOSTS)
            .forEach(System::clearProperty);
    }

    private void handle(final HttpExchange exchange) throws IOException {
        try (exchange) {
            if ("DELETE".equals(exchange.getRequestMethod())) {
                m_methods.add("DELETE " + exchange.getRequestHeaders().getFirst("Mcp-Session-Id"));
                exchange.sendResponseHeaders(200, -1);
                m_deleted.countDown();
                return;
            }
            final var message =
                JsonText.read(new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8));
            m_messages.add(message);
            m_methods.add(message.path("method").asText("answer"));
            if (!message.has("method")) {
                m_twoAnswers.countDown();
            }
            switch (message.path("method").asText()) {
                case "initialize" -> initialize(exchange, message);
                case "tools/call" -> m_answers.remove(0).to(exchange, message);
                default -> exchange.sendResponseHeaders(202, -1);
            }
        }
    }

    private void initialize(final HttpExchange exchange, final JsonNode message) throws IOException {
        m_sessions++;
        exchange.getResponseHeaders().set("Mcp-Session-Id", "session-" + m_sessions);
        send(exchange, 200, "application/json",
            "{\"jsonrpc\": \"2.0\", \"id\": %s, \"result\": {\"protocolVersion\": \"%s\", \"capabilities\": {}}}"
                .formatted(message.get("id"), m_protocol));
    }

    private static void send(final HttpExchange exchange, final int status, final String type, final String body)
        throws IOException {
        final var bytes = body.getBytes(StandardCharsets.UTF_8);
        exchange.getResponseHeaders().set("Content-Type", type);
        exchange.sendResponseHeaders(status, bytes.length == 0 ? -1 : bytes.length);
        exchange.getResponseBody().write(bytes);
    }

    private static Answer json(final int status, final String body) {
        return (exchange, message) -> send(exchange, status, "application/json; charset=utf-8",
            body.contains("%s") ? body.formatted(message.get("id")) : body);
    }

    private static Answer events(final String body) {
        return (exchange, message) -> send(exchange, 200, "text/event-stream",
            body.contains("%s") ? body.formatted(message.get("id")) : body);
    }

    private final Answer m_result = json(200, RESULT);

    /** Says that an answer comes, and breaks the connection. */
    private final Answer m_broken = (exchange, message) -> {
        exchange.sendResponseHeaders(200, 1000);
        exchange.getResponseBody().write('{');
        throw new IOException("broken on purpose");
    };

    private String url() {
        return "http://127.0.0.1:%d/mcp".formatted(m_server.getAddress().getPort());
    }

    private WorkflowToolResult call(final Answer... answers) {
        m_answers.addAll(List.of(answers));
        return ToolCell.of(new PlainTool("tool", url())).execute("{}", NO_INPUTS, null, Map.of());
    }

    /** Calls a tool whose server gives these hints. */
    private WorkflowToolResult callWithHints(final String hints, final Answer... answers) {
        m_answers.addAll(List.of(answers));
        final var tool = new ToolContent(ToolType.MCP, "tool", null, null, "{\"annotations\": %s}".formatted(hints), null,
            -1, null, url());
        return new ToolCell(tool).execute("{}", NO_INPUTS, null, Map.of());
    }

    private void assertFailed(final String message, final WorkflowToolResult result) {
        assertEquals(message.replace("URL", "'" + url() + "'"), result.message());
        assertNull(result.outputs());
    }

    @Test
    void aCallIsAHandshakeTheCallAndTheEndOfTheSession() throws InterruptedException {
        assertEquals("here", call(m_result).message());
        assertTrue(m_deleted.await(10, TimeUnit.SECONDS));
        assertEquals(List.of("initialize", "notifications/initialized", "tools/call", "DELETE session-1"), m_methods);
        assertEquals("{\"name\": \"tool\", \"arguments\": {}}", JsonText.of(m_messages.get(2).get("params")));
    }

    @Test
    void aLostSessionIsRenewedOnceAndTheCallRepeated() {
        assertEquals("here", call(json(404, ""), m_result).message());
        assertEquals(2, m_sessions);
    }

    @Test
    void aServerThatAlwaysLosesTheSessionIsGivenUp() {
        assertFailed("The server at URL lost the session.", call(json(404, ""), json(404, "")));
        assertEquals(2, m_sessions);
    }

    @Test
    void aCallWhoseConnectionBrokeIsNotRepeated() {
        final var result = call(m_broken);
        assertNull(result.outputs());
        assertTrue(result.message().startsWith("The connection to the server at '%s' was lost".formatted(url())));
        assertTrue(result.message().endsWith("Whether the tool 'tool' has run is unknown."), result.message());
        assertEquals(1, Collections.frequency(m_methods, "tools/call"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"{\"readOnlyHint\": true}", "{\"idempotentHint\": true}"})
    void aCallThatDoesNoHarmTwiceIsRepeatedWhenItsConnectionBroke(final String hints) {
        assertEquals("here", callWithHints(hints, m_broken, m_result).message());
    }

    @Test
    void aToolThatOnlySaysItDestroysNothingIsNotRepeated() {
        assertNull(callWithHints("{\"destructiveHint\": false}", m_broken).outputs());
    }

    @Test
    void aStreamThatEndsWithoutAnAnswerLeavesTheOutcomeUnknown() {
        assertFailed("The connection to the server at URL was lost (the stream of events ended without an answer). "
            + "Whether the tool 'tool' has run is unknown.", call(events(": nothing\n\n")));
    }

    @Test
    void aServerThatDoesNotAnswerIsGivenUpAndTold() throws InterruptedException {
        System.setProperty(MCPSettings.CALL_SECONDS, "1");
        assertFailed("The server at URL did not answer within 1 s.", call((exchange, message) -> {
            try {
                m_over.await(30, TimeUnit.SECONDS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }));
        assertTrue(m_deleted.await(10, TimeUnit.SECONDS));
        assertEquals(List.of("notifications/cancelled", "DELETE session-1"),
            m_methods.subList(m_methods.size() - 2, m_methods.size()));
        final var cancel = m_messages.get(m_messages.size() - 1);
        assertEquals(m_messages.get(2).get("id"), cancel.path("params").path("requestId"));
    }

    @Test
    void aStreamThatStaysSilentIsGivenUp() {
        System.setProperty(MCPSettings.CALL_SECONDS, "1");
        assertFailed("The server at URL did not answer within 1 s.", call((exchange, message) -> {
            exchange.getResponseHeaders().set("Content-Type", "text/event-stream");
            exchange.sendResponseHeaders(200, 0);
            exchange.getResponseBody().write(": still here\n\n".getBytes(StandardCharsets.UTF_8));
            exchange.getResponseBody().flush();
            try {
                m_over.await(30, TimeUnit.SECONDS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }));
    }

    @Test
    void aServerThatDoesNotShakeHandsIsGivenUpAfterTheTimeForThat() throws IOException {
        System.setProperty(MCPSettings.CONNECT_SECONDS, "1");
        // It takes connections and never reads from them.
        try (var silent = new ServerSocket(0, 10, InetAddress.getLoopbackAddress())) {
            final var url = "http://127.0.0.1:%d/mcp".formatted(silent.getLocalPort());
            final var result = ToolCell.of(new PlainTool("tool", url)).execute("{}", NO_INPUTS, null, Map.of());
            assertEquals("The server at '%s' did not answer within 1 s.".formatted(url), result.message());
        }
    }

    @Test
    void aServerThatIsNotThereIsNamed() throws IOException {
        final String url;
        try (var gone = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            url = "http://127.0.0.1:%d/mcp".formatted(gone.getLocalPort());
        }
        final var result = ToolCell.of(new PlainTool("tool", url)).execute("{}", NO_INPUTS, null, Map.of());
        assertTrue(result.message().startsWith("The server at '%s' cannot be reached".formatted(url)),
            result.message());
        assertNull(result.outputs());
    }

    @Test
    void eventsBeforeTheAnswerArePassedOverAndQuestionsAnswered() throws InterruptedException {
        final var result = call(events("""
            id: 1
            data:

            data: {"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progress": 1}}

            data: {"jsonrpc": "2.0", "id": 7, "method": "ping"}

            data: {"jsonrpc": "2.0", "id": "q", "method": "sampling/createMessage"}

            data: {"jsonrpc": "2.0", "id": 999, "result": {"content": []}}

            data:""" + RESULT + "\n\n"));
        assertEquals("here", result.message());
        assertTrue(m_twoAnswers.await(10, TimeUnit.SECONDS));
        final var answers = m_messages.stream().filter(message -> !message.has("method")).map(JsonText::of).sorted();
        assertEquals(List.of(
            "{\"jsonrpc\": \"2.0\", \"id\": \"q\", \"error\": {\"code\": -32601, \"message\": \"not supported by this "
                + "client\"}}",
            "{\"jsonrpc\": \"2.0\", \"id\": 7, \"result\": {}}"), answers.toList());
    }

    @Test
    void anAnswerThatIsNotJsonIsNamed() {
        assertFailed("The server at URL answered with something that is not JSON.", call(json(200, "<html>")));
    }

    @Test
    void anEventThatIsNotJsonIsNamed() {
        assertFailed("The server at URL answered with an event that is not JSON.", call(events("data: {\n\n")));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "[]", "{}", "{\"jsonrpc\": \"2.0\", \"id\": 2, \"result\": []}", "null", "7"})
    void anAnswerWithoutAResultIsNamed(final String body) {
        assertFailed("The server at URL gave no result for 'tool'.", call(json(200, body)));
    }

    @Test
    void anAnswerThatIsTooLargeIsNotTaken() {
        System.setProperty(MCPSettings.ANSWER_BYTES, "1000");
        assertFailed("The server at URL answered with more than 1000 bytes.", call(json(200, " ".repeat(2000))));
        assertFailed("The server at URL answered with more than 1000 bytes.", call(events(": comment\n".repeat(200))));
    }

    @Test
    void anErrorOfTheProtocolIsTheMessage() {
        assertFailed("The server at URL refused 'tool': no such tool (code -32602)", call(
            json(200, "{\"jsonrpc\": \"2.0\", \"id\": %s, \"error\": {\"code\": -32602, \"message\": \"no such tool\"}}")));
    }

    @Test
    void anErrorThatIsTooLongIsCut() {
        final var error = "{\"jsonrpc\": \"2.0\", \"id\": %s, \"error\": {\"code\": 1, \"message\": \"" + "a".repeat(2000) + "\"}}";
        assertFailed("The server at URL refused 'tool': " + "a".repeat(500) + "… (code 1)", call(json(200, error)));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {"500 | oh no | : oh no", "400 | {\"error\": {\"message\": \"bad\"}} | : bad", "503 | '' | ''"})
    void aStatusThatIsAFailureIsNamed(final int status, final String body, final String reason) {
        assertFailed("The server at URL refused 'tool' with status %d%s".formatted(status, reason),
            call(json(status, body)));
    }

    @ParameterizedTest
    @ValueSource(ints = {401, 403})
    void aServerThatWantsCredentialsIsNotGivenAny(final int status) {
        assertFailed(("The server at URL wants credentials (status %d), which only the Python side has; register it as a "
            + "provider and call its tools from an agent that runs there.").formatted(status), call(json(status, "")));
    }

    @Test
    void anAddressWithoutSuchAServerIsNamed() {
        final var url = url().replace("/mcp", "/elsewhere");
        final var result = ToolCell.of(new PlainTool("tool", url)).execute("{}", NO_INPUTS, null, Map.of());
        assertEquals("There is no MCP server that speaks streamable HTTP at '%s' (status 404).".formatted(url),
            result.message());
    }

    @Test
    void anUnknownVersionOfTheProtocolIsNamed() {
        m_protocol = "1999-01-01";
        assertFailed("The server at URL speaks version '1999-01-01' of MCP, which is not known here.", call());
    }

    @Test
    void aRedirectToAnotherAddressIsNotFollowed() throws IOException {
        try (var other = new ServerSocket(0, 10, InetAddress.getLoopbackAddress())) {
            other.setSoTimeout(1);
            final var result = call((exchange, message) -> {
                exchange.getResponseHeaders().set("Location", "http://127.0.0.1:%d/mcp".formatted(other.getLocalPort()));
                exchange.sendResponseHeaders(307, -1);
            });
            assertFailed("The server at URL sends callers to another address; if it is the right one, put it in the "
                + "row.", result);
            assertThrows(SocketTimeoutException.class, other::accept);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {301, 302, 303})
    void aRedirectThatWouldChangeTheRequestIsNotFollowed(final int status) {
        assertFailed("The server at URL refused 'tool' with status " + status, call((exchange, message) -> {
            exchange.getResponseHeaders().set("Location", "/mcp");
            exchange.sendResponseHeaders(status, -1);
        }));
    }

    @Test
    void redirectsInCirclesEnd() {
        final Answer again = (exchange, message) -> {
            exchange.getResponseHeaders().set("Location", "/mcp");
            exchange.sendResponseHeaders(308, -1);
        };
        assertFailed("The server at URL sends callers in circles.", call(again, again, again, again, again, again));
    }

    @Test
    void onlyHostsThatTheOperatorAllowsAreCalled() {
        System.setProperty(MCPSettings.HOSTS, "example.org, LOCALHOST");
        assertFailed("Calls to the host '127.0.0.1' are not allowed here; the operator can add it to 'knime.mcp.hosts'.",
            call());
        assertEquals(List.of(), m_methods);
        System.setProperty(MCPSettings.HOSTS, "127.0.0.1");
        assertEquals("here", call(m_result).message());
    }

    @ParameterizedTest
    @ValueSource(strings = {"0", "-1", "soon", ""})
    void aSettingThatIsNoNumberIsNamed(final String value) {
        System.setProperty(MCPSettings.CALL_SECONDS, value);
        assertFailed("The system property 'knime.mcp.call.seconds' is '%s'; it must be a number above zero."
            .formatted(value), call());
    }

    @ParameterizedTest
    @CsvSource({"ftp://example.org/a, neither an http:// nor an https:// URL", "http://, is not a URL",
        "example.org, neither an http:// nor an https:// URL", "http://[::1, is not a URL",
        "http:///path, neither an http:// nor an https:// URL", "file:///etc/passwd, neither an http:// nor"})
    void anAddressThatIsNoWebAddressIsNotCalled(final String address, final String why) {
        final var result = ToolCell.of(new PlainTool("tool", address)).execute("{}", NO_INPUTS, null, Map.of());
        assertTrue(result.message().contains(why), result.message());
        assertNull(result.outputs());
    }

    @Test
    void anAddressWithAPasswordIsNotCalledNorRepeated() {
        final var stored = new ToolContent(ToolType.MCP, "tool", null, null, null, null, -1, null,
            url().replace("127", "user:secret@127"));
        final var result = new ToolCell(stored).execute("{}", NO_INPUTS, null, Map.of());
        assertEquals("The address of the server holds a user or password; remove it from the row and register the server "
            + "as a provider.", result.message());
        assertEquals(List.of(), m_methods);
    }

    @Test
    void aQueryIsSentAndNeverShown() {
        m_answers.add(json(500, ""));
        final var result =
            ToolCell.of(new PlainTool("tool", url() + "?key=secret")).execute("{}", NO_INPUTS, null, Map.of());
        assertFailed("The server at URL refused 'tool' with status 500", result);
    }

    @Test
    void aServerOfACommandOrAProviderIsLeftToThePythonSide() {
        final var stdio = ToolCell.of(new PlainTool("tool", "stdio:files"));
        assertEquals("The server 'stdio:files' is started by a command that only the Python side knows; call its tools "
            + "from an agent that runs there.", stdio.execute("{}", NO_INPUTS, null, Map.of()).message());
        final var provider = new ToolCell(
            new ToolContent(ToolType.MCP, "tool", null, null, "{\"provider\": \"bank\"}", null, -1, null, url()));
        assertEquals("The tool 'tool' needs the credentials of the provider 'bank', which only the Python side has; call "
            + "it from an agent that runs there.", provider.execute("{}", NO_INPUTS, null, Map.of()).message());
        assertEquals(List.of(), m_methods);
    }

    @ParameterizedTest
    @ValueSource(strings = {"[]", "1", "{", "null"})
    void argumentsThatAreNoObjectAreNotSent(final String parameters) {
        final var result = ToolCell.of(new PlainTool("tool", url())).execute(parameters, NO_INPUTS, null, Map.of());
        assertFailed("The arguments for the tool 'tool' are not a JSON object.", result);
        assertEquals(List.of(), m_methods);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", " "})
    void noArgumentsAreAnEmptyObject(final String parameters) {
        m_answers.add(m_result);
        final var tool = ToolCell.of(new PlainTool("tool", url()));
        assertEquals("here", tool.execute(parameters, NO_INPUTS, null, Map.of()).message());
        assertEquals("{}", JsonText.of(m_messages.get(2).path("params").path("arguments")));
    }

    @Test
    void aToolIsCalledByTheNameThatItsServerKnows() {
        m_answers.add(m_result);
        final var content = new ToolContent(ToolType.MCP, "Shown name", null, null, "{\"tool_name\": \"wire\"}", null, -1,
            null, url());
        assertEquals("here", new ToolCell(content).execute("{}", NO_INPUTS, null, Map.of()).message());
        assertEquals("wire", m_messages.get(2).path("params").path("name").textValue());
    }
}
