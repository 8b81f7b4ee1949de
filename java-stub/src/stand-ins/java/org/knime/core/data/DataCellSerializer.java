/*
 * STAND-IN, never shipped: the name and the signatures are those of KNIME's public API, so that our classes compile and
 * run in tests where KNIME is not installed. What it does is our own, and only as much as the tests need.
 */
package org.knime.core.data;

import java.io.IOException;

/**
 * Writes and reads the cells of one class.
 *
 * @param <T> the class
 */
public interface DataCellSerializer<T extends DataCell> {

    /**
     * @param cell the cell
     * @param output where it goes
     * @throws IOException if writing fails
     */
    void serialize(final T cell, final DataCellDataOutput output) throws IOException;

    /**
     * @param input where it comes from
     * @return the cell
     * @throws IOException if reading fails
     */
    T deserialize(final DataCellDataInput input) throws IOException;
}
