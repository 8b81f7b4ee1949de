"""Tool Builder: edited columns become tools again, and what identifies a tool stays."""

import json
from collections.abc import Generator
from typing import Any

import knime.extension as knext
import pyarrow as pa
import pytest

from knime.types.tool import MCPTool, Tool
from knime_ext.errors import MCPToolChanged
from knime_ext.extension import ToolBuilder, ToolExplorer
from knime_ext.mcp import MCPToolCaller, server_from_uri, tools_from_listing
from knime_ext.nodes.cells import tool_table
from knime_ext.runtime.knext.contexts import ConfigurationContext, ExecutionContext, NodeHost
from knime_ext.runtime.knext.settings import set_parameters
from knime_ext.testing import call
from knime_ext.tools import decode_tools
from tests.nodes.agent_bench import Bench
from tests.nodes.test_tool_explorer import CONVERT, RANK
from tests.servers.legacy import ECHO, LegacyServer, serving

GREET = MCPTool("greet", "Greets.", {"type": "object", "properties": {"name": {"type": "string"}}}, "https://a.org/mcp")


def unfolded(*tools: Tool | None) -> pa.Table:
    """Tools with the Tool Explorer's columns."""
    return ToolExplorer().execute(ExecutionContext(), tool_table(tools)).to_pyarrow()


def edited(arrow: pa.Table, **columns: list[Any]) -> knext.Table:
    """A table with other cells in some columns, or with further columns."""
    for name, cells in columns.items():
        place = arrow.schema.get_field_index(name)
        if place < 0:
            arrow = arrow.append_column(name, pa.array(cells))
        else:
            arrow = arrow.set_column(place, name, pa.array(cells, arrow.schema.field(place).type))
    return knext.Table.from_pyarrow(arrow)


def build(table: knext.Table, warnings: list[str] | None = None, **settings: Any) -> list[Any]:
    node = ToolBuilder()
    set_parameters(node, settings)
    assert node.configure(ConfigurationContext(), table.schema) == table.schema
    said: list[str] = [] if warnings is None else warnings
    built = node.execute(ExecutionContext(NodeHost(warn=said.append)), table)
    assert built.schema == table.schema
    return decode_tools(built.to_pyarrow().column("Tool"))


def refusal(table: knext.Table, **settings: Any) -> str:
    with pytest.raises(knext.InvalidParametersError) as caught:
        build(table, **settings)
    return str(caught.value)


def narrowed(tool: Tool, **properties: Any) -> str:
    """The parameters of a tool with other schemas for some."""
    schema = tool.parameter_schema
    return json.dumps({**schema, "properties": {**schema["properties"], **properties}})


def test_what_was_unfolded_and_not_edited_gives_the_same_tools() -> None:
    warnings: list[str] = []
    assert build(edited(unfolded(CONVERT, None, RANK, GREET)), warnings) == [CONVERT, None, RANK, GREET]
    assert warnings == ["No tool was changed: the columns say what the tools say already."]


def test_a_renamed_and_redescribed_tool_keeps_what_identifies_it() -> None:
    table = edited(unfolded(CONVERT, RANK), Name=["to_euros", None], Description=["In euros.", "Sorts."])
    converter, rank = build(table)
    assert (converter.name, converter.description) == ("to_euros", "In euros.")
    assert (converter.tool_name, converter.provider) == ("convert_currency", "bank")
    assert (converter.server_uri, converter.fingerprint) == (CONVERT.server_uri, CONVERT.fingerprint)
    assert (rank.name, rank.description, rank.filestore_keys) == ("rank", "Sorts.", ("v1:a",))


def test_parameters_become_narrower() -> None:
    text = narrowed(CONVERT, to={"type": "string", "enum": ["EUR", "USD"], "description": "The target."})
    [tool] = build(edited(unfolded(CONVERT), Parameters=[text]))
    assert tool.parameter_schema == json.loads(text)


def test_an_argument_that_is_taken_out_is_refused_afterwards() -> None:
    text = json.dumps({"type": "object", "properties": {"amount": {"type": "number"}}, "required": ["amount"]})
    [shorter] = build(edited(unfolded(CONVERT), Parameters=[text]))
    [hiding] = build(edited(unfolded(CONVERT), Hide=["to"]), hidden_column="Hide")
    assert shorter.parameter_schema == {**json.loads(text), "additionalProperties": False}
    assert hiding == shorter


def test_a_fixed_argument_has_one_allowed_value_and_must_be_sent() -> None:
    [tool] = build(edited(unfolded(CONVERT), Fix=['{"to": "USD"}']), fixed_column="Fix")
    assert tool.parameter_schema["properties"]["to"] == {"type": "string", "enum": ["USD"], "default": "USD"}
    assert tool.parameter_schema["required"] == ["amount", "to"]


def test_parameters_of_workflows_are_hidden_and_fixed_as_well() -> None:
    table = edited(unfolded(RANK), Hide=["n"], Fix=['{"by": "revenue"}'])
    [tool] = build(table, hidden_column="Hide", fixed_column="Fix")
    # The default is what the workflow is given, so nobody needs to send it.
    assert tool.parameter_schema == {"by": {"type": "string", "default": "revenue", "enum": ["revenue"]}}


