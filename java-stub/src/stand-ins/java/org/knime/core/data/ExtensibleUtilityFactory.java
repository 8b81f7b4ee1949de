/*
 * STAND-IN, never shipped: the name and the signatures are those of KNIME's public API, so that our classes compile and
 * run in tests where KNIME is not installed. What it does is our own, and only as much as the tests need.
 */
package org.knime.core.data;

import org.knime.core.data.DataValue.UtilityFactory;

/** Describes a value class whose renderers can be extended. */
public abstract class ExtensibleUtilityFactory extends UtilityFactory {

    /** @param valueClass the class described */
    public ExtensibleUtilityFactory(final Class<? extends DataValue> valueClass) {
        // nothing to register where there are no renderers
    }

    /** @return the name of the type for people */
    public abstract String getName();
}
