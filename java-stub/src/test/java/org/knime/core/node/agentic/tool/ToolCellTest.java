package org.knime.core.node.agentic.tool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.UUID;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.knime.core.data.DataCell;
import org.knime.core.data.MissingCell;
import org.knime.core.data.filestore.FileStoreUtil;
import org.knime.core.data.v2.ReadValue;
import org.knime.core.node.ExecutionContext;
import org.knime.core.node.port.PortObject;
import org.knime.core.node.workflow.capture.CombinedExecutor;
import org.knime.core.node.workflow.capture.CombinedExecutor.PortId;

class ToolCellTest {

    private static final PortObject[] NO_INPUTS = {};

    @TempDir
    private Path m_folder;

    private FileStores m_fileStores;

    private final ToolValueFactory m_factory = new ToolValueFactory();

    @BeforeEach
    void prepare() throws IOException {
        m_fileStores = new FileStores(m_folder);
        m_factory.initializeForWriting(m_fileStores.golden());
    }

    static List<Golden.Column> smallColumns() {
        return Golden.columns().stream().filter(column -> column.cells().size() < 100).toList();
    }

    private static ToolCell mcpTool() {
        return new ToolCell(Golden.content(Golden.file("tool_columns.json").get("cells").get("mcp")));
    }

    /** A workflow tool as it comes from a table. */
    private ToolCell workflow(final String name) throws IOException {
        final var content = Golden.content(Golden.file("tool_columns.json").get("cells").get(name));
        final var read = new ToolCell[1];
        throughATable(m_factory, new ToolCell(content), (row, value) -> read[0] = value);
        return read[0];
    }

    private interface Sees {

        void cell(int row, ToolCell cell);
    }

    private void throughATable(final ToolValueFactory reader, final ToolValue tool, final Sees sees)
        throws IOException {
        final var file = m_folder.resolve("table.arrow");
        ArrowTables.write(file, ToolValueFactory.class, m_factory.getSpec(), 1, 1, access -> {
            final var value = m_factory.createWriteValue(access);
            return row -> value.setValue(tool);
        });
        ArrowTables.read(file, (row, access) -> sees.cell(row,
            access.isMissing() ? null : reader.createReadValue(access).cell()));
    }

    @Test
    void anMCPToolHasTheFieldsOfItsKindAndNoneOfTheOther() {
        final var tool = mcpTool();
        assertEquals(ToolType.MCP, tool.getToolType());
        assertEquals("Convert currency", tool.getName());
        assertEquals("convert_currency", tool.getToolName());
        assertEquals("https://example.org/mcp", tool.getServerUri());
        assertEquals("bank", tool.getProvider());
        assertEquals("{\"readOnlyHint\": true, \"title\": \"Convert\"}", tool.getAnnotations());
        assertEquals("5f2b", tool.getFingerprint());
        assertEquals("{\"type\": \"object\", \"properties\": {\"result\": {\"type\": \"number\"}}}",
            tool.getOutputSchema());
        assertEquals(0, tool.getInputs().length + tool.getOutputs().length);
        assertEquals(-1, tool.getMessageOutputPortIndex());
        assertEquals(0, FileStoreUtil.getNumFileStores(tool));
        assertEquals("Convert currency: Converts an amount.", tool.toString());
    }

    @Test
    void aWorkflowToolHasTheFieldsOfItsKindAndNoneOfTheOther() throws IOException {
        final var tool = workflow("workflow");
        assertEquals(ToolType.WORKFLOW, tool.getToolType());
        assertEquals("orders", tool.getInputs()[0].name());
        assertEquals("Table", tool.getInputs()[0].type());
        assertNull(tool.getInputs()[1].spec());
        assertEquals("ranking", tool.getOutputs()[0].name());
        assertEquals(1, tool.getMessageOutputPortIndex());
        assertEquals(2, FileStoreUtil.getNumFileStores(tool));
        assertNull(tool.getServerUri());
        assertNull(tool.getProvider());
        assertNull(tool.getAnnotations());
        assertNull(tool.getOutputSchema());
        assertEquals(tool.getName(), tool.getToolName());
    }

