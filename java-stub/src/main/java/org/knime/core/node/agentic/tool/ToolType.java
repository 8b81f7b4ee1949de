package org.knime.core.node.agentic.tool;

import java.util.Arrays;
import java.util.Optional;

/** Kind of a tool: the byte in the first field of its cell. */
public enum ToolType {

    /** A workflow. */
    WORKFLOW((byte)0),

    /** A tool of an MCP server. */
    MCP((byte)1);

    private final byte m_code;

    ToolType(final byte code) {
        m_code = code;
    }

    /**
     * The byte that stands for this kind in a cell.
     *
     * @return the byte
     */
    public byte code() {
        return m_code;
    }

    /**
     * The kind that a byte stands for.
     *
     * @param code the byte
     * @return the kind, empty for a byte that stands for none
     */
    public static Optional<ToolType> ofCode(final byte code) {
        return Arrays.stream(values()).filter(type -> type.m_code == code).findFirst();
    }
}
