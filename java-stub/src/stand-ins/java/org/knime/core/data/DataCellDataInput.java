/*
 * STAND-IN, never shipped: the name and the signatures are those of KNIME's public API, so that our classes compile and
 * run in tests where KNIME is not installed. What it does is our own, and only as much as the tests need.
 */
package org.knime.core.data;

import java.io.DataInput;
import java.io.IOException;

/** Where a serializer reads from. */
public interface DataCellDataInput extends DataInput {

    /**
     * @return a cell within the cell
     * @throws IOException if reading fails
     */
    DataCell readDataCell() throws IOException;
}
