package org.knime.core.node.agentic.tool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Map;

import org.junit.jupiter.api.Test;
import org.knime.core.table.schema.ByteDataSpec;
import org.knime.core.table.schema.DataSpec;
import org.knime.core.table.schema.IntDataSpec;
import org.knime.core.table.schema.StringDataSpec;

class ToolFieldTest {

    private static final Map<String, DataSpec> SPECS =
        Map.of("int8", ByteDataSpec.INSTANCE, "int32", IntDataSpec.INSTANCE, "utf8", StringDataSpec.INSTANCE);

    @Test
    void theFieldsAreThoseOfTheGoldenFileInItsOrder() {
        final var fields = Golden.file("tool_struct.json").get("fields");
        assertEquals(fields.size(), ToolField.values().length);
        for (final var field : ToolField.values()) {
            final var golden = fields.get(field.index());
            assertEquals(golden.get("index").intValue(), field.index());
            assertEquals(golden.get("name").textValue(), field.label());
            assertEquals(SPECS.get(golden.get("arrow").textValue()), field.dataSpec());
            assertEquals(field.dataSpec(), ToolField.structSpec().getDataSpec(field.index()));
        }
    }

    @Test
    void theValueFactoryIsTheOneInTheGoldenFile() {
        assertEquals(Golden.file("tool_struct.json").get("value_factory").textValue(),
            ToolValueFactory.class.getName());
        assertEquals(ToolField.structSpec(), new ToolValueFactory().getSpec());
    }

    @Test
    void theKindsOfToolsAreThoseOfTheGoldenFile() {
        final var types = Golden.file("tool_struct.json").get("tool_types");
        assertEquals(types.size(), ToolType.values().length);
        assertEquals(types.get("workflow").intValue(), ToolType.WORKFLOW.code());
        assertEquals(types.get("mcp").intValue(), ToolType.MCP.code());
        for (final var type : ToolType.values()) {
            assertEquals(type, ToolType.ofCode(type.code()).orElseThrow());
        }
        assertTrue(ToolType.ofCode((byte)2).isEmpty());
    }
}
