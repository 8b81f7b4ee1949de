/*
 * STAND-IN, never shipped: the name and the signatures are those of KNIME's public API, so that our classes compile and
 * run in tests where KNIME is not installed. What it does is our own, and only as much as the tests need.
 */
package org.knime.core.table.schema;

/** Stored form of a byte. */
public final class ByteDataSpec implements DataSpec {

    /** The only one. */
    public static final ByteDataSpec INSTANCE = new ByteDataSpec();

    private ByteDataSpec() {
    }

    @Override
    public String toString() {
        return "Byte";
    }
}
