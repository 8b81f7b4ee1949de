"""The settings of the Tool Caller."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import knime.extension as knext

from knime_ext.nodes.agent_settings import ServerSettings
from knime_ext.nodes.columns import binary_type, chosen_column, holds_text, holds_tools

if TYPE_CHECKING:
    from knime_ext.tools.cell_arguments import Constant, FromColumn

__all__ = ["CallErrors", "ResultForm", "ToolCallSettings", "ToolChoice"]

_NONE = knext.ColumnParameter.NONE


class ToolChoice(knext.EnumParameterOptions):
    """Which tool a row is for."""

    SINGLE = ("One tool", "All rows call the same tool.")
    COLUMN = ("From a column", "A column of the data names the tool of each row.")


class ResultForm(knext.EnumParameterOptions):
    """Which columns results become."""

    TYPED = (
        "Typed columns",
        "The text of each result; a column for each value that the tool's output schema names; and one column for each "
        "picture, sound or file. Which columns there are is known when the node has been executed.",
    )
    FIXED = (
        "Always the same columns",
        "The text, the structured result as JSON, and the first picture, sound or file. The columns are known before "
        "the node is executed.",
    )


class CallErrors(knext.EnumParameterOptions):
    """What happens when a call fails."""

    FAIL = ("Fail", "The node fails at the first row that fails. What is finished by then is not called again.")
    COLUMN = ("Error column", "The other rows go on; a column says what went wrong.")


@knext.parameter_group("Argument")
class ArgumentSource:
    """Where one argument comes from."""

    argument = knext.StringParameter("Argument", "Name of the argument, as the tool calls it.", "")
    column = knext.ColumnParameter(
        "Column",
        "Column of the data with the values.",
        port_index=1,
        include_none_column=True,
        default_value=_NONE,
    )
    constant = knext.StringParameter(
        "Constant", "The value for all rows, if no column is selected. Lists and objects are written as JSON.", ""
    )


@knext.parameter_group(label="Errors")
class ErrorSettings:
    """What to do with failing calls."""

    error_handling = knext.EnumParameter(
        "If a call fails",
        "A call fails if its arguments do not fit, if the tool reports a failure, or if its server does.",
        CallErrors.COLUMN.name,
        CallErrors,
        style=knext.EnumParameter.Style.VALUE_SWITCH,
    )
    error_column_name = knext.StringParameter("Error column name", "Name of the new error column.", "Error").rule(
        knext.OneOf(error_handling, ["COLUMN"]), knext.Effect.SHOW
    )


@knext.parameter_group(label="Limits", is_advanced=True)
class CallLimits:
    """How much goes on at a time."""

    concurrency = knext.IntParameter("Calls at a time", "How many rows are called side by side.", 16, min_value=1)
    per_minute = knext.DoubleParameter(
        "Calls per minute", "Most calls that begin in a minute at one server. 0 for no limit.", 0.0, min_value=0.0
    )
    seconds_per_call = knext.DoubleParameter(
        "Time of a call (seconds)",
        "A call that takes longer is stopped and fails. 0 for no limit but those of the servers.",
        0.0,
        min_value=0.0,
    )


class ToolCallSettings:
    """Parameters of the Tool Caller and what follows from them."""

    tool_column = knext.ColumnParameter(
        "Tool column",
        "Column of the tools table with the tools. The last tool column if none is selected.",
        port_index=0,
        column_filter=holds_tools,
    )
    tool_choice = knext.EnumParameter(
        "Tool",
        "Which tool is called.",
        ToolChoice.SINGLE.name,
        ToolChoice,
        style=knext.EnumParameter.Style.VALUE_SWITCH,
    )
    tool_name = knext.StringParameter(
        "Name of the tool",
        "The name in the tools table, or the name on the server. May be empty if the table has only one tool.",
        "",
    ).rule(knext.OneOf(tool_choice, ["SINGLE"]), knext.Effect.SHOW)
    tool_name_column = knext.ColumnParameter(
        "Column with names of tools",
        "Text column of the data. The last text column if none is selected.",
        port_index=1,
        column_filter=holds_text,
    ).rule(knext.OneOf(tool_choice, ["COLUMN"]), knext.Effect.SHOW)
    by_name = knext.BoolParameter(
        "Arguments from columns of the same name",
        "Every argument takes its values from the column that has its name, if there is one.",
        True,
    )
    arguments = knext.ParameterArray(
        ArgumentSource(),
        "Other arguments",
        "Arguments that come from columns of other names, or are the same for all rows. They win over columns of the "
        "same name.",
        button_text="Add argument",
        array_title="Argument",
    )
    results = knext.EnumParameter("Results", "Which columns results become.", ResultForm.TYPED.name, ResultForm)
    result_column_name = knext.StringParameter("Result column name", "Name of the column with the text.", "Result")
    column_prefix = knext.StringParameter(
        "Text before column names",
        "Stands before the names of the columns that a tool's values become, such as `EUR ` for *EUR amount*. Names "
        "that the data has already get a number else.",
        "",
        is_advanced=True,
    ).rule(knext.OneOf(results, ["TYPED"]), knext.Effect.SHOW)
    errors = ErrorSettings()
    limits = CallLimits()
    mcp = ServerSettings()

    def tools_in(self, tools: knext.Schema) -> str:
        """The column with the tools.

        Raises:
            knext.InvalidParametersError: There is none.
        """
        return chosen_column(tools, self.tool_column, holds_tools, what="tools", table="tools table")

    def names_in(self, data: knext.Schema) -> str | None:
        """The column that names the tool of each row; None if all rows call the same.

        Raises:
            knext.InvalidParametersError: There is none.
        """
        if self.tool_choice == ToolChoice.SINGLE.name:
            return None
        return chosen_column(data, self.tool_name_column, holds_text, what="texts", table="data table")

    def mapped(self, data: knext.Schema) -> dict[str, FromColumn | Constant]:
        """The sources that were chosen for arguments.

        Raises:
            knext.InvalidParametersError: An entry has no name, a name stands twice, or a column does not exist.
        """
        from knime_ext.tools.cell_arguments import Constant, FromColumn

        sources: dict[str, FromColumn | Constant] = {}
        for number, entry in enumerate(self.arguments, start=1):
            name, column = entry.argument.strip(), entry.column
            if not name or name in sources:
                problem = f"names {name!r} again" if name else "has no name of an argument"
                raise knext.InvalidParametersError(
                    f"Entry {number} of the arguments {problem}; change it in the dialog."
                )
            if column in (None, "", _NONE):
                sources[name] = Constant(entry.constant)
                continue
            if column not in data.column_names:
                raise knext.InvalidParametersError(
                    f"Column {column!r} for the argument {name!r} does not exist; select another one in the dialog."
                )
            sources[name] = FromColumn(str(column))
        return sources

    def fixed_columns(self) -> dict[str, Any]:
        """Names and types of the columns that are always the same, without the errors."""
        text = knext.string()
        columns = {self.result_column_name: text}
        if self.results == ResultForm.FIXED.name:
            columns |= {"Structured result": text, "Media": binary_type(), "Media type": text}
        return columns

    @property
    def error_column(self) -> str | None:
        """Name of the error column; None if a failing call fails the node."""
        return self.errors.error_column_name if self.errors.error_handling == CallErrors.COLUMN.name else None

    def check_names(self) -> None:
        """Makes sure that new columns have names.

        Raises:
            knext.InvalidParametersError: One has none.
        """
        named = {"result": self.result_column_name, "error": self.error_column}
        for what, name in named.items():
            if name is not None and not name.strip():
                raise knext.InvalidParametersError(f"The {what} column has no name; enter one in the dialog.")
