"""The workflow document: a JSON file with nodes, their settings, and the connections between their ports.

    {"format": 1, "name": "Orders", "description": "...",
     "nodes": [{"id": "orders", "factory": "CSVReader", "settings": {"path": "orders.csv"}}, ...],
     "connections": [{"from": ["orders", 0], "to": ["agent", 3]}, ...]}

Ports are counted from 0 in the order in which the node declares them. A third number after "from" picks a port
within a group of output ports. The port named "variables" exists on both sides of every node and carries flow
variables only. This module checks the form of a document; whether nodes and ports exist is the plan's business.
"""

from __future__ import annotations

import json
import os
import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, cast

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, field_serializer, model_validator
from pydantic_core import ErrorDetails

from knime_ext.errors import ConfigurationError, WorkflowError
from knime_ext.runtime.atomic import write_text
from knime_ext.runtime.nearest import nearest

__all__ = [
    "VARIABLES",
    "ConnectionSpec",
    "InputEnd",
    "NodeSpec",
    "OutputEnd",
    "Workflow",
    "dump_workflow",
    "load_workflow",
    "parse_workflow",
    "save_workflow",
]

VARIABLES: Literal["variables"] = "variables"
"""Name of the port that carries flow variables only."""

_UNSAFE = re.compile(r'[<>:"/\\|?*.\x00-\x1f\x7f]')
_MAX_ID = 60  # as a file name in four-byte characters it still fits into 255 bytes


def _check_id(value: str) -> str:
    """Identifiers become folder names and stand before the dot of NODE.PARAMETER."""
    if not value or value != value.strip():
        raise ValueError("must not be empty and must not begin or end with a space")
    if len(value) > _MAX_ID:
        raise ValueError(f"must have at most {_MAX_ID} characters")
    found = _UNSAFE.search(value)
    if found:
        raise ValueError(f"must not contain {found.group()!r}")
    return unicodedata.normalize("NFC", value)


NodeId = Annotated[str, AfterValidator(_check_id)]
Port = Annotated[int, Field(ge=0, strict=True)] | Literal["variables"]


class OutputEnd(NamedTuple):
    """Where a connection starts: node, port, and the slot within a group of ports."""

    node: str
    port: Port
    slot: Annotated[int, Field(ge=0, strict=True)] = 0


class InputEnd(NamedTuple):
    """Where a connection ends: node and port."""

    node: str
    port: Port


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)


class NodeSpec(_Strict):
    """One node of a workflow.

    Attributes:
        id: Name of the node within its workflow: unique, usable as a file name, without dots.
        factory: Identifier of the node's declaration, such as "CSVReader".
        settings: Model tree of the node's parameters; what is absent takes its default.
        flow_variables: Dotted path of a parameter to the flow variable that controls it.
        position: Place on a canvas, x to the right and y downwards.
        comment: A note for people.
    """

    id: NodeId
    factory: str = Field(min_length=1)
    settings: dict[str, Any] = Field(default_factory=dict)
    flow_variables: dict[str, str] = Field(default_factory=dict)
    position: tuple[float, float] | None = None
    comment: str = ""


class ConnectionSpec(_Strict):
    """One connection, from an output port to an input port."""

    source: OutputEnd = Field(alias="from")
    target: InputEnd = Field(alias="to")

    @field_serializer("source")
    def _short(self, source: OutputEnd) -> list[Any]:
        return list(source if source.slot else source[:2])


class Workflow(_Strict):
    """A workflow as it is stored.

    Attributes:
        format: Version of the document's form.
        name: Name for people and, if the workflow is used as a tool, for models.
        description: What the workflow does; a model reads it to decide whether to call the tool.
        nodes: The nodes; their order has no meaning beyond that of a tool's ports.
        connections: The connections; several into the same group of ports are in the order of the group.
    """

    format: Literal[1] = 1
    name: str = Field(min_length=1)
    description: str = ""
    nodes: tuple[NodeSpec, ...] = ()
    connections: tuple[ConnectionSpec, ...] = ()

    @model_validator(mode="after")
    def _unique_ids(self) -> Workflow:
        # Folded, because the run folder may lie on a file system that does not tell "A" from "a".
        for folded, count in Counter(node.id.casefold() for node in self.nodes).items():
            if count > 1:
                same = [node.id for node in self.nodes if node.id.casefold() == folded]
                raise ValueError(
                    f"nodes {', '.join(map(repr, same))} have the same 'id' (upper and lower case do not count); "
                    "rename all but one"
                )
        return self

    def node(self, node_id: str) -> NodeSpec | None:
        """The node of that identifier, if there is one."""
        return next((node for node in self.nodes if node.id == node_id), None)


_FIELDS: Mapping[type[BaseModel], str] = {Workflow: "", NodeSpec: "nodes", ConnectionSpec: "connections"}


def _known_fields(place: Sequence[int | str]) -> list[str]:
    top = place[0] if place else ""
    model = next((model for model, section in _FIELDS.items() if section == top and len(place) > 1), Workflow)
    return [info.alias or name for name, info in model.model_fields.items()]


