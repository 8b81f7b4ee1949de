"""Chat models that call tools: the loop and its driver, data handed between tools, traces, chat models.

Names are loaded on first use, because LangChain is heavy and hosts import every node at start-up.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from knime_ext.agent.agent import Agent
    from knime_ext.agent.answer_format import AnswerField, AnswerFormat
    from knime_ext.agent.batch.output_fields import OutputFields
    from knime_ext.agent.batch.pacing import Pacing
    from knime_ext.agent.batch.prompting import BatchPrompter, prompt_table
    from knime_ext.agent.batch.retries import Retries
    from knime_ext.agent.budget import Allowance, Budget
    from knime_ext.agent.chat_models import ChatModelConfig, create_chat_model
    from knime_ext.agent.code.code_tool import CodeTool, code_tool
    from knime_ext.agent.code.compose import EnvironmentConfig, MCPServerConfig, generate_compose_file
    from knime_ext.agent.code.environments import (
        CodeActEnvironment,
        CodeAction,
        Observation,
        ToolCallAction,
        ToolCallingEnvironment,
    )
    from knime_ext.agent.code.functions import ToolFunction
    from knime_ext.agent.code.imports import filter_imports
    from knime_ext.agent.code.limits import CodeLimits
    from knime_ext.agent.code.prompts import generate_tool_system_prompt
    from knime_ext.agent.code.registry import MCPToolRegistry
    from knime_ext.agent.code.runner import ToolCallRecord
    from knime_ext.agent.conversation import ToolNames, cells_from_messages, messages_from_cells
    from knime_ext.agent.data import DataItem, DataRepository, DataTable
    from knime_ext.agent.events import (
        AgentEvent,
        ReasoningDelta,
        RunFinished,
        TextDelta,
        ToolCallFinished,
        ToolCallStarted,
        TurnStarted,
    )
    from knime_ext.agent.langchain_tools import ToolContext, to_langchain_tools, tool_definitions
    from knime_ext.agent.offline import OfflineChatModel
    from knime_ext.agent.page.batch_page import BatchPageRow, render_batch
    from knime_ext.agent.page.run_page import render_trace
    from knime_ext.agent.run import AgentRun
    from knime_ext.agent.trace import Trace
    from knime_ext.agent.typed_answers import answer_columns, answer_values


_HOMES = {
    "Agent": "agent",
    "AgentEvent": "events",
    "AgentRun": "run",
    "Allowance": "budget",
    "AnswerField": "answer_format",
    "AnswerFormat": "answer_format",
    "BatchPageRow": "page.batch_page",
    "BatchPrompter": "batch.prompting",
    "Budget": "budget",
    "ChatModelConfig": "chat_models",
    "CodeActEnvironment": "code.environments",
    "CodeAction": "code.environments",
    "CodeLimits": "code.limits",
    "CodeTool": "code.code_tool",
    "DataItem": "data",
    "DataRepository": "data",
    "DataTable": "data",
    "EnvironmentConfig": "code.compose",
    "MCPServerConfig": "code.compose",
    "MCPToolRegistry": "code.registry",
    "Observation": "code.environments",
    "OfflineChatModel": "offline",
    "OutputFields": "batch.output_fields",
    "Pacing": "batch.pacing",
    "ReasoningDelta": "events",
    "Retries": "batch.retries",
    "RunFinished": "events",
    "TextDelta": "events",
    "ToolCallAction": "code.environments",
    "ToolCallFinished": "events",
    "ToolCallRecord": "code.runner",
    "ToolCallStarted": "events",
    "ToolCallingEnvironment": "code.environments",
    "ToolContext": "langchain_tools",
    "ToolFunction": "code.functions",
    "ToolNames": "conversation",
    "Trace": "trace",
    "TurnStarted": "events",
    "answer_columns": "typed_answers",
    "answer_values": "typed_answers",
    "cells_from_messages": "conversation",
    "code_tool": "code.code_tool",
    "create_chat_model": "chat_models",
    "filter_imports": "code.imports",
    "generate_compose_file": "code.compose",
    "generate_tool_system_prompt": "code.prompts",
    "messages_from_cells": "conversation",
    "prompt_table": "batch.prompting",
    "render_batch": "page.batch_page",
    "render_trace": "page.run_page",
    "to_langchain_tools": "langchain_tools",
    "tool_definitions": "langchain_tools",
}

__all__ = [
    "Agent",
    "AgentEvent",
    "AgentRun",
    "Allowance",
    "AnswerField",
    "AnswerFormat",
    "BatchPageRow",
    "BatchPrompter",
    "Budget",
    "ChatModelConfig",
    "CodeActEnvironment",
    "CodeAction",
    "CodeLimits",
    "CodeTool",
    "DataItem",
    "DataRepository",
    "DataTable",
    "EnvironmentConfig",
    "MCPServerConfig",
    "MCPToolRegistry",
    "Observation",
    "OfflineChatModel",
    "OutputFields",
    "Pacing",
    "ReasoningDelta",
    "Retries",
    "RunFinished",
    "TextDelta",
    "ToolCallAction",
    "ToolCallFinished",
    "ToolCallRecord",
    "ToolCallStarted",
    "ToolCallingEnvironment",
    "ToolContext",
    "ToolFunction",
    "ToolNames",
    "Trace",
    "TurnStarted",
    "answer_columns",
    "answer_values",
    "cells_from_messages",
    "code_tool",
    "create_chat_model",
    "filter_imports",
    "generate_compose_file",
    "generate_tool_system_prompt",
    "messages_from_cells",
    "prompt_table",
    "render_batch",
    "render_trace",
    "to_langchain_tools",
    "tool_definitions",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
