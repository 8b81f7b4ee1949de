"""Finding the few tools of many that fit."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from knime_ext.tools import ToolDefinition, ToolSearch

TOOLS = [
    ToolDefinition(name="getWeatherForecast", description="Tells how the weather will be.", wire_name="forecast"),
    ToolDefinition(name="send_email", description="Sends a message to somebody."),
    ToolDefinition(
        name="query2",
        description="Runs SQL.",
        parameters={"type": "object", "properties": {"databaseUrl": {"type": "string"}, "sql": {"type": "string"}}},
    ),
    ToolDefinition(name="Überweisung", description="Führt eine Zahlung aus."),
    ToolDefinition(name="tianqi", description="查询某个城市的天气预报"),
    ToolDefinition(name="pogoda", description="Показывает погоду в городе"),
    ToolDefinition(name="HTTPServerStatus", description="Whether a host answers."),
]
SEARCH = ToolSearch(TOOLS)


@pytest.mark.parametrize(
    ("query", "best"),
    [
        ("weather", "getWeatherForecast"),
        ("forecasts", "getWeatherForecast"),
        ("email", "send_email"),
        ("which tool runs a database query", "query2"),
        ("database url", "query2"),
        ("uberweisung", "Überweisung"),
        ("ZAHLUNG", "Überweisung"),
        ("天气", "tianqi"),
        ("погоду", "pogoda"),
        ("http status", "HTTPServerStatus"),
        ("query2", "query2"),
    ],
)
def test_words_of_names_descriptions_and_parameters_are_found(query: str, best: str) -> None:
    """However the name is written: in camel case, with underscores, with accents, in other scripts."""
    assert SEARCH.find(query)[0] == best


@pytest.mark.parametrize("query", ["", "   ", "?!", "zeppelin", "\ud800"])
def test_nothing_is_found_where_no_word_is_shared(query: str) -> None:
    assert SEARCH.find(query) == []


def test_equal_tools_come_in_their_own_order() -> None:
    many = [ToolDefinition(name=f"copy_{number}", description="Copies a file.") for number in range(50)]
    assert ToolSearch(many).find("copy file", limit=20) == [f"copy_{number}" for number in range(20)]


def test_the_limit_holds_and_may_be_nothing() -> None:
    assert SEARCH.find("weather", limit=1) == ["getWeatherForecast"]
    assert SEARCH.find("weather", limit=0) == []
    assert ToolSearch([]).find("weather") == []
    assert ToolSearch([ToolDefinition(name="!")]).find("weather") == []


@settings(deadline=None, max_examples=60)
@given(st.text(max_size=80))
def test_any_query_finds_the_same_twice_and_only_what_there_is(query: str) -> None:
    found = SEARCH.find(query, limit=20)
    assert found == SEARCH.find(query, limit=20)
    assert len(set(found)) == len(found) and set(found) <= {tool.name for tool in TOOLS}


@settings(deadline=None, max_examples=30)
@given(st.lists(st.text(min_size=1, max_size=12), unique=True, min_size=1, max_size=8))
def test_every_tool_is_found_by_its_own_name(names: list[str]) -> None:
    search = ToolSearch([ToolDefinition(name=name, description="Same for all.") for name in names])
    assert all(search.find(name)[0] == name for name in names if name.strip() == name)


def test_five_thousand_tools_are_searched_in_no_time() -> None:
    subjects = ["customer", "invoice", "order", "shipment", "ticket", "user", "report", "contract"]
    tools = [
        ToolDefinition(name=f"{subject}_action_{number}", description=f"Does thing {number} with a {subject}. " * 5)
        for number in range(625)
        for subject in subjects
    ]
    search = ToolSearch(tools)
    began = time.perf_counter()
    assert search.find("invoice thing 77")[0] == "invoice_action_77"
    assert time.perf_counter() - began < 1
