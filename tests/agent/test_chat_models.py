"""Chat models over a real HTTP server that speaks OpenAI's API."""

from __future__ import annotations

import asyncio
import gc
import subprocess
import sys
import threading
import time

import psutil
import pytest
from langchain_core.callbacks import AsyncCallbackHandler, get_usage_metadata_callback
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.outputs import LLMResult
from langchain_core.tools import BaseTool
from pydantic import SecretStr

from knime_ext.agent import Agent, ChatModelConfig, OfflineChatModel, create_chat_model, to_langchain_tools
from knime_ext.bridge import shared_bridge
from knime_ext.errors import AgentError, ConfigurationError
from tests.agent.openai_server import completion, failure, openai_service
from tests.agent.orders import OrdersHost, Table, orders_data, orders_tools

KEY = "sk-very-secret-4711"


def config(url: str, **more: object) -> ChatModelConfig:
    settings = {"model": "tiny", "base_url": url, "api_key": SecretStr(KEY), "max_retries": 0, "timeout": 10.0}
    return ChatModelConfig(**{**settings, **more})  # pyright: ignore[reportArgumentType]


def test_the_model_of_a_local_server_calls_tools_in_parallel_and_answers() -> None:
    calls = [
        ("customer_revenue", {"data_inputs": {"orders": 0}}),
        ("Convert_currency", {"amount": 2, "from_currency": "USD", "to_currency": "EUR"}),
    ]
    host, data = OrdersHost(), orders_data()
    with openai_service([completion(calls=calls), completion("Northwind Traders.")]) as service:
        agent = Agent(
            create_chat_model(config(service.url)), to_langchain_tools(orders_tools(), host, data=data), data=data
        )
        run = agent.run("Who is the best customer?")
    assert run.answer == "Northwind Traders."
    assert sorted(name for name, _ in host.calls) == ["convert_currency", "customer_revenue"]
    first, second = service.requests
    assert [tool["function"]["name"] for tool in first["tools"]][-3:] == [
        "Convert_currency",
        "Estimate_shipping",
        "Days_between",
    ]
    assert [(message["role"], message.get("tool_call_id")) for message in second["messages"][-3:]] == [
        ("assistant", None),
        ("tool", "call_1"),
        ("tool", "call_2"),
    ]
    assert service.keys == [f"Bearer {KEY}"] * 2
    assert run.trace.tokens.to_dict() == {"input": 22, "output": 14, "total": 36}
    assert run.trace.model == "tiny"


def test_schemas_reach_the_server_as_they_are() -> None:
    data = orders_data()
    tools = to_langchain_tools(orders_tools(), OrdersHost(), data=data)
    with openai_service([completion("ok")]) as service:
        Agent(create_chat_model(config(service.url)), tools).run("go")
    sent = {tool["function"]["name"]: tool["function"]["parameters"] for tool in service.requests[0]["tools"]}
    assert sent == {tool.name: tool.args_schema for tool in tools if tool.name != "read_more"}


def test_arguments_that_are_no_json_go_back_to_the_model() -> None:
    with openai_service([completion(calls=[("Convert_currency", '{"amount": ')]), completion("sorry")]) as service:
        tools: list[BaseTool] = [*to_langchain_tools(orders_tools(), OrdersHost())]
        run = Agent(create_chat_model(config(service.url)), tools).run("go")
    assert run.answer == "sorry"
    assert "could not be read" in service.requests[1]["messages"][-1]["content"]


def test_runs_one_after_the_other_work_though_each_has_a_loop_of_its_own() -> None:
    with openai_service([completion("fine")]) as service:
        agent = Agent(create_chat_model(config(service.url)))
        before = threading.active_count()
        assert [agent.run("a").answer, agent.run("b").answer, agent.run("c").answer] == ["fine"] * 3
        assert threading.active_count() == before


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (401, "refused the credentials; check the API key"),
        (404, "check the model's name and the base URL"),
        (429, "limiting the rate"),
        (500, "failing on its server"),
        (503, "failing on its server"),
    ],
)
def test_an_error_status_is_one_sentence_without_the_key(status: int, words: str) -> None:
    with openai_service([failure(status, f"Incorrect API key provided: {KEY}.")]) as service:
        with pytest.raises(AgentError) as caught:
            Agent(create_chat_model(config(service.url))).run("go")
    text = str(caught.value)
    assert words in text
    assert f"HTTP {status}" in text
    assert KEY not in text
    assert "\n" not in text
    assert caught.value.__suppress_context__


