"""KNIME ships modules of the same names as our value types; whichever comes first, the nodes get ours."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent

# What an older module of that name has, as far as our nodes would meet it.
OLDER = {
    "tool": """
from dataclasses import dataclass

@dataclass
class WorkflowTool:
    name: str

class WorkflowToolValueFactory:
    pass
""",
    "message": """
class MessageValue:
    pass

class MessageValueFactory:
    pass
""",
}


@pytest.fixture
def older(tmp_path: Path) -> Path:
    """A folder for the path with the older modules."""
    types = tmp_path / "older" / "knime" / "types"
    types.mkdir(parents=True)
    for name, source in OLDER.items():
        (types / f"{name}.py").write_text(source, encoding="utf-8")
    return types.parent.parent


def run(code: str, *first: Path) -> str:
    """Runs code in a process of its own whose path begins with these folders."""
    path = [str(folder) for folder in first]
    prelude = f"import sys; sys.path[:0] = {path!r}; import knime_ext\n"
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", prelude + code],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return done.stdout if done.returncode == 0 else done.stderr


LOAD = """
from knime_ext.runtime.registry import provide_knime_extension
provide_knime_extension()
import knime_ext.extension
import knime.types.message, knime.types.tool
from knime.types.tool import MCPTool, ToolPort, ToolValueFactory, WorkflowTool, WorkflowToolValueFactory
older = {"0": "v1:k", "1": {"0": "n", "1": "d", "2": "", "3": [], "4": [], "5": -1}}
tool = WorkflowToolValueFactory().decode(older)
assert type(tool) is WorkflowTool and WorkflowToolValueFactory().encode(tool)["0"] == "v1:k"
echo = MCPTool("echo", "", {}, "http://localhost/mcp")
assert ToolValueFactory().decode(ToolValueFactory().encode(echo)) == echo
assert sys.modules["knime.types.tool"] is knime.types.tool and knime.types.message.MessageValue.text
print("all is well")
"""


def test_with_the_older_modules_first_the_extension_puts_its_own_in_place(older: Path) -> None:
    assert run(LOAD, older) == "all is well\n"


def test_with_its_own_modules_first_everything_works(older: Path) -> None:
    assert run(LOAD, ROOT / "types", older) == "all is well\n"


def test_an_older_module_that_was_imported_before_is_replaced_too(older: Path) -> None:
    assert run("import knime.types.tool, knime.types.message\n" + LOAD, older) == "all is well\n"


def test_own_modules_that_lie_next_to_the_extension_need_not_be_on_the_path(older: Path) -> None:
    off_the_path = f"sys.path = [each for each in sys.path if each != {str(ROOT / 'types')!r}]\n"
    assert run(off_the_path + LOAD, older) == "all is well\n"


def test_without_its_own_modules_the_extension_says_in_one_sentence_what_to_do(older: Path) -> None:
    code = f"""
from pathlib import Path
sys.path = [each for each in sys.path if each != {str(ROOT / "types")!r}]
from knime_ext.errors import ConfigurationError
from knime_ext.runtime.registry import provide_knime_extension
provide_knime_extension()
from knime_ext.nodes.value_types import provide_value_types
try:
    provide_value_types(Path("nowhere"))
except ConfigurationError as error:
    print(error)
"""
    assert run(code, older) == (
        "the value types of tools are missing (module 'knime.types.unified_tool'): install the extension again, or put "
        "the folder 'types' of its sources next to 'mcp_tools_extension.py'\n"
    )


def test_the_module_that_plugin_xml_names_is_enough_without_the_extension(older: Path) -> None:
    code = """
import knime.types.unified_tool
from knime.types.tool import MCPTool, ToolValueFactory
assert knime.types.unified_tool.ToolValueFactory is ToolValueFactory
print(ToolValueFactory().encode(MCPTool("echo", "", {}, "http://localhost/mcp"))["0"])
"""
    assert run(code, older) == "1\n"


def test_loading_the_value_types_teaches_nothing_where_there_is_no_knime() -> None:
    code = "from knime.types._byte_in_struct import teach_byte; print(teach_byte(), 'pyarrow' in sys.modules)"
    assert run(code) == "False False\n"
