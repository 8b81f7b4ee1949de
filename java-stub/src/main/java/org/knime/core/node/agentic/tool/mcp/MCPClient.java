package org.knime.core.node.agentic.tool.mcp;

import java.util.function.BooleanSupplier;

import com.fasterxml.jackson.databind.JsonNode;

/** Calls tools of MCP servers that speak streamable HTTP and want no credentials. */
public final class MCPClient {

    private final MCPSettings m_settings;

    /**
     * A client with these limits.
     *
     * @param settings the limits
     */
    public MCPClient(final MCPSettings settings) {
        m_settings = settings;
    }

    /**
     * Calls a tool once. If the server has lost the session meanwhile, the call was refused before it ran, and is made
     * again in a new session. If the connection breaks, the call is only repeated if the tool says that this does no
     * harm.
     *
     * @param call what to call
     * @param isCanceled asked now and then while waiting
     * @return what the tool gave back, its own failures included
     * @throws MCPException if there is no such answer
     */
    public MCPAnswer call(final MCPCall call, final BooleanSupplier isCanceled) throws MCPException {
        final var arguments = call.argumentObject();
        final var endpoint = Endpoint.of(call.serverUri(), m_settings.hosts());
        final var exchange = new Exchange(endpoint, m_settings.answerBytes(), isCanceled);
        return MCPAnswer.of(callWithRenewal(call, arguments, exchange));
    }

    private JsonNode callWithRenewal(final MCPCall call, final JsonNode arguments, final Exchange exchange)
        throws MCPException {
        final var handshake = Deadline.in(m_settings.connect());
        final var deadline = Deadline.in(m_settings.call());
        try {
            return callOnce(call, arguments, exchange, handshake, deadline);
        } catch (MCPException.SessionLost e) { // NOSONAR: renewed
            return callOnce(call, arguments, exchange, renewal(deadline), deadline);
        } catch (MCPException.AnswerLost e) {
            if (!call.isRepeatable()) {
                throw new MCPException(
                    "%s Whether the tool '%s' has run is unknown.".formatted(e.getMessage(), call.toolName()));
            }
            return callOnce(call, arguments, exchange, renewal(deadline), deadline);
        }
    }

    private Deadline renewal(final Deadline call) {
        return Deadline.in(m_settings.connect()).orEarlier(call);
    }

    private static JsonNode callOnce(final MCPCall call, final JsonNode arguments, final Exchange exchange,
        final Deadline handshake, final Deadline deadline) throws MCPException {
        try (var session = MCPSession.open(exchange, handshake)) {
            return session.call(call.toolName(), arguments, deadline);
        }
    }
}
