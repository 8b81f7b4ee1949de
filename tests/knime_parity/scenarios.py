"""What the nodes of the extension are put through, in both worlds with the same code."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

import pyarrow as pa

from knime.types.message import MessageContentPart, MessageContentPartType, MessageType, MessageValue, ToolCall
from knime.types.tool import MCPTool, Tool, ToolPort, WorkflowTool
from knime_ext.extension import __all__ as NODES
from knime_ext.nodes.chat_model_port import ChatModelPortObject, ChatModelPortObjectSpec
from tests.knime_parity.cells import messages, older_tools, table, tools
from tests.knime_parity.plain import plain_table
from tests.knime_parity.world import JSON, Surroundings, World

__all__ = ["SCENARIOS", "Servers"]


@dataclass(frozen=True, kw_only=True)
class Servers:
    """Addresses of MCP servers.

    Attributes:
        orders: The example's server, which converts currencies.
        odd: A server with a malformed tool between good ones.
        empty: A server without tools.
        dead: Nobody listens there.
        media: A server whose tool gives pictures.
        model: A chat model with OpenAI's API that calls the first tool once and then answers.
        writer: Another one: it answers with length and words of what it was told, as JSON. It writes code where it can,
            searches for tools where it can, and refuses what has the word *refuse* in it.
    """

    orders: str
    odd: str
    empty: str
    dead: str
    model: str
    writer: str
    media: str


Scenario = Callable[[World, Servers], JSON]
SCENARIOS: dict[str, Scenario] = {}


def scenario(function: Scenario) -> Scenario:
    """Marks a scenario; its name is the function's."""
    SCENARIOS[function.__name__.replace("_", " ")] = function
    return function


