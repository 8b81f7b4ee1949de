package org.knime.core.node.agentic.tool;

import java.util.Map;

import org.knime.core.data.DataValue;
import org.knime.core.data.ExtensibleUtilityFactory;
import org.knime.core.node.ExecutionContext;
import org.knime.core.node.port.PortObject;

/**
 * Something that an agent can call. KNIME has this interface already; new is {@link #getToolType()}.
 */
public interface ToolValue extends DataValue {

    /** Describes the value class; its name for people is "Tool". */
    UtilityFactory UTILITY = new ExtensibleUtilityFactory(ToolValue.class) {

        @Override
        public String getName() {
            return "Tool";
        }
    };

    /**
     * Which kind of tool this is. A workflow, unless an implementation says otherwise, because there was no other kind
     * when this interface was made.
     *
     * @return the kind
     */
    default ToolType getToolType() {
        return ToolType.WORKFLOW;
    }

    /**
     * The name by which people know the tool and models choose it.
     *
     * @return the name
     */
    String getName();

    /**
     * What the tool does, for the model.
     *
     * @return the description, may be null
     */
    String getDescription();

    /**
     * What the tool takes, as JSON. For a workflow a map of parameter names to their schemas, for an MCP tool the
     * schema of the whole object.
     *
     * @return the JSON text, null or empty if the tool takes nothing
     */
    String getParameterSchema();

    /**
     * The data that the tool consumes.
     *
     * @return one entry per input
     */
    ToolPort[] getInputs();

    /**
     * The data that the tool produces.
     *
     * @return one entry per output
     */
    ToolPort[] getOutputs();

    /**
     * Calls the tool.
     *
     * @param parameters the arguments as a JSON object
     * @param inputs the data for {@link #getInputs()}, in their order
     * @param exec for tables, and to ask whether the call is canceled
     * @param executionHints wishes, which a tool may ignore
     * @return what came of it, failures included
     */
    ToolResult execute(String parameters, PortObject[] inputs, ExecutionContext exec,
        Map<String, String> executionHints);

    /**
     * An input or output of a tool.
     *
     * @param type name of the port type, "Table" for data tables
     * @param name name of the port
     * @param description what arrives or leaves there
     * @param spec JSON of the spec, null or empty if it is not known
     */
    record ToolPort(String type, String name, String description, String spec) {
    }

    /** What came of a call. */
    interface ToolResult {

        /**
         * What the model is told.
         *
         * @return the message
         */
        String message();

        /**
         * The data that the tool produced.
         *
         * @return one object per output, null if the call failed
         */
        PortObject[] outputs();
    }
}
