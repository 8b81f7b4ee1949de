"""The file `workflow.knime`: the list of nodes with their places on the canvas, and the connections."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from knime_ext.runtime.knime_workflow.config import ARRAY_SIZE, Config, boolean, double, integer, text
from knime_ext.runtime.knime_workflow.wiring import Link

__all__ = ["WORKFLOW_FILE", "bounds_of", "read_connections", "workflow_file"]

WORKFLOW_FILE = "workflow.knime"
_VERSION, _CREATED_BY = "5.1.0", "5.5.0.knime-mcp"
_UI = "org.knime.core.node.workflow"
_SIZE = -1  # KNIME decides


def workflow_file(nodes: Iterable[tuple[int, str, tuple[int, int]]], links: Sequence[Link]) -> Config:
    """The whole file.

    Args:
        nodes: Number, settings file and place of each node.
        links: The connections.
    """
    return Config(
        created_by=text(_CREATED_BY),
        created_by_nightly=boolean(False),
        version=text(_VERSION),
        name=text(None),
        customDescription=text(None),
        state=text("IDLE"),
        workflow_credentials=Config(),
        nodes=Config({f"node_{number}": _node(number, file, place) for number, file, place in nodes}),
        connections=Config({f"connection_{at}": _connection(link) for at, link in enumerate(links)}),
        workflow_editor_settings=Config(
            {
                "workflow.editor.snapToGrid": boolean(False),
                "workflow.editor.ShowGrid": boolean(False),
                "workflow.editor.gridX": integer(-1),
                "workflow.editor.gridY": integer(-1),
                "workflow.editor.zoomLevel": double(1.0),
                "workflow.editor.curvedConnections": boolean(False),
                "workflow.editor.connectionWidth": integer(1),
            }
        ),
    )


def _node(number: int, file: str, place: tuple[int, int]) -> Config:
    bounds = (*place, _SIZE, _SIZE)
    corners = Config({ARRAY_SIZE: integer(4), **{str(at): integer(each) for at, each in enumerate(bounds)}})
    return Config(
        id=integer(number),
        node_settings_file=text(file),
        node_is_meta=boolean(False),
        node_type=text("NativeNode"),
        ui_classname=text(f"{_UI}.NodeUIInformation"),
        ui_settings=Config({"extrainfo.node.bounds": corners}),
    )


def _connection(link: Link) -> Config:
    return Config(
        sourceID=integer(link.source),
        destID=integer(link.target),
        sourcePort=integer(link.source_port),
        destPort=integer(link.target_port),
        ui_classname=text(f"{_UI}.ConnectionUIInformation"),
        ui_settings=Config({"extrainfo.conn.bendpoints_size": integer(0)}),
    )


def bounds_of(node: Config) -> tuple[int, int] | None:
    """The place of a node on the canvas, None if the file has none.

    Raises:
        ValueError: A number is none.
    """
    corners = node.array("ui_settings/extrainfo.node.bounds")
    return (corners[0], corners[1]) if len(corners) >= 2 else None


def read_connections(workflow: Config) -> list[Link]:
    """The connections in the order of the file.

    Raises:
        ValueError: A number is none.
    """
    return [
        Link(
            each.value("sourceID", -1), each.value("sourcePort", 0), each.value("destID", -1), each.value("destPort", 0)
        )
        for _, each in workflow.below("connections").configs()
    ]