    @Test
    void aValueIsReadFromWhereTheColumnStands() throws IOException {
        final var file = m_folder.resolve("table.arrow");
        final var tools = List.of(mcpTool(), workflow("workflow"));
        ArrowTables.write(file, ToolValueFactory.class, m_factory.getSpec(), 2, 2, access -> {
            final var value = m_factory.createWriteValue(access);
            return row -> value.setValue(tools.get(row));
        });
        ArrowTables.read(file, (row, access) -> {
            final var value = m_factory.createReadValue(access);
            assertEquals(tools.get(row), value.getDataCell());
            assertEquals(tools.get(row).getToolType(), value.getToolType());
            assertEquals(tools.get(row).getName(), value.getName());
            assertEquals(tools.get(row).getDescription(), value.getDescription());
            assertEquals(tools.get(row).getParameterSchema(), value.getParameterSchema());
            assertEquals(List.of(tools.get(row).getInputs()), List.of(value.getInputs()));
            assertEquals(List.of(tools.get(row).getOutputs()), List.of(value.getOutputs()));
            assertEquals(tools.get(row).getMessageOutputPortIndex(), value.getMessageOutputPortIndex());
            assertEquals(tools.get(row).getServerUri(), value.getServerUri());
            assertEquals(tools.get(row).getToolName(), value.getToolName());
            assertEquals(tools.get(row).getProvider(), value.getProvider());
            assertEquals(tools.get(row).getAnnotations(), value.getAnnotations());
            assertEquals(tools.get(row).getFingerprint(), value.getFingerprint());
            assertEquals(tools.get(row).getOutputSchema(), value.getOutputSchema());
        });
    }

    @Test
    void anyMCPToolBecomesACellAsPythonWritesIt() {
        final var plain = ToolCell.of(new PlainTool("http://127.0.0.1:1/mcp"));
        assertNull(plain.content().inputSpec());
        assertNull(plain.content().outputSpec());
        assertNull(plain.content().workflowFilestore());
        final var full = new MCPToolValue() {

            @Override
            public String getName() {
                return "Echo";
            }

            @Override
            public String getDescription() {
                return null;
            }

            @Override
            public String getParameterSchema() {
                return null;
            }

            @Override
            public String getServerUri() {
                return "stdio:files";
            }

            @Override
            public String getToolName() {
                return "echo";
            }

            @Override
            public String getProvider() {
                return "files";
            }

            @Override
            public String getAnnotations() {
                return "{\"readOnlyHint\":true}";
            }

            @Override
            public String getFingerprint() {
                return "sha";
            }

            @Override
            public String getOutputSchema() {
                return "{\"type\":\"object\"}";
            }
        };
        assertEquals("{\"tool_name\": \"echo\", \"provider\": \"files\", \"annotations\": {\"readOnlyHint\": true}, "
            + "\"fingerprint\": \"sha\"}", ToolCell.of(full).content().inputSpec());
        assertEquals("{\"output_schema\": {\"type\": \"object\"}}", ToolCell.of(full).content().outputSpec());
        assertSame(plain, ToolCell.of(plain));
    }

    @Test
    void aWorkflowWithoutItsFilesIsRefused() {
        final var content = Golden.olderContent(Golden.olderCell("full"));
        final var refused = assertThrows(InvalidToolCellException.class, () -> ToolCell.of(content));
        assertEquals(ToolField.WORKFLOW_FILESTORE, refused.getField());
    }

    @Test
    void aToolOfNoKnownKindIsRefused() {
        final var stranger = new ToolValue() {

            @Override
            public String getName() {
                return "stranger";
            }

            @Override
            public String getDescription() {
                return "";
            }

            @Override
            public String getParameterSchema() {
                return "";
            }

            @Override
            public ToolPort[] getInputs() {
                return new ToolPort[0];
            }

            @Override
            public ToolPort[] getOutputs() {
                return new ToolPort[0];
            }

            @Override
            public ToolResult execute(final String parameters, final PortObject[] inputs, final ExecutionContext exec,
                final Map<String, String> executionHints) {
                return null;
            }
        };
        assertEquals(ToolType.WORKFLOW, stranger.getToolType());
        assertThrows(IllegalArgumentException.class, () -> ToolCell.of(stranger));
    }

    @Test
    void aWorkflowToolOfKNIMEBecomesACellWithItsFiles() throws IOException {
        final var older = Golden.olderContent(Golden.olderCell("full"));
        final var fileStores = new WorkflowFileStores();
        fileStores.initializeForReading(m_fileStores);
        fileStores.load(older, Golden.olderCell("full").get("0").textValue());
        throughATable(m_factory, older, (row, cell) -> {
            assertEquals(Golden.olderCell("full").get("0").textValue(), WorkflowFileStores.keys(cell));
            assertEquals(older.getName(), cell.getName());
            assertEquals(List.of(older.getInputs()), List.of(cell.getInputs()));
            assertEquals(List.of(older.getOutputs()), List.of(cell.getOutputs()));
        });
    }

