"""The Agent Prompter on the bench: a scripted model, tools that are functions, and no engine around it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import knime.extension as knext
import pyarrow as pa

from knime.types.message import MessageValue
from knime.types.tool import MCPTool, Tool, ToolPort, WorkflowTool
from knime_ext.extension import AgentPrompter
from knime_ext.nodes.cells import messages_in, tool_table
from knime_ext.nodes.chat_model_port import ChatModelPortObject, ChatModelPortObjectSpec
from knime_ext.runtime.knext.contexts import ExecutionContext, NodeHost
from knime_ext.runtime.knext.settings import set_parameters
from knime_ext.testing import ScriptedChatModel, ScriptedReply

WorkflowRunner = Callable[[Mapping[str, Any], list[Any]], tuple[str, list[Any]]]


def mcp_tool(name: str = "echo", /, **properties: Any) -> MCPTool:
    schema = {"type": "object", "properties": properties, "required": list(properties)}
    return MCPTool(name=name, description=f"Does {name}.", parameter_schema=schema, server_uri="http://localhost:1/mcp")


def workflow_tool(
    name: str = "double", /, inputs: Sequence[str] = ("rows",), outputs: Sequence[str] = ("twice",)
) -> WorkflowTool:
    return WorkflowTool(
        name=name,
        description=f"Does {name}.",
        parameter_schema={},
        input_ports=[ToolPort(each, f"The {each}.", "Table") for each in inputs],
        output_ports=[ToolPort(each, f"The {each}.", "Table") for each in outputs],
        _filestore_keys="v1:x:0:y:-1",
    )


def table(**columns: Any) -> knext.Table:
    return knext.Table.from_pyarrow(pa.table(columns))


class ScriptedPort(ChatModelPortObject):
    """A port object whose model follows a script."""

    def __init__(self, replies: Sequence[ScriptedReply]) -> None:
        super().__init__(ChatModelPortObjectSpec(provider="scripted"))
        self.model = ScriptedChatModel(replies=list(replies))

    def create_model(self, ctx: Any, output_format: Any = "Text") -> Any:
        return self.model


class Context(ExecutionContext):
    """A host that runs workflows and MCP tools by calling functions, and writes the calls down."""

    def __init__(self, run: Callable[..., Any], data_outputs: int = 1, host: NodeHost | None = None) -> None:
        super().__init__(host, {}, [1, 1, 1, 1], [1, data_outputs, 1])
        self.run = run
        self.calls: list[tuple[str, dict[str, Any]]] = []
        self.hints: dict[str, str] = {}
        self._lock = threading.Lock()

    def _execute_tool(
        self, tool: Tool, parameters: dict[str, Any], inputs: list[Any], execution_hints: dict[str, str]
    ) -> Any:
        with self._lock:
            self.calls.append((tool.name, parameters))
            self.hints = execution_hints
        message, tables = self.run(tool, parameters, inputs)
        return message, tables, []

    def _execute_mcp_tool(self, tool: MCPTool, parameters: dict[str, Any]) -> str:
        with self._lock:
            self.calls.append((tool.name, parameters))
        return self.run(tool, parameters, [])


def done(*_: Any) -> str:
    """What every MCP tool says if a test has no other wish."""
    return "done"


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What the node gave."""

    conversation: knext.Table
    data: list[knext.Table]
    answer: knext.Table
    page: str
    context: Context
    port: ScriptedPort

    @property
    def messages(self) -> list[MessageValue | None]:
        return messages_in(self.conversation, self.conversation.column_names[0])

    @property
    def texts(self) -> list[str]:
        return [message.text for message in self.messages if message is not None]


@dataclass(kw_only=True)
class Bench:
    """An Agent Prompter with its surroundings; `ask` executes it."""

    replies: Sequence[ScriptedReply]
    tools: Sequence[Tool | None] = ()
    settings: dict[str, Any] = field(default_factory=dict[str, Any])
    run: Callable[..., Any] = done
    history: knext.Table | None = None
    data: Sequence[knext.Table] = ()
    data_outputs: int = 1
    host: NodeHost | None = None
    tools_table: knext.Table | None = None
    context_class: type[Context] = Context

    def node(self) -> Any:
        node = AgentPrompter()
        set_parameters(node, {"user_message": "What is up?", **self.settings})
        return node

    def ask(self) -> Outcome:
        node, port = self.node(), ScriptedPort(self.replies)
        context = self.context_class(self.run, self.data_outputs, self.host)
        tools = self.tools_table if self.tools_table is not None else tool_table(self.tools)
        schemas = [each.schema for each in self.data]
        history_schema = None if self.history is None else self.history.schema
        configured, groups, answer_columns = node.configure(context, port.spec, tools.schema, history_schema, schemas)
        assert groups == [None] * self.data_outputs
        conversation, data, answer, view = node.execute(context, port, tools, self.history, list(self.data))
        assert conversation.schema == configured
        assert answer.schema == answer_columns
        return Outcome(conversation=conversation, data=data, answer=answer, page=view.html, context=context, port=port)
