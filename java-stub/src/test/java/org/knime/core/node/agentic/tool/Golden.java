package org.knime.core.node.agentic.tool;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;

import org.knime.core.node.agentic.tool.ToolValue.ToolPort;
import org.knime.core.node.agentic.tool.mcp.JsonText;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.TextNode;

/** What the tests of both languages share: tests/golden. */
final class Golden {

    private static final JsonNode COLUMNS = file("tool_columns.json");

    private Golden() {
    }

    /** A column of the golden file; null is a missing cell. */
    record Column(String name, List<JsonNode> cells, int batch) {

        @Override
        public String toString() {
            return name;
        }
    }

    static JsonNode file(final String name) {
        try {
            return JsonText.read(Files.readString(Path.of(System.getProperty("knime.mcp.golden"), name)));
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Columns of nine fields. */
    static List<Column> columns() {
        return columns("columns", "cells");
    }

    /** Columns of the older layout. */
    static List<Column> olderColumns() {
        return columns("older_columns", "older_cells");
    }

    private static List<Column> columns(final String key, final String cellKey) {
        return stream(COLUMNS.get(key)).map(column -> {
            final List<JsonNode> cells = new ArrayList<>();
            for (final var name : column.get("cells")) {
                cells.add(name.isNull() ? null : filled(COLUMNS.get(cellKey).get(name.textValue()), column));
            }
            final List<JsonNode> rows = new ArrayList<>();
            for (var row = 0; row < column.path("rows").asInt(cells.size()); row++) {
                rows.add(cells.get(row % cells.size()));
            }
            return new Column(column.get("name").textValue(), rows,
                column.path("batch").asInt(Math.max(1, cells.size())));
        }).toList();
    }

    private static JsonNode filled(final JsonNode cell, final JsonNode column) {
        if (!column.has("fill")) {
            return cell;
        }
        final var schema = JsonNodeFactory.instance.objectNode().put("type", "object").put("description",
            "ä".repeat(column.get("fill").intValue()));
        final ArrayNode fields = cell.deepCopy();
        fields.set(ToolField.PARAMETER_SCHEMA.index(), new TextNode(JsonText.of(schema)));
        return fields;
    }

    /** Entries of the golden file, such as the damaged cells. */
    static List<JsonNode> entries(final String key) {
        return stream(COLUMNS.get(key)).toList();
    }

    static JsonNode olderCell(final String name) {
        return COLUMNS.get("older_cells").get(name);
    }

    /** The nine fields of a damaged or sound cell. */
    static JsonNode changedCell(final JsonNode entry) {
        final ArrayNode fields = COLUMNS.get("cells").get(entry.get("of").textValue()).deepCopy();
        entry.get("change").fields().forEachRemaining(change -> fields.set(Integer.parseInt(change.getKey()),
            change.getValue()));
        entry.path("nest").fields().forEachRemaining(nest -> {
            final var levels = nest.getValue().intValue() - 1;
            fields.set(Integer.parseInt(nest.getKey()),
                new TextNode("{\"a\":".repeat(levels) + "{}" + "}".repeat(levels)));
        });
        return fields;
    }

    /** What a cell holds, by the constructor of our class. */
    static ToolContent content(final JsonNode fields) {
        final var type = fields.get(0);
        final var port = fields.get(6);
        return new ToolContent(ToolContent.typeOf(type.isNull() ? null : (byte)type.intValue()), text(fields, 1),
            text(fields, 2), text(fields, 3), text(fields, 4), text(fields, 5), port.isNull() ? -1 : port.intValue(),
            text(fields, 7), text(fields, 8));
    }

    /** A cell of the older layout, which is KNIME's own. */
    static WorkflowToolCell olderContent(final JsonNode cell) {
        final var tool = cell.get("1");
        return new WorkflowToolCell(tool.get("0").textValue(), tool.get("1").textValue(), tool.get("2").textValue(),
            ports(tool.get("3")), ports(tool.get("4")), tool.get("5").intValue());
    }

    private static ToolPort[] ports(final JsonNode ports) {
        return stream(ports).map(port -> new ToolPort(port.get("2").textValue(), port.get("0").textValue(),
            port.get("1").textValue(), port.get("3").textValue())).toArray(ToolPort[]::new);
    }

    static String text(final JsonNode fields, final int index) {
        return fields.get(index).textValue();
    }

    static Stream<JsonNode> stream(final JsonNode array) {
        return StreamSupport.stream(array.spliterator(), false);
    }
}
