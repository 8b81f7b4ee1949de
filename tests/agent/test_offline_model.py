"""The offline model with the tools of the example: the question of the demo, and others."""

from __future__ import annotations

from typing import Any

import pytest

from knime_ext.agent import Agent, AgentRun, OfflineChatModel, to_langchain_tools
from tests.agent.orders import OrdersHost, orders_data, orders_tools

QUESTION = "Which customer has the highest revenue in the orders, and how much is that in EUR?"

REVENUE = ("customer_revenue", {"top_n": 10})


def convert(amount: float, to: str, *, source: str = "USD") -> tuple[str, dict[str, Any]]:
    return ("convert_currency", {"amount": amount, "from_currency": source, "to_currency": to})


def ask(question: str) -> tuple[AgentRun, list[tuple[str, dict[str, Any]]]]:
    """The run, and the calls that reached the host."""
    host, data = OrdersHost(), orders_data()
    tools = to_langchain_tools(orders_tools(), host, data=data)
    return Agent(OfflineChatModel(), tools, data=data).run(question), host.calls


@pytest.mark.parametrize(
    ("question", "currency"),
    [
        (QUESTION, "EUR"),
        ("Who is our best customer by revenue? Convert the amount to euros.", "EUR"),
        ("Find the top customer by revenue, then convert their revenue to EUR.", "EUR"),
        ("Convert the revenue of the best customer to GBP.", "GBP"),
        ("What is the revenue of our biggest client, in pounds?", "GBP"),
        ("Our largest customer by turnover, please, with the sum in Swiss francs.", "CHF"),
        ("Rank the customers by revenue and convert the highest revenue to JPY", "JPY"),
        ("Tell me which customer bought for the most money, and how many euros that is.", "EUR"),
    ],
)
def test_a_question_for_both_kinds_of_tools_is_answered_with_both(question: str, currency: str) -> None:
    run, calls = ask(question)
    assert calls == [REVENUE, convert(18342.5, currency)]
    assert "Northwind Traders" in run.answer
    assert f"{currency} (rate" in run.answer
    assert run.turns == 2


@pytest.mark.parametrize(
    ("question", "call"),
    [
        ("Rank the customers by revenue.", REVENUE),
        ("Show the top 3 customers by revenue.", ("customer_revenue", {"top_n": 3})),
        ("How many orders come from each country?", ("orders_by_country", {"minimum_orders": 1})),
        ("Which country has the most revenue?", ("orders_by_country", {"minimum_orders": 1})),
        ("Which countries have at least 5 orders?", ("orders_by_country", {"minimum_orders": 5})),
        ("Which product sold best?", ("product_sales", {"by_value": False})),
        ("What is the best-selling product by value?", ("product_sales", {"by_value": True})),
        ("Convert 250 USD to EUR.", convert(250, "EUR")),
        ("How much is $99.90 in Swiss francs?", convert(99.9, "CHF")),
        ("I have 1,250 dollars. How much is that in yen?", convert(1250, "JPY")),
        (
            "What does it cost to ship 3 kg to North America?",
            ("shipping_estimate", {"region": "North America", "weight_kg": 3}),
        ),
        (
            "Estimate express shipping of a 2.5 kg parcel to Asia.",
            ("shipping_estimate", {"region": "Asia", "weight_kg": 2.5, "express": True}),
        ),
        (
            "How many days are there between 2026-01-14 and March 1, 2026?",
            ("days_between", {"start": "2026-01-14", "end": "2026-03-01"}),
        ),
    ],
)
def test_a_question_for_one_tool_is_answered_with_that_tool_alone(
    question: str, call: tuple[str, dict[str, Any]]
) -> None:
    run, calls = ask(question)
    assert calls == [call]
    assert run.turns == 1
    assert run.answer


def test_two_conversions_in_one_question_are_called_side_by_side() -> None:
    run, calls = ask("Convert 10 USD to EUR and 20 GBP to CHF.")
    assert sorted(calls, key=str) == sorted([convert(10, "EUR"), convert(20, "CHF", source="GBP")], key=str)
    assert run.turns == 1


@pytest.mark.parametrize("question", ["Write a poem about the sea.", "What's the capital of France?", "Hello!"])
def test_a_question_that_no_tool_fits_is_answered_plainly_without_a_call(question: str) -> None:
    run, calls = ask(question)
    assert calls == []
    assert "no tool that fits" in run.answer


def test_what_the_question_does_not_say_is_asked_for_by_name() -> None:
    run, calls = ask("What does shipping 3 kg to Canada cost?")
    assert calls == []
    assert "region" in run.answer
    assert "North America" in run.answer


def test_a_conversion_into_the_same_currency_is_left_out() -> None:
    _, calls = ask("Which customer has the highest revenue in USD?")
    assert calls == [REVENUE]


def test_the_same_question_gets_the_same_calls_and_the_same_answer() -> None:
    first, second = ask(QUESTION)[0], ask(QUESTION)[0]
    assert first.trace.to_dict(timings=False) == second.trace.to_dict(timings=False)


def test_with_simple_types_only_the_same_tools_are_called() -> None:
    host, data = OrdersHost(), orders_data()
    tools = to_langchain_tools(orders_tools(), host, data=data, simple_types_only=True)
    Agent(OfflineChatModel(), tools, data=data).run(QUESTION)
    assert host.calls == [REVENUE, convert(18342.5, "EUR")]


def test_a_follow_up_question_uses_the_earlier_answer() -> None:
    host, data = OrdersHost(), orders_data()
    agent = Agent(OfflineChatModel(), to_langchain_tools(orders_tools(), host, data=data), data=data)
    first = agent.run("Which customer has the highest revenue?")
    second = agent.run("How much is that in EUR?", history=first.messages)
    assert host.calls == [REVENUE, convert(18342.5, "EUR")]
    assert "15774.55 EUR" in second.answer
