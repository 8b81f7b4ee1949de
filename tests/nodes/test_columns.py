"""How a node finds its column."""

import knime.extension as knext
import pytest

from knime_ext.nodes.columns import chosen_column, holds_messages, holds_text, holds_tools, message_type, tool_type

SCHEMA = knext.Schema.from_columns(
    [
        knext.Column(tool_type(), "Old tools"),
        knext.Column(knext.string(), "Name"),
        knext.Column(message_type(), "Talk"),
        knext.Column(tool_type(), "Tools"),
        knext.Column(knext.int64(), "Count"),
    ]
)


def found(selected: str | None) -> str:
    return chosen_column(SCHEMA, selected, holds_tools, what="tools", table="tools table")


def test_the_last_column_of_the_right_type_is_taken_if_none_is_selected() -> None:
    assert found(None) == "Tools"
    assert found("") == "Tools"
    assert chosen_column(SCHEMA, None, holds_messages, what="messages", table="history") == "Talk"
    assert chosen_column(SCHEMA, None, holds_text, what="texts", table="history") == "Name"


def test_a_selected_column_is_taken() -> None:
    assert found("Old tools") == "Old tools"


def test_a_selected_column_of_another_type_is_refused() -> None:
    with pytest.raises(knext.InvalidParametersError) as caught:
        found("Count")
    assert str(caught.value) == (
        "Column 'Count' of the tools table does not hold tools; select another one in the dialog."
    )


def test_a_selected_column_that_is_gone_is_refused() -> None:
    with pytest.raises(knext.InvalidParametersError) as caught:
        found("Gone")
    assert str(caught.value) == "Column 'Gone' of the tools table does not exist; select another one in the dialog."


def test_a_table_without_such_a_column_is_refused() -> None:
    with pytest.raises(knext.InvalidParametersError) as caught:
        chosen_column(SCHEMA[["Name"]].get(), None, holds_tools, what="tools", table="tools table")
    assert str(caught.value) == "The tools table has no column of tools; connect a table that has one."


def test_columns_of_the_older_workflow_tools_count_as_tools() -> None:
    from knime_ext.runtime.knext.ktypes import LogicalType
    from knime_ext.runtime.knext.value_types import WORKFLOW_TOOL_FACTORY, logical_type_text

    older = LogicalType(logical_type_text(WORKFLOW_TOOL_FACTORY), knext.struct(knext.string(), knext.string()))
    assert holds_tools(knext.Column(older, "Tool"))
    assert not holds_messages(knext.Column(older, "Tool"))
