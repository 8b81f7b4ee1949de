/*
 * STAND-IN, never shipped: the name and the signatures are those of KNIME's public API, so that our classes compile and
 * run in tests where KNIME is not installed. What it does is our own, and only as much as the tests need.
 */
package org.knime.core.data.v2;

import org.knime.core.table.access.ReadAccess;
import org.knime.core.table.access.WriteAccess;
import org.knime.core.table.schema.DataSpec;

/**
 * Turns the stored form of a column into values and back.
 *
 * @param <R> how the stored form is read
 * @param <W> how it is written
 */
public interface ValueFactory<R extends ReadAccess, W extends WriteAccess> {

    /**
     * @param access the stored form
     * @return the value at which the access stands, wherever it is moved to
     */
    ReadValue createReadValue(R access);

    /**
     * @param access the stored form
     * @return writes values where the access stands
     */
    WriteValue<?> createWriteValue(W access);

    /** @return the stored form */
    DataSpec getSpec();
}
