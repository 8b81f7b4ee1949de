"""What a workflow shows to whoever runs it: its parameters, the tables it takes and gives, its message.

All of it comes from special nodes: Configuration nodes, Workflow Input, Workflow Output, Tool Message Output.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import pyarrow as pa

from knime.types.message import MessageValue
from knime_ext.errors import ConfigurationError, KnimeExtError, WorkflowError
from knime_ext.runtime.document import NodeSpec, Workflow
from knime_ext.runtime.knext.settings import set_parameters
from knime_ext.runtime.knext.table import Table
from knime_ext.runtime.nearest import did_you_mean
from knime_ext.runtime.registry import NodeRegistry

__all__ = ["InterfacePort", "WorkflowInterface", "check_names", "interface_of", "message_text"]

CONFIGURATIONS = ("StringConfiguration", "IntegerConfiguration", "DoubleConfiguration", "BooleanConfiguration")
INPUT, OUTPUT, MESSAGE = "WorkflowInput", "WorkflowOutput", "ToolMessageOutput"


@dataclass(frozen=True, slots=True, kw_only=True)
class InterfacePort:
    """A table that a workflow takes or gives.

    Attributes:
        node: The Workflow Input or Workflow Output node.
        name: Name for callers.
        description: What the table holds.
    """

    node: str
    name: str
    description: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkflowInterface:
    """Everything that a workflow takes and gives, in the order of the document.

    Attributes:
        parameters: Parameter name to its JSON Schema, with default and description.
        inputs: Tables that it takes.
        outputs: Tables that it gives.
        message_node: The Tool Message Output node, None if there is none.
        message_index: Its place among all outputs, -1 if there is none.
    """

    parameters: Mapping[str, Mapping[str, Any]] = field(default_factory=dict[str, Mapping[str, Any]])
    inputs: tuple[InterfacePort, ...] = ()
    outputs: tuple[InterfacePort, ...] = ()
    message_node: str | None = None
    message_index: int = -1


def _instance(spec: NodeSpec, registry: NodeRegistry) -> Any:
    declaration = registry.declaration(spec.factory)
    node = declaration.create()
    try:
        set_parameters(node, dict(spec.settings))
    except KnimeExtError as error:
        raise WorkflowError(f"settings of node {spec.id!r} ({declaration.name}): {error}") from error
    return node


def _port(spec: NodeSpec, registry: NodeRegistry) -> InterfacePort:
    node = _instance(spec, registry)
    return InterfacePort(node=spec.id, name=node.parameter_name, description=node.description)


def _unique(kind: str, named: Iterable[tuple[str, str]]) -> None:
    seen: dict[str, str] = {}
    for node, name in named:
        earlier = seen.setdefault(name, node)
        if earlier != node:
            raise WorkflowError(f"nodes {earlier!r} and {node!r} both make a workflow {kind} {name!r}; rename one")


def interface_of(workflow: Workflow, registry: NodeRegistry) -> WorkflowInterface:
    """The interface of a workflow. Flow variables that control a special node's settings do not count here.

    Raises:
        WorkflowError: A special node has wrong settings, or two have the same name.
    """
    inputs = tuple(_port(spec, registry) for spec in workflow.nodes if spec.factory == INPUT)
    outputs = tuple(_port(spec, registry) for spec in workflow.nodes if spec.factory == OUTPUT)
    configurations = [(spec, _instance(spec, registry)) for spec in workflow.nodes if _is_configuration(spec)]
    _unique("input", ((port.node, port.name) for port in inputs))
    _unique("output", ((port.node, port.name) for port in outputs))
    _unique("parameter", ((spec.id, node.parameter_name) for spec, node in configurations))
    leaving = [spec for spec in workflow.nodes if spec.factory in (OUTPUT, MESSAGE)]
    messages = [spec.id for spec in leaving if spec.factory == MESSAGE]
    if len(messages) > 1:
        raise WorkflowError(f"nodes {', '.join(map(repr, messages))} are all Tool Message Outputs; keep one of them")
    return WorkflowInterface(
        parameters={node.parameter_name: node.parameter_schema() for _, node in configurations},
        inputs=inputs,
        outputs=outputs,
        message_node=messages[0] if messages else None,
        message_index=next((at for at, spec in enumerate(leaving) if spec.factory == MESSAGE), -1),
    )


def _is_configuration(spec: NodeSpec) -> bool:
    return spec.factory in (
        "StringConfiguration",
        "IntegerConfiguration",
        "DoubleConfiguration",
        "BooleanConfiguration",
    )


def check_names(kind: Literal["input", "parameter"], given: Iterable[str], known: Iterable[str]) -> None:
    """Refuses tables and values for names that the workflow does not have.

    Raises:
        ConfigurationError: A name is unknown; the message names the nearest.
    """
    known = list(known)
    for name in given:
        if name not in known:
            hint = did_you_mean(name, known, kind=f"{kind}s")
            raise ConfigurationError(f"the workflow has no {kind} {name!r}; {hint}")


def message_text(table: Table) -> str:
    """The text of a table's first cell; empty if there is none."""
    data = table.to_pyarrow()
    if data.num_columns < 2 or not data.num_rows:
        return ""
    scalar: pa.Scalar = data.column(1)[0]
    value: Any = scalar.as_py()
    if isinstance(value, MessageValue):
        return value.text
    return "" if value is None else str(value)
