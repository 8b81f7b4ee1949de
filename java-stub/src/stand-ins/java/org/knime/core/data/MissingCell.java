/*
 * STAND-IN, never shipped: the name and the signatures are those of KNIME's public API, so that our classes compile and
 * run in tests where KNIME is not installed. What it does is our own, and only as much as the tests need.
 */
package org.knime.core.data;

import java.util.Objects;

/** A missing cell that may say why. */
public final class MissingCell extends DataCell implements MissingValue {

    private static final long serialVersionUID = 1L;

    private final String m_error;

    /** @param error why the value is missing, or null */
    public MissingCell(final String error) {
        m_error = error;
    }

    @Override
    public String getError() {
        return m_error;
    }

    @Override
    public String toString() {
        return "?";
    }

    @Override
    protected boolean equalsDataCell(final DataCell dc) {
        return Objects.equals(m_error, ((MissingCell)dc).m_error);
    }

    @Override
    public int hashCode() {
        return Objects.hashCode(m_error);
    }
}
