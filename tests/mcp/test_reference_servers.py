"""Reference servers from npm over stdio: everything that a client of tools can do with them."""

import base64
import json
import threading
from collections.abc import Generator, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from knime_ext.mcp import Answer, Handlers, MCPClient, Progress, Question, StdioServer, asking, showing_progress
from tests.servers.everything import program


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("files").resolve()


@pytest.fixture(scope="module")
def files(folder: Path) -> Iterator[MCPClient]:
    server = StdioServer("files", "node", (str(program("server-filesystem")), str(folder)))
    with MCPClient(server) as client:
        client.list_tools()
        yield client


@pytest.fixture(scope="module")
def memory(folder: Path) -> Iterator[MCPClient]:
    env = {"MEMORY_FILE_PATH": str(folder / "memory.jsonl")}
    with MCPClient(StdioServer("memory", "node", (str(program("server-memory")),), env=env)) as client:
        client.list_tools()
        yield client


def text(client: MCPClient, name: str, **arguments: Any) -> str:
    result = client.call_tool(name, arguments)
    assert result.success, result.error
    return result.text


def structure(client: MCPClient, name: str, **arguments: Any) -> Any:
    return client.call_tool(name, arguments).raise_for_failure().structured


def test_the_file_server_offers_its_tools_with_hints(files: MCPClient):
    tools = {tool.name: tool for tool in files.list_tools()}
    assert set(tools) == {
        "create_directory",
        "directory_tree",
        "edit_file",
        "get_file_info",
        "list_allowed_directories",
        "list_directory",
        "list_directory_with_sizes",
        "move_file",
        "read_file",
        "read_media_file",
        "read_multiple_files",
        "read_text_file",
        "search_files",
        "write_file",
    }
    assert {name for name, tool in tools.items() if tool.annotations.get("destructiveHint")} == {
        "write_file",
        "edit_file",
        "move_file",
    }


def test_files_are_written_edited_moved_and_read_back(files: MCPClient, folder: Path):
    path, moved = str(folder / "notes" / "ä.txt"), str(folder / "notes" / "b.txt")
    text(files, "create_directory", path=str(folder / "notes"))
    text(files, "write_file", path=path, content="eins\nzwei\ndrei\n")
    assert text(files, "read_text_file", path=path) == "eins\nzwei\ndrei\n"
    assert text(files, "read_text_file", path=path, head=1) == "eins"
    assert text(files, "read_file", path=path, tail=2).strip() == "drei"
    edits = [{"oldText": "zwei", "newText": "deux"}]
    assert "+deux" in text(files, "edit_file", path=path, edits=edits, dryRun=True)
    assert (folder / "notes" / "ä.txt").read_text("utf-8") == "eins\nzwei\ndrei\n"
    text(files, "edit_file", path=path, edits=edits)
    text(files, "move_file", source=path, destination=moved)
    assert (folder / "notes" / "b.txt").read_text("utf-8") == "eins\ndeux\ndrei\n"
    several = text(files, "read_multiple_files", paths=[moved, path])
    assert "deux" in several and "Error" in several


def test_folders_are_listed_searched_and_described(files: MCPClient, folder: Path):
    (folder / "tree" / "inner").mkdir(parents=True)
    (folder / "tree" / "leaf.md").write_text("12345", "utf-8")
    tree = str(folder / "tree")
    assert set(text(files, "list_directory", path=tree).split("\n")) == {"[DIR] inner", "[FILE] leaf.md"}
    assert "leaf.md" in text(files, "list_directory_with_sizes", path=tree, sortBy="size")
    assert {part["name"] for part in json.loads(text(files, "directory_tree", path=tree))} == {"inner", "leaf.md"}
    assert text(files, "search_files", path=str(folder), pattern="**/*.md").endswith("leaf.md")
    assert "size: 5" in text(files, "get_file_info", path=str(folder / "tree" / "leaf.md"))
    assert str(folder) in text(files, "list_allowed_directories")


def test_a_picture_arrives_as_a_picture(files: MCPClient, folder: Path):
    picture = b"\x89PNG\r\n\x1a\n" + bytes(range(256))
    (folder / "dot.png").write_bytes(picture)
    result = files.call_tool("read_media_file", {"path": str(folder / "dot.png")})
    (block,) = result.content
    assert (block["type"], block["mimeType"]) == ("image", "image/png")
    assert base64.b64decode(block["data"]) == picture


def test_a_file_outside_of_the_folder_is_refused_for_the_model_to_read(files: MCPClient):
    result = files.call_tool("read_text_file", {"path": "/etc/hostname"})
    assert not result.success and result.error is not None and "outside allowed directories" in result.error


def test_the_folders_of_the_host_take_the_place_of_those_on_the_command_line(folder: Path):
    other = folder / "other"
    other.mkdir()
    server = StdioServer("roots", "node", (str(program("server-filesystem")), str(folder)))
    tick, allowed = threading.Event(), ""
    with asking(Handlers(roots=(other.as_uri(),))), MCPClient(server) as client:
        for _ in range(500):  # the server asks for them after the handshake
            if (allowed := text(client, "list_allowed_directories")).endswith(str(other)):
                break
            tick.wait(0.01)
    assert allowed.splitlines()[1:] == [str(other)]


