"""The decorators that give a node its ports and its view. They only mark the class; a registry collects."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from knime_ext.runtime.knext.ports import AnyPortType, PortType

__all__ = [
    "AnyPort",
    "Port",
    "PortGroup",
    "ViewDeclaration",
    "input_binary",
    "input_binary_group",
    "input_port",
    "input_port_group",
    "input_table",
    "input_table_group",
    "output_binary",
    "output_binary_group",
    "output_image",
    "output_image_group",
    "output_port",
    "output_port_group",
    "output_table",
    "output_table_group",
    "output_view",
]

NodeClass = TypeVar("NodeClass", bound=type)


def _check_texts(name: object, description: object) -> None:
    for label, value in (("name", name), ("description", description)):
        if not isinstance(value, str):
            raise TypeError(f"the {label} of a port must be a text, not {type(value).__name__}")


@dataclass
class Port:
    """One port of a node.

    Attributes:
        type: Port type.
        name: Name for people.
        description: What arrives or leaves there.
        id: What a BINARY or CONNECTION port carries; only equal ids fit together.
        optional: Whether the input may stay unconnected; the node then gets None.
    """

    type: AnyPortType
    name: str
    description: str
    id: str | None = None
    optional: bool | None = False

    def __post_init__(self) -> None:
        """Refuses a binary port that does not say what it carries."""
        _check_texts(self.name, self.description)
        if self.type in (PortType.BINARY, PortType.CONNECTION) and self.id is None:
            raise TypeError(f"port {self.name!r} of type BINARY or CONNECTION needs an 'id' that says what it carries")


@dataclass
class PortGroup:
    """A port that takes any number of connections of one type; the node gets or returns a list.

    Attributes:
        type: Port type of each member.
        name: Name for people, unique among the groups of its direction.
        description: What arrives or leaves there.
        id: What a BINARY or CONNECTION port carries; only equal ids fit together.
    """

    type: AnyPortType
    name: str
    description: str
    id: str | None = None

    def __post_init__(self) -> None:
        """Refuses names and descriptions that are no texts."""
        _check_texts(self.name, self.description)


AnyPort = Port | PortGroup


@dataclass
class ViewDeclaration:
    """A view of a node.

    Attributes:
        name: Name for people.
        description: What it shows.
        static_resources: Folder with files of the view, relative to the extension.
        index_html_path: Page in that folder; without it the view is the last element that `execute` returns.
    """

    name: str
    description: str
    static_resources: str | None = None
    index_html_path: str | None = None


def _refuse_foreign_ports(node_class: type, slot: str) -> None:
    if getattr(node_class, slot, None) is not None and not hasattr(node_class, f"__knext_added_{slot}__"):
        raise ValueError(
            f"{node_class.__name__!r} sets {slot!r} itself, so decorators cannot add ports; use one or the other"
        )


def _refuse_second_group(node_class: type, slot: str, port: AnyPort, ports: list[AnyPort]) -> None:
    if isinstance(port, PortGroup) and any(isinstance(p, PortGroup) and p.name == port.name for p in ports):
        raise ValueError(
            f"{node_class.__name__!r} already has a port group named {port.name!r} in {slot!r}; rename one"
        )


def _add(slot: str, port: AnyPort) -> Callable[[NodeClass], NodeClass]:
    def decorate(node_class: NodeClass) -> NodeClass:
        _refuse_foreign_ports(node_class, slot)
        ports: list[AnyPort] = list(getattr(node_class, slot, None) or [])
        _refuse_second_group(node_class, slot, port, ports)
        # Decorators apply bottom-up: inserting at the front keeps the reading order. The list is a new one, so
        # that decorating a subclass leaves the ports of its base alone.
        setattr(node_class, slot, [port, *ports])
        setattr(node_class, f"__knext_added_{slot}__", True)
        return node_class

    return decorate


def input_table(name: str, description: str, optional: bool | None = False) -> Callable[[NodeClass], NodeClass]:
    """Adds an input for a table.

    Args:
        name: Name for people.
        description: What arrives there.
        optional: Whether it may stay unconnected; the node then gets None.
    """
    return _add("input_ports", Port(PortType.TABLE, name, description, optional=optional))


def input_port(
    name: str, description: str, port_type: AnyPortType, optional: bool | None = False
) -> Callable[[NodeClass], NodeClass]:
    """Adds an input for objects of a port type.

    Args:
        name: Name for people.
        description: What arrives there.
        port_type: Type of the objects; subtypes are taken as well.
        optional: Whether it may stay unconnected; the node then gets None.
    """
    return _add("input_ports", Port(port_type, name, description, optional=optional))


def input_binary(
    name: str, description: str, id: str, optional: bool | None = False
) -> Callable[[NodeClass], NodeClass]:
    """Adds an input for plain bytes.

    Args:
        name: Name for people.
        description: What arrives there.
        id: What the bytes are; only equal ids fit together.
        optional: Whether it may stay unconnected; the node then gets None.
    """
    return _add("input_ports", Port(PortType.BINARY, name, description, id, optional))


def input_table_group(name: str, description: str) -> Callable[[NodeClass], NodeClass]:
    """Adds an input for any number of tables; the node gets a list."""
    return _add("input_ports", PortGroup(PortType.TABLE, name, description))


def input_port_group(name: str, description: str, port_type: AnyPortType) -> Callable[[NodeClass], NodeClass]:
    """Adds an input for any number of objects of a port type; the node gets a list."""
    return _add("input_ports", PortGroup(port_type, name, description))


def input_binary_group(name: str, description: str, id: str | None = None) -> Callable[[NodeClass], NodeClass]:
    """Adds an input for any number of plain bytes; the node gets a list."""
    return _add("input_ports", PortGroup(PortType.BINARY, name, description, id))


def output_table(name: str, description: str) -> Callable[[NodeClass], NodeClass]:
    """Adds an output for a table."""
    return _add("output_ports", Port(PortType.TABLE, name, description))


def output_port(name: str, description: str, port_type: AnyPortType) -> Callable[[NodeClass], NodeClass]:
    """Adds an output for an object of a port type."""
    return _add("output_ports", Port(port_type, name, description))


def output_binary(name: str, description: str, id: str) -> Callable[[NodeClass], NodeClass]:
    """Adds an output for plain bytes; only inputs with an equal id take them."""
    return _add("output_ports", Port(PortType.BINARY, name, description, id))


def output_image(name: str, description: str) -> Callable[[NodeClass], NodeClass]:
    """Adds an output for an image; `configure` returns an `ImagePortObjectSpec`, `execute` the bytes."""
    return _add("output_ports", Port(PortType.IMAGE, name, description))


def output_table_group(name: str, description: str) -> Callable[[NodeClass], NodeClass]:
    """Adds an output for any number of tables; the node returns a list."""
    return _add("output_ports", PortGroup(PortType.TABLE, name, description))


def output_port_group(name: str, description: str, port_type: AnyPortType) -> Callable[[NodeClass], NodeClass]:
    """Adds an output for any number of objects of a port type; the node returns a list."""
    return _add("output_ports", PortGroup(port_type, name, description))


def output_binary_group(name: str, description: str, id: str | None = None) -> Callable[[NodeClass], NodeClass]:
    """Adds an output for any number of plain bytes; the node returns a list."""
    return _add("output_ports", PortGroup(PortType.BINARY, name, description, id))


def output_image_group(name: str, description: str) -> Callable[[NodeClass], NodeClass]:
    """Adds an output for any number of images; the node returns a list."""
    return _add("output_ports", PortGroup(PortType.IMAGE, name, description))


def output_view(
    name: str, description: str, static_resources: str | None = None, index_html_path: str | None = None
) -> Callable[[NodeClass], NodeClass]:
    """Gives the node a view.

    Args:
        name: Name for people.
        description: What it shows.
        static_resources: Folder with files of the view, relative to the extension.
        index_html_path: Page in that folder. Without it, the last element that `execute` returns is the view.
    """

    def decorate(node_class: NodeClass) -> NodeClass:
        view: Any = ViewDeclaration(name, description, static_resources, index_html_path)
        node_class.output_view = view
        return node_class

    return decorate
