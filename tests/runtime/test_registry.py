import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from knime_ext.errors import ConfigurationError, WorkflowError
from knime_ext.runtime import knext
from knime_ext.runtime.registry import NodeRegistry
from tests.runtime.small_nodes import Count

PLATFORM = {
    *("TableCreator", "CSVReader", "CSVWriter", "RowFilter", "ColumnFilter", "Concatenate", "Joiner", "SQLQuery"),
    *("WorkflowInput", "WorkflowOutput", "ToolMessageOutput", "WorkflowToTool"),
    *("StringConfiguration", "IntegerConfiguration", "DoubleConfiguration", "BooleanConfiguration"),
}
EXTENSION = {
    "AgentBatchPrompter",
    "MCPToolProvider",
    "AgentPrompter",
    "ChatModelConnector",
    "ConvertTools",
    "OfflineChatModel",
    "ToolBuilder",
    "ToolCaller",
    "ToolExplorer",
}


def python(program: str, *path: Path) -> str:
    """What a program prints in a fresh interpreter with further folders on its path."""
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={"PYTHONPATH": ":".join(map(str, path))},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_the_nodes_of_the_extension_and_of_the_platform_are_found():
    assert set(NodeRegistry.load()) == PLATFORM | EXTENSION


def test_loading_twice_gives_the_same_nodes():
    assert NodeRegistry.load() is NodeRegistry.load()


def test_an_unknown_node_names_the_nearest():
    with pytest.raises(WorkflowError, match="there is no node 'CSVRaeder'; did you mean 'CSVReader'?"):
        NodeRegistry.load().declaration("CSVRaeder")


def test_two_nodes_with_one_id_are_refused():
    @knext.node("Another", knext.NodeType.OTHER, "i.png", "/", id="Count")
    class Another:
        """Has the id of another node."""

        def configure(self, ctx: Any) -> None: ...

        def execute(self, ctx: Any) -> None: ...

    with pytest.raises(ConfigurationError, match="two nodes have the id 'Count': 'Count' and 'Another'; rename one"):
        NodeRegistry.of(Count, Another)
    assert len(NodeRegistry.of(Count, Count)) == 1


def test_the_stand_in_comes_last_on_the_path():
    program = (
        "import sys; from knime_ext.runtime import provide_knime_extension as provide;"
        "provide(); provide(); import knime.extension;"
        "print([entry.rpartition('/')[2] for entry in sys.path].index('standin') == len(sys.path) - 1)"
    )
    assert python(program) == "True"


def test_a_real_knime_is_not_replaced_and_named(tmp_path: Path):
    (tmp_path / "knime").mkdir()
    (tmp_path / "knime" / "extension.py").write_text("def node(): ...\n", "utf-8")
    program = (
        "from knime_ext.runtime import provide_knime_extension\n"
        "try:\n    provide_knime_extension()\nexcept Exception as error:\n    print(type(error).__name__, error)"
    )
    said = python(program, tmp_path)
    assert said.startswith("ConfigurationError this Python has KNIME's own 'knime.extension'")
    assert said.endswith("use a Python environment without it")


def test_the_room_is_cheap_to_import():
    program = "import sys, knime_ext.runtime; print([m for m in ('pyarrow', 'pydantic', 'mcp') if m in sys.modules])"
    assert python(program) == "[]"


def test_the_nodes_are_loaded_without_heavy_libraries():
    program = (
        "import sys; from knime_ext.runtime import NodeRegistry; NodeRegistry.load();"
        "print([m for m in ('mcp', 'langchain_core', 'httpx', 'duckdb', 'pandas') if m in sys.modules])"
    )
    assert python(program) == "[]"
