/*
 * STAND-IN, never shipped: the name and the signatures are those of KNIME's public API, so that our classes compile and
 * run in tests where KNIME is not installed. What it does is our own, and only as much as the tests need.
 */
package org.knime.core.data.v2;

import org.knime.core.data.DataValue;

/**
 * Writes values where an access stands.
 *
 * @param <D> the value class
 */
public interface WriteValue<D extends DataValue> {

    /** @param value the value */
    void setValue(D value);
}
