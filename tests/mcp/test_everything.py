"""The reference server that this project did not write, over each of its three transports."""

from collections.abc import Iterator

import pytest

from knime_ext.mcp import SSEServer, StdioServer, StreamableHTTPServer
from knime_ext.mcp.servers import Server
from knime_ext.tools import ToolResult
from tests.mcp.bench import called, listed
from tests.servers.everything import everything, program


@pytest.fixture(scope="module", params=["sse", "streamableHttp", "stdio"])
def server(request: pytest.FixtureRequest) -> Iterator[Server]:
    if request.param == "stdio":
        yield StdioServer("everything", "node", (str(program()), "stdio"))
        return
    with everything(request.param) as url:
        yield SSEServer(url) if request.param == "sse" else StreamableHTTPServer(url)


def test_every_tool_is_listed_with_its_schema_intact(server: Server):
    listing = listed(server)
    assert (listing.error, listing.problems) == (None, ())
    assert listing.era == "2025-11-25"
    assert listing.server_info is not None and listing.server_info.name == "mcp-servers/everything"
    assert {definition.name for definition in listing.definitions} >= {
        "echo",
        "get-annotated-message",
        "get-env",
        "get-resource-links",
        "get-resource-reference",
        "get-structured-content",
        "get-sum",
        "get-tiny-image",
        "gzip-file-as-resource",
        "toggle-simulated-logging",
        "toggle-subscriber-updates",
        "trigger-long-running-operation",
    }
    by_name = {definition.name: definition for definition in listing.definitions}
    assert by_name["get-sum"].parameters == {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "type": "object",
        "properties": {
            "a": {"type": "number", "description": "First number"},
            "b": {"type": "number", "description": "Second number"},
        },
        "required": ["a", "b"],
    }
    message = by_name["get-annotated-message"]
    assert message.parameters["properties"]["messageType"]["enum"] == ["error", "success", "debug"]
    assert message.parameters["properties"]["includeImage"]["default"] is False
    assert by_name["echo"].display_name == "Echo Tool"
    assert by_name["echo"].annotations["readOnlyHint"] is True
    assert by_name["get-structured-content"].output_schema is not None
    assert by_name["get-env"].parameters["properties"] == {}


def test_echo_gives_the_text_back(server: Server):
    assert called(server, "echo", {"message": "grüß dich"}) == ToolResult.of_text("Echo: grüß dich")


def test_a_sum_of_a_whole_and_a_decimal_number_comes_back_right(server: Server):
    assert called(server, "get-sum", {"a": 2, "b": 40.5}).text == "The sum of 2 and 40.5 is 42.5."


def test_structured_content_arrives_as_structure_and_as_text(server: Server):
    result = called(server, "get-structured-content", {"location": "Chicago"})
    assert isinstance(result.structured, dict)
    assert set(result.structured) == {"temperature", "conditions", "humidity"}
    assert str(result.structured["temperature"]) in result.text


def test_an_image_keeps_its_data_and_has_a_line_of_text(server: Server):
    result = called(server, "get-tiny-image", {})
    assert [block["type"] for block in result.content] == ["text", "image", "text"]
    assert result.content[1]["mimeType"] == "image/png"
    assert result.content[1]["data"].startswith("iVBORw0KGgo")
    assert "[image: image/png," in result.text


def test_resources_and_links_to_resources_are_kept(server: Server):
    links = called(server, "get-resource-links", {"count": 2})
    assert [block["type"] for block in links.content] == ["text", "resource_link", "resource_link"]
    text = called(server, "get-resource-reference", {"resourceType": "Text", "resourceId": 1})
    assert text.content[1]["resource"]["uri"] == "demo://resource/dynamic/text/1"
    assert text.content[1]["resource"]["text"] in text.text


def test_a_failing_call_is_a_result_that_says_why(server: Server):
    result = called(server, "echo", {})
    assert result.is_error
    assert "Invalid arguments for tool echo" in result.text
