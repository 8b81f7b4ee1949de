package org.knime.core.node.agentic.tool;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import org.knime.core.node.agentic.tool.ToolValue.ToolPort;
import org.knime.core.node.agentic.tool.mcp.JsonText;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;

/**
 * The nine fields of a sound cell, as they are stored. The constructor refuses a damaged one, field by field in the
 * order in which the Python side looks at them.
 *
 * @param toolType the kind
 * @param name the name
 * @param description the description or null
 * @param parameterSchema JSON object, empty or null
 * @param inputSpec JSON, empty or null
 * @param outputSpec JSON, empty or null
 * @param messageOutputPortIndex -1 for none
 * @param workflowFilestore keys joined by semicolons, of a workflow
 * @param serverUri address of the server, of an MCP tool
 */
record ToolContent(ToolType toolType, String name, String description, String parameterSchema, String inputSpec,
    String outputSpec, int messageOutputPortIndex, String workflowFilestore, String serverUri)
    implements Serializable {

    // Not a URI parser, which fails on half an IPv6 address: the check must not depend on the rest being well formed.
    private static final Pattern AUTHORITY = Pattern.compile("//([^/?#]*)");

    private static final Pattern IGNORED_IN_ADDRESSES = Pattern.compile("[\\t\\r\\n]");

    ToolContent {
        require(ToolField.NAME, name, "a tool needs a name");
        ToolJson.object(ToolField.PARAMETER_SCHEMA, parameterSchema);
        if (toolType == ToolType.MCP) {
            require(ToolField.SERVER_URI, serverUri, "an MCP tool needs the address of its server");
            checkCall(ToolJson.object(ToolField.INPUT_SPEC, inputSpec));
            ToolJson.object(ToolField.OUTPUT_SPEC, outputSpec).ifPresent(
                spec -> ToolJson.optionalObject(ToolField.OUTPUT_SPEC, spec, "output_schema"));
        } else {
            require(ToolField.WORKFLOW_FILESTORE, workflowFilestore,
                "a workflow tool needs the file store of its workflow");
            ports(ToolField.INPUT_SPEC, inputSpec);
            ports(ToolField.OUTPUT_SPEC, outputSpec);
        }
    }

    /** The kind that the first field of a cell says, null for a missing field. */
    static ToolType typeOf(final Byte code) {
        final var found = code == null ? "a tool needs a type" : ("unknown tool type " + code);
        return Optional.ofNullable(code).flatMap(ToolType::ofCode).orElseThrow(
            () -> new InvalidToolCellException(ToolField.TOOL_TYPE, found + "; known are 0 (workflow) and 1 (MCP)"));
    }

    /** The content of a cell for a tool of an MCP server. */
    static ToolContent of(final MCPToolValue tool) {
        final var call = JsonNodeFactory.instance.objectNode();
        if (!tool.getName().equals(tool.getToolName())) {
            call.put("tool_name", tool.getToolName());
        }
        Optional.ofNullable(tool.getProvider()).ifPresent(provider -> call.put("provider", provider));
        ToolJson.object(ToolField.INPUT_SPEC, tool.getAnnotations()).filter(hints -> !hints.isEmpty())
            .ifPresent(hints -> call.set("annotations", hints));
        Optional.ofNullable(tool.getFingerprint()).ifPresent(digest -> call.put("fingerprint", digest));
        final var output = ToolJson.object(ToolField.OUTPUT_SPEC, tool.getOutputSchema())
            .map(schema -> JsonText.of(JsonNodeFactory.instance.objectNode().set("output_schema", schema)));
        return new ToolContent(ToolType.MCP, tool.getName(), tool.getDescription(), tool.getParameterSchema(),
            call.isEmpty() ? null : JsonText.of(call), output.orElse(null), -1, null,
            withoutUser(tool.getServerUri()));
    }

    /** The content of a cell for a workflow whose files have these keys. */
    static ToolContent of(final WorkflowToolValue tool, final String keys) {
        return new ToolContent(ToolType.WORKFLOW, tool.getName(), tool.getDescription(), tool.getParameterSchema(),
            JsonText.of(json(tool.getInputs())), JsonText.of(json(tool.getOutputs())),
            tool.getMessageOutputPortIndex(), keys, null);
    }

    boolean equalsBesideFiles(final ToolContent other) {
        return Arrays.equals(besideFiles(), other.besideFiles());
    }

    private Object[] besideFiles() {
        return new Object[]{toolType, name, description, parameterSchema, inputSpec, outputSpec,
            messageOutputPortIndex, serverUri};
    }

    ToolPort[] inputs() {
        return toolType == ToolType.WORKFLOW ? ports(ToolField.INPUT_SPEC, inputSpec) : new ToolPort[0];
    }

    ToolPort[] outputs() {
        return toolType == ToolType.WORKFLOW ? ports(ToolField.OUTPUT_SPEC, outputSpec) : new ToolPort[0];
    }

    /** A text of the call spec of an MCP tool. */
    Optional<String> callText(final String key) {
        return mcpSpec(ToolField.INPUT_SPEC, inputSpec)
            .flatMap(spec -> ToolJson.optionalText(ToolField.INPUT_SPEC, spec, key));
    }

    Optional<String> annotations() {
        return mcpSpec(ToolField.INPUT_SPEC, inputSpec)
            .flatMap(spec -> ToolJson.optionalObject(ToolField.INPUT_SPEC, spec, "annotations")).map(JsonText::of);
    }

    Optional<String> outputSchema() {
        return mcpSpec(ToolField.OUTPUT_SPEC, outputSpec)
            .flatMap(spec -> ToolJson.optionalObject(ToolField.OUTPUT_SPEC, spec, "output_schema"))
            .map(JsonText::of);
    }

    private Optional<JsonNode> mcpSpec(final ToolField field, final String text) {
        return toolType == ToolType.MCP ? ToolJson.object(field, text) : Optional.empty();
    }

    /** Refuses an address with credentials: they may never reach a table. */
    private static String withoutUser(final String uri) {
        final var authority = AUTHORITY.matcher(IGNORED_IN_ADDRESSES.matcher(uri == null ? "" : uri).replaceAll(""));
        if (authority.find() && authority.group(1).contains("@")) {
            throw new InvalidToolCellException(ToolField.SERVER_URI, "the address holds a user or password; rows never "
                + "do: register the server as a provider instead");
        }
        return uri;
    }

    private static void require(final ToolField field, final String value, final String why) {
        if (value == null || value.isEmpty()) {
            throw new InvalidToolCellException(field, why);
        }
    }

    private static void checkCall(final Optional<JsonNode> call) {
        call.ifPresent(spec -> {
            ToolJson.optionalText(ToolField.INPUT_SPEC, spec, "tool_name");
            ToolJson.optionalText(ToolField.INPUT_SPEC, spec, "provider");
            ToolJson.optionalObject(ToolField.INPUT_SPEC, spec, "annotations");
            ToolJson.optionalText(ToolField.INPUT_SPEC, spec, "fingerprint");
        });
    }

    private static ToolPort[] ports(final ToolField field, final String text) {
        final List<ToolPort> ports = new ArrayList<>();
        ToolJson.array(field, text).ifPresent(items -> items.forEach(item -> ports.add(port(field, item))));
        return ports.toArray(ToolPort[]::new);
    }

    private static ToolPort port(final ToolField field, final JsonNode item) {
        final var isPort = Stream.of("name", "type").allMatch(key -> item.isObject() && item.path(key).isTextual());
        if (!isPort) {
            throw new InvalidToolCellException(field, "each port needs at least a 'name' and a 'type'");
        }
        return new ToolPort(item.get("type").textValue(), item.get("name").textValue(),
            ToolJson.optionalText(field, item, "description").orElse(""),
            ToolJson.optionalText(field, item, "spec").orElse(null));
    }

    private static JsonNode json(final ToolPort[] ports) {
        final var items = JsonNodeFactory.instance.arrayNode();
        for (final var port : ports) {
            items.addObject().put("name", port.name()).put("description", port.description()).put("type", port.type())
                .put("spec", port.spec());
        }
        return items;
    }
}
