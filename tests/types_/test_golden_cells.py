"""What is damaged, and why, stands in one file that the Java side is tested against too."""

from typing import Any

import pyarrow as pa
import pytest

from knime.types.tool import CellReader, CellWriter, InvalidToolCell, MCPTool, WorkflowToolValueFactory
from knime_ext.tools import decode_tools
from knime_ext.tools.codec import TOOL_STRUCT
from tests.cross_language.columns import GOLDEN, changed_cell


@pytest.mark.parametrize("entry", GOLDEN["damaged"], ids=range(len(GOLDEN["damaged"])))
def test_a_damaged_cell_is_refused_with_the_reason_both_languages_give(entry: dict[str, Any]) -> None:
    with pytest.raises(InvalidToolCell) as caught:
        CellReader().tool(changed_cell(entry))
    assert (caught.value.field, caught.value.reason) == (entry["field"], entry["reason"])


def test_a_column_of_damaged_cells_reports_the_same_reasons() -> None:
    cells = [dict(zip("012345678", changed_cell(entry), strict=True)) for entry in GOLDEN["damaged"]]
    decoded = decode_tools(pa.array(cells, TOOL_STRUCT), on_damage="report")
    assert [(cell.row, cell.field, cell.reason) for cell in decoded.damaged] == [
        (row, entry["field"], entry["reason"]) for row, entry in enumerate(GOLDEN["damaged"])
    ]


@pytest.mark.parametrize("entry", GOLDEN["sound"], ids=range(len(GOLDEN["sound"])))
def test_an_unusual_but_sound_cell_is_read(entry: dict[str, Any]) -> None:
    assert CellReader().tool(changed_cell(entry)).name


@pytest.mark.parametrize("entry", GOLDEN["damaged_older"], ids=range(len(GOLDEN["damaged_older"])))
def test_a_damaged_cell_of_the_older_layout_is_refused_with_the_same_reason(entry: dict[str, Any]) -> None:
    cell = GOLDEN["older_cells"][entry["of"]]
    damaged = cell | {"1": cell["1"] | {"2": entry["parameter_schema"]}}
    with pytest.raises(InvalidToolCell) as caught:
        WorkflowToolValueFactory().decode(damaged)
    assert (caught.value.field, caught.value.reason) == (entry["field"], entry["reason"])


def _mcp_tool(entry: dict[str, Any]) -> MCPTool:
    tool = CellReader().tool(changed_cell(entry))
    assert isinstance(tool, MCPTool)
    return tool


@pytest.mark.parametrize("entry", GOLDEN["refused_when_written"], ids=range(len(GOLDEN["refused_when_written"])))
def test_an_address_with_a_user_is_not_written(entry: dict[str, Any]) -> None:
    with pytest.raises(InvalidToolCell) as caught:
        CellWriter().values(_mcp_tool(entry))
    assert (caught.value.field, caught.value.reason) == (entry["field"], entry["reason"])


@pytest.mark.parametrize("entry", GOLDEN["written"], ids=range(len(GOLDEN["written"])))
def test_other_addresses_are_written_as_they_are(entry: dict[str, Any]) -> None:
    assert CellWriter().values(_mcp_tool(entry))[8] == entry["change"]["8"]
