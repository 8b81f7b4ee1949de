/*
 * STAND-IN, never shipped: the name and the signatures are those of KNIME's public API, so that our classes compile and
 * run in tests where KNIME is not installed. What it does is our own, and only as much as the tests need.
 */
package org.knime.core.table.schema;

import java.util.Arrays;

/** Stored form of several values side by side. */
public final class StructDataSpec implements DataSpec {

    private final DataSpec[] m_inner;

    /** @param inner the stored forms of the children */
    public StructDataSpec(final DataSpec... inner) {
        m_inner = inner.clone();
    }

    /**
     * @param i the number of a child
     * @return its stored form
     */
    public DataSpec getDataSpec(final int i) {
        return m_inner[i];
    }

    /** @return the number of children */
    public int size() {
        return m_inner.length;
    }

    @Override
    public boolean equals(final Object obj) {
        return obj instanceof StructDataSpec other && Arrays.equals(m_inner, other.m_inner);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(m_inner);
    }

    @Override
    public String toString() {
        return "Struct" + Arrays.toString(m_inner);
    }
}
