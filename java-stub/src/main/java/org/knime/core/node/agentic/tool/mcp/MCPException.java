package org.knime.core.node.agentic.tool.mcp;

/** A call that came to no result; the message is one sentence for people and models, without secrets. */
public class MCPException extends Exception {

    private static final long serialVersionUID = 1L;

    /**
     * A call that came to no result.
     *
     * @param message what happened and how to repair it
     */
    public MCPException(final String message) {
        super(message);
    }

    /** The server knows the session no longer; what was asked in it did not run. */
    static final class SessionLost extends MCPException {

        private static final long serialVersionUID = 1L;

        SessionLost(final String message) {
            super(message);
        }
    }

    /** The connection broke after the question had gone out; it may have been acted on. */
    static final class AnswerLost extends MCPException {

        private static final long serialVersionUID = 1L;

        AnswerLost(final String message) {
            super(message);
        }
    }
}
