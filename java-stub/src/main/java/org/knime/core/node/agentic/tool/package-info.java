/**
 * Tools as table cells: what an agent can call, be it a workflow or a tool of an MCP server.
 *
 * Both kinds share one column, one cell class and one stored form, a struct of nine fields whose first says which kind
 * it is ({@link org.knime.core.node.agentic.tool.ToolField}).
 */
package org.knime.core.node.agentic.tool;
