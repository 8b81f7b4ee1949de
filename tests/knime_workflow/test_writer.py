"""What is in a written `.knwf` file, and how it gets there."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from knime_ext.errors import ConfigurationError, WorkflowError
from knime_ext.runtime import NodeRegistry, Workflow
from knime_ext.runtime.knime_workflow import read_knime_workflow, write_knime_workflow
from tests.knime_workflow.archives import entries, files_in

CHANGED = datetime(2026, 1, 31, 12, 0, tzinfo=UTC)


def _workflow(*nodes: dict[str, Any], connections: list[dict[str, Any]] | None = None, **more: Any) -> Workflow:
    return Workflow.model_validate({"name": "W", "nodes": nodes, "connections": connections or [], **more})


def _node(node_id: str, factory: str, **settings: Any) -> dict[str, Any]:
    return {"id": node_id, "factory": factory, "settings": settings}


def _links(content: bytes) -> list[tuple[int, ...]]:
    found = entries(content)
    keys = ("sourceID", "sourcePort", "destID", "destPort")
    count = sum(key.endswith("/sourceID") for key in found)
    return [tuple(int(found[f"connections/connection_{at}/{key}"] or "") for key in keys) for at in range(count)]


@pytest.fixture
def agent() -> Workflow:
    nodes = [
        _node("orders", "TableCreator"),
        _node("provider", "MCPToolProvider", server_url="http://127.0.0.1:8000/sse"),
        _node("more", "MCPToolProvider"),
        _node("tools", "Concatenate"),
        _node("model", "OfflineChatModel"),
        {**_node("agent", "AgentPrompter", user_message="Hello"), "position": [480, 160], "comment": "Asks\nthe model"},
        _node("out", "WorkflowOutput", parameter_name="conversation"),
        _node("second", "WorkflowOutput", parameter_name="second"),
    ]
    ends = [
        (("provider", 0), ("tools", 0)),
        (("more", 0), ("tools", 0)),
        (("orders", 0), ("tools", 0)),
        (("model", 0), ("agent", 0)),
        (("tools", 0), ("agent", 1)),
        (("orders", 0), ("agent", 3)),
        (("orders", 0), ("agent", 3)),
        (("agent", 0), ("out", 0)),
        (("agent", 1, 1), ("second", 0)),
    ]
    links = [{"from": list(source), "to": list(target)} for source, target in ends]
    return _workflow(*nodes, connections=links, description="Asks & answers")


def test_a_workflow_is_a_folder_with_a_file_per_node(agent: Workflow, tmp_path: Path, registry: NodeRegistry) -> None:
    export = write_knime_workflow(agent, tmp_path / "w.knwf", registry, tmp_path)

    assert export.nodes == 8
    assert list(files_in(tmp_path / "w.knwf")) == [
        "W/workflow.knime",
        "W/workflow-metadata.xml",
        "W/workflowset.meta",
        "W/Table Creator (#1)/settings.xml",
        "W/MCP Tool Provider (#2)/settings.xml",
        "W/MCP Tool Provider (#3)/settings.xml",
        "W/Concatenate (#4)/settings.xml",
        "W/Offline Chat Model (#5)/settings.xml",
        "W/Agent Prompter (#6)/settings.xml",
        "W/Workflow Output (#7)/settings.xml",
        "W/Workflow Output (#8)/settings.xml",
        "W/data/",
    ]


def test_connections_count_ports_as_knime_does(agent: Workflow, tmp_path: Path, registry: NodeRegistry) -> None:
    write_knime_workflow(agent, tmp_path / "w.knwf", registry, tmp_path)

    # The agent's optional third input is not connected and does not count; its second output has two ports.
    assert _links(files_in(tmp_path / "w.knwf")["W/workflow.knime"]) == [
        (2, 1, 4, 1),
        (3, 1, 4, 2),
        (1, 1, 4, 3),
        (5, 1, 6, 1),
        (4, 1, 6, 2),
        (1, 1, 6, 3),
        (1, 1, 6, 4),
        (6, 1, 7, 1),
        (6, 3, 8, 1),
    ]


def test_a_python_node_names_extension_node_and_ports(agent: Workflow, tmp_path: Path, registry: NodeRegistry) -> None:
    write_knime_workflow(agent, tmp_path / "w.knwf", registry, tmp_path)
    found = entries(files_in(tmp_path / "w.knwf")["W/Agent Prompter (#6)/settings.xml"])

    python = "org.knime.python3.nodes.extension.ExtensionNodeSetFactory$DynamicExtensionNodeFactory"
    assert found["factory"] == python
    assert found["factory_settings/extension_id"] == "org.knimemcp.mcp_tools"
    assert found["factory_settings/node_id"] == "AgentPrompter"
    assert found["node-name"] == "Agent Prompter"
    assert found["state"] == "IDLE"
    assert found["model/user_message"] == "Hello"
    assert found["model/extension_version_Internals"] == "0.1.0"
    assert found["nodeAnnotation/text"] == "Asks%%00010the model"
    added = [key for key in found if key.startswith("node_creation_config/")]
    assert added == [
        "node_creation_config/Data inputs/port_0/object_class",
        "node_creation_config/Data inputs/port_1/object_class",
        "node_creation_config/Data outputs/port_0/object_class",
        "node_creation_config/Data outputs/port_1/object_class",
    ]
    assert [found[f"ports/port_{number}/index"] for number in (1, 2, 3)] == ["1", "2", "3"]


def test_places_descriptions_and_dates_stand_where_knime_looks(
    agent: Workflow, tmp_path: Path, registry: NodeRegistry
) -> None:
    write_knime_workflow(agent, tmp_path / "w.knwf", registry, tmp_path, changed=CHANGED)
    files = files_in(tmp_path / "w.knwf")
    bounds = "nodes/node_6/ui_settings/extrainfo.node.bounds"
    found = entries(files["W/workflow.knime"])

    assert [found[f"{bounds}/{at}"] for at in range(4)] == ["480", "160", "-1", "-1"]
    assert found["nodes/node_6/node_settings_file"] == "Agent Prompter (#6)/settings.xml"
    assert found["version"] == "5.1.0"
    assert b"<description>Asks &amp; answers</description>" in files["W/workflow-metadata.xml"]
    assert CHANGED.astimezone().isoformat(timespec="milliseconds").encode() in files["W/workflow-metadata.xml"]
    assert b'name="Comments" read-only="false">Asks &amp; answers<' in files["W/workflowset.meta"]


def test_equal_documents_give_equal_files(agent: Workflow, tmp_path: Path, registry: NodeRegistry) -> None:
    for name in ("a", "b"):
        write_knime_workflow(agent, tmp_path / name, registry, tmp_path, changed=CHANGED)

    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_several_flow_variable_connections_meet_in_a_node_of_knimes(tmp_path: Path, registry: NodeRegistry) -> None:
    nodes = [_node(each, "StringConfiguration", parameter_name=each) for each in ("a", "b", "c")]
    reader = {**_node("read", "CSVReader"), "flow_variables": {"first_column_contains_row_ids": "a", "path": "b"}}
    links = [{"from": [each, "variables"], "to": ["read", "variables"]} for each in ("a", "b", "c")]
    workflow = _workflow(*nodes, reader, connections=links)
    write_knime_workflow(workflow, tmp_path / "w.knwf", registry, tmp_path)
    files = files_in(tmp_path / "w.knwf")
    merge = entries(files["W/Merge Variables (#5)/settings.xml"])
    read = entries(files["W/CSV Reader (#4)/settings.xml"])

    assert _links(files["W/workflow.knime"]) == [(1, 1, 5, 1), (2, 1, 5, 2), (3, 1, 5, 3), (5, 1, 4, 0)]
    assert merge["factory"] == "org.knime.base.node.util.mergevariables.MergeVariables2NodeFactory"
    variable = "org.knime.core.node.port.flowvariable.FlowVariablePortObject"
    assert merge["node_creation_config/input/port_0/object_class"] == variable
    assert "node_creation_config/input/port_1/object_class" not in merge  # two inputs are always there
    assert read["variables/tree/settings/has_row_id/used_variable"] == "a"
    assert read["knime_mcp/flow_variables"] == '{"path": "b"}'  # KNIME's variable would be a location, not a text
    assert read_knime_workflow(tmp_path / "w.knwf", registry) == workflow


def test_what_knime_does_not_have_is_said(tmp_path: Path, registry: NodeRegistry) -> None:
    workflow = _workflow(_node("query", "SQLQuery"), _node("tools", "WorkflowToTool"), _node("t", "TableCreator"))

    assert write_knime_workflow(workflow, tmp_path / "w.knwf", registry, tmp_path).notes == (
        "KNIME has no node 'SQLQuery': it shows 'query' as missing and keeps its settings",
        "KNIME's 'Workflow to Tool' takes paths from a table: connect one with 'tools' there",
    )


@pytest.mark.parametrize(
    ("name", "folder"),
    [("Orders: EU/US", "Orders_ EU_US"), ("..", "workflow"), (" a ", "a"), ("x" * 200, "x" * 60), ("日本", "日本")],
)
def test_names_of_folders_are_names_that_files_can_have(
    name: str, folder: str, tmp_path: Path, registry: NodeRegistry
) -> None:
    write_knime_workflow(Workflow(name=name), tmp_path / "w.knwf", registry, tmp_path)

    assert f"{folder}/workflow.knime" in files_in(tmp_path / "w.knwf")
    assert read_knime_workflow(tmp_path / "w.knwf", registry).name == name


@pytest.mark.parametrize(
    ("workflow", "reason"),
    [
        (_workflow(_node("a", "CSVRead")), "did you mean 'CSVReader'"),
        (_workflow(connections=[{"from": ["x", 0], "to": ["y", 0]}]), r"connections\[0\] names the node 'x'"),
        (
            _workflow(
                _node("a", "TableCreator"), _node("b", "RowFilter"), connections=[{"from": ["a", 1], "to": ["b", 0]}]
            ),
            r"connections\[0\] ends at the output port 1 of a 'Table Creator', which does not exist",
        ),
        (
            _workflow(
                _node("a", "TableCreator"),
                _node("b", "RowFilter"),
                connections=[{"from": ["a", 0], "to": ["b", 0]}, {"from": ["a", 0], "to": ["b", 0]}],
            ),
            r"connections\[1\] ends at the input port 0 of a 'Row Filter', which takes no further connection",
        ),
    ],
)
def test_a_document_that_cannot_be_written_leaves_an_older_file_alone(
    workflow: Workflow, reason: str, tmp_path: Path, registry: NodeRegistry
) -> None:
    out = tmp_path / "w.knwf"
    out.write_bytes(b"older")

    with pytest.raises(WorkflowError, match=reason):
        write_knime_workflow(workflow, out, registry, tmp_path)

    assert out.read_bytes() == b"older"
    assert list(tmp_path.iterdir()) == [out]


def test_a_place_that_cannot_be_written_is_named(agent: Workflow, tmp_path: Path, registry: NodeRegistry) -> None:
    (tmp_path / "file").write_bytes(b"")

    with pytest.raises(ConfigurationError, match="cannot write"):
        write_knime_workflow(agent, tmp_path / "file" / "w.knwf", registry, tmp_path)
    with pytest.raises(ConfigurationError, match="cannot write"):
        write_knime_workflow(agent, tmp_path, registry, tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file"]
