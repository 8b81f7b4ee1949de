"""What nodes return from `configure` and `execute`, checked against their declared ports."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from knime_ext.errors import ConfigurationError
from knime_ext.runtime.knext.node_ports import AnyPort, PortGroup
from knime_ext.runtime.knext.nodes import NodeDeclaration
from knime_ext.runtime.knext.ports import BinaryPortObjectSpec, PortObject, PortType, port_type_name
from knime_ext.runtime.knext.schema import Column, Schema
from knime_ext.runtime.knext.table import Table, checked_output
from knime_ext.runtime.knext.views import NodeView

__all__ = ["checked_outputs", "checked_specs", "spec_of", "split_view"]

_REPAIR = "this is a mistake in the node, report it to its author"


def _sequence(value: Any) -> list[Any] | None:
    """The elements of a list or tuple; None if it is neither."""
    return list(cast("list[Any]", value)) if isinstance(value, list | tuple) else None


def _as_list(returned: Any, ports: Sequence[AnyPort], extra: int = 0) -> list[Any]:
    """One element per port; a single element may come bare."""
    values = _sequence(returned)
    if values is None:
        return [] if returned is None and len(ports) + extra != 1 else [returned]
    if len(ports) + extra == 1 and ports and isinstance(ports[0], PortGroup):
        nested = len(values) == 1 and _sequence(values[0]) is not None
        return values if nested else [values]
    return values


def _check_count(method: str, values: Sequence[Any], wanted: int) -> None:
    if len(values) != wanted:
        raise ConfigurationError(f"its {method} returned {len(values)} values for {wanted} outputs; {_REPAIR}")


def _members(method: str, value: Any, port: PortGroup, slots: int) -> list[Any]:
    """The elements of a group: at least as many as are connected."""
    members = _sequence(value)
    if members is None:
        raise ConfigurationError(f"its {method} returned no list for the port group {port.name!r}; {_REPAIR}")
    if len(members) < slots:
        raise ConfigurationError(
            f"its {method} returned {len(members)} values for the port group {port.name!r}, "
            f"of which {slots} are connected; connect fewer or make the node return more"
        )
    return members


def checked_specs(returned: Any, declaration: NodeDeclaration, slots: Sequence[int]) -> tuple[Any, ...]:
    """The specs that `configure` returned: one per output port, a list for a group, None where nothing is known.

    Args:
        returned: What `configure` returned.
        declaration: The node.
        slots: Connected slots per output port.

    Raises:
        ConfigurationError: They do not fit the declared ports.
    """
    ports = declaration.output_ports
    if returned is None:
        return tuple(
            [None] * count if isinstance(port, PortGroup) else None for port, count in zip(ports, slots, strict=True)
        )
    values = _as_list(returned, ports)
    _check_count("configure", values, len(ports))
    return tuple(_specs(value, port, count) for value, port, count in zip(values, ports, slots, strict=True))


def _specs(value: Any, port: AnyPort, slots: int) -> Any:
    if not isinstance(port, PortGroup):
        return _spec(value, port)
    members = [None] * slots if value is None else _members("configure", value, port, slots)
    return [_spec(member, port) for member in members]


def _spec(value: Any, port: AnyPort) -> Any:
    if value is None or port.type != PortType.TABLE:
        return value
    if isinstance(value, Column):
        return Schema.from_columns(value)
    if not isinstance(value, Schema):
        found = type(value).__name__
        raise ConfigurationError(f"its configure returned a {found} for the table port {port.name!r}; {_REPAIR}")
    return value


def split_view(returned: Any, declaration: NodeDeclaration) -> tuple[Any, str | None]:
    """What `execute` returned, apart from the view, and the page of the view (None if the node has none)."""
    view = declaration.output_view
    if view is None or view.index_html_path is not None:
        return returned, None
    values = _as_list(returned, declaration.output_ports, extra=1)
    _check_count("execute", values, len(declaration.output_ports) + 1)
    *outputs, shown = values
    if not isinstance(shown, NodeView):
        raise ConfigurationError(f"its execute returned a {type(shown).__name__} as its view; {_REPAIR}")
    return outputs, shown.html


def checked_outputs(returned: Any, declaration: NodeDeclaration, slots: Sequence[int]) -> tuple[Any, ...]:
    """The objects that `execute` returned: one per output port, a list for a group.

    Args:
        returned: What `execute` returned, without the view.
        declaration: The node.
        slots: Connected slots per output port.

    Raises:
        ConfigurationError: They do not fit the declared ports.
    """
    ports = declaration.output_ports
    values = _as_list(returned, ports) if ports else []
    _check_count("execute", values, len(ports))
    return tuple(_objects(value, port, count) for value, port, count in zip(values, ports, slots, strict=True))


def _objects(value: Any, port: AnyPort, slots: int) -> Any:
    if isinstance(port, PortGroup):
        return [_object(member, port) for member in _members("execute", value, port, slots)]
    return _object(value, port)


def _object(value: Any, port: AnyPort) -> Any:
    try:
        if port.type == PortType.TABLE:
            return checked_output(value)
    except (TypeError, ValueError) as error:
        raise ConfigurationError(f"output port {port.name!r}: {error}") from error
    wanted = port.type.object_class if isinstance(port.type, PortType) else None
    if (wanted is not None and not isinstance(value, wanted)) or value is None:
        found = type(value).__name__
        raise ConfigurationError(
            f"its execute returned a {found} for the port {port.name!r}, which is a "
            f"{port_type_name(port.type)!r}; {_REPAIR}"
        )
    return value


def spec_of(value: Any, port: AnyPort, configured: Any) -> Any:
    """The spec of an object that was made; what `configure` said where the object does not tell."""
    if isinstance(value, Table):
        return value.schema
    if isinstance(value, PortObject):
        return value.spec
    if configured is None and port.type == PortType.BINARY and port.id is not None:
        return BinaryPortObjectSpec(port.id)
    return configured
