/*
 * STAND-IN, never shipped: the name and the signatures are those of KNIME's public API, so that our classes compile and
 * run in tests where KNIME is not installed. What it does is our own, and only as much as the tests need.
 */
package org.knime.core.table.schema;

/** The stored form of a value. */
public interface DataSpec {

    /** @return one byte */
    static ByteDataSpec byteSpec() {
        return ByteDataSpec.INSTANCE;
    }

    /** @return a number of 32 bits */
    static IntDataSpec intSpec() {
        return IntDataSpec.INSTANCE;
    }

    /** @return a text */
    static StringDataSpec stringSpec() {
        return StringDataSpec.INSTANCE;
    }
}
