"""A toolset as an MCP server: the official SDK's server side, over standard input and output or HTTP."""

from __future__ import annotations

from knime_ext.mcp.serving.approval import ask_client
from knime_ext.mcp.serving.http import HTTPDoor, serve_http
from knime_ext.mcp.serving.stdio import serve_stdio
from knime_ext.mcp.serving.stopping import stopped_by_signals
from knime_ext.mcp.serving.toolset_server import ToolsetServer

__all__ = ["HTTPDoor", "ToolsetServer", "ask_client", "serve_http", "serve_stdio", "stopped_by_signals"]
