"""One run of the Agent Prompter: cells in, agent, cells out. Imported only when the node executes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import knime.extension as knext
from langchain_core.messages import BaseMessage, HumanMessage

from knime_ext.agent import (
    Agent,
    Allowance,
    CodeLimits,
    DataRepository,
    ToolNames,
    cells_from_messages,
    code_tool,
    messages_from_cells,
    render_trace,
    to_langchain_tools,
)
from knime_ext.nodes.agent_settings import AgentMode, AgentSettings, IterationLimit
from knime_ext.nodes.answer_table import answer_table
from knime_ext.nodes.cells import conversation_table, empty_table, messages_in, texts_in, tools_in
from knime_ext.nodes.chat_model_port import ChatModelPortObject
from knime_ext.nodes.result_shelf import result_shelf
from knime_ext.nodes.tool_host import ToolHost

if TYPE_CHECKING:
    from langchain_core.tools import BaseTool

    from knime.types.message import MessageValue
    from knime.types.tool import Tool
    from knime_ext.agent import AnswerFormat
    from knime_ext.agent.budget import WhenExhausted
    from knime_ext.tools import ResultShelf

__all__ = ["AgentInputs", "run_agent"]

_ENDS: Mapping[str, WhenExhausted] = {
    IterationLimit.FAIL.name: "fail",
    IterationLimit.FINAL_RESPONSE.name: "answer",
    IterationLimit.REFUSE.name: "refuse",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentInputs:
    """What arrived at the ports of the node."""

    chat_model: ChatModelPortObject
    tools: knext.Table
    history: knext.Table | None
    data: Sequence[knext.Table]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rows:
    """Rows of a conversation: a message and an error each, of which one is missing."""

    messages: list[MessageValue | None]
    errors: list[str | None]


class _Tables(DataRepository):
    """The data repository with the user's own words before its summary."""

    def __init__(self, prefix: str, tables: Sequence[knext.Table]) -> None:
        super().__init__()
        self._prefix = prefix
        for number, table in enumerate(tables, start=1):
            self.add(f"input_table_{number}", f"Input table {number}", table)

    def summary(self) -> str:
        """The user's words and all items."""
        return f"{self._prefix}\n\n{super().summary()}".strip()


def run_agent(settings: AgentSettings, ctx: knext.ExecutionContext, inputs: AgentInputs) -> list[Any]:
    """Asks the agent and gives what the node returns: conversation, data outputs, answer, page.

    Raises:
        knext.InvalidParametersError: The agent failed and errors do not go to a column.
        KnimeExtError: The agent could not begin.
    """
    columns = settings.columns(inputs.tools.schema, None if inputs.history is None else inputs.history.schema)
    form = settings.answer.format()
    past = _past(inputs.history, columns.conversation, columns.continued_error)
    data = _Tables(settings.data_message_prefix, inputs.data)
    with ToolHost(ctx, changed=settings.mcp.changed_tools, questions=settings.mcp.questions) as host:
        tools = _tools(settings, tools_in(inputs.tools, columns.tool), host, data, result_shelf(ctx))
        names = ToolNames(tools)
        question, history = _question(settings.user_message, messages_from_cells(past.messages, names))
        agent = _agent(settings, inputs.chat_model.create_model(ctx), tools, data, form)
        run = agent.attempt(question, history, cancel=ctx.is_canceled)
    if run.error is not None and (columns.error is None or run.stop_reason == "cancelled"):
        raise knext.InvalidParametersError(_sentence(run.error))
    # A question that the history ended with has a row already.
    added = [message for message in run.new_messages if settings.user_message.strip() or message is not question]
    rows = _extended(past, cells_from_messages(added, names), run.error)
    errors = (columns.error, rows.errors) if columns.error is not None else None
    count = ctx.get_connected_output_port_numbers()[1]
    tables = data.last_tables(count)
    return [
        conversation_table(rows.messages, columns.conversation, errors),
        [*tables, *(empty_table() for _ in range(count - len(tables)))],
        answer_table(run, form),
        knext.view_html(render_trace(run.trace, "Conversation")),
    ]


def _tools(
    settings: AgentSettings, rows: Sequence[Tool], host: ToolHost, data: DataRepository, shelf: ResultShelf
) -> Sequence[BaseTool]:
    limits, in_code = settings.limits, settings.mode == AgentMode.CODE.name
    tools = to_langchain_tools(
        rows,
        host,
        data=data,
        simple_types_only=settings.simple_types_only,
        execution_hints={"execution-mode": "DEBUG" if settings.debug else "DEFAULT"},
        approval=settings.approval.policy(),
        approve=host.approve,
        shelf=shelf,
        # Code reads results whole; the model gets what the code prints.
        max_result_chars=None if in_code else limits.result_chars,
    )
    if not in_code:
        return tools
    code_limits = CodeLimits(
        output_bytes=limits.result_chars,
        result_chars=limits.result_chars,
        seconds_per_call=limits.seconds_per_call or None,
    )
    return [code_tool(tools, code_limits)]


def _agent(
    settings: AgentSettings, model: Any, tools: Sequence[BaseTool], data: DataRepository, form: AnswerFormat | None
) -> Agent:
    return Agent(
        model,
        tools,
        system_message=settings.developer_message,
        budget=settings.limits.budget(settings.recursion_limit),
        allowance=Allowance(tokens=settings.limits.tokens or None),
        when_exhausted=_ENDS[settings.recursion_limit_handling],
        final_prompt=settings.recursion_limit_prompt,
        data=data,
        answer_format=form,
        tool_tokens=settings.limits.tool_tokens or None,
    )


def _past(history: knext.Table | None, column: str, error_column: str | None) -> _Rows:
    if history is None:
        return _Rows(messages=[], errors=[])
    messages = messages_in(history, column)
    errors: list[str | None] = [None] * len(messages)
    if error_column is not None:
        errors = texts_in(history, error_column)
    return _Rows(messages=messages, errors=errors)


def _question(user_message: str, history: list[BaseMessage]) -> tuple[HumanMessage, list[BaseMessage]]:
    """The question and what came before it; without a user message, the history may end with the question."""
    if user_message.strip():
        return HumanMessage(user_message), history
    if history and isinstance(history[-1], HumanMessage):
        return history[-1], history[:-1]
    raise knext.InvalidParametersError("The user message is empty; enter the question or task in the dialog.")


def _extended(past: _Rows, added: Sequence[MessageValue], error: Exception | None) -> _Rows:
    """The rows of the history, then those of this run, then its error if it has one."""
    messages: list[MessageValue | None] = [*past.messages, *added]
    errors = [*past.errors, *(None for _ in added)]
    if error is not None:
        messages.append(None)
        errors.append(_sentence(error))
    return _Rows(messages=messages, errors=errors)


def _sentence(error: Exception) -> str:
    text = str(error)
    return text[:1].upper() + text[1:]
