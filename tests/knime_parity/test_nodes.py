"""Every node does the same under KNIME's own Python code and in the embedded runtime."""

import base64
import json
import re
import socket
import subprocess
import sys
from collections.abc import Awaitable, Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.responses import Response

from knime_ext import extension
from tests.agent.openai_server import Body, Service, completion, failure, openai_service, text_in
from tests.knime_parity.conftest import Program
from tests.servers.legacy import ECHO, LegacyServer, serving

HERE = Path(__file__).parent
# By reading: the module itself needs a host.
SOURCE = (HERE / "scenarios.py").read_text(encoding="utf-8")
SCENARIOS = [name.replace("_", " ") for name in re.findall(r"^@scenario\ndef (\w+)", SOURCE, re.MULTILINE)]

Results = dict[str, Any]
pytestmark = pytest.mark.xdist_group("knime parity")  # what the programs found is used by all


def call_then_answer(body: Body) -> Response | Awaitable[Response]:
    """The first tool is called once; what it says is the answer."""
    last = body["messages"][-1]
    if last["role"] == "tool":
        return completion(f"It said: {last['content']}")(body)
    name = body["tools"][0]["function"]["name"]
    return completion(calls=[(name, {"configuration": {"who": "Ada"}})])(body)


def write(body: Body) -> Response | Awaitable[Response]:
    """See `Servers.writer`."""
    last = body["messages"][-1]
    names = [tool["function"]["name"] for tool in body.get("tools", ())]
    if last["role"] != "tool" and "run_python" in names:
        code = "print([Say_hello__Zoe_(configuration={'who': who}) for who in ('Ada', 'Zoë')])"
        return completion(calls=[("run_python", {"code": code})])(body)
    if last["role"] != "tool" and "search_tools" in names:
        return completion(calls=[("search_tools", {"query": "hello"})])(body)
    text = text_in(last)
    if "refuse" in text:
        return failure(400, "no")(body)
    said = {"length": len(text), "short": len(text) < 20, "share": 0.5, "words": text.split()}
    return completion(json.dumps(said, ensure_ascii=False))(body)


async def pictures(params: dict[str, Any]) -> dict[str, Any]:
    """As many pictures as asked for."""
    picture = {"type": "image", "mimeType": "image/png", "data": base64.b64encode(b"\x89PNG").decode()}
    return {"content": [picture] * params["arguments"]["n"]}


@pytest.fixture(scope="module")
def model() -> Iterator[Service]:
    """A chat model behind OpenAI's API."""
    with openai_service([call_then_answer]) as service:
        yield service


@pytest.fixture(scope="module")
def writer() -> Iterator[Service]:
    """Another one."""
    with openai_service([write]) as service:
        yield service


@pytest.fixture(scope="module")
def servers(model: Service, writer: Service) -> Iterator[str]:
    """Addresses for the scenarios as JSON: the example's server, odd ones, and one where nobody listens."""
    program = HERE.parent.parent / "examples" / "orders-agent" / "server.py"
    broken: list[Any] = [{"name": "no schema"}, ECHO, {"description": "no name", "inputSchema": {"type": "object"}}]
    odd, empty = LegacyServer(tools=broken), LegacyServer(tools=[])
    media = LegacyServer(tools=[{"name": "pictures", "inputSchema": {"type": "object"}}], on_call=pictures)
    command = [sys.executable, str(program), "--port", "0"]
    with (
        subprocess.Popen(command, stdout=subprocess.PIPE, text=True, encoding="utf-8") as process,
        serving(odd),
        serving(empty),
        serving(media),
    ):
        try:
            assert process.stdout is not None
            orders = process.stdout.readline().removeprefix("listening on ").strip()
            with socket.create_server(("127.0.0.1", 0)) as free:
                dead = f"http://127.0.0.1:{free.getsockname()[1]}/mcp"
            addresses = {"orders": orders, "odd": odd.url, "empty": empty.url, "dead": dead, "model": model.url}
            yield json.dumps({**addresses, "writer": writer.url, "media": media.url})
        finally:
            process.terminate()


@pytest.fixture(scope="module")
def knime(in_knime: Program, servers: str) -> Results:
    """What the scenarios gave under KNIME's own code."""
    return in_knime("run_scenarios.py", "knime", given=servers)


@pytest.fixture(scope="module")
def runtime(in_runtime: Program, servers: str) -> Results:
    """What they gave in the embedded runtime."""
    return in_runtime("run_scenarios.py", "runtime", given=servers)


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_a_scenario_runs_in_the_embedded_runtime(runtime: Results, scenario: str) -> None:
    assert "traceback" not in runtime[scenario], runtime[scenario]
    assert _broken_promises(runtime[scenario]) == []


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_a_scenario_gives_the_same_in_both_worlds(runtime: Results, knime: Results, scenario: str) -> None:
    assert "traceback" not in knime[scenario], knime[scenario]
    assert knime[scenario] == runtime[scenario]


def test_every_scenario_ran(runtime: Results) -> None:
    assert list(runtime) == SCENARIOS


def test_every_node_has_its_dialog_compared(runtime: Results) -> None:
    assert sorted(runtime["dialogs without inputs"]) == sorted(extension.__all__)


def test_the_agent_called_a_server_and_a_workflow_and_answered(runtime: Results) -> None:
    # That both worlds give the same would be worth little if both did nothing.
    result = runtime["agent uses a server and a workflow of one column"]
    assert [call["tool"] for call in result["calls"]] == ["customer_revenue"]
    messages: list[dict[str, Any]] = result["outcome"]["outputs"][0]["cells"]["Conversation"]
    calls: list[dict[str, Any]] = [call for message in messages for call in message["2"] or ()]
    called = [call["1"] for call in calls]
    assert called == ["customer_revenue", "Convert currency"]
    answer = bytes.fromhex(messages[-1]["1"][0]["1"]["bytes"]).decode()
    assert "EUR" in answer
    assert "Northwind" in answer


def test_the_answer_has_typed_columns_and_code_called_its_tools(runtime: Results) -> None:
    answer = runtime["agent answers in a form"][0]["outcome"]["outputs"][2]
    columns = dict(answer["columns"])
    assert [answer["cells"][name] for name in ("length", "share", "short")] == [[82], [0.5], [False]]
    assert (columns["length"], columns["words"]) == ("Number (Long Integer)", "List (Collection of: String)")
    assert [call["parameters"] for call in runtime["agent writes code"]["calls"]] == [{"who": "Ada"}, {"who": "Zoë"}]


def test_each_row_was_asked_once(runtime: Results) -> None:
    calls = [each["calls"] for each in runtime["batch rows of a preview are not asked again"]]
    assert [len(each) for each in calls] == [2, 1, 3]


def test_the_key_of_a_model_reaches_the_model_and_nothing_else(runtime: Results, model: Service) -> None:
    assert set(model.keys) == {"Bearer hunter2"}
    assert "hunter2" not in json.dumps(runtime)


def _broken_promises(result: Any) -> list[str]:
    """Everything that `execute` gave against what `configure` had said, anywhere in a result."""
    if isinstance(result, dict):
        own: list[str] = result.get("broken promises", [])  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
        return [*own, *_broken_promises(list(result.values()))]  # pyright: ignore[reportUnknownArgumentType]
    return [text for each in result for text in _broken_promises(each)] if isinstance(result, list) else []  # pyright: ignore[reportUnknownVariableType]
