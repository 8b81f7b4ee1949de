package org.knime.core.node.agentic.tool;

/** A cell is no valid tool; the reasons are the same, word for word, on the Python side. */
public final class InvalidToolCellException extends IllegalArgumentException {

    private static final long serialVersionUID = 1L;

    private final ToolField m_field;

    private final String m_reason;

    InvalidToolCellException(final ToolField field, final String reason) {
        super("field '%s': %s".formatted(field.label(), reason));
        m_field = field;
        m_reason = reason;
    }

    /**
     * The field at fault.
     *
     * @return the field
     */
    public ToolField getField() {
        return m_field;
    }

    /**
     * What is wrong with it.
     *
     * @return the reason
     */
    public String getReason() {
        return m_reason;
    }
}
