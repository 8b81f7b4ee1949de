"""MCP servers, sessions with them and their tools; the official SDK speaks the protocol below.

Names are imported when first used: the SDK takes a second to import, and a server value or a row needs none of it.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from knime_ext.mcp.agent_definition import AgentDefinition, AgentServer, AgentTool, read_agent_definition
    from knime_ext.mcp.agent_tools import (
        create_mcp_tools,
        create_mcp_tools_for_server,
        create_mcp_tools_from_agent,
    )
    from knime_ext.mcp.client import MCPClient
    from knime_ext.mcp.comparison import ToolComparison
    from knime_ext.mcp.drift import FieldChange
    from knime_ext.mcp.egress import EgressPolicy
    from knime_ext.mcp.execution import MCPToolCaller
    from knime_ext.mcp.facade import MCPFacade
    from knime_ext.mcp.leased_session import LeasedSession
    from knime_ext.mcp.listing import Listing, ServerInfo, ToolProblem
    from knime_ext.mcp.openmetadata import OpenMetadataTool
    from knime_ext.mcp.pool import SessionPool
    from knime_ext.mcp.progress import Progress, showing_progress
    from knime_ext.mcp.provider_models import HTTPProvider, SSEProvider, StdioProvider
    from knime_ext.mcp.providers import Providers, load_providers, remove_provider, save_provider, save_providers
    from knime_ext.mcp.questions import Answer, Handlers, Question, answer_with_defaults, asking, decline
    from knime_ext.mcp.registry import MCPRegistry
    from knime_ext.mcp.result_files import ResultFiles
    from knime_ext.mcp.rows import fingerprint, tools_from_listing
    from knime_ext.mcp.servers import (
        Limits,
        Server,
        SSEServer,
        StdioServer,
        StreamableHTTPServer,
        Timeouts,
        URLServer,
        server_from_uri,
    )
    from knime_ext.mcp.sessions import Session
    from knime_ext.mcp.sign_in import ClientCredentials, EnterpriseManaged, OAuth, PrivateKeyJWT, WorkloadIdentity
    from knime_ext.mcp.tool_config import ToolConfig
    from knime_ext.mcp.tool_config_file import load_tool_configs
    from knime_ext.mcp.tool_info import ToolCallResult, ToolInfo, ToolParameter
    from knime_ext.mcp.toolset import MCPToolset, list_servers

__all__ = [
    "AgentDefinition",
    "AgentServer",
    "AgentTool",
    "Answer",
    "ClientCredentials",
    "EgressPolicy",
    "EnterpriseManaged",
    "FieldChange",
    "HTTPProvider",
    "Handlers",
    "LeasedSession",
    "Limits",
    "Listing",
    "MCPClient",
    "MCPFacade",
    "MCPRegistry",
    "MCPToolCaller",
    "MCPToolset",
    "OAuth",
    "OpenMetadataTool",
    "PrivateKeyJWT",
    "Progress",
    "Providers",
    "Question",
    "ResultFiles",
    "SSEProvider",
    "SSEServer",
    "Server",
    "ServerInfo",
    "Session",
    "SessionPool",
    "StdioProvider",
    "StdioServer",
    "StreamableHTTPServer",
    "Timeouts",
    "ToolCallResult",
    "ToolComparison",
    "ToolConfig",
    "ToolInfo",
    "ToolParameter",
    "ToolProblem",
    "URLServer",
    "WorkloadIdentity",
    "answer_with_defaults",
    "asking",
    "create_mcp_tools",
    "create_mcp_tools_for_server",
    "create_mcp_tools_from_agent",
    "decline",
    "fingerprint",
    "list_servers",
    "load_providers",
    "load_tool_configs",
    "read_agent_definition",
    "remove_provider",
    "save_provider",
    "save_providers",
    "server_from_uri",
    "showing_progress",
    "tools_from_listing",
]

_HOMES = {
    "agent_definition": ["AgentDefinition", "AgentServer", "AgentTool", "read_agent_definition"],
    "agent_tools": ["create_mcp_tools", "create_mcp_tools_for_server", "create_mcp_tools_from_agent"],
    "client": ["MCPClient"],
    "comparison": ["ToolComparison"],
    "drift": ["FieldChange"],
    "egress": ["EgressPolicy"],
    "execution": ["MCPToolCaller"],
    "facade": ["MCPFacade"],
    "leased_session": ["LeasedSession"],
    "listing": ["Listing", "ServerInfo", "ToolProblem"],
    "openmetadata": ["OpenMetadataTool"],
    "pool": ["SessionPool"],
    "progress": ["Progress", "showing_progress"],
    "questions": ["Answer", "Handlers", "Question", "answer_with_defaults", "asking", "decline"],
    "provider_models": ["HTTPProvider", "SSEProvider", "StdioProvider"],
    "providers": ["Providers", "load_providers", "remove_provider", "save_provider", "save_providers"],
    "sign_in": ["ClientCredentials", "EnterpriseManaged", "OAuth", "PrivateKeyJWT", "WorkloadIdentity"],
    "tool_config_file": ["load_tool_configs"],
    "registry": ["MCPRegistry"],
    "result_files": ["ResultFiles"],
    "rows": ["fingerprint", "tools_from_listing"],
    "servers": [
        "Limits",
        "Server",
        "SSEServer",
        "StdioServer",
        "StreamableHTTPServer",
        "Timeouts",
        "URLServer",
        "server_from_uri",
    ],
    "sessions": ["Session"],
    "tool_config": ["ToolConfig"],
    "tool_info": ["ToolCallResult", "ToolInfo", "ToolParameter"],
    "toolset": ["MCPToolset", "list_servers"],
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOME_OF[name]}"), name)
