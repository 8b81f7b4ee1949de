package org.knime.core.node.agentic.tool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;

import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.complex.StructVector;
import org.apache.arrow.vector.types.Types.MinorType;
import org.apache.arrow.vector.types.pojo.ArrowType;
import org.apache.arrow.vector.types.pojo.FieldType;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.knime.core.data.MissingCell;
import org.knime.core.table.access.ByteAccess.ByteWriteAccess;
import org.knime.core.table.access.IntAccess.IntWriteAccess;
import org.knime.core.table.access.StringAccess.StringWriteAccess;
import org.knime.core.table.access.StructAccess.StructReadAccess;
import org.knime.core.table.access.StructAccess.StructWriteAccess;
import org.knime.core.table.access.WriteAccess;

import com.fasterxml.jackson.databind.JsonNode;

/** What is damaged, and why, stands in one file that the Python side is tested against too. */
class DamagedCellsTest {

    static List<JsonNode> damaged() {
        return Golden.entries("damaged");
    }

    static List<JsonNode> sound() {
        return Golden.entries("sound");
    }

    static List<JsonNode> refusedWhenWritten() {
        return Golden.entries("refused_when_written");
    }

    static List<JsonNode> written() {
        return Golden.entries("written");
    }

    /** Looks at a stored cell. */
    private interface Look {

        void at(StructReadAccess access);
    }

    /** Stores the nine fields in Arrow as they are, sound or not. */
    private static void store(final JsonNode fields, final Look look) {
        try (BufferAllocator memory = new RootAllocator(); var struct = StructVector.empty("1", memory)) {
            for (final var field : ToolField.values()) {
                final var type = switch (field) {
                    case TOOL_TYPE -> MinorType.TINYINT.getType();
                    case MESSAGE_OUTPUT_PORT_INDEX -> MinorType.INT.getType();
                    default -> ArrowType.Utf8.INSTANCE;
                };
                struct.addOrGet(Integer.toString(field.index()), FieldType.nullable(type),
                    FieldVector.class);
            }
            struct.allocateNew();
            final var access = (StructWriteAccess)ArrowWrites.of(struct, () -> 0);
            for (final var field : ToolField.values()) {
                put(access.getWriteAccess(field.index()), fields.get(field.index()));
            }
            struct.setIndexDefined(0);
            struct.setValueCount(1);
            look.at((StructReadAccess)ArrowReads.of(struct, () -> 0));
        }
    }

    private static void put(final WriteAccess access, final JsonNode value) {
        if (value.isNull()) {
            access.setMissing();
        } else if (access instanceof ByteWriteAccess number) {
            number.setByteValue((byte)value.intValue());
        } else if (access instanceof IntWriteAccess number) {
            number.setIntValue(value.intValue());
        } else {
            ((StringWriteAccess)access).setStringValue(value.textValue());
        }
    }

    private static void assertReason(final JsonNode entry, final InvalidToolCellException refused) {
        assertEquals(entry.get("field").textValue(), refused.getField().label());
        assertEquals(entry.get("reason").textValue(), refused.getReason());
    }

    @ParameterizedTest(name = "{index}")
    @MethodSource("damaged")
    void aDamagedCellIsRefusedWithTheReasonBothLanguagesGive(final JsonNode entry) {
        store(Golden.changedCell(entry), access -> {
            final var stored = new ToolValueFactory().createReadValue(access);
            assertReason(entry, assertThrows(InvalidToolCellException.class, stored::cell));
        });
    }

    @ParameterizedTest(name = "{index}")
    @MethodSource("damaged")
    void aDamagedCellIsMissingInATableAndSaysWhy(final JsonNode entry) {
        store(Golden.changedCell(entry), access -> {
            final var cell = new ToolValueFactory().createReadValue(access).getDataCell();
            assertEquals("field '%s': %s".formatted(entry.get("field").textValue(), entry.get("reason").textValue()),
                assertInstanceOf(MissingCell.class, cell).getError());
        });
    }

    @ParameterizedTest(name = "{index}")
    @MethodSource("sound")
    void anUnusualButSoundCellIsReadAsItIsStored(final JsonNode entry) {
        final var fields = Golden.changedCell(entry);
        store(fields, access -> assertEquals(Golden.content(fields),
            new ToolValueFactory().createReadValue(access).cell().content()));
    }

    @ParameterizedTest(name = "{index}")
    @MethodSource("refusedWhenWritten")
    void anAddressWithAUserIsNotWritten(final JsonNode entry) {
        final var address = Golden.text(Golden.changedCell(entry), 8);
        final var refused = assertThrows(InvalidToolCellException.class, () -> ToolCell.of(new PlainTool(address)));
        assertReason(entry, refused);
    }

    @ParameterizedTest(name = "{index}")
    @MethodSource("written")
    void otherAddressesAreWrittenAsTheyAre(final JsonNode entry) {
        final var address = Golden.text(Golden.changedCell(entry), 8);
        assertEquals(address, ToolCell.of(new PlainTool(address)).getServerUri());
    }

    @Test
    void theGoldenFileHasDamagedCells() {
        assertTrue(damaged().size() > 50);
        assertTrue(sound().size() > 5);
    }
}