def test_the_reason_of_a_rejected_request_is_told_without_the_key() -> None:
    with openai_service([failure(400, f"too long; key {KEY} is fine\nsecond line")]) as service:
        run = Agent(create_chat_model(config(service.url))).attempt("go")
    assert str(run.error) == "the chat model 'tiny' rejected the request (HTTP 400): too long; key *** is fine"


def test_a_server_that_is_not_there_is_one_sentence() -> None:
    with pytest.raises(AgentError, match="'tiny' cannot be reached; check the base URL"):
        Agent(create_chat_model(config("http://127.0.0.1:9/v1"))).run("go")


def test_an_empty_answer_at_the_token_limit_says_what_to_raise() -> None:
    with openai_service([completion("", finish="length")]) as service:
        with pytest.raises(AgentError, match="output tokens"):
            Agent(create_chat_model(config(service.url))).run("go")


def test_the_key_shows_in_no_repr() -> None:
    settings = config("http://127.0.0.1:9/v1")
    model = create_chat_model(settings)
    assert KEY not in repr(settings) + str(settings) + repr(model) + str(model)


def test_another_address_never_gets_the_key_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-from-environment")
    with openai_service([completion("ok")]) as service:
        Agent(create_chat_model(config(service.url, api_key=None))).run("go")
    assert service.keys == ["Bearer no-key-needed"]


def test_the_offline_model_needs_no_name_and_no_key() -> None:
    assert isinstance(create_chat_model(ChatModelConfig(provider="offline")), OfflineChatModel)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (ChatModelConfig(model=""), "name of the chat model is missing"),
        (ChatModelConfig(provider="nobody", model="x"), "provider 'nobody' is unknown"),
        (ChatModelConfig(provider="mistralai", model="x"), "install 'langchain-mistralai'"),
    ],
)
def test_a_model_that_cannot_be_made_says_what_to_do(settings: ChatModelConfig, words: str) -> None:
    with pytest.raises(ConfigurationError, match=words):
        create_chat_model(settings)


def test_a_missing_key_is_a_clear_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(ConfigurationError, match="API key"):
        create_chat_model(ChatModelConfig(model="gpt-x"))


def test_without_the_extra_the_error_names_it() -> None:
    program = (
        "import sys; sys.modules['langchain'] = None\n"
        "from knime_ext.agent import ChatModelConfig, create_chat_model\n"
        "try: create_chat_model(ChatModelConfig(model='x'))\n"
        "except Exception as error: print(type(error).__name__, error)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    assert "ConfigurationError" in done.stdout
    assert "pip install 'knime-mcp[models]'" in done.stdout


def test_a_history_with_tables_survives_the_way_to_the_server() -> None:
    data = orders_data()
    data.add("more", "", Table(["x"]))
    with openai_service([completion("a"), completion("b")]) as service:
        agent = Agent(create_chat_model(config(service.url)), data=data)
        agent.run("second", history=agent.run("first").messages)
    roles = [message["role"] for message in service.requests[1]["messages"]]
    assert roles == ["user", "user", "assistant", "user", "user"]


def test_a_callback_hears_of_a_request_wherever_it_was_set_up() -> None:
    heard: list[str] = []

    class Listener(AsyncCallbackHandler):
        async def on_llm_end(self, response: LLMResult, **_: object) -> None:
            heard.append(response.generations[0][0].text)

    with openai_service(completion("hello")) as service:
        model = create_chat_model(config(service.url))

        async def ask() -> list[AIMessage]:
            question = [HumanMessage("hi")]
            plain = await model.ainvoke(question)
            with get_usage_metadata_callback() as counted:
                listened = await model.ainvoke(question, {"callbacks": [Listener()]})
            assert counted.usage_metadata["tiny"]["total_tokens"] == 18
            return [plain, listened]

        plain, listened = asyncio.run(ask())
    assert heard == ["hello"]
    assert plain.model_copy(update={"id": None}) == listened.model_copy(update={"id": None})


def test_a_model_that_nobody_has_any_more_closes_its_connections_though_the_loop_goes_on() -> None:
    with shared_bridge(), openai_service([completion("fine")]) as service:
        port = int(service.url.rsplit(":", 1)[1].split("/")[0])

        def connections() -> list[object]:
            found = psutil.Process().net_connections("tcp")
            return [each for each in found if each.raddr and each.raddr.port == port]

        Agent(create_chat_model(config(service.url))).run("go")
        deadline = time.monotonic() + 20
        while connections() and time.monotonic() < deadline:
            gc.collect()
            time.sleep(0.01)
        assert connections() == []
