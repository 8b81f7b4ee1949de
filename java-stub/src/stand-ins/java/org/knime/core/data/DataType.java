/*
 * STAND-IN, never shipped: the name and the signatures are those of KNIME's public API, so that our classes compile and
 * run in tests where KNIME is not installed. What it does is our own, and only as much as the tests need.
 */
package org.knime.core.data;

/** The type of a column. */
public final class DataType {

    private final Class<? extends DataCell> m_cellClass;

    private DataType(final Class<? extends DataCell> cellClass) {
        m_cellClass = cellClass;
    }

    /**
     * @param cell a class of cells
     * @return the type of columns of such cells
     */
    public static DataType getType(final Class<? extends DataCell> cell) {
        return new DataType(cell);
    }

    /**
     * @param valueClass a value interface
     * @return whether cells of this type offer it
     */
    public boolean isCompatible(final Class<? extends DataValue> valueClass) {
        return valueClass.isAssignableFrom(m_cellClass);
    }
}
