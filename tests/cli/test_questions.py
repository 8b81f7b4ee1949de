"""Whoever sits at the terminal answers what servers ask in the middle of a call, and approves calls of an agent."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from knime_ext.cli.form_fields import FormField
from knime_ext.errors import InvalidArguments
from tests.cli.process import knime_mcp
from tests.cli.terminal import at_a_terminal

CURIOUS = Path(__file__).parents[1] / "servers" / "curious.py"

FORM: dict[str, Any] = {
    "message": "Who are \u202eyou?",
    "requestedSchema": {
        "type": "object",
        "properties": {
            "name": {"type": "string", "title": "Your name", "description": "As in your passport", "minLength": 2},
            "age": {"type": "integer", "minimum": 0, "default": 30},
            "color": {"oneOf": [{"const": "r", "title": "Red"}, {"const": "b", "title": "Blue"}], "default": "b"},
            "newsletter": {"type": "boolean"},
        },
        "required": ["name"],
    },
}
PAGE = {"mode": "url", "message": "Pay here", "url": "https://pay.example/1", "elicitationId": "1"}


@pytest.fixture
def home(tmp_path: Path) -> str:
    """A configuration in which the server is registered; a call may take three seconds."""
    provider = {
        "provider_type": "stdio",
        "command": sys.executable,
        "args": [str(CURIOUS)],
        "timeouts": {"call": 3},
    }
    (tmp_path / "providers.yaml").write_text(yaml.safe_dump({"providers": {"curious": provider}}))
    return str(tmp_path)


def asking(params: dict[str, Any]) -> list[str]:
    return ["tools", "call", "curious", "elicit", "--json", json.dumps(params)]


def test_a_form_is_asked_field_by_field_until_every_answer_fits(home: str) -> None:
    with at_a_terminal(*asking(FORM), KNIME_MCP_HOME=home) as terminal:
        terminal.see("The server stdio:curious asks: Who are you?\nAnswer? [Y/n] ")
        terminal.type("")
        terminal.see("As in your passport\n  Your name: ")
        terminal.type("")
        terminal.see("a value is needed")
        terminal.type("A")
        terminal.see("name")
        terminal.see("Your name: ")
        terminal.type("Ann")
        terminal.see("age (a whole number) [30]: ")
        terminal.type("old")
        terminal.see("must be a whole number, not 'old'")
        terminal.type("-1")
        terminal.see("minimum")
        terminal.see("[30]: ")
        terminal.type("")
        terminal.see("color (Red, Blue) [b]: ")
        terminal.type("red")
        terminal.see("newsletter (yes or no; may be left out): ")
        terminal.type("no")
        code, output = terminal.output()
    assert code == 0
    content = {"name": "Ann", "age": 30, "color": "r", "newsletter": False}
    assert json.loads(output) == {"action": "accept", "content": content}


def test_the_time_of_a_call_stands_still_while_the_person_thinks(home: str) -> None:
    with at_a_terminal(*asking(FORM), "--timeout", "1", KNIME_MCP_HOME=home) as terminal:
        terminal.see("Answer? [Y/n] ")
        with pytest.raises(AssertionError, match="never came up"):
            terminal.see("Error", seconds=1.5)
        terminal.type("n")
        assert terminal.output() == (0, '{"action": "decline"}\n')


def test_a_web_page_is_shown_with_its_host_and_nothing_is_opened(home: str) -> None:
    with at_a_terminal(*asking(PAGE), KNIME_MCP_HOME=home) as terminal:
        terminal.see("Pay here")
        terminal.see("a page of pay.example in your browser:\n  https://pay.example/1")
        terminal.see("[y/N] ")
        terminal.type("maybe")
        terminal.see("[y/N] ")
        terminal.type("y")
        assert terminal.output() == (0, '{"action": "accept"}\n')


def test_the_end_of_the_input_cancels(home: str) -> None:
    with at_a_terminal(*asking(FORM), KNIME_MCP_HOME=home) as terminal:
        terminal.see("Answer? [Y/n] ")
        terminal.press(b"\x04")
        assert terminal.output() == (0, '{"action": "cancel"}\n')


def test_without_a_terminal_questions_are_declined(home: str) -> None:
    done = knime_mcp(*asking(FORM), KNIME_MCP_HOME=home)
    assert (done.returncode, done.stdout) == (0, '{"action": "decline"}\n')


def agent_workflow(folder: Path, server_url: str, settings: dict[str, Any]) -> Path:
    provider = {"server_url": server_url, "tools": {"include": "convert_currency"}}
    nodes = [
        {"id": "provider", "factory": "MCPToolProvider", "settings": provider},
        {"id": "model", "factory": "OfflineChatModel"},
        {"id": "agent", "factory": "AgentPrompter", "settings": settings},
    ]
    connections = [{"from": ["model", 0], "to": ["agent", 0]}, {"from": ["provider", 0], "to": ["agent", 1]}]
    path = folder / "workflow.json"
    path.write_text(json.dumps({"format": 1, "name": "Ask", "nodes": nodes, "connections": connections}))
    return path


def test_calls_of_an_agent_are_approved_at_the_terminal_and_refused_where_there_is_none(
    tmp_path: Path, server_url: str
) -> None:
    settings = {
        "user_message": "Convert 10 USD to EUR.",
        "approval": {"mode": "RULES", "ask": "convert_*"},
    }
    path = agent_workflow(tmp_path, server_url, settings)
    with at_a_terminal("run", str(path), KNIME_MCP_HOME=str(tmp_path / "home")) as terminal:
        terminal.see("The model wants to call Convert currency of server 127.0.0.1")
        terminal.see('"amount": 10')
        terminal.see("[y/N/a = yes, and always in this run] ")
        terminal.type("y")
        code, output = terminal.output()
    assert code == 0
    assert "nobody can be asked" not in output
    assert "EUR" in output

    alone = knime_mcp("run", str(path), KNIME_MCP_HOME=str(tmp_path / "home"))
    assert "nobody can be asked here" in alone.stdout


@pytest.mark.parametrize(
    ("schema", "typed", "value"),
    [
        ({"type": "string"}, "a, b", "a, b"),
        ({"type": "number"}, "1.5", 1.5),
        ({"type": "boolean"}, "YES", True),
        ({"enum": ["low", "high"], "enumNames": ["Low", "High"]}, "High", "high"),
        ({"enum": [1, 2]}, "2", 2),
        ({"type": "array", "items": {"type": "integer"}}, "1, 2", [1, 2]),
        ({"type": "array", "items": {"anyOf": [{"const": "a", "title": "Alpha"}]}}, "alpha", ["a"]),
    ],
)
def test_what_is_typed_becomes_the_value_that_the_form_wants(schema: dict[str, Any], typed: str, value: Any) -> None:
    [field] = FormField.of_form({"properties": {"x": schema}})
    assert field.read(typed) == value


@pytest.mark.parametrize(
    ("schema", "typed"),
    [
        ({"type": "integer"}, "1.5"),
        ({"type": "string", "maxLength": 2}, "abc"),
        ({"enum": ["a"]}, "b"),
        ({"type": "array", "items": {"enum": ["a", "b"]}, "maxItems": 1}, "a, b"),
    ],
)
def test_what_does_not_fit_is_refused(schema: dict[str, Any], typed: str) -> None:
    [field] = FormField.of_form({"properties": {"x": schema}})
    with pytest.raises(InvalidArguments):
        field.read(typed)


def test_words_of_a_server_cannot_move_the_cursor() -> None:
    [field] = FormField.of_form({"properties": {"x": {"title": "\x1b[2Jname", "description": "\x1b]0;hi\x07about"}}})
    assert (field.prompt, field.about) == ("name (may be left out): ", "about")
