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
import org.knime.core.table.access.IntAccess.IntReadAccess;
import org.knime.core.table.access.ListAccess.ListReadAccess;
import org.knime.core.table.access.ReadAccess;
import org.knime.core.table.access.StringAccess.StringReadAccess;
import org.knime.core.table.access.StructAccess.StructReadAccess;

/** Reads Arrow vectors through KNIME's access interfaces, at whatever row the caller stands. */
final class ArrowReads {

    private ArrowReads() {
    }

    static ReadAccess of(final FieldVector vector, final IntSupplier row) {
        if (vector instanceof StructVector struct) {
            return new StructRead(struct, row);
        }
        if (vector instanceof ListVector list) {
            return new ListRead(list, row);
        }
        if (vector instanceof VarCharVector text) {
            return new StringRead(text, row);
        }
        if (vector instanceof IntVector number) {
            return new IntRead(number, row);
        }
        return new ByteRead((TinyIntVector)vector, row);
    }

    private record ByteRead(TinyIntVector vector, IntSupplier row) implements ByteReadAccess {

        @Override
        public boolean isMissing() {
            return vector.isNull(row.getAsInt());
        }

        @Override
        public byte getByteValue() {
            return vector.get(row.getAsInt());
        }
    }

    private record IntRead(IntVector vector, IntSupplier row) implements IntReadAccess {

        @Override
        public boolean isMissing() {
            return vector.isNull(row.getAsInt());
        }

        @Override
        public int getIntValue() {
            return vector.get(row.getAsInt());
        }
    }

    private record StringRead(VarCharVector vector, IntSupplier row) implements StringReadAccess {

        @Override
        public boolean isMissing() {
            return vector.isNull(row.getAsInt());
        }

        @Override
        public String getStringValue() {
            return new String(vector.get(row.getAsInt()), StandardCharsets.UTF_8);
        }
    }

    private static final class StructRead implements StructReadAccess {

        private final StructVector m_vector;

        private final IntSupplier m_row;

        private final ReadAccess[] m_children;

        StructRead(final StructVector vector, final IntSupplier row) {
            m_vector = vector;
            m_row = row;
            m_children =
                vector.getChildrenFromFields().stream().map(child -> of(child, row)).toArray(ReadAccess[]::new);
        }

        @Override
        public boolean isMissing() {
            return m_vector.isNull(m_row.getAsInt());
        }

        @Override
        public int size() {
            return m_children.length;
        }

        @Override
        @SuppressWarnings("unchecked") // the caller names the type, as in KNIME
        public <R extends ReadAccess> R getAccess(final int index) {
            return (R)m_children[index];
        }
    }

    private static final class ListRead implements ListReadAccess {

        private final ListVector m_vector;

        private final IntSupplier m_row;

        private final ReadAccess m_item;

        private int m_index;

        ListRead(final ListVector vector, final IntSupplier row) {
            m_vector = vector;
            m_row = row;
            m_item = of(vector.getDataVector(), () -> vector.getElementStartIndex(row.getAsInt()) + m_index);
        }

        @Override
        public boolean isMissing() {
            return m_vector.isNull(m_row.getAsInt());
        }

        @Override
        @SuppressWarnings("unchecked") // the caller names the type, as in KNIME
        public <R extends ReadAccess> R getAccess() {
            return (R)m_item;
        }

        @Override
        public void setIndex(final int index) {
            m_index = index;
        }

        @Override
        public boolean isMissing(final int index) {
            return m_vector.getDataVector().isNull(m_vector.getElementStartIndex(m_row.getAsInt()) + index);
        }

        @Override
        public int size() {
            return m_vector.getElementEndIndex(m_row.getAsInt()) - m_vector.getElementStartIndex(m_row.getAsInt());
        }
    }
}