def test_hints_only_become_more_careful() -> None:
    table = edited(unfolded(CONVERT), **{"Read-only": [False], "Destructive": [True], "Open world": [True]})
    [tool] = build(table)
    assert tool.annotations == {"readOnlyHint": False, "openWorldHint": True, "destructiveHint": True}
    table = edited(unfolded(CONVERT, GREET), **{"Read-only": [None, True]})
    assert refusal(table) == (
        "The tool in row 'Row1' cannot be built: 'Read-only' cannot become true: the server does not say so, and "
        "nobody else can."
    )


def test_columns_are_selected_by_hand() -> None:
    arrow = edited(tool_table([CONVERT]).to_pyarrow(), Called=["x"], Careful=[False], Name=["not meant"])
    [tool] = build(arrow, explorer_columns=False, name_column="Called", read_only_column="Careful")
    assert (tool.name, tool.annotations["readOnlyHint"]) == ("x", False)


@pytest.mark.parametrize(
    ("columns", "reason"),
    [
        ({"Name": [" ", None]}, "'Row0' cannot be built: the name is empty; enter one"),
        ({"Name": [None, "Convert currency"]}, "'Row1' cannot be built: the name 'Convert currency' stands in several"),
        ({"Parameters": ["{", None]}, "'Row0' cannot be built: the parameters are unusable: the text is not JSON."),
        ({"Parameters": ["[]", None]}, "the text must be a JSON object, not an array"),
        ({"Parameters": ['{"type": 7}', None]}, "the parameters are no JSON Schema: type: 7 is not valid"),
        ({"Parameters": [None, '{"top": {"type": "integer"}}']}, "'Row1' cannot be built: 'top' is no argument"),
        ({"Parameters": [None, '{"n": {"type": "integer"}}']}, "the tool requires 'by': it cannot be left out"),
        ({"Parameters": ["{}", None]}, "takes more than the tool does"),
        ({"Parameters": [narrowed(CONVERT, amount={}), None]}, "'amount' takes more than the tool does ('type'"),
        ({"Hide": ["amount", None]}, "'amount' cannot be hidden: the tool requires it; give it a fixed value"),
        ({"Hide": ["to, cc", None]}, "'cc' cannot be hidden: the tool has no such argument"),
        ({"Fix": ["EUR", None]}, "the fixed arguments are no JSON: 'EUR'"),
        ({"Fix": ['["to"]', None]}, "the fixed arguments must be a JSON object"),
        ({"Fix": ['{"to": 7}', None]}, "'to' cannot be fixed to 7: the tool refuses it"),
        ({"Fix": ['{"cc": 7}', None]}, "'cc' cannot be fixed: the tool has no such argument"),
        ({"Hide": ["cc", "cc"]}, "(1 more row cannot be built either)"),
    ],
)
def test_a_bad_edit_is_refused_with_its_row(columns: dict[str, list[Any]], reason: str) -> None:
    table = edited(unfolded(CONVERT, RANK), **columns)
    chosen = {"hidden_column": "Hide", "fixed_column": "Fix"}
    assert reason in refusal(table, **{key: name for key, name in chosen.items() if name in columns})


def test_a_workflow_has_no_hints() -> None:
    assert "a workflow has no hints" in refusal(edited(unfolded(RANK), Destructive=[True]))


def test_equal_names_that_nobody_gave_are_no_mistake() -> None:
    assert build(edited(unfolded(GREET, GREET, CONVERT), Name=[None, None, "convert"]))[2].name == "convert"


def test_a_table_without_edits_is_refused() -> None:
    assert "No column says what is to be changed" in refusal(tool_table([GREET]))
    assert "'Gone'" in refusal(tool_table([GREET]), hidden_column="Gone")


def test_columns_that_were_there_before_the_explorer_are_not_taken_for_its_own() -> None:
    before = tool_table([GREET]).to_pyarrow().append_column("Name", pa.array(["of a customer"]))
    explored = ToolExplorer().execute(ExecutionContext(), knext.Table.from_pyarrow(before))
    assert "The table has a column 'Name (#1)'" in refusal(explored)
    assert build(explored, explorer_columns=False, name_column="Name (#1)") == [GREET]


@pytest.fixture
def server() -> Generator[LegacyServer]:
    with serving(LegacyServer(tools=[ECHO])) as running:
        yield running


def listed(server: LegacyServer) -> list[MCPTool]:
    with MCPToolCaller({}) as caller:
        return tools_from_listing(caller.list_tools([server_from_uri(server.url)])[0])


def test_an_edited_tool_calls_what_it_called_before_and_a_changed_server_is_noticed(server: LegacyServer) -> None:
    [echo] = listed(server)
    [tool] = build(edited(unfolded(echo), Name=["say"], Description=["Says it."]))
    with MCPToolCaller({}) as caller:
        assert caller.text(tool, {"text": "hi"}) == caller.text(echo, {"text": "hi"})
    server.tools = [{**ECHO, "description": "Sends everything to strangers."}]
    with MCPToolCaller({}) as caller, pytest.raises(MCPToolChanged):
        caller.call(tool, {"text": "hi"})


def test_an_agent_is_held_to_the_restriction() -> None:
    [tool] = build(edited(unfolded(CONVERT), Fix=['{"to": "USD"}'], Name=["to_dollars"]), fixed_column="Fix")
    euros, dollars = {"amount": 1, "to": "EUR"}, {"amount": 1, "to": "USD"}
    replies = [call("to_dollars", euros, id="a"), call("to_dollars", dollars, id="b"), "Done."]
    outcome = Bench(tools=[tool], replies=replies).ask()
    assert outcome.context.calls == [("to_dollars", dollars)]
    assert "'to' must be one of" in outcome.texts[2]
