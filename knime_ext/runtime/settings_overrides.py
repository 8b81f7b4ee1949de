"""Settings from outside the document: `NODE.PARAMETER=VALUE` of a command line, and values of flow variables.

A text becomes a value of the parameter's own type, because a command line knows nothing but texts.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from typing import Any, cast

from knime_ext.errors import ConfigurationError
from knime_ext.runtime.document import NodeSpec, Workflow
from knime_ext.runtime.knext.groups import ParameterGroup, members_of
from knime_ext.runtime.knext.parameter import Parameter
from knime_ext.runtime.nearest import did_you_mean
from knime_ext.runtime.registry import NodeRegistry

__all__ = ["overridden", "parameters_of", "with_setting"]

_TRUE, _FALSE = ("true", "yes", "on", "1"), ("false", "no", "off", "0")


def parameters_of(owner: object, prefix: str = "") -> Iterator[tuple[str, Parameter[Any]]]:
    """Every parameter of a node by its dotted path; those of groups are behind the group's name."""
    for name, member in members_of(owner).items():
        if isinstance(member, ParameterGroup):
            yield from parameters_of(member, f"{prefix}{name}.")
        elif isinstance(member, Parameter):
            yield prefix + name, cast("Parameter[Any]", member)


def _boolean(text: str) -> bool:
    folded = text.strip().casefold()
    if folded not in _TRUE + _FALSE:
        raise ValueError
    return folded in _TRUE


def _array(text: str) -> Any:
    if not text.lstrip().startswith("["):
        return [part.strip() for part in text.split(",")] if text.strip() else []
    return json.loads(text)


_READERS: Mapping[str, tuple[Callable[[str], Any], str]] = {
    "integer": (int, "a whole number such as 5"),
    "number": (float, "a number such as 0.5"),
    "boolean": (_boolean, "true or false"),
    "array": (_array, "a list such as a,b or a JSON array"),
    "object": (json.loads, "a JSON object"),
}


def _converted(value: Any, parameter: Parameter[Any]) -> Any:
    """A text as value of the parameter's type; anything else is taken as it is, and checked by the node."""
    reader = _READERS.get(str(parameter.value_schema(None).get("type", "string")))
    if not isinstance(value, str):
        return str(value) if reader is None and isinstance(value, int | float) else value
    if reader is None:
        return value
    read, wanted = reader
    try:
        return read(value)
    except ValueError:
        raise ConfigurationError(f"{value!r} is not {wanted}; correct the value") from None


def with_setting(tree: Mapping[str, Any], node: object, path: str, value: Any) -> dict[str, Any]:
    """A copy of a tree of settings with one parameter set.

    Args:
        tree: Settings as in a document.
        node: Instance of the node.
        path: Dotted path of the parameter, such as "errors.error_handling".
        value: The new value; a text is converted to the parameter's type.

    Raises:
        ConfigurationError: There is no such parameter, or the text is no value of its type.
    """
    parameters = dict(parameters_of(node))
    if path not in parameters:
        hint = did_you_mean(path, parameters, kind="parameters")
        raise ConfigurationError(f"there is no parameter {path!r}; {hint}")
    try:
        converted = _converted(value, parameters[path])
    except ConfigurationError as error:
        raise ConfigurationError(f"parameter {path!r}: {error}") from None
    copy = deepcopy(dict(tree))
    place = copy
    *groups, name = path.split(".")
    for group in groups:
        place = place.setdefault(group, {})
    place[name] = converted
    return copy


def overridden(workflow: Workflow, settings: Mapping[str, Any], registry: NodeRegistry) -> Workflow:
    """The workflow with some settings replaced. An override also wins over a flow variable.

    Args:
        workflow: The document.
        settings: `"NODE.PARAMETER"` to value; texts are converted to the parameter's type.
        registry: The nodes.

    Raises:
        ConfigurationError: A node or parameter does not exist, or a value does not fit; the message names it.
        WorkflowError: The node's factory does not exist.
    """
    nodes = {node.id: node for node in workflow.nodes}
    for key, value in settings.items():
        node_id, dot, path = key.partition(".")
        if not dot:
            raise ConfigurationError(f"{key!r} names no parameter; write NODE.PARAMETER")
        if node_id not in nodes:
            hint = did_you_mean(node_id, nodes, kind="nodes")
            raise ConfigurationError(f"cannot set {key!r}: there is no node {node_id!r}; {hint}")
        nodes[node_id] = _with_override(nodes[node_id], key, path, value, registry)
    return workflow.model_copy(update={"nodes": tuple(nodes.values())})


def _with_override(node: NodeSpec, key: str, path: str, value: Any, registry: NodeRegistry) -> NodeSpec:
    instance = registry.declaration(node.factory).create()
    try:
        settings = with_setting(node.settings, instance, path, value)
    except ConfigurationError as error:
        raise ConfigurationError(f"cannot set {key!r}: {error}") from None
    controlled = {each: variable for each, variable in node.flow_variables.items() if each != path}
    return node.model_copy(update={"settings": settings, "flow_variables": controlled})
