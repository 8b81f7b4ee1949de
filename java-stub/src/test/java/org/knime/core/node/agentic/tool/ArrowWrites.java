package org.knime.core.node.agentic.tool;

import java.nio.charset.StandardCharsets;
import java.util.function.IntSupplier;

import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.IntVector;
import org.apache.arrow.vector.TinyIntVector;
import org.apache.arrow.vector.VarCharVector;
import org.apache.arrow.vector.complex.ListVector;
import org.apache.arrow.vector.complex.StructVector;
import org.knime.core.table.access.ByteAccess.ByteReadAccess;
import org.knime.core.table.access.ByteAccess.ByteWriteAccess;
import org.knime.core.table.access.IntAccess.IntReadAccess;
import org.knime.core.table.access.IntAccess.IntWriteAccess;
import org.knime.core.table.access.ListAccess.ListReadAccess;
import org.knime.core.table.access.ListAccess.ListWriteAccess;
import org.knime.core.table.access.ReadAccess;
import org.knime.core.table.access.StringAccess.StringReadAccess;
import org.knime.core.table.access.StringAccess.StringWriteAccess;
import org.knime.core.table.access.StructAccess.StructReadAccess;
import org.knime.core.table.access.StructAccess.StructWriteAccess;
import org.knime.core.table.access.WriteAccess;

/** Writes Arrow vectors through KNIME's access interfaces, at whatever row the caller stands. */
final class ArrowWrites {

    private ArrowWrites() {
    }

    /** Whoever writes into a struct makes it present. */
    static WriteAccess of(final FieldVector vector, final IntSupplier row) {
        return of(vector, row, () -> {
        });
    }

    private static WriteAccess of(final FieldVector vector, final IntSupplier row, final Runnable touched) {
        if (vector instanceof StructVector struct) {
            return new StructWrite(struct, row, touched);
        }
        if (vector instanceof ListVector list) {
            return new ListWrite(list, row, touched);
        }
        if (vector instanceof VarCharVector text) {
            return new StringWrite(text, row, touched);
        }
        if (vector instanceof IntVector number) {
            return new IntWrite(number, row, touched);
        }
        return new ByteWrite((TinyIntVector)vector, row, touched);
    }

    private record ByteWrite(TinyIntVector vector, IntSupplier row, Runnable touched) implements ByteWriteAccess {

        @Override
        public void setMissing() {
            vector.setNull(row.getAsInt());
        }

        @Override
        public void setByteValue(final byte value) {
            vector.setSafe(row.getAsInt(), value);
            touched.run();
        }

        @Override
        public void setFrom(final ReadAccess access) {
            if (access.isMissing()) {
                setMissing();
            } else {
                setByteValue(((ByteReadAccess)access).getByteValue());
            }
        }
    }

    private record IntWrite(IntVector vector, IntSupplier row, Runnable touched) implements IntWriteAccess {

        @Override
        public void setMissing() {
            vector.setNull(row.getAsInt());
        }

        @Override
        public void setIntValue(final int value) {
            vector.setSafe(row.getAsInt(), value);
            touched.run();
        }

        @Override
        public void setFrom(final ReadAccess access) {
            if (access.isMissing()) {
                setMissing();
            } else {
                setIntValue(((IntReadAccess)access).getIntValue());
            }
        }
    }

    private record StringWrite(VarCharVector vector, IntSupplier row, Runnable touched) implements StringWriteAccess {

        @Override
        public void setMissing() {
            vector.setNull(row.getAsInt());
        }

        @Override
        public void setStringValue(final String value) {
            vector.setSafe(row.getAsInt(), value.getBytes(StandardCharsets.UTF_8));
            touched.run();
        }

        @Override
        public void setFrom(final ReadAccess access) {
            if (access.isMissing()) {
                setMissing();
            } else {
                setStringValue(((StringReadAccess)access).getStringValue());
            }
        }
    }

    private static final class StructWrite implements StructWriteAccess {

        private final StructVector m_vector;

        private final IntSupplier m_row;

        private final WriteAccess[] m_children;

        StructWrite(final StructVector vector, final IntSupplier row, final Runnable touched) {
            m_vector = vector;
            m_row = row;
            final Runnable present = () -> {
                vector.setIndexDefined(row.getAsInt());
                touched.run();
            };
            m_children = vector.getChildrenFromFields().stream().map(child -> of(child, row, present))
                .toArray(WriteAccess[]::new);
        }

        @Override
        public void setMissing() {
            m_vector.setNull(m_row.getAsInt());
            for (final var child : m_children) {
                child.setMissing();
            }
        }

        @Override
        public int size() {
            return m_children.length;
        }

        @Override
        @SuppressWarnings("unchecked") // the caller names the type, as in KNIME
        public <W extends WriteAccess> W getWriteAccess(final int index) {
            return (W)m_children[index];
        }

        @Override
        public void setFrom(final ReadAccess access) {
            if (access.isMissing()) {
                setMissing();
                return;
            }
            for (var i = 0; i < m_children.length; i++) {
                m_children[i].setFrom(((StructReadAccess)access).getAccess(i));
            }
        }
    }

    private static final class ListWrite implements ListWriteAccess {

        private final ListVector m_vector;

        private final IntSupplier m_row;

        private final Runnable m_touched;

        private final WriteAccess m_item;

        private int m_start;

        private int m_index;

        ListWrite(final ListVector vector, final IntSupplier row, final Runnable touched) {
            m_vector = vector;
            m_row = row;
            m_touched = touched;
            m_item = of(vector.getDataVector(), () -> m_start + m_index, touched);
        }

        @Override
        public void setMissing() {
            m_vector.setNull(m_row.getAsInt());
        }

        @Override
        @SuppressWarnings("unchecked") // the caller names the type, as in KNIME
        public <W extends WriteAccess> W getWriteAccess() {
            return (W)m_item;
        }

        @Override
        public void setWriteIndex(final int index) {
            m_index = index;
        }

        @Override
        public void create(final int size) {
            m_start = m_vector.startNewValue(m_row.getAsInt());
            m_vector.endValue(m_row.getAsInt(), size);
            m_touched.run();
        }

        @Override
        public void setFrom(final ReadAccess access) {
            if (access.isMissing()) {
                setMissing();
                return;
            }
            final var list = (ListReadAccess)access;
            create(list.size());
            for (var i = 0; i < list.size(); i++) {
                list.setIndex(i);
                setWriteIndex(i);
                m_item.setFrom(list.getAccess());
            }
        }
    }
}
