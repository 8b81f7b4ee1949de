"""What a host loads: one line per node, and nothing heavy behind it."""

from knime_ext.nodes.agent_batch_prompter import AgentBatchPrompter
from knime_ext.nodes.agent_prompter import AgentPrompter
from knime_ext.nodes.chat_model_connector import ChatModelConnector
from knime_ext.nodes.convert_tools import ConvertTools
from knime_ext.nodes.mcp_tool_provider import MCPToolProvider
from knime_ext.nodes.offline_chat_model import OfflineChatModel
from knime_ext.nodes.tool_builder import ToolBuilder
from knime_ext.nodes.tool_caller import ToolCaller
from knime_ext.nodes.tool_explorer import ToolExplorer
from knime_ext.nodes.value_types import provide_value_types

__all__ = [
    "AgentBatchPrompter",
    "AgentPrompter",
    "ChatModelConnector",
    "ConvertTools",
    "MCPToolProvider",
    "OfflineChatModel",
    "ToolBuilder",
    "ToolCaller",
    "ToolExplorer",
]

provide_value_types()