def test_a_graph_is_remembered_changed_and_forgotten(memory: MCPClient, folder: Path):
    ann: Mapping[str, Any] = {"name": "Ann", "entityType": "person", "observations": ["likes tea"]}
    knime: Mapping[str, Any] = {"name": "KNIME", "entityType": "company", "observations": []}
    works: Mapping[str, Any] = {"from": "Ann", "to": "KNIME", "relationType": "works at"}
    assert len(memory.list_tools()) == 9
    assert structure(memory, "create_entities", entities=[ann, knime]) == {"entities": [ann, knime]}
    text(memory, "create_relations", relations=[works])
    more = [{"entityName": "Ann", "contents": ["spricht Köln'sch"]}]
    text(memory, "add_observations", observations=more)
    assert structure(memory, "read_graph") == {
        "entities": [{**ann, "observations": ["likes tea", "spricht Köln'sch"]}, knime],
        "relations": [works],
    }
    assert [one["name"] for one in structure(memory, "search_nodes", query="tea")["entities"]] == ["Ann"]
    assert [one["name"] for one in structure(memory, "open_nodes", names=["KNIME"])["entities"]] == ["KNIME"]
    text(memory, "delete_observations", deletions=[{"entityName": "Ann", "observations": ["likes tea"]}])
    text(memory, "delete_relations", relations=[works])
    text(memory, "delete_entities", entityNames=["KNIME"])
    kept = [{**ann, "observations": ["spricht Köln'sch"]}]
    assert structure(memory, "read_graph") == {"entities": kept, "relations": []}
    refused = memory.call_tool("add_observations", {"observations": [{"entityName": "Bob", "contents": ["x"]}]})
    assert not refused.success and refused.error is not None and "Bob" in refused.error
    assert "Köln" in (folder / "memory.jsonl").read_text("utf-8")


@pytest.fixture(scope="module")
def questions() -> list[Question]:
    return []


@pytest.fixture(scope="module")
def everything(questions: list[Question]) -> Generator[MCPClient]:
    """The server with a client that answers everything."""

    def elicit(question: Question) -> Answer:
        questions.append(question)
        return Answer(action="accept", content={"name": "Ann", "integer": 7})

    def sample(params: Mapping[str, Any]) -> Mapping[str, Any]:
        return {
            "role": "assistant",
            "model": "m",
            "content": {"type": "text", "text": f"{len(params['messages'])} read"},
        }

    handlers = Handlers(elicit=elicit, sample=sample, roots=("file:///data",))
    with asking(handlers), MCPClient(StdioServer("everything", "node", (str(program()), "stdio"))) as client:
        client.list_tools()
        yield client


def test_slow_work_reports_its_progress_and_messages_their_kind(everything: MCPClient):
    shown: list[Progress] = []
    with showing_progress(shown.append):
        done = text(everything, "trigger-long-running-operation", duration=0.1, steps=4)
    assert "completed" in done and [progress.fraction for progress in shown] == [0.25, 0.5, 0.75, 1.0]
    result = everything.call_tool("get-annotated-message", {"messageType": "error", "includeImage": True})
    assert [block["type"] for block in result.content] == ["text", "image"]
    assert result.content[0]["annotations"] == {"priority": 1, "audience": ["user", "assistant"]}


def test_switches_and_files_that_the_server_packs(everything: MCPClient):
    for switch in ("toggle-simulated-logging", "toggle-subscriber-updates"):
        assert text(everything, switch).startswith("Started") and text(everything, switch).startswith("Stopped")
    assert "PATH" in json.loads(text(everything, "get-env"))
    packed = everything.call_tool(
        "gzip-file-as-resource", {"name": "a.gz", "data": "data:text/plain,hello", "outputType": "resource"}
    )
    resource = packed.content[0]["resource"]
    assert base64.b64decode(resource["blob"]).startswith(b"\x1f\x8b") and resource["mimeType"] == "application/gzip"
    blob = everything.call_tool("get-resource-reference", {"resourceType": "Blob", "resourceId": 2})
    assert "blob" in blob.content[1]["resource"]


def test_what_the_server_asks_its_client_is_answered(everything: MCPClient, questions: list[Question]):
    assert "file:///data" in text(everything, "get-roots-list")
    assert '"text": "1 read"' in text(everything, "trigger-sampling-request", prompt="hi", maxTokens=10)
    form = text(everything, "trigger-elicitation-request")
    assert "Name: Ann" in form and "Favorite Integer: 7" in form and "Favorite Number: 3.14" in form
    page = text(everything, "trigger-url-elicitation", url="https://example.org/consent", message="Please")
    assert "accept" in page
    assert [question.url for question in questions] == [None, "https://example.org/consent"]
