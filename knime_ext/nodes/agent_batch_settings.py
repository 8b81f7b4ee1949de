"""The settings of the Agent Batch Prompter."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import knime.extension as knext

from knime_ext.nodes.agent_settings import AgentMode, IterationLimit, ServerSettings
from knime_ext.nodes.answer_settings import AnswerSettings
from knime_ext.nodes.approval_settings import ApprovalSettings
from knime_ext.nodes.columns import chosen_column, holds_tools

if TYPE_CHECKING:
    from knime_ext.agent import Allowance, Budget
    from knime_ext.agent.batch.output_fields import OutputFields
    from knime_ext.agent.batch.pacing import Pacing

__all__ = ["AgentBatchSettings", "RowErrors"]

_FINAL_PROMPT = """\
The limit is reached and no more tools can be called. Answer now from what the conversation holds.
If something is missing because a tool could not run any more, say what it is."""


class RowErrors(knext.EnumParameterOptions):
    """What a row that fails does to the others."""

    FAIL = ("Fail", "The node fails at the first row that fails. What is finished by then is not asked for again.")
    COLUMN = ("Error column", "The other rows go on; a column says what went wrong.")


@knext.parameter_group(label="Rows")
class RowSettings:
    """Which rows, how many at a time, and what happens if one fails."""

    preview = knext.IntParameter(
        "Preview",
        "Only the first rows of the table, to try out the prompt. Rows of a preview are not asked for again when the "
        "whole table is. 0 for all rows.",
        0,
        min_value=0,
    )
    concurrency = knext.IntParameter("Rows at a time", "How many rows are worked on side by side.", 16, min_value=1)
    error_handling = knext.EnumParameter(
        "If a row fails",
        "A row fails if the model does not answer, or if its cells do not fit the template. A failing *tool* is no "
        "failure: the model is told and may try something else.",
        RowErrors.COLUMN.name,
        RowErrors,
        style=knext.EnumParameter.Style.VALUE_SWITCH,
    )
    traces = knext.BoolParameter(
        "Keep conversations",
        "Writes the whole conversation of each row into a column, as JSON, and shows it in the view. The environment "
        "variable `KNIME_MCP_TRACES` names a folder where every node keeps all of them as Arrow files, whatever is "
        "set here.",
        True,
    )


@knext.parameter_group(label="Limits", is_advanced=True)
class BatchLimits:
    """What a row and what all rows together may spend. 0 stands for no limit."""

    turns = knext.IntParameter(
        "Iterations per row",
        "How many times the model may ask for tools. One iteration is one reply with all the tool calls in it.",
        25,
        min_value=0,
    )
    calls = knext.IntParameter("Tool calls per row", "Most tool calls of a row. 0 for no limit.", 0, min_value=0)
    seconds = knext.DoubleParameter(
        "Time per row (seconds)", "Longest time of a row, model and tools together. 0 for no limit.", 0.0, min_value=0.0
    )
    seconds_per_call = knext.DoubleParameter(
        "Time of a tool call (seconds)",
        "A tool that takes longer is stopped and the model is told so. 0 for no limit but those of the servers.",
        0.0,
        min_value=0.0,
    )
    total_tokens = knext.IntParameter(
        "Tokens of all rows",
        "Most tokens of the whole table, as the model counts them; rows after that fail. 0 for no limit.",
        0,
        min_value=0,
    )
    total_calls = knext.IntParameter(
        "Tool calls of all rows", "Most tool calls of the whole table. 0 for no limit.", 0, min_value=0
    )
    when_reached = knext.EnumParameter(
        "When a limit is reached",
        "What happens if the model still asks for tools then. To *fail* means that the row fails.",
        IterationLimit.FINAL_RESPONSE.name,
        IterationLimit,
        style=knext.EnumParameter.Style.VALUE_SWITCH,
    )
    final_prompt = knext.MultilineStringParameter(
        "Final prompt", "Message that asks the model for its last answer once a limit is reached.", _FINAL_PROMPT
    ).rule(knext.OneOf(when_reached, ["FINAL_RESPONSE"]), knext.Effect.SHOW)
    tool_tokens = knext.IntParameter(
        "Tokens of tool descriptions",
        "If the tools need more tokens than this to be described, the model gets a tool to search for tools instead. "
        "0 for no limit.",
        0,
        min_value=0,
    )
    result_chars = knext.IntParameter(
        "Longest result (characters)",
        "Of a longer result of a tool, the model gets the beginning, and a tool to read on with.",
        20_000,
        min_value=200,
    )

    def budget(self) -> Budget:
        """What each row may spend."""
        from knime_ext.agent import Budget

        return Budget(
            turns=self.turns,
            calls=self.calls or None,
            seconds=self.seconds or None,
            seconds_per_call=self.seconds_per_call or None,
        )

    def allowance(self) -> Allowance:
        """What all rows may spend together."""
        from knime_ext.agent import Allowance

        return Allowance(tokens=self.total_tokens or None, calls=self.total_calls or None)


@knext.parameter_group(label="Speed", is_advanced=True)
class PaceSettings:
    """How fast model and servers are asked, over all rows. 0 stands for no limit."""

    model_concurrency = knext.IntParameter(
        "Requests to the model at a time", "Over all rows. 0 for no limit.", 0, min_value=0
    )
    model_per_minute = knext.DoubleParameter(
        "Requests to the model per minute", "Evenly spread. 0 for no limit.", 0.0, min_value=0.0
    )
    server_concurrency = knext.IntParameter(
        "Calls to a server at a time", "For each MCP server. 0 for no limit.", 0, min_value=0
    )
    server_per_minute = knext.DoubleParameter(
        "Calls to a server per minute", "For each MCP server, evenly spread. 0 for no limit.", 0.0, min_value=0.0
    )
    attempts = knext.IntParameter(
        "Attempts",
        "How often the model is asked when it limits the rate or is overloaded. The waits in between get longer, or "
        "are what the service asks for.",
        6,
        min_value=1,
    )

    def pacing(self) -> Pacing:
        """The limits."""
        from knime_ext.agent.batch.pacing import Pacing
        from knime_ext.agent.batch.retries import Retries

        return Pacing(
            model_concurrency=self.model_concurrency or None,
            model_per_minute=self.model_per_minute or None,
            server_concurrency=self.server_concurrency or None,
            server_per_minute=self.server_per_minute or None,
            retries=Retries(attempts=self.attempts),
        )


class AgentBatchSettings:
    """Parameters of the Agent Batch Prompter and what follows from them."""

    prompt = knext.MultilineStringParameter(
        "Prompt",
        "The question or task of each row. Columns are written as `{{ name }}`, or as `{{ row['Any name'] }}` where "
        "the name is more than letters, digits and underscores. This is a Jinja template: conditions, loops and the "
        "usual filters work.",
        "",
        number_of_lines=6,
    )
    system_message = knext.MultilineStringParameter(
        "System message",
        "Instructions for the model that stand above the prompt, with columns in the same way. Empty for none.",
        "",
        number_of_lines=4,
    )
    answer_column = knext.StringParameter(
        "Answer column",
        "Name of the column for the answer. The other new columns begin with it and two underscores.",
        "answer",
    )
    tool_column = knext.ColumnParameter(
        "Tool column",
        "Column of the tools table with the tools. The last tool column if none is selected.",
        port_index=2,
        column_filter=holds_tools,
    )
    tool_alias = knext.StringParameter(
        "Tool alias",
        "Name of a tool configuration that was registered with `knime-mcp config tools`; its tools are added to those "
        "of the table, and its limits hold beside those of the node. Empty for none.",
        "",
        is_advanced=True,
    )
    mode = knext.EnumParameter(
        "Mode",
        "How the model uses the tools. *Code* needs the package `pydantic-monty` and a model that writes code well.",
        AgentMode.TOOLS.name,
        AgentMode,
        style=knext.EnumParameter.Style.VALUE_SWITCH,
        is_advanced=True,
    )
    rows = RowSettings()
    answer = AnswerSettings()
    limits = BatchLimits()
    speed = PaceSettings()
    simple_types_only = knext.BoolParameter(
        "Simple types only",
        "Shows the model only arguments that are a text, a number or a boolean, for models that struggle with others.",
        False,
        is_advanced=True,
    )
    approval = ApprovalSettings()
    mcp = ServerSettings()

    def tools_in(self, tools: knext.Schema | None) -> str | None:
        """The column with the tools; None if no table is connected.

        Raises:
            knext.InvalidParametersError: The table has no such column.
        """
        if tools is None:
            return None
        return chosen_column(tools, self.tool_column, holds_tools, what="tools", table="tools table")

    @property
    def stops_at_first_error(self) -> bool:
        """Whether a row that fails fails the node."""
        return self.rows.error_handling == RowErrors.FAIL.name

    def output(self) -> OutputFields:
        """The new columns.

        Raises:
            ConfigurationError: The form of the answer is wrong.
        """
        from knime_ext.agent.batch.output_fields import OutputFields

        form = self.answer.format()
        return OutputFields(answer=self.answer_column, traces=self.rows.traces, json_traces=True, form=form)

    def check_templates(self, columns: list[str]) -> None:
        """Makes sure that the templates fit the table.

        Raises:
            ConfigurationError: A template is wrong or names a column that is not there.
        """
        from knime_ext.agent.batch.templates import PromptTemplate

        if not self.prompt.strip():
            raise knext.InvalidParametersError("The prompt is empty; enter it in the dialog.")
        for text, what in ((self.prompt, "prompt"), (self.system_message, "system message")):
            PromptTemplate(text, what=what).columns(columns)


def column_type(kind: Any) -> Any:
    """KNIME's type of a column that has this Arrow type."""
    if str(kind).startswith("list<"):
        return knext.list_(column_type(kind.value_type))
    types = {"string": knext.string(), "bool": knext.bool_(), "int32": knext.int32(), "int64": knext.int64()}
    return types[str(kind)] if str(kind) in types else knext.double()
