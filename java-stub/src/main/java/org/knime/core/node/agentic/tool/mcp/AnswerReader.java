package org.knime.core.node.agentic.tool.mcp;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.function.Consumer;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import com.fasterxml.jackson.databind.node.TextNode;

/** Finds the answer to one question in the body of a response, as its bytes come in. */
interface AnswerReader {

    /** Takes the next bytes; the answer, as soon as it is there. */
    Optional<JsonNode> read(byte[] bytes) throws IOException;

    /** What the body was when it ended without an answer. */
    JsonNode end() throws IOException;

    /** A body that cannot be understood. */
    final class NotUnderstood extends IOException {

        private static final long serialVersionUID = 1L;

        NotUnderstood(final String message) {
            super(message);
        }
    }

    /** A body that is one JSON message. */
    static AnswerReader ofMessage() {
        return new WholeBody(true);
    }

    /** A body of an answer that reports a failure: a JSON message if it is one, otherwise a text. */
    static AnswerReader ofFailure() {
        return new WholeBody(false);
    }

    /** A body of events, one of which answers the question with this id. */
    static AnswerReader ofEvents(final int id, final Consumer<JsonNode> onRequest) {
        return new Events(id, onRequest);
    }

    /** Waits for the end of the body. */
    final class WholeBody implements AnswerReader {

        private final ByteArrayOutputStream m_body = new ByteArrayOutputStream();

        private final boolean m_mustBeJson;

        private WholeBody(final boolean mustBeJson) {
            m_mustBeJson = mustBeJson;
        }

        @Override
        public Optional<JsonNode> read(final byte[] bytes) {
            m_body.writeBytes(bytes);
            return Optional.empty();
        }

        @Override
        public JsonNode end() throws IOException {
            final var text = m_body.toString(StandardCharsets.UTF_8);
            if (text.isBlank()) {
                return MissingNode.getInstance();
            }
            try {
                return JsonText.read(text);
            } catch (JsonProcessingException e) {
                if (m_mustBeJson) {
                    throw new NotUnderstood("answered with something that is not JSON");
                }
                return new TextNode(text);
            }
        }
    }

    /** Looks at every event. */
    final class Events implements AnswerReader {

        private final EventStream m_events = new EventStream();

        private final String m_id;

        private final Consumer<JsonNode> m_onRequest;

        private Events(final int id, final Consumer<JsonNode> onRequest) {
            m_id = Integer.toString(id);
            m_onRequest = onRequest;
        }

        @Override
        public Optional<JsonNode> read(final byte[] bytes) throws IOException {
            for (final var data : m_events.push(bytes)) {
                final var message = message(data);
                if (message.has("method")) {
                    // Notifications, such as progress, have no id and need no answer.
                    Optional.of(message).filter(request -> request.has("id")).ifPresent(m_onRequest);
                } else if (m_id.equals(message.path("id").asText())) {
                    return Optional.of(message);
                }
            }
            return Optional.empty();
        }

        private static JsonNode message(final String data) throws NotUnderstood {
            try {
                return JsonText.read(data);
            } catch (JsonProcessingException e) { // NOSONAR: it would quote the data
                throw new NotUnderstood("answered with an event that is not JSON");
            }
        }

        @Override
        public JsonNode end() throws IOException {
            throw new IOException("the stream of events ended without an answer");
        }
    }
}
