package org.knime.core.node.agentic.tool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.knime.core.data.filestore.FileStoreUtil;
import org.knime.core.node.agentic.tool.ToolValueFactory.ToolReadValue;
import org.knime.core.table.access.StructAccess.StructReadAccess;

import com.fasterxml.jackson.databind.JsonNode;

/**
 * Files that go from one language to the other. Here Java reads those that Python wrote and writes its own; the Python
 * tests then read these.
 */
@SuppressWarnings("deprecation") // the older layout is deprecated and has to stay readable
class CrossLanguageTest {

    private static final Path EXCHANGE = Path.of(System.getProperty("knime.mcp.exchange"));

    @TempDir
    private Path m_folder;

    private final ToolValueFactory m_factory = new ToolValueFactory();

    private final WorkflowFileStores m_fileStores = new WorkflowFileStores();

    private final WorkflowToolValueFactory m_older = new WorkflowToolValueFactory();

    static List<Golden.Column> columns() {
        return Golden.columns();
    }

    static List<Golden.Column> olderColumns() {
        return Golden.olderColumns();
    }

    @BeforeEach
    void prepare() throws IOException {
        Files.createDirectories(EXCHANGE);
        final var node = new FileStores(m_folder).golden();
        m_factory.initializeForWriting(node);
        m_older.initializeForWriting(node);
        m_fileStores.initializeForWriting(node);
    }

    private static Path fromPython(final String way, final Golden.Column column) {
        final var file = EXCHANGE.resolve("python-%s-%s.arrow".formatted(way, column));
        assumeTrue(Files.exists(file), () -> "Python has written no " + file + ": run `make java`");
        return file;
    }

    private static Path toPython(final String way, final Golden.Column column) {
        return EXCHANGE.resolve("java-%s-%s.arrow".formatted(way, column));
    }

    private static void assertBatches(final Golden.Column column, final List<Integer> batches) {
        final var rows = column.cells().size();
        final var expected = IntStream.iterate(0, start -> start < rows, start -> start + column.batch())
            .map(start -> Math.min(column.batch(), rows - start)).boxed().toList();
        assertEquals(expected, batches);
    }

    /** Reads a column of tools; a missing cell is null. */
    private void read(final Path file, final Golden.Column column, final CellReader reader) throws IOException {
        assertBatches(column, ArrowTables.read(file, (row, access) -> reader.read(row,
            access.isMissing() ? null : m_factory.createReadValue(access))));
    }

    private interface CellReader {

        void read(int row, ToolReadValue value);
    }

    @ParameterizedTest
    @MethodSource("columns")
    void javaReadsEveryFieldThatPythonStored(final Golden.Column column) throws IOException {
        final Map<JsonNode, ToolContent> expected = new IdentityHashMap<>();
        read(fromPython("stored", column), column, (row, value) -> {
            final var fields = column.cells().get(row);
            assertEquals(fields == null ? null : expected.computeIfAbsent(fields, Golden::content),
                value == null ? null : value.cell().content());
        });
    }

    @ParameterizedTest
    @MethodSource("columns")
    void javaReadsTheToolsThatPythonEncoded(final Golden.Column column) throws IOException {
        final Map<JsonNode, ToolView> expected = new IdentityHashMap<>();
        read(fromPython("encoded", column), column, (row, value) -> {
            final var fields = column.cells().get(row);
            assertEquals(
                fields == null ? null
                    : expected.computeIfAbsent(fields, known -> ToolView.of(new ToolCell(Golden.content(known)))),
                value == null ? null : ToolView.of(value.cell()));
        });
    }

    @ParameterizedTest
    @MethodSource("columns")
    void javaWritesToolsMadeInJava(final Golden.Column column) throws IOException {
        final var file = toPython("made", column);
        write(file, column, row -> new ToolCell(Golden.content(column.cells().get(row))));
        read(file, column, (row, value) -> assertEquals(column.cells().get(row) == null, value == null));
        assertEquals(Map.of("ARROW:extension:name", "knime.logical_type", "ARROW:extension:metadata",
            "{\"value_factory_class\":\"org.knime.core.node.agentic.tool.ToolValueFactory\"}"),
            ArrowTables.column(file).getMetadata());
    }

