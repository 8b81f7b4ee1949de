"""The settings of the Agent Prompter, under the names that KNIME's own node uses, so that workflows carry over."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import knime.extension as knext

from knime_ext.nodes.answer_settings import AnswerSettings
from knime_ext.nodes.approval_settings import ApprovalSettings
from knime_ext.nodes.changed_tools import ChangedTools
from knime_ext.nodes.columns import chosen_column, holds_messages, holds_text, holds_tools
from knime_ext.nodes.limit_settings import LimitSettings

__all__ = ["AgentColumns", "AgentMode", "AgentSettings", "ErrorHandling", "IterationLimit"]

_DEVELOPER_MESSAGE = """\
You are an assistant that answers with the help of tools.

- Call a tool whenever it can find, compute or change something better than you can guess it.
- Tools that work on tables take the identifiers of tables. You see names, columns and types of the tables, never rows.
- Read each result before you decide on the next step. If a call fails, correct its arguments or take another way.
- When you know enough, answer the question directly, name the numbers that matter, and do not invent any."""

_FINAL_PROMPT = """\
The limit of steps is reached and no more tools can be called. Answer now from what the conversation holds.
If something is missing because a tool could not run any more, say what it is."""


class AgentMode(knext.EnumParameterOptions):
    """How the model uses tools."""

    TOOLS = ("Tool calling", "The model asks for single calls and reads each result.")
    CODE = (
        "Code",
        "The model writes Python that calls the tools as functions and runs in a sandbox without files and network. "
        "A loop over a hundred calls takes one iteration, and the model reads only what its code prints.",
    )


class IterationLimit(knext.EnumParameterOptions):
    """What happens when the model still wants tools after a limit is reached."""

    FAIL = ("Fail", "The node fails.")
    FINAL_RESPONSE = ("Final response", "The model is asked once more, without tools, to answer from what it has.")
    REFUSE = ("Refuse", "Every further call is refused and the model is told why, until it answers from what it has.")


class ErrorHandling(knext.EnumParameterOptions):
    """What happens when the agent cannot finish."""

    FAIL = ("Fail", "The node fails and shows the error.")
    COLUMN = (
        "Error column",
        "The node succeeds. The conversation ends with a row whose message is missing and whose error column says "
        "what went wrong.",
    )


def _history_is_connected(ctx: Any) -> bool:
    return ctx.get_input_specs()[2] is not None


_WITH_HISTORY = knext.DialogContextCondition(_history_is_connected)


@knext.parameter_group(label="Errors", is_advanced=True)
class ErrorSettings:
    """What to do with errors."""

    error_handling = knext.EnumParameter(
        "Error handling",
        "What happens if the agent cannot finish, for example because the chat model does not answer. "
        "A failing *tool* is no error of the agent: the model is told and may try something else.",
        ErrorHandling.FAIL.name,
        ErrorHandling,
        style=knext.EnumParameter.Style.VALUE_SWITCH,
    )
    use_existing_error_column = knext.BoolParameter(
        "Use the error column of the history",
        "Continues the error column of the connected conversation history instead of naming a new one. "
        "Rows of the history that hold an error are kept, but the model does not see them.",
        False,
    ).rule(knext.And(knext.OneOf(error_handling, ["COLUMN"]), _WITH_HISTORY), knext.Effect.SHOW)
    error_column_name = knext.StringParameter("Error column name", "Name of the new error column.", "Errors").rule(
        knext.OneOf(error_handling, ["COLUMN"]), knext.Effect.SHOW
    )
    error_column = knext.ColumnParameter(
        "Error column",
        "Text column of the conversation history that holds the errors. The last text column if none is selected.",
        port_index=2,
        column_filter=holds_text,
    ).rule(
        knext.And(
            knext.OneOf(error_handling, ["COLUMN"]), knext.OneOf(use_existing_error_column, [True]), _WITH_HISTORY
        ),
        knext.Effect.SHOW,
    )


class Questions(knext.EnumParameterOptions):
    """What a server is answered that asks in the middle of a call."""

    DEFAULTS = ("Use defaults", "A form whose required fields all have defaults is sent with them.")
    DECLINE = ("Decline", "Every question is declined, and the tool goes on without the answer or fails.")


@knext.parameter_group(label="MCP servers", is_advanced=True)
class ServerSettings:
    """How calls of tools of MCP servers behave."""

    changed_tools = knext.EnumParameter(
        "If a tool has changed",
        "Before its first call, a tool is compared with what its server says now: description, arguments, result and "
        "hints. This is what happens if it is not what it was when it was listed.",
        ChangedTools.FAIL.name,
        ChangedTools,
    )
    questions = knext.EnumParameter(
        "Questions of servers",
        "A server may ask the person for input while a tool runs. `knime-mcp run` asks the person at the terminal. "
        "Nobody sits in front of a node elsewhere, so questions without an answer are declined.",
        Questions.DEFAULTS.name,
        Questions,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentColumns:
    """Names of the columns that a run reads and writes.

    Attributes:
        tool: Tools in the tools table.
        conversation: Messages, in the history and in the output.
        error: Errors in the output; None if an error fails the node.
        continued_error: The same column in the history, if the history has it.
    """

    tool: str
    conversation: str
    error: str | None = None
    continued_error: str | None = None


class AgentSettings:
    """Parameters of the Agent Prompter and what follows from them."""

    developer_message = knext.MultilineStringParameter(
        "Developer message",
        "Instructions for the model that stand above everything the user says: its role, how to use the tools, "
        "how to answer. Leave it empty to send none.",
        _DEVELOPER_MESSAGE,
        number_of_lines=8,
    )
    user_message = knext.MultilineStringParameter(
        "User message",
        "The question or task. It is appended to the conversation history if one is connected.",
        "",
        number_of_lines=4,
    )
    tool_column = knext.ColumnParameter(
        "Tool column",
        "Column of the tools table with the tools. The last tool column if none is selected.",
        port_index=1,
        column_filter=holds_tools,
    )
    conversation_column = knext.ColumnParameter(
        "Conversation column",
        "Column of the conversation history with the messages. The last message column if none is selected.",
        port_index=2,
        column_filter=holds_messages,
    ).rule(_WITH_HISTORY, knext.Effect.SHOW)
    conversation_column_name = knext.StringParameter(
        "Conversation column name",
        "Name of the message column in the output, if no conversation history is connected.",
        "Conversation",
    ).rule(_WITH_HISTORY, knext.Effect.HIDE)
    mode = knext.EnumParameter(
        "Mode",
        "How the model uses the tools. *Code* needs the package `pydantic-monty` and a model that writes code well.",
        AgentMode.TOOLS.name,
        AgentMode,
        style=knext.EnumParameter.Style.VALUE_SWITCH,
        is_advanced=True,
    )
    answer = AnswerSettings()
    recursion_limit = knext.IntParameter(
        "Iteration limit",
        "How many times the model may ask for tools before it has to answer. One iteration is one reply of the model "
        "with all the tool calls in it.",
        25,
        min_value=0,
        is_advanced=True,
    )
    recursion_limit_handling = knext.EnumParameter(
        "When a limit is reached",
        "What happens if the model still asks for tools after the iteration limit or another limit is reached.",
        IterationLimit.FAIL.name,
        IterationLimit,
        style=knext.EnumParameter.Style.VALUE_SWITCH,
        is_advanced=True,
    )
    recursion_limit_prompt = knext.MultilineStringParameter(
        "Final prompt",
        "Message that asks the model for its last answer once the limit is reached.",
        _FINAL_PROMPT,
        is_advanced=True,
    ).rule(knext.OneOf(recursion_limit_handling, ["FINAL_RESPONSE"]), knext.Effect.SHOW)
    simple_types_only = knext.BoolParameter(
        "Simple types only",
        "Shows the model only arguments that are a text, a number or a boolean. Turn this on for models that "
        "struggle with lists and nested objects; tools that require such an argument are then called without it "
        "and may fail.",
        False,
        is_advanced=True,
    )
    debug = knext.BoolParameter(
        "Debug mode",
        "Asks KNIME to keep each workflow that a tool ran, so that it can be opened and inspected. "
        "It has no effect outside KNIME.",
        False,
        is_advanced=True,
    )
    data_message_prefix = knext.MultilineStringParameter(
        "Data message prefix",
        "Text that stands before the list of tables that the model is shown, such as what the tables are about.",
        "",
        is_advanced=True,
    )
    limits = LimitSettings()
    approval = ApprovalSettings()
    errors = ErrorSettings()
    mcp = ServerSettings()

    def columns(self, tools: knext.Schema, history: knext.Schema | None) -> AgentColumns:
        """The columns, found in the connected tables where none is selected.

        Raises:
            knext.InvalidParametersError: A column is missing, has the wrong type, or two have the same name.
        """
        tool = chosen_column(tools, self.tool_column, holds_tools, what="tools", table="tools table")
        conversation = self._conversation_column(history)
        continued = self._continued_error_column(history)
        error = continued or self._new_error_column()
        if error == conversation:
            raise knext.InvalidParametersError(
                f"The conversation column and the error column are both named {error!r}; rename one of them."
            )
        return AgentColumns(tool=tool, conversation=conversation, error=error, continued_error=continued)

    def _conversation_column(self, history: knext.Schema | None) -> str:
        if history is None:
            return _named(self.conversation_column_name, "conversation column")
        table = "conversation history"
        return chosen_column(history, self.conversation_column, holds_messages, what="messages", table=table)

    def _continued_error_column(self, history: knext.Schema | None) -> str | None:
        if not (self._errors_go_to_a_column and self.errors.use_existing_error_column and history is not None):
            return None
        return chosen_column(history, self.errors.error_column, holds_text, what="texts", table="conversation history")

    def _new_error_column(self) -> str | None:
        return _named(self.errors.error_column_name, "error column") if self._errors_go_to_a_column else None

    @property
    def _errors_go_to_a_column(self) -> bool:
        return self.errors.error_handling == ErrorHandling.COLUMN.name


def _named(name: str, what: str) -> str:
    if not name.strip():
        raise knext.InvalidParametersError(f"The {what} has no name; enter one in the dialog.")
    return name
