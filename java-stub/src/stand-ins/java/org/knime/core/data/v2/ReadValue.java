/*
 * STAND-IN, never shipped: the name and the signatures are those of KNIME's public API, so that our classes compile and
 * run in tests where KNIME is not installed. What it does is our own, and only as much as the tests need.
 */
package org.knime.core.data.v2;

import org.knime.core.data.DataCell;
import org.knime.core.data.DataValue;

/** A value that is read from where an access stands. */
public interface ReadValue extends DataValue {

    /** @return the value as a cell that can be kept */
    DataCell getDataCell();

    @Override
    default DataCell materializeDataCell() {
        return getDataCell();
    }
}
