package org.knime.core.node.agentic.tool;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;

import org.knime.core.data.DataCell;
import org.knime.core.data.DataCellDataInput;
import org.knime.core.data.DataCellDataOutput;
import org.knime.core.data.DataCellSerializer;

/** Writes and reads cells in memory; texts may be of any length, as in KNIME. */
final class CellStream {

    private CellStream() {
    }

    static <T extends DataCell> T through(final DataCellSerializer<T> serializer, final T cell) throws IOException {
        final var bytes = new ByteArrayOutputStream();
        serializer.serialize(cell, new Output(bytes));
        final var input = new ByteArrayInputStream(bytes.toByteArray());
        final var read = serializer.deserialize(new Input(input));
        if (input.available() > 0) {
            throw new IOException("the serializer left %d bytes unread".formatted(input.available()));
        }
        return read;
    }

    static <T extends DataCell> T read(final DataCellSerializer<T> serializer, final byte[] bytes)
        throws IOException {
        return serializer.deserialize(new Input(new ByteArrayInputStream(bytes)));
    }

    // Delegates, because the texts of Java's own streams end at 64 KiB and cannot be overridden.
    private static final class Output extends FilterOutputStream implements DataCellDataOutput {

        private final DataOutputStream m_data;

        Output(final OutputStream target) {
            super(target);
            m_data = new DataOutputStream(target);
        }

        @Override
        public void writeUTF(final String s) throws IOException {
            final var bytes = s.getBytes(StandardCharsets.UTF_8);
            m_data.writeInt(bytes.length);
            m_data.write(bytes);
        }

        @Override
        public void writeDataCell(final DataCell cell) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void writeBoolean(final boolean v) throws IOException {
            m_data.writeBoolean(v);
        }

        @Override
        public void writeByte(final int v) throws IOException {
            m_data.writeByte(v);
        }

        @Override
        public void writeShort(final int v) throws IOException {
            m_data.writeShort(v);
        }

        @Override
        public void writeChar(final int v) throws IOException {
            m_data.writeChar(v);
        }

        @Override
        public void writeInt(final int v) throws IOException {
            m_data.writeInt(v);
        }

        @Override
        public void writeLong(final long v) throws IOException {
            m_data.writeLong(v);
        }

        @Override
        public void writeFloat(final float v) throws IOException {
            m_data.writeFloat(v);
        }

        @Override
        public void writeDouble(final double v) throws IOException {
            m_data.writeDouble(v);
        }

        @Override
        public void writeBytes(final String s) throws IOException {
            m_data.writeBytes(s);
        }

        @Override
        public void writeChars(final String s) throws IOException {
            m_data.writeChars(s);
        }
    }

    private static final class Input implements DataCellDataInput {

        private final DataInputStream m_data;

        Input(final InputStream source) {
            m_data = new DataInputStream(source);
        }

        @Override
        public String readUTF() throws IOException {
            final var bytes = new byte[m_data.readInt()];
            m_data.readFully(bytes);
            return new String(bytes, StandardCharsets.UTF_8);
        }

        @Override
        public DataCell readDataCell() {
            throw new UnsupportedOperationException();
        }

        @Override
        public void readFully(final byte[] b) throws IOException {
            m_data.readFully(b);
        }

        @Override
        public void readFully(final byte[] b, final int off, final int len) throws IOException {
            m_data.readFully(b, off, len);
        }

        @Override
        public int skipBytes(final int n) throws IOException {
            return m_data.skipBytes(n);
        }

        @Override
        public boolean readBoolean() throws IOException {
            return m_data.readBoolean();
        }

        @Override
        public byte readByte() throws IOException {
            return m_data.readByte();
        }

        @Override
        public int readUnsignedByte() throws IOException {
            return m_data.readUnsignedByte();
        }

        @Override
        public short readShort() throws IOException {
            return m_data.readShort();
        }

        @Override
        public int readUnsignedShort() throws IOException {
            return m_data.readUnsignedShort();
        }

        @Override
        public char readChar() throws IOException {
            return m_data.readChar();
        }

        @Override
        public int readInt() throws IOException {
            return m_data.readInt();
        }

        @Override
        public long readLong() throws IOException {
            return m_data.readLong();
        }

        @Override
        public float readFloat() throws IOException {
            return m_data.readFloat();
        }

        @Override
        public double readDouble() throws IOException {
            return m_data.readDouble();
        }

        @Override
        public String readLine() {
            throw new UnsupportedOperationException();
        }
    }
}
