/*
 * STAND-IN, never shipped: the name and the signatures are those of KNIME's public API, so that our classes compile and
 * run in tests where KNIME is not installed. What it does is our own, and only as much as the tests need.
 */
package org.knime.core.table.schema;

/** Stored form of a list. */
public final class ListDataSpec implements DataSpec {

    private final DataSpec m_inner;

    /** @param inner the stored form of the items */
    public ListDataSpec(final DataSpec inner) {
        m_inner = inner;
    }

    /** @return the stored form of the items */
    public DataSpec getInner() {
        return m_inner;
    }

    @Override
    public boolean equals(final Object obj) {
        return obj instanceof ListDataSpec other && m_inner.equals(other.m_inner);
    }

    @Override
    public int hashCode() {
        return m_inner.hashCode() + 1;
    }

    @Override
    public String toString() {
        return "List[" + m_inner + "]";
    }
}
