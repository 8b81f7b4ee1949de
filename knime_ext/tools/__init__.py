"""Tools as a chat model sees them, toolsets that call them, and their table column. No I/O happens here."""

from knime_ext.tools.approval_policy import ApprovalPolicy, Decision
from knime_ext.tools.codec import DecodedTools, decode_tools, encode_tools
from knime_ext.tools.combined import CombinedToolset
from knime_ext.tools.definition import JSON, ToolDefinition
from knime_ext.tools.dialects import ConvertedSchema, Dialect, convert_schema
from knime_ext.tools.long_results import MAX_RESULT_CHARS, READ_MORE, ResultShelf, read_more, shelved_text
from knime_ext.tools.model_text import definition_for_model, schema_for_model, text_for_model
from knime_ext.tools.names import NameMap, safe_name
from knime_ext.tools.result import ToolResult
from knime_ext.tools.schemas import check_arguments, parse_json_texts, simple_types_only, workflow_arguments_schema
from knime_ext.tools.selection import NamePatterns, ToolSelection
from knime_ext.tools.token_estimate import estimated_tokens
from knime_ext.tools.tool_search import ToolSearch
from knime_ext.tools.toolset import Toolset, find_definition, unknown_tool

__all__ = [
    "JSON",
    "MAX_RESULT_CHARS",
    "READ_MORE",
    "ApprovalPolicy",
    "CombinedToolset",
    "ConvertedSchema",
    "Decision",
    "DecodedTools",
    "Dialect",
    "NameMap",
    "NamePatterns",
    "ResultShelf",
    "ToolDefinition",
    "ToolResult",
    "ToolSearch",
    "ToolSelection",
    "Toolset",
    "check_arguments",
    "convert_schema",
    "decode_tools",
    "definition_for_model",
    "encode_tools",
    "estimated_tokens",
    "find_definition",
    "parse_json_texts",
    "read_more",
    "safe_name",
    "schema_for_model",
    "shelved_text",
    "simple_types_only",
    "text_for_model",
    "unknown_tool",
    "workflow_arguments_schema",
]
