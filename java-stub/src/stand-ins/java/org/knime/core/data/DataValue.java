/*
 * STAND-IN, never shipped: the name and the signatures are those of KNIME's public API, so that our classes compile and
 * run in tests where KNIME is not installed. What it does is our own, and only as much as the tests need.
 */
package org.knime.core.data;

/** What a cell offers to its readers. */
public interface DataValue {

    /** Describes the value class. */
    UtilityFactory UTILITY = new UtilityFactory();

    /** @return this value as a cell that can be kept */
    default DataCell materializeDataCell() {
        throw new UnsupportedOperationException("no cell behind " + getClass().getName());
    }

    /** Describes a value class. */
    class UtilityFactory {

        /** For subclasses only. */
        protected UtilityFactory() {
        }
    }
}