ALONE = Surroundings()
QUESTION = "Which customer has the highest revenue in the orders, and how much is that in EUR?"
PORTS = [ToolPort("orders", "The orders to rank by.", "Table", '{"name": "orders", "columns": []}')]
RANK = WorkflowTool(
    "customer_revenue",
    "Ranks customers by revenue.",
    {"top_n": {"type": "integer", "default": 3, "description": "How many customers."}},
    0,
    PORTS,
    [ToolPort("ranking", "Customers and revenue.", "Table", "")],
    "v1:aa:0:bb:-1",
)
GREET = WorkflowTool("Say hello, Zoë!", "Grüßt jemanden.", {"who": {"type": "string"}}, 0, [], [], "v1:aa:1:cc:-1")
ECHO = MCPTool(
    "Echo the text",
    "Gives a text back.",
    {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
    "http://localhost:1/mcp",
    "echo",
    annotations={"readOnlyHint": True},
)
OFFLINE = ChatModelPortObjectSpec(provider="offline")
MODEL = ChatModelPortObject(OFFLINE)
ORDERS = {"customer": ["Northwind", "Alfreds", None], "quantity": [3, None, 5], "price": [1.5, 2.0, None]}


class Workflows:
    """Stands for the workflows of tools, and writes their calls down."""

    def __init__(self) -> None:
        self.calls: list[JSON] = []

    def __call__(
        self, tool: Any, parameters: Mapping[str, Any], tables: Sequence[Any], hints: Mapping[str, str]
    ) -> tuple[str, list[Any]]:
        given = [plain_table(each) for each in tables]
        self.calls.append({"tool": tool.name, "parameters": parameters, "hints": dict(hints), "tables": given})
        if "bad" in tool.name:
            raise RuntimeError("the workflow has failed")
        ranking = table({"customer": pa.array(["Northwind"]), "revenue": pa.array([18342.5])})
        return "Northwind Traders has the highest revenue: 18342.50 USD", [ranking] if tool.output_ports else []


def orders() -> Any:
    """A small table with missing values and row identifiers of its own."""
    return table({name: pa.array(values) for name, values in ORDERS.items()}, ["first", "second", "third"])


def ask(
    world: World,
    tool_table: Any,
    *,
    history: Any = None,
    data: Sequence[Any] = (),
    data_outputs: int = 1,
    canceled: bool = False,
    model: ChatModelPortObject = MODEL,
    **settings: Any,
) -> JSON:
    """Executes the Agent Prompter, with the offline model if no other is given."""
    workflows = Workflows()
    credentials = {"my key": ("me", "hunter2")}
    around = Surroundings(credentials=credentials, data_outputs=data_outputs, run_tool=workflows, canceled=canceled)
    inputs = [model, tool_table, history, list(data)]
    done = world.execute("AgentPrompter", inputs, around, {"user_message": QUESTION, **settings})
    return {"outcome": done, "calls": workflows.calls}


# Dialogs


@scenario
def dialogs_without_inputs(world: World, servers: Servers) -> JSON:
    return {node: world.dialog(node, _no_inputs(node), ALONE, {}) for node in NODES}


@scenario
def dialogs_with_inputs(world: World, servers: Servers) -> JSON:
    mixed = table({"Old": older_tools(RANK), "Note": pa.array(["x"]), "New": tools(ECHO), "Count": pa.array([1])})
    talk = table({"Talk": messages(said("hi")), "Errors": pa.array([None], pa.utf8()), "Number": pa.array([1.5])})
    credentials = Surroundings(credentials={"my key": ("me", "secret"), "other": ("", "")})
    return {
        "agent": world.dialog("AgentPrompter", [MODEL, mixed, talk, [orders()]], ALONE, {}),
        "agent without history": world.dialog("AgentPrompter", [MODEL, mixed, None, []], ALONE, {}),
        "convert": world.dialog("ConvertTools", [mixed], ALONE, {"all_columns": False, "tool_column": "Old"}),
        "builder": world.dialog("ToolBuilder", [mixed], ALONE, {"hidden_column": "Note"}),
        "caller": world.dialog(
            "ToolCaller",
            [mixed, orders()],
            ALONE,
            {"arguments": [{"argument": "n", "column": "quantity", "constant": ""}]},
        ),
        "explorer": world.dialog("ToolExplorer", [mixed], ALONE, {"columns": ["NAME"]}),
        "connector": world.dialog("ChatModelConnector", [], credentials, {"model": "m", "credential": "my key"}),
    }


# MCP Tool Provider


@scenario
def provider_configures_without_asking_the_server(world: World, servers: Servers) -> JSON:
    return [
        world.configure("MCPToolProvider", [], ALONE, {"server_url": servers.dead}),
        world.configure("MCPToolProvider", [], ALONE, {}),
    ]


@scenario
def provider_lists_a_server(world: World, servers: Servers) -> JSON:
    return world.execute("MCPToolProvider", [], ALONE, {"server_url": servers.orders})


@scenario
def provider_warns_about_malformed_tools(world: World, servers: Servers) -> JSON:
    return world.execute("MCPToolProvider", [], ALONE, {"server_url": servers.odd})


@scenario
def provider_warns_about_a_server_without_tools(world: World, servers: Servers) -> JSON:
    return world.execute("MCPToolProvider", [], ALONE, {"server_url": servers.empty})


@scenario
def provider_fails_where_nobody_listens(world: World, servers: Servers) -> JSON:
    return world.execute("MCPToolProvider", [], ALONE, {"server_url": servers.dead})


@scenario
def provider_asks_several_servers_and_selects(world: World, servers: Servers) -> JSON:
    others = [{"server": servers.odd}, {"server": servers.dead}]
    choice = {"include": "*", "exclude": "shipping*, track*", "prefix": "CUSTOM", "prefix_text": "shop"}
    settings = {"server_url": servers.orders, "more_servers": others, "tools": choice}
    return world.execute("MCPToolProvider", [], ALONE, settings)


@scenario
def provider_holds_tools_to_their_pins(world: World, servers: Servers) -> JSON:
    listed = world.execute("MCPToolProvider", [], ALONE, {"server_url": servers.orders})
    [pin] = listed["outputs"][1]["cells"]["Pin"]
    attempts = [{"pins": pin}, {"pins": pin, "include": "nothing*"}, {"pins": "damaged"}]
    return [
        world.execute("MCPToolProvider", [], ALONE, {"server_url": servers.orders, "tools": tools})
        for tools in attempts
    ]


# Chat models


@scenario
def connector_names_what_is_missing(world: World, servers: Servers) -> JSON:
    around = Surroundings(credentials={"my key": ("me", "secret"), "empty": ("me", "")})
    attempts = [{}, {"model": " "}, {"model": "m", "credential": "gone"}, {"model": "m", "credential": "empty"}]
    return [world.configure("ChatModelConnector", [], around, settings) for settings in attempts]


@scenario
def connector_passes_settings_on_and_never_the_key(world: World, servers: Servers) -> JSON:
    around = Surroundings(credentials={"my key": ("me", "hunter2")})
    answers = {"set_temperature": True, "temperature": 0.5, "timeout": 9.0}
    settings = {"provider": "ANTHROPIC", "model": "m", "credential": "my key", "answers": answers}
    return [
        world.configure("ChatModelConnector", [], around, settings),
        world.execute("ChatModelConnector", [], around, settings),
        world.execute("ChatModelConnector", [], around, {"model": "m", "base_url": "http://localhost:1/v1"}),
    ]


@scenario
def offline_model_needs_nothing(world: World, servers: Servers) -> JSON:
    return world.execute("OfflineChatModel", [], ALONE, {})


# Convert Tools


def tables_to_convert() -> dict[str, Any]:
    """Tables with tools of the older kind, of today's, of both and of none."""
    mixed = {"Note": pa.array(["x", None, "z"]), "Old": older_tools(RANK, None, GREET), "New": tools(ECHO, RANK, None)}
    return {
        "mixed": table({**mixed, "Older": older_tools(None, None, RANK)}, ["a", "b", "c"]),
        "today's": table({"Tool": tools(ECHO, None)}),
        "empty": table({"Old": older_tools()}),
        "missing": table({"Old": older_tools(None, None)}),
        "none": orders(),
    }


@scenario
def convert_tools_configures(world: World, servers: Servers) -> JSON:
    return {name: world.configure("ConvertTools", [each], ALONE, {}) for name, each in tables_to_convert().items()}


@scenario
def convert_tools_executes(world: World, servers: Servers) -> JSON:
    return {name: world.execute("ConvertTools", [each], ALONE, {}) for name, each in tables_to_convert().items()}


@scenario
def convert_tools_converts_one_column(world: World, servers: Servers) -> JSON:
    mixed = tables_to_convert()["mixed"]
    return [
        world.execute("ConvertTools", [mixed], ALONE, {"all_columns": False, "tool_column": column})
        for column in ("Old", "New", "Older", "Note", "gone", "")
    ]


# Tool Explorer


@scenario
def explorer_unfolds_tools(world: World, servers: Servers) -> JSON:
    return {
        name: world.execute("ToolExplorer", [each], ALONE, {})
        for name, each in {**tables_to_convert(), "damaged": damaged_tools()}.items()
    }


@scenario
def explorer_appends_what_is_wanted(world: World, servers: Servers) -> JSON:
    named = table({"Name": pa.array(["mine"]), "Tool": tools(ECHO)})
    settings = {"columns": ["NAME", "TOKENS", "READ_ONLY"], "tool_column": "Tool"}
    return [
        world.configure("ToolExplorer", [named], ALONE, settings),
        world.execute("ToolExplorer", [named], ALONE, settings),
    ]


# Tool Builder


@scenario
def builder_folds_edits(world: World, servers: Servers) -> JSON:
    given = table(
        {
            "Name": pa.array(["say", None, "not meant"]),
            "Description": pa.array([None, "Ranks by revenue.", "x"]),
            "Read-only": pa.array([False, None, None], pa.bool_()),
            "Fix": pa.array([None, '{"top_n": 5}', None], pa.utf8()),
            "Tool": tools(ECHO, RANK, None),
        },
        ["a", "b", "c"],
    )
    by_hand = {"explorer_columns": False, "fixed_column": "Fix"}
    return [world.execute("ToolBuilder", [given], ALONE, settings) for settings in ({}, by_hand)]


@scenario
def builder_says_what_is_wrong(world: World, servers: Servers) -> JSON:
    bad = {"Tool": tools(ECHO, RANK), "Name": pa.array(["", None]), "Parameters": pa.array([None, "{"])}
    return [
        world.configure("ToolBuilder", [table({"Tool": tools(ECHO)})], ALONE, {}),
        world.configure("ToolBuilder", [orders()], ALONE, {}),
        world.execute("ToolBuilder", [table(bad, ["first", "second"])], ALONE, {}),
        world.execute("ToolBuilder", [damaged_tools()], ALONE, {}),
    ]


# Tool Caller


def call(world: World, tool_table: Any, data: Any, **settings: Any) -> JSON:
    """Executes the Tool Caller, one row after another."""
    around = Surroundings(run_tool=Workflows())
    limits = {"concurrency": 1, "per_minute": 0.0, "seconds_per_call": 0.0}
    done = world.execute("ToolCaller", [tool_table, data], around, {"limits": limits, **settings})
    # How often it is told, and how fast the rows went, is a matter of time.
    if "progress" in done:
        fraction, message = done["progress"][-1]
        done["progress"] = [[fraction, message.split(" rows")[0]]]
    return done


@scenario
def caller_calls_a_server(world: World, servers: Servers) -> JSON:
    listed = world.table("MCPToolProvider", {"server_url": servers.orders})
    data = table(
        {
            "amount": pa.array([10.0, None, 3.0]),
            "to": pa.array(["EUR", "EUR", "USD"]),
            "amount_eur": pa.array([1, 2, 3]),
        },
        ["a", "b", "c"],
    )
    arguments = [
        {"argument": "from_currency", "column": "<none>", "constant": "USD"},
        {"argument": "to_currency", "column": "to", "constant": ""},
    ]
    settings = {"tool_name": "convert_currency", "arguments": arguments}
    errors = {"error_handling": "FAIL", "error_column_name": "Error"}
    return [
        call(world, listed, data, **settings),
        call(world, listed, data, results="FIXED", **settings),
        call(world, listed, data, errors=errors, **settings),
    ]


@scenario
def caller_runs_workflows(world: World, servers: Servers) -> JSON:
    names = {"who": pa.array(["Ada", None]), "tool": pa.array(["Say hello, Zoë!", "gone"])}
    greet = table({"Tool": tools(GREET, RANK)})
    return [
        call(world, greet, table(names), tool_choice="COLUMN", tool_name_column="tool", results="FIXED"),
        call(world, greet, table(names), tool_name="Say hello, Zoë!"),
    ]


@scenario
def caller_hands_cells_of_all_kinds_to_workflows(world: World, servers: Servers) -> JSON:
    cells = {
        "who": pa.array([date(2026, 11, 22)]),
        "whole": pa.array([7], pa.int32()),
        "real": pa.array([2.5]),
        "yes": pa.array([True]),
        "list": pa.array([["a", "b"]]),
        "text": pa.array(["[1, 2]"]),
    }
    workflows = Workflows()
    anything = WorkflowTool("greet", "", {name: {"default": None} for name in cells}, 0, [], [], "v1:a")
    around = Surroundings(run_tool=workflows)
    world.execute("ToolCaller", [table({"Tool": tools(anything)}), table(cells)], around, {})
    return workflows.calls


@scenario
def caller_makes_binary_columns(world: World, servers: Servers) -> JSON:
    listed = world.table("MCPToolProvider", {"server_url": servers.media})
    return [call(world, listed, table({"n": pa.array([2, 1])}), results=form) for form in ("TYPED", "FIXED")]


@scenario
def caller_says_what_is_wrong(world: World, servers: Servers) -> JSON:
    data, rank = table({"n": pa.array([1])}), table({"Tool": tools(RANK, GREET)})
    unnamed = [{"argument": "", "column": "<none>", "constant": ""}]
    return [
        world.configure("ToolCaller", [rank, data], ALONE, {}),
        world.configure("ToolCaller", [rank, data], ALONE, {"results": "FIXED"}),
        world.configure("ToolCaller", [rank, data], ALONE, {"arguments": unnamed}),
        world.configure("ToolCaller", [rank, data], ALONE, {"tool_choice": "COLUMN"}),
        world.configure("ToolCaller", [data, data], ALONE, {}),
        call(world, rank, data),
        call(world, rank, data, tool_name="customer_revenue"),
        call(world, rank, data, tool_name="Say hello, Zoë!"),
        call(world, damaged_tools(), data),
    ]


# Agent Prompter


def said(text: str, speaker: MessageType = MessageType.USER, **more: Any) -> MessageValue:
    """A message."""
    return MessageValue(speaker, [MessageContentPart(MessageContentPartType.TEXT, text.encode())], **more)


@scenario
def agent_uses_a_server_and_a_workflow_of_one_column(world: World, servers: Servers) -> JSON:
    listed = world.table("MCPToolProvider", {"server_url": servers.orders})
    cells = listed.to_pyarrow().column(1).combine_chunks()
    column = pa.chunked_array([tools(None, RANK), cells, tools(None)])
    # One chunk, as KNIME wants all but the last to be of one size.
    storage = pa.concat_arrays([chunk.storage for chunk in column.chunks])
    mixed = table({"Tool": pa.ExtensionArray.from_storage(column.type, storage)})
    return ask(world, mixed, data=[orders()], data_outputs=2)


@scenario
def agent_reads_the_older_column_as_it_is(world: World, servers: Servers) -> JSON:
    older = table({"Note": pa.array(["x", "y", "z"]), "Old": older_tools(None, RANK, GREET)})
    return [
        ask(world, older, data=[orders()]),
        ask(world, older, data=[orders()], tool_column="Old", debug=True, simple_types_only=True),
    ]


@scenario
def agent_takes_either_column_of_two(world: World, servers: Servers) -> JSON:
    both = table({"Old": older_tools(RANK), "New": tools(GREET)})
    question = 'Say hello to "Ada".'
    return [ask(world, both, user_message=question, tool_column=column) for column in ("Old", "New", "", "Note")]


@scenario
def agent_goes_on_with_a_history(world: World, servers: Servers) -> JSON:
    call = ToolCall("Say hello, Zoë!", "call_1", {"configuration": {"who": "Ada"}})
    past = [
        said("Say hello to Ada."),
        said("", MessageType.AI, tool_calls=[call]),
        said("Hello!", MessageType.TOOL, tool_call_id="call_1", name="Say hello, Zoë!"),
        None,
        said("I did.", MessageType.AI),
    ]
    errors = pa.array([None, None, None, "went wrong", None], pa.utf8())
    history = table({"Talk": messages(*past), "Problems": errors})
    continued = {"error_handling": "COLUMN", "use_existing_error_column": True}
    return [
        ask(world, table({"Tool": tools(RANK, GREET)}), history=history, data=[orders()]),
        ask(world, table({"Tool": tools(RANK, GREET)}), history=history, data=[orders()], errors=continued),
    ]


@scenario
def agent_fills_data_outputs(world: World, servers: Servers) -> JSON:
    rank = table({"Tool": tools(RANK)})
    return [ask(world, rank, data=[orders()], data_outputs=count) for count in (0, 1, 3)]


@scenario
def agent_tells_the_model_about_failing_tools(world: World, servers: Servers) -> JSON:
    failing = WorkflowTool("bad_revenue", "Ranks customers by revenue.", {}, 0, PORTS, [], "v1:k")
    return ask(world, table({"Tool": tools(failing)}), data=[orders()])


@scenario
def agent_ends_at_its_limit(world: World, servers: Servers) -> JSON:
    rank = table({"Tool": tools(RANK)})
    column = {"error_handling": "COLUMN", "error_column_name": "What went wrong"}
    final: dict[str, Any] = {"recursion_limit_handling": "FINAL_RESPONSE", "recursion_limit_prompt": "Stop."}
    return [
        ask(world, rank, data=[orders()], recursion_limit=0),
        ask(world, rank, data=[orders()], recursion_limit=0, errors=column),
        ask(world, rank, data=[orders()], recursion_limit=0, **final),
    ]


@scenario
def agent_without_tools_answers_too(world: World, servers: Servers) -> JSON:
    empty: Sequence[Tool] = ()
    return [ask(world, table({"Tool": tools(*empty)})), ask(world, table({"Tool": tools(None)}))]


@scenario
def agent_asks_a_model_over_http(world: World, servers: Servers) -> JSON:
    greet = table({"Tool": tools(GREET)})
    return [ask(world, greet, model=model_at(servers.model, name)) for name in ("my key", "gone")]


@scenario
def agent_says_what_is_wrong(world: World, servers: Servers) -> JSON:
    rank = table({"Tool": tools(RANK)})
    same = {"error_handling": "COLUMN", "error_column_name": "Conversation"}
    return [
        ask(world, orders()),
        ask(world, rank, user_message=" "),
        ask(world, rank, conversation_column_name=" "),
        ask(world, rank, errors=same),
        ask(world, rank, history=orders()),
        ask(world, damaged_tools()),
        ask(world, rank, canceled=True),
    ]


def damaged_tools() -> Any:
    """A tool whose schema is no JSON."""
    whole = tools(RANK)
    fields = [whole.storage.field(at) for at in range(9)]
    fields[3] = pa.array(["{"])
    storage = pa.StructArray.from_arrays(fields, fields=list(whole.type.storage_type))
    return table({"Tool": pa.ExtensionArray.from_storage(whole.type, storage)})


FORM: dict[str, Any] = {
    "form": "FIELDS",
    "fields": [
        {"name": "length", "type": "INTEGER", "description": "Letters", "may_be_missing": False},
        {"name": "share", "type": "NUMBER", "description": "", "may_be_missing": True},
        {"name": "short", "type": "BOOLEAN", "description": "", "may_be_missing": False},
        {"name": "words", "type": "STRINGS", "description": "", "may_be_missing": False},
    ],
}
SCHEMA = '{"type": "object", "properties": {"Answer": {"type": "string"}, "length": {"type": "integer"}}}'


def model_at(url: str, credential: str = "my key") -> ChatModelPortObject:
    """A chat model with OpenAI's API."""
    return ChatModelPortObject(
        ChatModelPortObjectSpec(provider="openai", model="m", base_url=url, credential_name=credential)
    )


@scenario
def agent_answers_in_a_form(world: World, servers: Servers) -> JSON:
    writer, none = model_at(servers.writer), table({"Tool": tools()})
    forms: list[dict[str, Any]] = [
        FORM,
        {"form": "SCHEMA", "json_schema": SCHEMA},
        {**FORM, "fields": [{**FORM["fields"][0], "type": "BOOLEAN"}], "attempts": 2},
    ]
    column = {"error_handling": "COLUMN"}
    return [ask(world, none, model=writer, answer=form, errors=column) for form in forms]


@scenario
def agent_refuses_forms_that_cannot_be_used(world: World, servers: Servers) -> JSON:
    forms: list[dict[str, Any]] = [
        {"form": "FIELDS"},
        {"form": "FIELDS", "fields": [{"name": ""}]},
        {"form": "SCHEMA", "json_schema": "{"},
        {"form": "SCHEMA", "json_schema": '{"type": "string"}'},
    ]
    specs = [OFFLINE, table({"Tool": tools(RANK)}), None, [orders()]]
    return [world.configure("AgentPrompter", specs, ALONE, {"user_message": "Hi", "answer": form}) for form in forms]


@scenario
def agent_is_held_to_its_limits(world: World, servers: Servers) -> JSON:
    rank, greet = table({"Tool": tools(RANK)}), table({"Tool": tools(GREET)})
    settings: list[dict[str, Any]] = [
        {"recursion_limit": 0, "recursion_limit_handling": "REFUSE"},
        {"limits": {"tokens": 10}, "recursion_limit_handling": "FINAL_RESPONSE"},
        {"limits": {"result_chars": 200}},
    ]
    return [
        *(ask(world, rank, data=[orders()], **each) for each in settings),
        ask(world, greet, model=model_at(servers.writer), limits={"tool_tokens": 1}),
        ask(world, greet, model=model_at(servers.model), limits={"tokens": 20}),
    ]


@scenario
def agent_calls_only_what_is_approved(world: World, servers: Servers) -> JSON:
    greet = table({"Tool": tools(GREET, ECHO)})
    rules: list[dict[str, Any]] = [
        {"mode": "READ_ONLY"},
        {"mode": "RULES", "deny": "Say*"},
        {"mode": "RULES", "ask": "Say*", "others": "DENY"},
        {"mode": "RULES", "allow": "Say*", "others": "DENY"},
    ]
    question = 'Say hello to "Ada".'
    return [ask(world, greet, user_message=question, approval=rule) for rule in rules]


@scenario
def agent_writes_code(world: World, servers: Servers) -> JSON:
    greet = table({"Tool": tools(GREET)})
    return ask(world, greet, model=model_at(servers.writer), mode="CODE")


# Agent Batch Prompter


def prompt(world: World, prompts: Any, tool_table: Any = None, *, model: ChatModelPortObject, **settings: Any) -> JSON:
    """Executes the Agent Batch Prompter, one row after another."""
    workflows = Workflows()
    around = Surroundings(credentials={"my key": ("me", "hunter2")}, run_tool=workflows)
    rows = {"concurrency": 1, **settings.pop("rows", {})}
    done = world.execute("AgentBatchPrompter", [model, prompts, tool_table], around, {"rows": rows, **settings})
    # How often it is told, and how fast the rows went, is a matter of time.
    if "progress" in done:
        done["progress"] = [[fraction, message.split(" rows")[0]] for fraction, message in done["progress"][-1:]]
    return {"outcome": done, "calls": workflows.calls}


def people(rows: int = 3) -> Any:
    """Prompts, one of them missing, and other columns that go along."""
    names, numbers, things = ["Ada", None, "Zoë"][:rows], [1, 2, None][:rows], (ECHO, None, RANK)[:rows]
    columns = {"who": pa.array(names, pa.utf8()), "n": pa.array(numbers, pa.int64()), "Tool": tools(*things)}
    return table(columns, ["a", "b", "c"][:rows])


@scenario
def batch_configures(world: World, servers: Servers) -> JSON:
    attempts: list[dict[str, Any]] = [
        {"prompt": "{{ who }} is {{ n }}"},
        {"prompt": "{{ who }}", "answer": FORM, "answer_column": "said", "rows": {"traces": False}},
        {"prompt": ""},
        {"prompt": "{{ gone }}"},
        {"prompt": "{{ who"},
        {"prompt": "{{ who }}", "answer_column": "n"},
        {"prompt": "{{ who }}", "answer": {"form": "FIELDS"}},
    ]
    greet = table({"Tool": tools(GREET)})
    return [
        *(world.configure("AgentBatchPrompter", [OFFLINE, people(), greet], ALONE, each) for each in attempts),
        world.configure("AgentBatchPrompter", [OFFLINE, people(), orders()], ALONE, attempts[0]),
        world.dialog("AgentBatchPrompter", [MODEL, people(), greet], ALONE, attempts[0]),
        world.dialog("AgentBatchPrompter", [MODEL, people(), None], ALONE, {"approval": {"mode": "RULES"}}),
    ]


@scenario
def batch_answers_each_row(world: World, servers: Servers) -> JSON:
    writer = model_at(servers.writer)
    template, none = "Who is {{ who }}?", people(0)
    return [
        prompt(world, people(), model=writer, prompt=template, system_message="Be brief, {{ n }}."),
        prompt(world, people(), model=writer, prompt=template, answer=FORM, rows={"traces": False}),
        prompt(world, people(), model=writer, prompt=template, rows={"preview": 2}),
        prompt(world, none, model=writer, prompt=template),
    ]


@scenario
def batch_rows_call_tools(world: World, servers: Servers) -> JSON:
    greet = table({"Tool": tools(None, GREET)})
    around: dict[str, Any] = {"prompt": "Greet {{ who }}.", "model": model_at(servers.model)}
    return [
        prompt(world, people(), greet, **around),
        prompt(world, people(), greet, limits={"turns": 0, "when_reached": "FAIL"}, **around),
        prompt(world, people(), greet, approval={"mode": "RULES", "ask": "*"}, **around),
        prompt(world, people(), greet, prompt="Greet.", mode="CODE", model=model_at(servers.writer)),
    ]


@scenario
def batch_rows_of_a_preview_are_not_asked_again(world: World, servers: Servers) -> JSON:
    greet = table({"Tool": tools(GREET)})
    around: dict[str, Any] = {"prompt": "Greet {{ who }}, {{ n }}.", "model": model_at(servers.model)}
    return [prompt(world, people(), greet, rows={"preview": rows}, **around) for rows in (2, 0, 0)]


@scenario
def batch_rows_that_fail(world: World, servers: Servers) -> JSON:
    around: dict[str, Any] = {"prompt": "{{ who or 'refuse' }}", "model": model_at(servers.writer)}
    return [
        prompt(world, people(), **around),
        prompt(world, people(), rows={"error_handling": "FAIL"}, **around),
        prompt(world, people(), prompt="x", model=model_at(servers.writer, "gone")),
        prompt(world, people(), prompt="x", tool_alias="gone", model=model_at(servers.writer)),
    ]


@scenario
def settings_that_do_not_fit_are_refused(world: World, servers: Servers) -> JSON:
    attempts: list[tuple[str, dict[str, Any]]] = [
        ("MCPToolProvider", {"server_url": "http://me:hunter2@localhost/mcp"}),
        ("MCPToolProvider", {"server_url": "localhost:8000"}),
        ("MCPToolProvider", {"time_limits": {"connect": 0.0, "listing": 1.0}}),
        ("AgentPrompter", {"recursion_limit": -1}),
        ("AgentPrompter", {"recursion_limit_handling": "SOMETIMES"}),
        ("ChatModelConnector", {"provider": "NOBODY"}),
        ("ChatModelConnector", {"answers": {"set_temperature": True, "temperature": 9.0, "timeout": 1.0}}),
        ("ConvertTools", {"all_columns": "maybe"}),
        ("AgentPrompter", {"limits": {"result_chars": 1}}),
        ("AgentPrompter", {"answer": {"form": "POEM"}}),
        ("AgentBatchPrompter", {"rows": {"concurrency": 0}}),
        ("AgentBatchPrompter", {"speed": {"attempts": 0}}),
        ("ToolCaller", {"results": "SOMEHOW"}),
        ("ToolExplorer", {"columns": ["AGE"]}),
    ]
    return [_refused(world, node, settings) for node, settings in attempts]


def _refused(world: World, node: str, settings: dict[str, Any]) -> bool:
    """The words are each host's own."""
    try:
        refused = world.dialog(node, _no_inputs(node), ALONE, settings)
    except Exception as error:
        # Each host has errors of its own for settings.
        return bool(str(error))
    return "error" in refused


def _no_inputs(node: str) -> list[Any]:
    inputs: dict[str, list[Any]] = {
        "AgentBatchPrompter": [None, None, None],
        "AgentPrompter": [None, None, None, []],
        "ConvertTools": [None],
        "ToolBuilder": [None],
        "ToolCaller": [None, None],
        "ToolExplorer": [None],
    }
    return inputs.get(node, [])
