/*
 * STAND-IN, never shipped: the name and the signatures are those of KNIME's public API, so that our classes compile and
 * run in tests where KNIME is not installed. What it does is our own, and only as much as the tests need.
 */
package org.knime.core.table.access;

import org.knime.core.table.schema.DataSpec;

/** Reads and writes values of type byte. */
public final class ByteAccess {

    private ByteAccess() {
    }

    /** Reads a value. */
    public interface ByteReadAccess extends ReadAccess {

        /** @return the value */
        byte getByteValue();

        @Override
        default DataSpec getDataSpec() {
            return DataSpec.byteSpec();
        }
    }

    /** Writes a value. */
    public interface ByteWriteAccess extends WriteAccess {

        /** @param value the value */
        void setByteValue(final byte value);
    }
}
