package org.knime.core.node.agentic.tool;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.VarCharVector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.ipc.ArrowFileReader;
import org.apache.arrow.vector.ipc.ArrowFileWriter;
import org.apache.arrow.vector.types.pojo.ArrowType;
import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.types.pojo.FieldType;
import org.apache.arrow.vector.types.pojo.Schema;
import org.knime.core.table.access.StructAccess.StructReadAccess;
import org.knime.core.table.access.StructAccess.StructWriteAccess;
import org.knime.core.table.schema.ByteDataSpec;
import org.knime.core.table.schema.DataSpec;
import org.knime.core.table.schema.IntDataSpec;
import org.knime.core.table.schema.ListDataSpec;
import org.knime.core.table.schema.StructDataSpec;

/** Tables of row keys and one column of structs, as Arrow IPC files in KNIME's layout. */
final class ArrowTables {

    private static final FieldType TEXT = FieldType.nullable(ArrowType.Utf8.INSTANCE);

    private ArrowTables() {
    }

    /** Writes the value of a row. */
    interface RowWriter {

        void write(int row) throws IOException;
    }

    /** Sees the value of a row; the access is missing for a missing value. */
    interface RowReader {

        void read(int row, StructReadAccess access) throws IOException;
    }

    /** Makes the writer of rows, given where it writes to. */
    interface WriterMaker {

        RowWriter make(StructWriteAccess access);
    }

    /** Makes the copier of rows, given where it reads from and writes to. */
    interface CopierMaker {

        RowWriter make(StructReadAccess source, StructWriteAccess target);
    }

    /** Writes a file batch by batch. */
    private static final class TableWriter implements AutoCloseable {

        private final BufferAllocator m_memory = new RootAllocator();

        private final VectorSchemaRoot m_root;

        private final FileChannel m_channel;

        private final ArrowFileWriter m_writer;

        private int m_row;

        private int m_rows;

        TableWriter(final Path file, final Class<?> factory, final DataSpec spec) throws IOException {
            final var logicalType = "{\"value_factory_class\":\"%s\"}".formatted(factory.getName());
            final var type = new FieldType(true, ArrowType.Struct.INSTANCE, null,
                Map.of("ARROW:extension:name", "knime.logical_type", "ARROW:extension:metadata", logicalType));
            m_root = VectorSchemaRoot.create(
                new Schema(List.of(new Field("0", TEXT, null), new Field("1", type, children((StructDataSpec)spec)))),
                m_memory);
            m_channel = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE,
                StandardOpenOption.TRUNCATE_EXISTING);
            m_writer = new ArrowFileWriter(m_root, null, m_channel);
            m_writer.start();
        }

        StructWriteAccess access() {
            return (StructWriteAccess)ArrowWrites.of(m_root.getVector(1), () -> m_row);
        }

        /** Writes a batch; the writer gets the number of each row within the batch. */
        void batch(final int size, final RowWriter writer) throws IOException {
            m_root.clear();
            m_root.allocateNew();
            final var keys = (VarCharVector)m_root.getVector(0);
            for (m_row = 0; m_row < size; m_row++) {
                keys.setSafe(m_row, ("Row" + m_rows++).getBytes(StandardCharsets.UTF_8));
                writer.write(m_row);
            }
            m_root.setRowCount(size);
            m_writer.writeBatch();
        }

        @Override
        public void close() throws IOException {
            m_writer.end();
            m_writer.close();
            m_channel.close();
            m_root.close();
            m_memory.close();
        }
    }

    /** Writes a column of so many rows, in batches. */
    static void write(final Path file, final Class<?> factory, final DataSpec spec, final int rows, final int batch,
        final WriterMaker maker) throws IOException {
        try (var table = new TableWriter(file, factory, spec)) {
            final var writer = maker.make(table.access());
            for (var start = 0; start < rows; start += batch) {
                final var first = start;
                table.batch(Math.min(batch, rows - start), row -> writer.write(first + row));
            }
        }
    }

    /** Copies a file row by row; the batches stay as they are. */
    static void copy(final Path from, final Path to, final Class<?> factory, final DataSpec spec,
        final CopierMaker maker) throws IOException {
        final var at = new int[1];
        try (BufferAllocator memory = new RootAllocator(); var channel = FileChannel.open(from);
                var arrow = new ArrowFileReader(channel, memory); var table = new TableWriter(to, factory, spec)) {
            final var source = arrow.getVectorSchemaRoot();
            final var copier = maker.make((StructReadAccess)ArrowReads.of(source.getVector(1), () -> at[0]),
                table.access());
            while (arrow.loadNextBatch()) {
                table.batch(source.getRowCount(), row -> {
                    at[0] = row;
                    copier.write(row);
                });
            }
        }
    }

    private static List<Field> children(final StructDataSpec spec) {
        return IntStream.range(0, spec.size()).mapToObj(i -> field(Integer.toString(i), spec.getDataSpec(i))).toList();
    }

    private static Field field(final String name, final DataSpec spec) {
        if (spec instanceof StructDataSpec struct) {
            return new Field(name, FieldType.nullable(ArrowType.Struct.INSTANCE), children(struct));
        }
        if (spec instanceof ListDataSpec list) {
            return new Field(name, FieldType.nullable(ArrowType.List.INSTANCE),
                List.of(field("$data$", list.getInner())));
        }
        if (spec == ByteDataSpec.INSTANCE) {
            return new Field(name, FieldType.nullable(new ArrowType.Int(8, true)), null);
        }
        return spec == IntDataSpec.INSTANCE ? new Field(name, FieldType.nullable(new ArrowType.Int(32, true)), null)
            : new Field(name, TEXT, null);
    }

    /** Reads a column; the sizes of its batches. */
    static List<Integer> read(final Path file, final RowReader reader) throws IOException {
        final List<Integer> batches = new ArrayList<>();
        final var row = new int[1];
        try (BufferAllocator memory = new RootAllocator(); var channel = FileChannel.open(file);
                var arrow = new ArrowFileReader(channel, memory)) {
            final var root = arrow.getVectorSchemaRoot();
            final FieldVector tools = root.getVector(1);
            var done = 0;
            while (arrow.loadNextBatch()) {
                final var access = (StructReadAccess)ArrowReads.of(tools, () -> row[0]);
                for (row[0] = 0; row[0] < root.getRowCount(); row[0]++) {
                    reader.read(done + row[0], access);
                }
                done += root.getRowCount();
                batches.add(root.getRowCount());
            }
        }
        return batches;
    }

    /** What a file says of its column of structs. */
    static Field column(final Path file) throws IOException {
        try (BufferAllocator memory = new RootAllocator(); var channel = FileChannel.open(file);
                var arrow = new ArrowFileReader(channel, memory)) {
            return arrow.getVectorSchemaRoot().getSchema().getFields().get(1);
        }
    }
}
