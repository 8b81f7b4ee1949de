/*
 * STAND-IN, never shipped: the name and the signatures are those of KNIME's public API, so that our classes compile and
 * run in tests where KNIME is not installed. What it does is our own, and only as much as the tests need.
 */
package org.knime.core.data;

import java.io.DataOutput;
import java.io.IOException;

/** Where a serializer writes to. */
public interface DataCellDataOutput extends DataOutput {

    /** Writes a text of any length. */
    @Override
    void writeUTF(final String s) throws IOException;

    /**
     * @param cell a cell within the cell
     * @throws IOException if writing fails
     */
    void writeDataCell(final DataCell cell) throws IOException;
}
