"""The planner on tools that have nothing to do with the example, and on its parts."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage

from knime_ext.agent.planner import Move, next_move
from knime_ext.agent.planner.schemas import slots_of
from knime_ext.agent.planner.values import values_in
from knime_ext.agent.planner.words import content_words, similarity, stem
from knime_ext.tools import check_arguments

TEXT, NUMBER, WHOLE, FLAG = {"type": "string"}, {"type": "number"}, {"type": "integer"}, {"type": "boolean"}


def offer(
    name: str, description: str, properties: dict[str, Any] | None = None, required: str = "", **more: Any
) -> dict[str, Any]:
    schema = {"type": "object", "properties": properties or {}, "required": required.split(), **more}
    return {"type": "function", "function": {"name": name, "description": description, "parameters": schema}}


PERSON = {"type": "object", "properties": {"name": TEXT, "email": {**TEXT, "format": "email"}}, "required": ["name"]}

OFFICE = [
    offer(
        "get_weather",
        "Current weather and forecast for a city.",
        {
            "city": {**TEXT, "description": "Name of the city"},
            "units": {"enum": ["celsius", "fahrenheit"], "default": "celsius"},
            "days": {**WHOLE, "description": "Number of days to forecast", "minimum": 1},
        },
        "city",
    ),
    offer(
        "create_ticket",
        "Creates a support ticket in the issue tracker.",
        {
            "title": {**TEXT, "description": "Title of the ticket"},
            "priority": {"enum": ["low", "medium", "high"], "description": "How urgent"},
            "labels": {"type": "array", "items": TEXT, "description": "Labels"},
            "urgent": FLAG,
        },
        "title priority",
    ),
    offer(
        "search_documents",
        "Full-text search in the company's documents.",
        {
            "query": {**TEXT, "description": "What to search for"},
            "limit": {**WHOLE, "description": "Maximum number of hits"},
        },
        "query",
    ),
    offer("get-sum", "Returns the sum of two numbers", {"a": NUMBER, "b": NUMBER}, "a b"),
    offer("echo", "Echoes back the input string", {"message": {**TEXT, "description": "Message to echo"}}, "message"),
    offer(
        "book_flight",
        "Books a flight from one airport to another.",
        {
            "from": {**TEXT, "description": "Departure city"},
            "to": {**TEXT, "description": "Arrival city"},
            "date": {**TEXT, "format": "date"},
            "passengers": {
                "type": "object",
                "properties": {"adults": {**WHOLE, "minimum": 1}, "children": WHOLE},
                "required": ["adults"],
            },
        },
        "from to date passengers",
    ),
    offer("server_status", "Tells whether the server is up."),
    offer("average", "Arithmetic mean of numbers.", {"numbers": {"type": "array", "items": NUMBER}}, "numbers"),
    offer(
        "send_email",
        "Sends an e-mail.",
        {"to": {**TEXT, "description": "Address of the recipient", "format": "email"}, "subject": TEXT, "body": TEXT},
        "to body",
    ),
    offer(
        "register_visitor",
        "Registers a visitor at the reception.",
        {"visitor": {"$ref": "#/$defs/P"}},
        "visitor",
        **{"$defs": {"P": PERSON}},
    ),
]


def planned(question: str, tools: list[dict[str, Any]] = OFFICE) -> list[tuple[str, dict[str, Any]]]:
    return [(call.name, dict(call.arguments)) for call in next_move([HumanMessage(question)], tools).calls]


@pytest.mark.parametrize(
    ("question", "name", "arguments"),
    [
        ("What's the weather in Berlin?", "get_weather", {"city": "Berlin"}),
        (
            "weather in new york in fahrenheit for 3 days",
            "get_weather",
            {"city": "new york", "units": "fahrenheit", "days": 3},
        ),
        (
            'Create a ticket "Printer on fire" with high priority.',
            "create_ticket",
            {"title": "Printer on fire", "priority": "high"},
        ),
        (
            'Create an urgent ticket titled "VPN down", priority medium, labels "network" and "vpn".',
            "create_ticket",
            {"title": "VPN down", "priority": "medium", "labels": ["network", "vpn"], "urgent": True},
        ),
        ("Search the documents for travel policy", "search_documents", {"query": "travel policy"}),
        (
            'Find documents about "parental leave", at most 5 hits.',
            "search_documents",
            {"query": "parental leave", "limit": 5},
        ),
        ("What is the sum of 2 and 3?", "get-sum", {"a": 2, "b": 3}),
        ("Add 17.5 and -4", "get-sum", {"a": 17.5, "b": -4}),
        ('Echo "hello world"', "echo", {"message": "hello world"}),
        (
            "Book a flight from Berlin to New York on 24 December 2026 for 2 adults and 1 child.",
            "book_flight",
            {"from": "Berlin", "to": "New York", "date": "2026-12-24", "passengers": {"adults": 2, "children": 1}},
        ),
        ("Is the server up?", "server_status", {}),
        ("What is the average of 3, 5 and 10?", "average", {"numbers": [3, 5, 10]}),
        (
            'Send an email to ann@example.org saying "Lunch at noon?"',
            "send_email",
            {"to": "ann@example.org", "body": "Lunch at noon?"},
        ),
        (
            "Register the visitor Ann Smith, ann@example.org",
            "register_visitor",
            {"visitor": {"name": "Ann Smith", "email": "ann@example.org"}},
        ),
    ],
)
def test_arguments_of_every_type_are_found_in_the_question(question: str, name: str, arguments: dict[str, Any]) -> None:
    assert planned(question) == [(name, arguments)]


def test_two_requests_in_one_question_are_called_side_by_side() -> None:
    assert planned('Search the documents for "VPN" and create a low priority ticket "Update the VPN page"') == [
        ("search_documents", {"query": "VPN"}),
        ("create_ticket", {"title": "Update the VPN page", "priority": "low"}),
    ]
    assert planned("What's the weather in Paris and in Rome?") == [
        ("get_weather", {"city": "Paris"}),
        ("get_weather", {"city": "Rome"}),
    ]


def test_what_is_missing_is_asked_for_and_nothing_is_called() -> None:
    move = next_move([HumanMessage("Book me a flight to Rome")], OFFICE)
    assert move == Move(
        text="I could not use book_flight: the question does not say its from, its date and its adults."
    )


@pytest.mark.parametrize("question", ["Compose a sonnet", "", "???", "42", "€"])
def test_without_a_fitting_tool_the_answer_says_so(question: str) -> None:
    move = next_move([HumanMessage(question)], OFFICE)
    assert move.calls == ()
    assert "no tool that fits" in move.text


def test_without_any_tools_the_answer_says_what_this_model_is() -> None:
    assert "rule-based planner" in next_move([HumanMessage("Hello")], []).text


def after(
    question: str, *rounds: tuple[str, Any], tools: list[dict[str, Any]]
) -> tuple[Move, list[tuple[str, dict[str, Any]]]]:
    """Plays a conversation: each round answers all calls of a move with a status and a content."""
    messages: list[BaseMessage] = [HumanMessage(question)]
    made: list[tuple[str, dict[str, Any]]] = []
    move = next_move(messages, tools)
    for status, content in rounds:
        assert move.calls, "the planner had nothing left to call"
        made += [(call.name, dict(call.arguments)) for call in move.calls]
        calls = [{"name": call.name, "args": dict(call.arguments), "id": call.id} for call in move.calls]
        messages.append(AIMessage(content=move.text, tool_calls=calls))
        text = content if isinstance(content, str) else json.dumps(content)
        messages += [ToolMessage(text, tool_call_id=call.id, name=call.name, status=status) for call in move.calls]
        move = next_move(messages, tools)
    return move, made


STAFF = [
    offer("find_employee", "Finds an employee by name; tells department and salary.", {"name": TEXT}, "name"),
    offer(
        "loan_payment",
        "Computes the monthly payment of a loan.",
        {"principal": {**NUMBER, "description": "Amount of the loan"}, "months": {**WHOLE, "minimum": 1}},
        "principal months",
    ),
    offer(
        "department_budget",
        "Budget of a department.",
        {"department": {**TEXT, "description": "Name of the department"}},
        "department",
    ),
]


def test_a_number_that_the_question_lacks_is_taken_from_a_result() -> None:
    move, made = after(
        "Find the employee Ada Byron and compute the monthly payment of a loan of her salary over 24 months.",
        ("success", {"name": "Ada Byron", "department": "Engines", "salary": 84000}),
        ("success", "3500.00 a month"),
        tools=STAFF,
    )
    assert made == [("find_employee", {"name": "Ada Byron"}), ("loan_payment", {"principal": 84000, "months": 24})]
    assert "3500.00 a month." in move.text
    assert move.calls == ()


def test_a_text_that_the_question_lacks_is_taken_from_the_key_of_a_result() -> None:
    _, made = after(
        "Find the employee Ada Byron. What is the budget of the department?",
        ("success", {"name": "Ada Byron", "department": "Engines"}),
        ("success", "1,000,000 USD"),
        tools=STAFF,
    )
    assert made[-1] == ("department_budget", {"department": "Engines"})


SALES = [
    offer(
        "summarise_by_region",
        "Sums up sales by region.\n\nData inputs:\n- sales: All sales\n\nData outputs:\n- regions: One row per region",
        {
            "data_inputs": {
                "type": "object",
                "properties": {"sales": {**WHOLE, "description": "Id. All sales"}},
                "required": ["sales"],
            }
        },
        "data_inputs",
    ),
    offer(
        "plot_regions",
        "Draws a bar chart.\n\nData inputs:\n- regions: One row per region",
        {
            "data_inputs": {
                "type": "object",
                "properties": {"regions": {**WHOLE, "description": "Id. One row per region"}},
                "required": ["regions"],
            }
        },
        "data_inputs",
    ),
]

SALES_LINE = '{"id": 0, "name": "sales", "description": "All sales", "columns": {"region": "string"}}'
REGIONS_LINE = '{"id": 1, "name": "regions", "description": "One row per region", "columns": {"region": "string"}}'


def test_a_tool_waits_for_the_table_that_another_one_makes() -> None:
    messages: list[BaseMessage] = [
        HumanMessage(SALES_LINE),
        HumanMessage("Draw a bar chart."),
    ]
    first = next_move(messages, SALES)
    assert [(call.name, call.arguments) for call in first.calls] == [
        ("summarise_by_region", {"data_inputs": {"sales": 0}})
    ]
    [made] = first.calls
    calls = [{"name": made.name, "args": dict(made.arguments), "id": made.id}]
    messages += [AIMessage(content="", tool_calls=calls), ToolMessage(f"Done.\n{REGIONS_LINE}", tool_call_id=made.id)]
    second = next_move(messages, SALES)
    assert [(call.name, call.arguments) for call in second.calls] == [("plot_regions", {"data_inputs": {"regions": 1}})]


def test_the_table_that_fits_an_input_best_is_handed_over() -> None:
    other = '{"id": 1, "name": "staff", "description": "Employees", "columns": {"name": "string"}}'
    for lines in (f"{SALES_LINE}\n{other}", f"{other}\n{SALES_LINE}"):
        move = next_move([HumanMessage(lines), HumanMessage("Sum up the sales by region")], SALES)
        assert move.calls[0].arguments == {"data_inputs": {"sales": 0}}


def test_a_failed_call_is_tried_otherwise_a_few_times_and_never_twice_the_same() -> None:
    tools = [offer("lookup_word", "Looks up a word in the dictionary.", {"word": TEXT, "language": TEXT}, "word")]
    move, made = after(
        'Look up the word "gift" in "German" or "English".',
        *[("error", "unknown word")] * 3,
        tools=tools,
    )
    assert len({json.dumps(arguments) for _, arguments in made}) == len(made) == 3
    assert move.calls == ()
    assert "Lookup word did not work: unknown word." in move.text


def test_an_argument_that_the_error_asks_for_is_filled_in_the_next_try() -> None:
    tools = [offer("stock_price", "Price of a stock.", {"symbol": TEXT, "note": TEXT}, "symbol")]
    _, made = after(
        'What is the price of the stock "ACME"? Quote "for the board".',
        ("error", "the arguments of 'stock_price' do not fit: the arguments must have 'note'. Correct them."),
        ("success", "12.5"),
        tools=tools,
    )
    assert made == [
        ("stock_price", {"symbol": "ACME"}),
        ("stock_price", {"symbol": "ACME", "note": "for the board"}),
    ]


def test_a_request_for_a_final_answer_is_no_new_question() -> None:
    call = {"name": "get-sum", "args": {"a": 2, "b": 3}, "id": "offline_1_goal_0"}
    messages = [
        HumanMessage("What is the sum of 2 and 3?"),
        AIMessage(content="", tool_calls=[call]),
        ToolMessage("The sum of 2 and 3 is 5", tool_call_id="offline_1_goal_0"),
        HumanMessage("The budget is used up. Answer now."),
    ]
    assert next_move(messages, []).text == "The sum of 2 and 3 is 5."


def test_many_tools_are_planned_with_quickly_and_the_right_one_is_found() -> None:
    many = [offer(f"tool_{number}", f"Does thing number {number}.", {"x": TEXT}) for number in range(400)]
    assert planned("What's the weather in Berlin?", [*many, *OFFICE]) == [("get_weather", {"city": "Berlin"})]


def test_references_and_alternatives_in_schemas_are_followed_without_end() -> None:
    tree = {"type": "object", "properties": {"child": {"$ref": "#/$defs/T"}, "n": {"anyOf": [{"type": "null"}, WHOLE]}}}
    slots = slots_of({"type": "object", "properties": {"root": {"$ref": "#/$defs/T"}}, "$defs": {"T": tree}})
    assert max(len(slot.path) for slot in slots) <= 6
    assert ("root", "n") in [slot.path for slot in slots if slot.kind == "integer"]


@pytest.mark.parametrize(
    ("text", "kind", "value", "unit"),
    [
        ("it is 18342.50 USD (8 ranked)", "number", 18342.5, "USD"),
        ("it is $18,342.50 now", "number", 18342.5, "USD"),
        ("EUR 12", "number", 12, "EUR"),
        ("twelve euros", "number", 12, "EUR"),
        ("a parcel of 2.5 kg", "number", 2.5, "kg"),
        ("-4 degrees", "number", -4, ""),
        ("on 3 March 2026", "date", "2026-03-03", ""),
        ("on March 3, 2026", "date", "2026-03-03", ""),
        ("due 2026-03-03.", "date", "2026-03-03", ""),
        ("say “good day”", "quoted", "good day", ""),
        ("ask bob@example.org.", "email", "bob@example.org", ""),
        ("see https://example.org/a?b=c.", "url", "https://example.org/a?b=c.", ""),
        ("for Northwind Traders today", "name", "Northwind Traders", ""),
    ],
)
def test_values_are_read_with_their_units(text: str, kind: str, value: Any, unit: str) -> None:
    assert (kind, value, unit) in [(found.kind, found.value, found.unit) for found in values_in(text)]


@pytest.mark.parametrize("text", ["version v2", "room A12", "order-17", "1.2.3"])
def test_digits_inside_of_names_are_no_numbers(text: str) -> None:
    assert [found for found in values_in(text) if found.kind == "number" and isinstance(found.value, int)] == []


def test_words_meet_in_their_stems_and_synonyms() -> None:
    assert {stem(word) for word in ("order", "orders", "ordering", "ordered")} == {"order"}
    assert stem("shipping") == stem("ship")
    assert content_words("The customers' revenue, per country!") == ["customer", "revenu", "country"]
    assert similarity(stem("client"), stem("customers")) > 0
    assert similarity(stem("revenue"), stem("weather")) == 0


@given(st.text(max_size=300))
def test_any_question_gets_a_move_whose_calls_fit_the_schemas(question: str) -> None:
    schemas = {tool["function"]["name"]: tool["function"]["parameters"] for tool in OFFICE}
    move = next_move([HumanMessage(question)], OFFICE)
    assert move.calls or move.text
    for call in move.calls:
        check_arguments(schemas[call.name], call.arguments, call.name)


WORDS = (
    'weather ticket search sum echo flight average email visitor Berlin 3 "x" 2026-01-02 and from to in high'.split()
)


@given(st.lists(st.sampled_from(WORDS), max_size=14))
def test_any_mixture_of_telling_words_gets_calls_that_fit_the_schemas(words: list[str]) -> None:
    schemas = {tool["function"]["name"]: tool["function"]["parameters"] for tool in OFFICE}
    for call in next_move([HumanMessage(" ".join(words))], OFFICE).calls:
        check_arguments(schemas[call.name], call.arguments, call.name)
