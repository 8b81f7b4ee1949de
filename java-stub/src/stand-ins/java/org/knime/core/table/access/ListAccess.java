/*
 * STAND-IN, never shipped: the name and the signatures are those of KNIME's public API, so that our classes compile and
 * run in tests where KNIME is not installed. What it does is our own, and only as much as the tests need.
 */
package org.knime.core.table.access;

import org.knime.core.table.schema.DataSpec;
import org.knime.core.table.schema.ListDataSpec;

/** Reads and writes lists. */
public final class ListAccess {

    private ListAccess() {
    }

    /** Reads a list. */
    public interface ListReadAccess extends ReadAccess {

        /**
         * @param <R> how the items are read
         * @return the item at which the list stands
         */
        <R extends ReadAccess> R getAccess();

        /** @param index the item to stand at */
        void setIndex(int index);

        /**
         * @param index the number of an item
         * @return whether it has no value
         */
        boolean isMissing(int index);

        /** @return the number of items */
        int size();

        @Override
        default DataSpec getDataSpec() {
            return new ListDataSpec(getAccess().getDataSpec());
        }
    }

    /** Writes a list. */
    public interface ListWriteAccess extends WriteAccess {

        /**
         * @param <W> how the items are written
         * @return the item at which the list stands
         */
        <W extends WriteAccess> W getWriteAccess();

        /** @param index the item to stand at */
        void setWriteIndex(final int index);

        /** @param size the number of items */
        void create(int size);
    }
}
