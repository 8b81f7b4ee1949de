/*
 * STAND-IN, never shipped: the name and the signatures are those of KNIME's public API, so that our classes compile and
 * run in tests where KNIME is not installed. What it does is our own, and only as much as the tests need.
 */
package org.knime.core.table.access;

import org.knime.core.table.schema.DataSpec;

/** Reads and writes values of type String. */
public final class StringAccess {

    private StringAccess() {
    }

    /** Reads a value. */
    public interface StringReadAccess extends ReadAccess {

        /** @return the value */
        String getStringValue();

        @Override
        default DataSpec getDataSpec() {
            return DataSpec.stringSpec();
        }
    }

    /** Writes a value. */
    public interface StringWriteAccess extends WriteAccess {

        /** @param value the value */
        void setStringValue(final String value);
    }
}
