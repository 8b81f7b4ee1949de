"""A toolset behind the SDK's server side, seen by the SDK's own client in both eras of the protocol."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any, TypeVar

import pytest
from mcp import MCPError as WireError
from mcp.client import Client
from mcp_types import ElicitResult

from knime_ext.errors import ToolFailed
from knime_ext.mcp.live_secrets import keep_secret
from knime_ext.mcp.progress import Progress, current_listener
from knime_ext.mcp.serving import ToolsetServer, ask_client
from knime_ext.tools import ApprovalPolicy, ToolDefinition, ToolResult, Toolset, unknown_tool

T = TypeVar("T")
Answer = Callable[[Mapping[str, Any]], Coroutine[Any, Any, ToolResult]]

SCHEMA: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "properties": {"at": {"$ref": "#/$defs/Point", "default": None}, "title": {"type": ["string", "null"]}},
    "$defs": {"Point": {"type": "object", "properties": {"x": {"type": "integer"}}, "x-unit": "mm"}},
    "allOf": [{"required": ["at"]}],
    "additionalProperties": False,
}
HINTS = {"readOnlyHint": True, "destructiveHint": False, "title": "Ruler"}


@pytest.fixture(params=["auto", "legacy"])
def era(request: pytest.FixtureRequest) -> str:
    """Which revision the client opens with: the newest, or the handshake of the ones before."""
    return str(request.param)


class Functions(Toolset):
    """A toolset of coroutine functions."""

    def __init__(self, definitions: Sequence[ToolDefinition], answer: Answer) -> None:
        self.definitions = definitions
        self._answer = answer

    async def list_definitions(self) -> Sequence[ToolDefinition]:
        return self.definitions

    async def call(self, name: str, arguments: Mapping[str, Any]) -> ToolResult:
        if name not in {definition.name for definition in self.definitions}:
            raise unknown_tool(name, [definition.name for definition in self.definitions])
        return await self._answer(arguments)


def answering(result: ToolResult | Exception) -> Answer:
    async def answer(arguments: Mapping[str, Any]) -> ToolResult:
        if isinstance(result, Exception):
            raise result
        return result

    return answer


def asked(
    question: Callable[[Client], Coroutine[Any, Any, T]],
    answer: Answer,
    era: str,
    *definitions: ToolDefinition,
    report: Callable[[str], None] = print,
) -> T:
    """What a client gets that is connected in memory."""

    async def scenario() -> T:
        toolset = Functions(definitions or (ToolDefinition(name="tool"),), answer)
        server = ToolsetServer(toolset, toolset.definitions, name="shop", version="7", report=report)
        async with asyncio.timeout(20), Client(server.wire, mode=era) as client:
            return await question(client)

    return asyncio.run(scenario())


def test_schemas_and_hints_reach_the_client_as_they_are(era: str) -> None:
    output = {"type": "object", "properties": {"mm": {"type": "number"}}, "required": ["mm"]}
    tool = ToolDefinition(
        name="measure",
        description="Measures.",
        parameters=SCHEMA,
        display_name="Measure it!",
        output_schema=output,
        annotations=HINTS,
    )

    async def question(client: Client) -> Any:
        return (await client.list_tools()).tools

    [seen] = asked(question, answering(ToolResult()), era, tool)
    wire = seen.model_dump(by_alias=True, exclude_none=True)
    assert wire["inputSchema"] == SCHEMA
    assert (wire["outputSchema"], wire["annotations"], wire["title"]) == (output, HINTS, "Measure it!")


def test_media_and_structured_values_go_through_unchanged(era: str) -> None:
    blocks = (
        {"type": "text", "text": "two\x1b lines", "_meta": {"a": 1}},
        {"type": "image", "data": "iVBORw0K", "mimeType": "image/png", "annotations": {"priority": 0.5}},
        {"type": "audio", "data": "UklGRg==", "mimeType": "audio/wav"},
        {"type": "resource", "resource": {"uri": "file:///a", "text": "t", "mimeType": "text/plain"}},
        {"type": "resource_link", "uri": "https://example.org/r", "name": "r"},
    )
    result = ToolResult(content=blocks, structured={"n": None, "deep": [{"x": 1.5}]})

    async def question(client: Client) -> Any:
        return (await client.call_tool("tool", {})).model_dump(by_alias=True, exclude_unset=True)

    got = asked(question, answering(result), era)
    assert [{key: block[key] for key in sent} for block, sent in zip(got["content"], blocks, strict=True)] == [*blocks]
    assert got["structuredContent"] == result.structured
    assert got["isError"] is False


def test_a_block_of_an_unknown_kind_is_told_as_text(era: str) -> None:
    result = ToolResult(content=({"type": "hologram", "shape": "cat"}, {"type": "text", "text": "and this"}))

    async def question(client: Client) -> Any:
        return [block.text for block in (await client.call_tool("tool", {})).content if block.type == "text"]

    first, second = asked(question, answering(result), era)
    assert "hologram" in first and "cat" in first
    assert second == "and this"


def test_a_structured_list_is_text_where_only_objects_are_known() -> None:
    tool = ToolDefinition(name="tool", output_schema={"type": "array"})

    async def question(client: Client) -> Any:
        listed = (await client.list_tools()).tools[0].output_schema
        return listed, await client.call_tool("tool", {})

    schema, new = asked(question, answering(ToolResult(structured=[1, 2])), "auto", tool)
    assert (schema, new.structured_content) == ({"type": "array"}, [1, 2])
    schema, old = asked(question, answering(ToolResult(structured=[1, 2])), "legacy", tool)
    assert (schema, old.structured_content, old.content[0].text) == (None, None, "[1, 2]")


@pytest.mark.parametrize(
    ("failure", "told"),
    [
        (ToolFailed("the printer is out of paper; refill it"), "the printer is out of paper; refill it"),
        (ValueError("password=hunter2"), "the tool 'tool' failed with ValueError"),
    ],
)
def test_a_failure_is_a_result_and_foreign_errors_stay_at_home(failure: Exception, told: str, era: str) -> None:
    reports: list[str] = []

    async def question(client: Client) -> Any:
        return await client.call_tool("tool", {})

    got = asked(question, answering(failure), era, report=reports.append)
    assert (got.is_error, got.content[0].text) == (True, told)
    assert any("hunter2" in line for line in reports) == isinstance(failure, ValueError)


@pytest.mark.parametrize("failure", [ToolFailed, ValueError])
def test_no_failure_repeats_a_secret(failure: type[Exception], era: str) -> None:
    reports: list[str] = []
    keep_secret("k3y-of-the-shop")

    async def question(client: Client) -> Any:
        return (await client.call_tool("tool", {})).model_dump_json()

    got = asked(question, answering(failure("refused: k3y-of-the-shop")), era, report=reports.append)
    assert "k3y-of-the-shop" not in got + "".join(reports)


def test_a_tool_that_is_not_listed_cannot_be_called(era: str) -> None:
    async def question(client: Client) -> Any:
        with pytest.raises(WireError, match="Unknown tool 'other'") as caught:
            await client.call_tool("other", {})
        return caught.value.code

    assert asked(question, answering(ToolResult()), era) == -32602


def test_a_malformed_tool_does_not_hide_the_others(era: str) -> None:
    reports: list[str] = []
    bad = ToolDefinition(name="bad", parameters={"type": "array"})

    async def question(client: Client) -> Any:
        return [tool.name for tool in (await client.list_tools()).tools]

    names = asked(question, answering(ToolResult()), era, bad, ToolDefinition(name="good"), report=reports.append)
    assert names == ["good"]
    assert reports and "'bad'" in reports[0]


def test_a_long_list_comes_in_pages(era: str) -> None:
    many = [ToolDefinition(name=f"tool_{number}") for number in range(2_100)]

    async def question(client: Client) -> Any:
        names: list[str] = []
        sizes: list[int] = []
        cursor: str | None = None
        while True:
            page = await client.list_tools(cursor=cursor)
            names += [tool.name for tool in page.tools]
            sizes.append(len(page.tools))
            cursor = page.next_cursor
            if cursor is None:
                break
        with pytest.raises(WireError, match="cursor"):
            await client.list_tools(cursor="elsewhere")
        return names, sizes

    names, sizes = asked(question, answering(ToolResult()), era, *many)
    assert names == [tool.name for tool in many]
    assert sizes == [1_000, 1_000, 100]


def test_progress_arrives_in_order_before_the_result(era: str) -> None:
    async def answer(arguments: Mapping[str, Any]) -> ToolResult:
        listener = current_listener()
        assert listener is not None
        for step in range(20):
            listener(Progress(done=step, total=20, message=f"step {step}"))
        return ToolResult.of_text("done")

    async def question(client: Client) -> Any:
        seen: list[tuple[float, float | None, str | None]] = []

        async def note(progress: float, total: float | None, message: str | None) -> None:
            seen.append((progress, total, message))

        await client.call_tool("tool", {}, progress_callback=note)
        return seen

    assert asked(question, answer, era) == [(step, 20, f"step {step}") for step in range(20)]


def test_a_client_that_gives_up_cancels_the_call(era: str) -> None:
    async def scenario() -> None:
        running, cancelled = asyncio.Event(), asyncio.Event()

        async def answer(arguments: Mapping[str, Any]) -> ToolResult:
            running.set()
            try:
                await asyncio.Event().wait()
            finally:
                cancelled.set()
            raise AssertionError

        toolset = Functions([ToolDefinition(name="tool")], answer)
        server = ToolsetServer(toolset, toolset.definitions, name="shop")
        async with asyncio.timeout(20), Client(server.wire, mode=era) as client:
            call = asyncio.create_task(client.call_tool("tool", {}))
            await running.wait()
            call.cancel()
            await cancelled.wait()

    asyncio.run(scenario())


@pytest.mark.parametrize(
    ("reply", "told"),
    [
        (ElicitResult(action="accept", content={"approve": True}), "deleted"),
        (ElicitResult(action="accept", content={"approve": False}), "was not approved"),
        (ElicitResult(action="accept"), "was not approved"),
        (ElicitResult(action="decline"), "was not approved"),
        (None, "this client cannot ask"),
    ],
)
def test_a_person_in_front_of_the_client_has_a_say(reply: ElicitResult | None, told: str, era: str) -> None:
    asked_for: list[str] = []

    async def ask(context: Any, params: Any) -> ElicitResult:
        asked_for.append(params.message)
        assert reply is not None
        return reply

    async def scenario() -> Any:
        toolset = Functions([ToolDefinition(name="delete_all")], answering(ToolResult.of_text("deleted")))
        governed = toolset.governed_by(ApprovalPolicy(rules={"delete_*": "ask"}, otherwise="allow"), ask_client)
        server = ToolsetServer(governed, toolset.definitions, name="shop")
        callback = None if reply is None else ask
        async with asyncio.timeout(20), Client(server.wire, mode=era, elicitation_callback=callback) as client:
            return await client.call_tool("delete_all", {"table": "orders"})

    result = asyncio.run(scenario())
    assert told in result.content[0].text
    assert result.is_error == (told != "deleted")
    assert len(asked_for) == (reply is not None)
    assert all("'delete_all'" in message and '"orders"' in message for message in asked_for)