    @ParameterizedTest
    @MethodSource("columns")
    void javaWritesToolsKeptFromPython(final Golden.Column column) throws IOException {
        final var cells = new ToolCell[column.cells().size()];
        read(fromPython("stored", column), column, (row, value) -> cells[row] = value == null ? null
            : assertInstanceOf(ToolCell.class, value.getDataCell()));
        for (final var cell : cells) {
            final var isWorkflow = cell != null && cell.getToolType() == ToolType.WORKFLOW;
            assertEquals(isWorkflow, cell != null && FileStoreUtil.getNumFileStores(cell) > 0);
        }
        write(toPython("kept", column), column, row -> cells[row]);
    }

    private void write(final Path file, final Golden.Column column, final CellMaker maker) throws IOException {
        ArrowTables.write(file, ToolValueFactory.class, m_factory.getSpec(), column.cells().size(), column.batch(),
            access -> {
                final var value = m_factory.createWriteValue(access);
                return row -> {
                    if (column.cells().get(row) == null) {
                        access.setMissing();
                    } else {
                        value.setValue(maker.make(row));
                    }
                };
            });
    }

    private interface CellMaker {

        ToolCell make(int row);
    }

    @ParameterizedTest
    @MethodSource("columns")
    void javaCopiesRowsWithoutMakingCells(final Golden.Column column) throws IOException {
        final var to = toPython("copied", column);
        ArrowTables.copy(fromPython("stored", column), to, ToolValueFactory.class, m_factory.getSpec(), (source, target) -> {
            final var read = m_factory.createReadValue(source);
            final var write = m_factory.createWriteValue(target);
            return row -> {
                if (source.isMissing()) {
                    target.setMissing();
                } else {
                    write.setValue(read);
                }
            };
        });
        assertBatches(column, ArrowTables.read(to, (row, access) -> {
            // only the batches matter
        }));
    }

    @ParameterizedTest
    @MethodSource("olderColumns")
    void javaReadsAndCopiesTheOlderLayoutOfPython(final Golden.Column column) throws IOException {
        final var file = fromPython("older", column);
        assertBatches(column, ArrowTables.read(file, (row, access) -> assertOlder(column.cells().get(row), access)));
        ArrowTables.copy(file, toPython("copied", column), WorkflowToolValueFactory.class, m_older.getSpec(),
            (source, target) -> {
                final var read = m_older.createReadValue(source);
                final var write = m_older.createWriteValue(target);
                return row -> {
                    if (source.isMissing()) {
                        target.setMissing();
                    } else {
                        write.setValue(read);
                    }
                };
            });
    }

    private void assertOlder(final JsonNode expected, final StructReadAccess access) {
        assertEquals(expected == null, access.isMissing());
        if (expected == null) {
            return;
        }
        final var made = Golden.olderContent(expected);
        final var cell = assertInstanceOf(WorkflowToolCell.class, m_older.createReadValue(access).getDataCell());
        assertEquals(OlderView.of(made), OlderView.of(cell));
        assertEquals(expected.get("0").isNull() ? "" : expected.get("0").textValue(), WorkflowFileStores.keys(cell));
    }

    /** What an older cell holds. Python writes {} where KNIME writes nothing. */
    private record OlderView(String name, String description, String parameters, List<ToolValue.ToolPort> inputs,
        List<ToolValue.ToolPort> outputs, int messagePort) {

        static OlderView of(final WorkflowToolCell cell) {
            final var parameters = cell.getParameterSchema();
            return new OlderView(cell.getName(), cell.getDescription(), parameters.isEmpty() ? "{}" : parameters,
                List.of(cell.getInputs()), List.of(cell.getOutputs()), cell.getMessageOutputPortIndex());
        }
    }

    @ParameterizedTest
    @MethodSource("olderColumns")
    void javaWritesTheOlderLayout(final Golden.Column column) throws IOException {
        ArrowTables.write(toPython("made", column), WorkflowToolValueFactory.class, m_older.getSpec(),
            column.cells().size(), column.batch(), access -> {
                final var value = m_older.createWriteValue(access);
                return row -> {
                    final var cell = column.cells().get(row);
                    if (cell == null) {
                        access.setMissing();
                    } else {
                        final var made = Golden.olderContent(cell);
                        m_fileStores.load(made, cell.get("0").textValue());
                        value.setValue(made);
                    }
                };
            });
    }
}
