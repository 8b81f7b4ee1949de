/*
 * STAND-IN, never shipped: the name and the signatures are those of KNIME's public API, so that our classes compile and
 * run in tests where KNIME is not installed. What it does is our own, and only as much as the tests need.
 */
package org.knime.core.data;

import java.io.Serializable;

/** An immutable value in a table. */
public abstract class DataCell implements DataValue, Serializable {

    private static final long serialVersionUID = 1L;

    @Override
    public DataCell materializeDataCell() {
        return this;
    }

    /** @return whether this is a missing value */
    public boolean isMissing() {
        return this instanceof MissingValue;
    }

    @Override
    public abstract String toString();

    @Override
    public final boolean equals(final Object o) {
        return this == o || o instanceof DataCell cell && cell.getClass() == getClass() && equalsDataCell(cell);
    }

    /**
     * @param dc another cell of the same class
     * @return whether both are equal
     */
    protected abstract boolean equalsDataCell(final DataCell dc);

    @Override
    public abstract int hashCode();
}
