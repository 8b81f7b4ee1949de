package org.knime.core.node.agentic.tool.mcp;

import java.io.IOException;
import java.net.ConnectException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

import javax.net.ssl.SSLException;

import org.knime.core.node.agentic.tool.mcp.AnswerReader.NotUnderstood;

import com.fasterxml.jackson.databind.JsonNode;

/** Posts messages to one server: bounded in time and size, cancelable, and never led to another server. */
final class Exchange {

    // Shared, because each has a thread and a TLS context of its own; it holds neither cookies nor credentials.
    private static final HttpClient CLIENT =
        HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).followRedirects(HttpClient.Redirect.NEVER).build();

    private static final Duration FAREWELL = Duration.ofSeconds(5);

    private static final long POLL = TimeUnit.MILLISECONDS.toNanos(100);

    private static final int REDIRECTS = 5;

    private final int m_answerBytes;

    private final BooleanSupplier m_isCanceled;

    private Endpoint m_endpoint;

    Exchange(final Endpoint endpoint, final int answerBytes, final BooleanSupplier isCanceled) {
        m_endpoint = endpoint;
        m_answerBytes = answerBytes;
        m_isCanceled = isCanceled;
    }

    Endpoint endpoint() {
        return m_endpoint;
    }

    /** Posts a message and waits for the answer to it. Redirects within the server are followed. */
    HttpResponse<JsonNode> post(final JsonNode message, final Map<String, String> headers,
        final Consumer<JsonNode> onRequest, final Deadline deadline) throws MCPException {
        final var id = message.path("id").asInt();
        for (var hops = 0; hops <= REDIRECTS; hops++) {
            final var request = request(headers).POST(BodyPublishers.ofString(JsonText.of(message))).build();
            final var response = await(CLIENT.sendAsync(request,
                info -> new AnswerSubscriber(reader(info, id, onRequest), m_answerBytes)), deadline);
            if (response.statusCode() != 307 && response.statusCode() != 308) {
                return response;
            }
            m_endpoint = m_endpoint.redirected(response.headers().firstValue("Location").orElse(""));
        }
        throw new MCPException("The server at %s sends callers in circles.".formatted(m_endpoint));
    }

    private static AnswerReader reader(final HttpResponse.ResponseInfo info, final int id,
        final Consumer<JsonNode> onRequest) {
        final var type = info.headers().firstValue("Content-Type").orElse("");
        if (info.statusCode() / 100 != 2) {
            return AnswerReader.ofFailure();
        }
        return type.startsWith("text/event-stream") ? AnswerReader.ofEvents(id, onRequest) : AnswerReader.ofMessage();
    }

    /** Posts a message whose answer does not matter. */
    CompletableFuture<Void> tell(final JsonNode message, final Map<String, String> headers) {
        return sendOff(request(headers).timeout(FAREWELL).POST(BodyPublishers.ofString(JsonText.of(message))));
    }

    /** Ends a session; the answer does not matter. */
    CompletableFuture<Void> delete(final Map<String, String> headers) {
        return sendOff(request(headers).timeout(FAREWELL).DELETE());
    }

    private static CompletableFuture<Void> sendOff(final HttpRequest.Builder request) {
        return CLIENT.sendAsync(request.build(), BodyHandlers.discarding()).handle((response, error) -> null);
    }

    private HttpRequest.Builder request(final Map<String, String> headers) {
        final var request = HttpRequest.newBuilder(m_endpoint.uri()).header("Content-Type", "application/json")
            .header("Accept", "application/json, text/event-stream");
        headers.forEach(request::header);
        return request;
    }

    private <T> T await(final CompletableFuture<T> pending, final Deadline deadline) throws MCPException {
        try {
            while (deadline.left() > 0) {
                if (m_isCanceled.getAsBoolean()) {
                    throw new MCPException("The call was canceled.");
                }
                try {
                    return pending.get(Math.min(POLL, deadline.left()), TimeUnit.NANOSECONDS);
                } catch (TimeoutException e) { // NOSONAR: time to look whether somebody canceled the call
                    continue;
                }
            }
            throw new MCPException("The server at %s did not answer within %s.".formatted(m_endpoint, deadline));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new MCPException("The call was canceled.");
        } catch (ExecutionException e) { // NOSONAR: its cause is what matters
            throw translated(e.getCause());
        } finally {
            pending.cancel(true);
        }
    }

    private MCPException translated(final Throwable failure) {
        if (failure instanceof NotUnderstood) {
            return new MCPException("The server at %s %s.".formatted(m_endpoint, failure.getMessage()));
        }
        if (failure instanceof ConnectException || failure instanceof SSLException) {
            return new MCPException("The server at %s cannot be reached (%s); check the address and whether it runs."
                .formatted(m_endpoint, reason(failure)));
        }
        if (failure instanceof IOException) {
            return new MCPException.AnswerLost(
                "The connection to the server at %s was lost (%s).".formatted(m_endpoint, reason(failure)));
        }
        return new MCPException("The call of the server at %s failed (%s).".formatted(m_endpoint, reason(failure)));
    }

    private static String reason(final Throwable failure) {
        final var message = failure.getMessage();
        return message == null ? "no connection" : message;
    }
}
