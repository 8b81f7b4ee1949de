package org.knime.core.node.agentic.tool.mcp;

import java.net.http.HttpResponse;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;

/** One initialised conversation with a server. */
final class MCPSession implements AutoCloseable {

    private static final String PROTOCOL = "2025-11-25";

    private static final Set<String> PROTOCOLS = Set.of(PROTOCOL, "2025-06-18", "2025-03-26");

    private static final String INITIALIZE = "initialize";

    private static final String SESSION_ID = "Mcp-Session-Id";

    private static final int METHOD_NOT_FOUND = -32601;

    private static final int LETTERS_OF_FAILURES = 500;

    private final Exchange m_exchange;

    private final Map<String, String> m_headers = new HashMap<>();

    private CompletableFuture<Void> m_farewell = CompletableFuture.completedFuture(null);

    private int m_lastId;

    private MCPSession(final Exchange exchange) {
        m_exchange = exchange;
    }

    /** Opens a session: the handshake of MCP. */
    static MCPSession open(final Exchange exchange, final Deadline deadline) throws MCPException {
        final var session = new MCPSession(exchange);
        try {
            session.shakeHands(deadline);
            return session;
        } catch (MCPException.AnswerLost e) { // NOSONAR: nothing has run yet, so another attempt does no harm
            throw new MCPException.SessionLost(e.getMessage());
        } catch (MCPException e) {
            session.close();
            throw e;
        }
    }

    private void shakeHands(final Deadline deadline) throws MCPException {
        final var params = object();
        params.put("protocolVersion", PROTOCOL).putObject("capabilities");
        params.putObject("clientInfo").put("name", "knime-mcp-java").put("version", "0.1.0");
        final var response = ask(INITIALIZE, params, deadline);
        final var protocol = result(response, INITIALIZE).path("protocolVersion").asText();
        response.headers().firstValue(SESSION_ID).ifPresent(id -> m_headers.put(SESSION_ID, id));
        if (!PROTOCOLS.contains(protocol)) {
            throw new MCPException("The server at %s speaks version '%s' of MCP, which is not known here."
                .formatted(m_exchange.endpoint(), protocol));
        }
        m_headers.put("MCP-Protocol-Version", protocol);
        checkStatus(post(message("notifications/initialized", null), deadline), INITIALIZE);
    }

    /** Calls a tool; the result in MCP's JSON form. */
    JsonNode call(final String tool, final JsonNode arguments, final Deadline deadline) throws MCPException {
        final var params = object().put("name", tool);
        params.set("arguments", arguments);
        try {
            return result(ask("tools/call", params, deadline), tool);
        } catch (MCPException.SessionLost e) {
            throw e;
        } catch (MCPException e) {
            // The server may still be at work: nobody waits for it any more.
            final var stop = object().put("requestId", m_lastId).put("reason", "the caller has given up");
            m_farewell = m_exchange.tell(message("notifications/cancelled", stop), m_headers);
            throw e;
        }
    }

    /** Ends the session, without waiting for the server. */
    @Override
    public void close() {
        if (m_headers.containsKey(SESSION_ID)) {
            m_farewell = m_farewell.thenCompose(done -> m_exchange.delete(m_headers));
        }
    }

    private HttpResponse<JsonNode> ask(final String method, final JsonNode params, final Deadline deadline)
        throws MCPException {
        m_lastId++;
        return post(message(method, params).put("id", m_lastId), deadline);
    }

    private HttpResponse<JsonNode> post(final JsonNode message, final Deadline deadline) throws MCPException {
        return m_exchange.post(message, m_headers, this::answer, deadline);
    }

    /** Answers what a server asks while it works: that this side is alive; everything else was not offered to it. */
    private void answer(final JsonNode request) {
        final var reply = object().put("jsonrpc", "2.0");
        reply.set("id", request.get("id"));
        if ("ping".equals(request.path("method").asText())) {
            reply.putObject("result");
        } else {
            reply.putObject("error").put("code", METHOD_NOT_FOUND).put("message", "not supported by this client");
        }
        m_exchange.tell(reply, m_headers);
    }

    private JsonNode result(final HttpResponse<JsonNode> response, final String what) throws MCPException {
        checkStatus(response, what);
        final var error = response.body().path("error");
        if (error.isObject()) {
            throw new MCPException("The server at %s refused '%s': %s (code %s)".formatted(m_exchange.endpoint(), what,
                start(error.path("message").asText("no reason given")), error.path("code").asText()));
        }
        final var result = response.body().path("result");
        if (!result.isObject()) {
            throw new MCPException("The server at %s gave no result for '%s'.".formatted(m_exchange.endpoint(), what));
        }
        return result;
    }

    private void checkStatus(final HttpResponse<JsonNode> response, final String what) throws MCPException {
        if (response.statusCode() / 100 != 2) {
            final var body = response.body();
            throw refused(response.statusCode(), body.path("error").path("message").asText(body.asText("")), what);
        }
    }

    private MCPException refused(final int status, final String reason, final String what) {
        final var server = m_exchange.endpoint();
        if (status == 404 && m_headers.containsKey(SESSION_ID)) {
            return new MCPException.SessionLost("The server at %s lost the session.".formatted(server));
        }
        if (status == 401 || status == 403) {
            return new MCPException(("The server at %s wants credentials (status %d), which only the Python side has; "
                + "register it as a provider and call its tools from an agent that runs there.").formatted(server,
                    status));
        }
        if (INITIALIZE.equals(what) && (status == 404 || status == 405)) {
            return new MCPException("There is no MCP server that speaks streamable HTTP at %s (status %d).".formatted(
                server, status));
        }
        final var why = reason.isBlank() ? "" : (": " + start(reason));
        return new MCPException("The server at %s refused '%s' with status %d%s".formatted(server, what, status, why));
    }

    private static String start(final String text) {
        final var visible = ModelText.of(text);
        return visible.length() <= LETTERS_OF_FAILURES ? visible
            : (visible.substring(0, LETTERS_OF_FAILURES) + "…");
    }

    private ObjectNode message(final String method, final JsonNode params) {
        final var message = object().put("jsonrpc", "2.0").put("method", method);
        if (params != null) {
            message.set("params", params);
        }
        return message;
    }

    private static ObjectNode object() {
        return JsonNodeFactory.instance.objectNode();
    }
}
