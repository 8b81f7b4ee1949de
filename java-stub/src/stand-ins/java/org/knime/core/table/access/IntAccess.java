/*
 * STAND-IN, never shipped: the name and the signatures are those of KNIME's public API, so that our classes compile and
 * run in tests where KNIME is not installed. What it does is our own, and only as much as the tests need.
 */
package org.knime.core.table.access;

import org.knime.core.table.schema.DataSpec;

/** Reads and writes values of type int. */
public final class IntAccess {

    private IntAccess() {
    }

    /** Reads a value. */
    public interface IntReadAccess extends ReadAccess {

        /** @return the value */
        int getIntValue();

        @Override
        default DataSpec getDataSpec() {
            return DataSpec.intSpec();
        }
    }

    /** Writes a value. */
    public interface IntWriteAccess extends WriteAccess {

        /** @param value the value */
        void setIntValue(final int value);
    }
}