def _place(location: Sequence[int | str]) -> str:
    """`("nodes", 2, "settings")` as `nodes[2].settings`."""
    steps = [f"[{step}]" if isinstance(step, int) else f".{step}" for step in location]
    return "".join(steps).lstrip(".")


def _json_kind(value: Any) -> str:
    kinds = {dict: "an object", list: "a list", str: "a text", bool: "a boolean", int: "a number", float: "a number"}
    return kinds.get(cast("type[Any]", type(value)), "null")


_WANTED = {
    "dict_type": "an object",
    "model_type": "an object",
    "tuple_type": "a list",
    "string_type": "a text",
    "string_too_short": "a text that is not empty",
    "float_type": "a number",
    "int_type": "a whole number",
}


def _sentence(error: ErrorDetails) -> str:
    """One pydantic error as a sentence with place and repair."""
    *parents, last = error["loc"] or ("",)
    place, kind, value = _place(error["loc"]) or "the document", error["type"], error["input"]
    around = _place(parents) or "the document"
    if error["loc"][2:3] in (("from",), ("to",)) and not (kind == "missing" and isinstance(last, str)):
        return f'{_place(error["loc"][:3])} must be [node id, port number], like ["reader", 0]; correct it'
    if kind == "missing" and isinstance(last, str):
        return f"{around} has no {last!r}; add it"
    if kind == "extra_forbidden":
        similar = nearest(str(last), _known_fields(parents))
        repair = f"did you mean {similar!r}?" if similar else "remove it"
        return f"{around} has a field {last!r} that does not exist; {repair}"
    if kind == "value_error":
        reason = str(error.get("ctx", {}).get("error", error["msg"]))
        return f"{place} {reason}; it is {value!r}" if error["loc"] else reason
    if place == "format":
        return f"'format' is {value!r}, this version reads format 1; install a newer knime-mcp or convert the document"
    if kind in _WANTED:
        found = "" if kind == "string_too_short" else f", it is {_json_kind(value)}"
        return f"{place} must be {_WANTED[kind]}{found}; correct it"
    if "position" in error["loc"]:
        return f"{around if isinstance(last, int) else place} must be two numbers [x, y]; correct it"
    return f"{place}: {error['msg'][:1].lower()}{error['msg'][1:]}; correct it"


def _without_union_steps(error: ErrorDetails) -> ErrorDetails:
    """Drops the names of union members that pydantic puts into a location (`to.1.constrained-int`)."""
    location = tuple(step for step in error["loc"] if step != "constrained-int" and step != "literal['variables']")
    return cast("ErrorDetails", {**error, "loc": location})


def parse_workflow(data: Any, *, origin: str = "workflow") -> Workflow:
    """A workflow from parsed JSON.

    Args:
        data: The JSON value.
        origin: Where it comes from, for messages: a file name, for example.

    Raises:
        WorkflowError: The value is no workflow; the message names origin, place and repair.
    """
    try:
        return Workflow.model_validate(data)
    except ValidationError as error:
        first, *more = error.errors(include_url=False)
        rest = f" ({len(more)} more like this)" if len(more) > 1 else ""
        raise WorkflowError(f"{origin}: {_sentence(_without_union_steps(first))}{rest}") from None


def load_workflow(path: str | os.PathLike[str]) -> Workflow:
    """Reads a workflow document.

    Args:
        path: The JSON file, in UTF-8.

    Raises:
        ConfigurationError: The file cannot be read.
        WorkflowError: The file is no workflow; the message names file, place and repair.
    """
    path = Path(path)
    try:
        text = path.read_text("utf-8-sig")
    except FileNotFoundError:
        raise ConfigurationError(f"there is no workflow file {str(path)!r}; check the path") from None
    except IsADirectoryError:
        raise ConfigurationError(f"{str(path)!r} is a folder; name the workflow's JSON file in it") from None
    except UnicodeDecodeError as error:
        raise WorkflowError(f"{str(path)!r} is not UTF-8 text (byte {error.start}); save it as UTF-8") from None
    except OSError as error:
        raise ConfigurationError(f"cannot read {str(path)!r}: {error.strerror}; check its permissions") from error
    try:
        data = json.loads(text)
    except json.JSONDecodeError as error:
        raise WorkflowError(
            f"{str(path)!r} is not JSON: {error.msg} at line {error.lineno}, column {error.colno}; correct it there"
        ) from None
    except RecursionError:
        raise WorkflowError(f"{str(path)!r} is nested too deeply to be a workflow; check the file") from None
    return parse_workflow(data, origin=repr(str(path)))


def dump_workflow(workflow: Workflow) -> dict[str, Any]:
    """The workflow as JSON value; parsing it again gives an equal workflow."""
    tree = workflow.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    return {"format": workflow.format, "name": workflow.name} | tree


def save_workflow(workflow: Workflow, path: str | os.PathLike[str]) -> None:
    """Writes a workflow document; readers see the old file or the new one, never a half.

    Raises:
        ConfigurationError: The file cannot be written.
    """
    text = json.dumps(dump_workflow(workflow), indent=2, ensure_ascii=False) + "\n"
    write_text(Path(path), text)
