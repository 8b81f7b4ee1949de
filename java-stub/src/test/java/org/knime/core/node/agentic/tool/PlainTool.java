package org.knime.core.node.agentic.tool;

/** An MCP tool that is no cell, as a node would make it. */
record PlainTool(String name, String address) implements MCPToolValue {

    PlainTool(final String address) {
        this("echo", address);
    }

    @Override
    public String getName() {
        return name;
    }

    @Override
    public String getDescription() {
        return "Gives the text back.";
    }

    @Override
    public String getParameterSchema() {
        return "{\"type\": \"object\"}";
    }

    @Override
    public String getServerUri() {
        return address;
    }
}
