/*
 * STAND-IN, never shipped: the name and the signatures are those of KNIME's public API, so that our classes compile and
 * run in tests where KNIME is not installed. What it does is our own, and only as much as the tests need.
 */
package org.knime.core.table.access;

import java.util.stream.IntStream;

import org.knime.core.table.schema.DataSpec;
import org.knime.core.table.schema.StructDataSpec;

/** Reads and writes structs. */
public final class StructAccess {

    private StructAccess() {
    }

    /** Reads a struct. */
    public interface StructReadAccess extends ReadAccess {

        /** @return the number of children */
        int size();

        /**
         * @param index the number of a child
         * @param <R> how it is read
         * @return the child
         */
        <R extends ReadAccess> R getAccess(int index);

        @Override
        default DataSpec getDataSpec() {
            return new StructDataSpec(IntStream.range(0, size()).mapToObj(i -> getAccess(i).getDataSpec())
                .toArray(DataSpec[]::new));
        }
    }

    /** Writes a struct. */
    public interface StructWriteAccess extends WriteAccess {

        /** @return the number of children */
        int size();

        /**
         * @param index the number of a child
         * @param <W> how it is written
         * @return the child
         */
        <W extends WriteAccess> W getWriteAccess(int index);
    }
}