    @Test
    void aWorkflowToolRunsAsKNIMEsOwnCellOfTheSameFiles() throws IOException {
        final var result = workflow("workflow").execute("{\"top_n\": 3}", NO_INPUTS, null, Map.of());
        assertEquals("customer_revenue would run 23 bytes of workflow with {\"top_n\": 3}", result.message());
        assertEquals(1, result.outputs().length);
        final List<PortId> inputs = List.of();
        final CombinedExecutor executor = null;
        final var combined = workflow("workflow").execute(executor, "{}", inputs, null, Map.of());
        assertEquals("customer_revenue would run 23 bytes of workflow with {} in the combined workflow",
            combined.message());
        assertEquals(1, combined.outputIds().length);
    }

    @Test
    void aWorkflowWhoseFilesAreLostFailsWhenItIsCalledAndNotBefore() throws IOException {
        final var elsewhere = new ToolValueFactory();
        elsewhere.initializeForReading(new FileStores(m_folder.resolve("elsewhere")));
        throughATable(elsewhere, workflow("workflow_base"), (row, cell) -> {
            assertEquals("clean_up", cell.getName());
            final var result = cell.execute("{}", NO_INPUTS, null, Map.of());
            assertNull(result.outputs());
            assertEquals("The workflow of the tool 'clean_up' cannot be loaded: its file stores are not here (v1:"
                + FileStores.GOLDEN + ":2:workflow_b:3:0:3). Make the tool again from its workflow.",
                result.message());
        });
    }

    @Test
    void theFilesOfAnotherNodeAreCopiedWhenATableIsWritten() throws IOException {
        final var tool = workflow("workflow");
        final var node = m_fileStores.node(UUID.randomUUID());
        final var file = m_folder.resolve("copy.arrow");
        final var factory = new ToolValueFactory();
        factory.initializeForWriting(node);
        ArrowTables.write(file, ToolValueFactory.class, factory.getSpec(), 1, 1, access -> {
            final var value = factory.createWriteValue(access);
            return row -> value.setValue(tool);
        });
        ArrowTables.read(file, (row, access) -> {
            final var copy = factory.createReadValue(access).cell();
            for (final var key : FileStoreUtil.getFileStoreKeys(copy)) {
                assertEquals(node.getStoreUUID(), key.getStoreUUID());
            }
            assertEquals("content of 0_workflow_a",
                Files.readString(FileStoreUtil.getFileStores(copy)[0].getFile().toPath()));
        });
    }

    @Test
    void copiesAreEqualAndOtherToolsAreNot() throws IOException {
        final var tool = workflow("workflow");
        final var node = m_fileStores.node(UUID.randomUUID());
        final var copies = new WorkflowFileStores();
        copies.initializeForWriting(node);
        final var copy = workflow("workflow");
        copies.keep(copy);
        assertNotEquals(WorkflowFileStores.keys(tool), WorkflowFileStores.keys(copy));
        assertEquals(tool, copy);
        assertEquals(tool.hashCode(), copy.hashCode());
        Files.writeString(FileStoreUtil.getFileStores(copy)[0].getFile().toPath(), "another workflow");
        assertNotEquals(tool, copy);
        assertNotEquals(tool, workflow("workflow_base"));
        assertEquals(mcpTool(), mcpTool());
        assertNotEquals(mcpTool(), ToolCell.of(new PlainTool("http://127.0.0.1:1/mcp")));
        assertNotEquals((DataCell)mcpTool(), new MissingCell(null));
    }

    @ParameterizedTest
    @MethodSource("smallColumns")
    void aCellSurvivesItsSerializer(final Golden.Column column) throws IOException {
        final var serializer = new ToolCell.ToolCellSerializer();
        for (final var fields : column.cells()) {
            if (fields != null) {
                final var cell = new ToolCell(Golden.content(fields));
                assertEquals(cell.content(), CellStream.through(serializer, cell).content());
            }
        }
    }

    @Test
    void aCellOfANewerFormatIsNotMisread() {
        final var failure = assertThrows(IOException.class,
            () -> CellStream.read(new ToolCell.ToolCellSerializer(), new byte[]{9, 1}));
        assertTrue(failure.getMessage().contains("newer version (format 9)"));
    }

    @Test
    void aValueOfAnotherColumnTypeIsWrittenAsTheCellItStandsFor() throws IOException {
        final var tool = mcpTool();
        throughATable(m_factory, new Foreign(tool), (row, cell) -> assertEquals(tool, cell));
        throughATable(m_factory, new Foreign(new MissingCell("damaged")), (row, cell) -> assertNull(cell));
    }

    /** A value of another value factory. */
    private record Foreign(DataCell getDataCell) implements ReadValue, MCPToolValue {

        @Override
        public String getName() {
            return "the column has moved on";
        }

        @Override
        public String getDescription() {
            return null;
        }

        @Override
        public String getParameterSchema() {
            return null;
        }

        @Override
        public String getServerUri() {
            return null;
        }
    }
}
