"""What import-linter cannot see: it takes `knime` for one package, but only its value types are everybody's."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent / "knime_ext"
ROOMS = ("tools", "mcp", "agent", "cli", "bridge.py", "errors.py", "testing.py")


def _modules(room: str) -> list[Path]:
    place = ROOT / room
    return [place] if place.is_file() else sorted(place.rglob("*.py"))


def _imports(module: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return names


@pytest.mark.parametrize("room", ROOMS)
def test_only_nodes_know_the_host(room: str) -> None:
    guilty = {
        str(module): name
        for module in _modules(room)
        for name in _imports(module)
        if name.startswith(("knime.extension", "knime.api"))
    }
    assert guilty == {}


@pytest.mark.parametrize("room", ["agent", "mcp"])
def test_agent_and_mcp_meet_only_in_a_host(room: str) -> None:
    other = {"agent": "knime_ext.mcp", "mcp": "knime_ext.agent"}[room]
    assert [module for module in _modules(room) if any(name.startswith(other) for name in _imports(module))] == []
