package org.knime.core.node.agentic.tool.mcp;

import java.io.IOException;
import java.net.http.HttpResponse.BodySubscriber;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow.Subscription;

import org.knime.core.node.agentic.tool.mcp.AnswerReader.NotUnderstood;

import com.fasterxml.jackson.databind.JsonNode;

/** Feeds a response's body to a reader, stops as soon as it has the answer, and never takes more bytes than allowed. */
final class AnswerSubscriber implements BodySubscriber<JsonNode> {

    private final CompletableFuture<JsonNode> m_answer = new CompletableFuture<>();

    private final AnswerReader m_reader;

    private final int m_limit;

    private long m_received;

    private Subscription m_subscription;

    AnswerSubscriber(final AnswerReader reader, final int limit) {
        m_reader = reader;
        m_limit = limit;
    }

    @Override
    public CompletionStage<JsonNode> getBody() {
        return m_answer;
    }

    @Override
    public void onSubscribe(final Subscription subscription) {
        m_subscription = subscription;
        subscription.request(1);
    }

    @Override
    public void onNext(final List<ByteBuffer> buffers) {
        try {
            for (final var buffer : buffers) {
                take(buffer);
            }
            if (m_answer.isDone()) {
                m_subscription.cancel();
            } else {
                m_subscription.request(1);
            }
        } catch (IOException e) {
            m_answer.completeExceptionally(e);
            m_subscription.cancel();
        }
    }

    private void take(final ByteBuffer buffer) throws IOException {
        m_received += buffer.remaining();
        if (m_received > m_limit) {
            throw new NotUnderstood("answered with more than %d bytes".formatted(m_limit));
        }
        final var bytes = new byte[buffer.remaining()];
        buffer.get(bytes);
        if (!m_answer.isDone()) {
            m_reader.read(bytes).ifPresent(m_answer::complete);
        }
    }

    @Override
    public void onError(final Throwable throwable) {
        m_answer.completeExceptionally(throwable);
    }

    @Override
    public void onComplete() {
        if (m_answer.isDone()) {
            return;
        }
        try {
            m_answer.complete(m_reader.end());
        } catch (IOException e) {
            m_answer.completeExceptionally(e);
        }
    }
}
