/**
 * Calls one tool of an MCP server over streamable HTTP, with nothing but the JDK's HTTP client.
 *
 * Knows nothing of cells or KNIME. A call opens a session, calls and closes it again: what a server remembers of one
 * caller never reaches another who shares the Java process.
 */
package org.knime.core.node.agentic.tool.mcp;
