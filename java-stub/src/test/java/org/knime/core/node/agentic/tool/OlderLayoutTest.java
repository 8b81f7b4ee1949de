package org.knime.core.node.agentic.tool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.knime.core.data.MissingCell;
import org.knime.core.node.agentic.tool.ToolValue.ToolPort;
import org.knime.core.node.port.PortObject;

import com.fasterxml.jackson.databind.JsonNode;

/** Columns as KNIME writes them today. */
@SuppressWarnings("deprecation") // deprecated, and has to stay readable
class OlderLayoutTest {

    private static final PortObject[] NO_INPUTS = {};

    @TempDir
    private Path m_folder;

    private final WorkflowToolValueFactory m_factory = new WorkflowToolValueFactory();

    private final WorkflowFileStores m_fileStores = new WorkflowFileStores();

    @BeforeEach
    void prepare() throws IOException {
        final var node = new FileStores(m_folder).golden();
        m_factory.initializeForWriting(node);
        m_fileStores.initializeForWriting(node);
    }

    static List<JsonNode> damaged() {
        return Golden.entries("damaged_older");
    }

    private Path table(final WorkflowToolValue tool) throws IOException {
        final var file = m_folder.resolve("older.arrow");
        ArrowTables.write(file, WorkflowToolValueFactory.class, m_factory.getSpec(), 1, 1, access -> {
            final var value = m_factory.createWriteValue(access);
            return row -> value.setValue(tool);
        });
        return file;
    }

    private WorkflowToolCell cell(final String name) throws IOException {
        final var cell = Golden.olderContent(Golden.olderCell(name));
        m_fileStores.load(cell, Golden.olderCell(name).get("0").textValue());
        return cell;
    }

    @ParameterizedTest(name = "{index}")
    @MethodSource("damaged")
    void aDamagedCellIsRefusedWithTheReasonBothLanguagesGive(final JsonNode entry) throws IOException {
        final var damaged = new WorkflowToolCell("a", "", entry.get("parameter_schema").textValue(), new ToolPort[0],
            new ToolPort[0], -1);
        ArrowTables.read(table(damaged), (row, access) -> {
            final var value = m_factory.createReadValue(access);
            final var refused = assertThrows(InvalidToolCellException.class, value::cell);
            assertEquals(entry.get("field").textValue(), refused.getField().label());
            assertEquals(entry.get("reason").textValue(), refused.getReason());
            assertEquals(refused.getMessage(),
                assertInstanceOf(MissingCell.class, value.getDataCell()).getError());
        });
    }

    @Test
    void aWorkflowIsRunFromTheColumn() throws IOException {
        ArrowTables.read(table(cell("full")), (row, access) -> {
            final var value = m_factory.createReadValue(access);
            assertEquals(ToolType.WORKFLOW, value.getToolType());
            assertEquals("customer_revenue would run 23 bytes of workflow with {}",
                value.execute("{}", NO_INPUTS, null, Map.of()).message());
            assertEquals("customer_revenue would run 23 bytes of workflow with {} in the combined workflow",
                value.execute(null, "{}", List.of(), null, Map.of()).message());
        });
    }

    @Test
    void aWorkflowWhoseFilesAreLostIsMissingAndSaysWhy() throws IOException {
        final var file = table(cell("full"));
        m_factory.initializeForReading(new FileStores(m_folder.resolve("elsewhere")));
        final var why = "the workflow of the tool 'customer_revenue' cannot be loaded: nobody knows "
            + FileStores.GOLDEN;
        ArrowTables.read(file, (row, access) -> {
            final var value = m_factory.createReadValue(access);
            assertEquals(why, assertInstanceOf(MissingCell.class, value.getDataCell()).getError());
            final var result = value.execute("{}", NO_INPUTS, null, Map.of());
            assertEquals(why, result.message());
            assertNull(result.outputs());
            assertEquals(why, value.execute(null, "{}", List.of(), null, Map.of()).message());
        });
    }

    @Test
    void aToolOfTheNewKindOfCellFitsIntoAnOlderColumnIfItIsAWorkflow() throws IOException {
        final var tool = ToolCell.of(cell("full"));
        ArrowTables.read(table(tool), (row, access) -> {
            final var older = m_factory.createReadValue(access).cell();
            assertEquals(tool.getName(), older.getName());
            assertEquals(List.of(tool.getInputs()), List.of(older.getInputs()));
            assertEquals(WorkflowFileStores.keys(tool), WorkflowFileStores.keys(older));
        });
    }

    @Test
    void anMCPToolDoesNotFitIntoAnOlderColumn() {
        final var tool = ToolCell.of(new PlainTool("http://127.0.0.1:1/mcp"));
        final var refused = assertThrows(IllegalArgumentException.class, () -> table(tool));
        assertEquals("the older workflow-tool column cannot hold an MCP tool; use ToolValueFactory",
            refused.getMessage());
    }
}
