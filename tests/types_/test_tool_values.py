import subprocess
import sys

import pytest

from knime.types.tool import (
    InvalidToolCell,
    MCPTool,
    MCPToolValueFactory,
    Tool,
    ToolPort,
    ToolType,
    ToolValueFactory,
    WorkflowTool,
    WorkflowToolValueFactory,
)

WORKFLOW = WorkflowTool("rank", "Ranks.", {"n": {"type": "integer"}}, 1, [ToolPort("in", "", "Table", "")], [], "v1:k")
MCP = MCPTool("echo", "Echoes.", {"type": "object"}, "http://127.0.0.1:1/sse", "echo")


def test_both_kinds_are_tools_and_know_their_kind() -> None:
    assert isinstance(WORKFLOW, Tool)
    assert isinstance(MCP, Tool)
    assert (WORKFLOW.tool_type, MCP.tool_type) == (ToolType.WORKFLOW, ToolType.MCP)


def test_a_base_form_mcp_tool_leaves_the_optional_fields_null() -> None:
    assert ToolValueFactory().encode(MCP) == {
        "0": 1,
        "1": "echo",
        "2": "Echoes.",
        "3": '{"type": "object"}',
        "4": None,
        "5": None,
        "6": -1,
        "7": None,
        "8": "http://127.0.0.1:1/sse",
    }


def test_a_full_mcp_tool_stores_how_the_call_goes_out() -> None:
    tool = MCPTool("Echo", "", {}, "stdio:files", "echo", "files", {"readOnlyHint": True}, "sha", {"type": "object"})
    cell = ToolValueFactory().encode(tool)
    assert cell is not None
    assert cell["4"] == (
        '{"tool_name": "echo", "provider": "files", "annotations": {"readOnlyHint": true}, "fingerprint": "sha"}'
    )
    assert cell["5"] == '{"output_schema": {"type": "object"}}'
    assert ToolValueFactory().decode(cell) == tool


@pytest.mark.parametrize("factory", [ToolValueFactory(), WorkflowToolValueFactory(), MCPToolValueFactory()])
def test_missing_cells_stay_missing(factory: ToolValueFactory) -> None:
    assert factory.decode(None) is None
    assert factory.encode(None) is None


def test_the_deprecated_workflow_factory_keeps_the_two_level_layout() -> None:
    factory = WorkflowToolValueFactory()
    cell = factory.encode(WORKFLOW)
    assert cell == {
        "0": "v1:k",
        "1": {
            "0": "rank",
            "1": "Ranks.",
            "2": '{"n": {"type": "integer"}}',
            "3": [{"0": "in", "1": "", "2": "Table", "3": ""}],
            "4": [],
            "5": 1,
        },
    }
    assert factory.decode(cell) == WORKFLOW
    with pytest.raises(TypeError, match="cannot hold an MCP tool"):
        factory.encode(MCP)


def test_the_file_store_keys_pass_through_unchanged() -> None:
    tool = WorkflowTool("a", "", {}, -1, [], [], "v1:a;v1:b")
    assert tool.filestore_keys == ("v1:a", "v1:b")
    decoded = ToolValueFactory().decode(ToolValueFactory().encode(tool))
    assert decoded == tool


def test_a_workflow_tool_without_file_store_cannot_be_read() -> None:
    cell = ToolValueFactory().encode(WORKFLOW)
    assert cell is not None
    with pytest.raises(InvalidToolCell, match="workflow_filestore"):
        ToolValueFactory().decode(cell | {"7": None})


def test_something_else_is_not_encoded() -> None:
    with pytest.raises(TypeError, match="neither a WorkflowTool nor an MCPTool"):
        ToolValueFactory().encode("echo")  # pyright: ignore[reportArgumentType]


def test_the_value_types_need_only_the_standard_library() -> None:
    code = (
        "import sys; before = set(sys.modules); import knime.types.tool, knime.types.message;"
        "new = {name.split('.')[0] for name in set(sys.modules) - before} - set(sys.stdlib_module_names);"
        "sys.exit(str(new) if new != {'knime'} else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
