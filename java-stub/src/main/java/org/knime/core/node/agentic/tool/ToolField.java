package org.knime.core.node.agentic.tool;

import java.util.Arrays;
import java.util.Locale;

import org.knime.core.table.schema.ByteDataSpec;
import org.knime.core.table.schema.DataSpec;
import org.knime.core.table.schema.IntDataSpec;
import org.knime.core.table.schema.StringDataSpec;
import org.knime.core.table.schema.StructDataSpec;

/**
 * The fields of a tool's struct, in their order.
 *
 * The Python side has the same order; both are tested against one golden file.
 */
public enum ToolField {

    /** Which kind of tool it is: a {@link ToolType}. */
    TOOL_TYPE(ByteDataSpec.INSTANCE),

    /** Name for people and models. */
    NAME(StringDataSpec.INSTANCE),

    /** What the tool does. */
    DESCRIPTION(StringDataSpec.INSTANCE),

    /** What the tool takes, as JSON. */
    PARAMETER_SCHEMA(StringDataSpec.INSTANCE),

    /** JSON: the input ports of a workflow; of an MCP tool, how the call goes out. */
    INPUT_SPEC(StringDataSpec.INSTANCE),

    /** JSON: the output ports of a workflow; of an MCP tool, the schema of structured results. */
    OUTPUT_SPEC(StringDataSpec.INSTANCE),

    /** Index of the output whose first cell is a workflow's message, -1 for none. */
    MESSAGE_OUTPUT_PORT_INDEX(IntDataSpec.INSTANCE),

    /** Keys of the file stores with the workflow, joined by semicolons. */
    WORKFLOW_FILESTORE(StringDataSpec.INSTANCE),

    /** Where the server of an MCP tool is. */
    SERVER_URI(StringDataSpec.INSTANCE);

    private final DataSpec m_dataSpec;

    ToolField(final DataSpec dataSpec) {
        m_dataSpec = dataSpec;
    }

    /**
     * Position of the field in the struct.
     *
     * @return the index, from 0
     */
    public int index() {
        return ordinal();
    }

    /**
     * Name of the field for people, such as "parameter_schema".
     *
     * @return the name
     */
    public String label() {
        return name().toLowerCase(Locale.ROOT);
    }

    /**
     * Stored form of the field.
     *
     * @return the form
     */
    public DataSpec dataSpec() {
        return m_dataSpec;
    }

    /**
     * Stored form of a whole tool.
     *
     * @return a struct of all fields
     */
    public static StructDataSpec structSpec() {
        return new StructDataSpec(Arrays.stream(values()).map(ToolField::dataSpec).toArray(DataSpec[]::new));
    }
}
