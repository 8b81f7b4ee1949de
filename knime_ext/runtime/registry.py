"""Collects the nodes that decorators have marked; nothing is registered as a side effect of an import.

Nodes are loaded by name: those of the extension, as KNIME loads them, and those that KNIME's platform has itself and
that this runtime brings along.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from knime_ext.errors import ConfigurationError, WorkflowError
from knime_ext.runtime.knext.node_ports import AnyPort, PortGroup
from knime_ext.runtime.knext.nodes import NodeDeclaration
from knime_ext.runtime.knext.ports import AnyPortType, PortType, port_type_name
from knime_ext.runtime.nearest import did_you_mean
from knime_ext.runtime.plan import NodeShape, PortKind, PortShape

__all__ = ["NodeRegistry", "declarations_in", "provide_knime_extension"]

_STANDIN = Path(__file__).parent / "standin"
_MODULES = ("knime_ext.extension", "knime_ext.runtime.platform")


def provide_knime_extension() -> None:
    """Makes `import knime.extension` work: at the end of the path, so that a real KNIME always wins.

    Raises:
        ConfigurationError: A real KNIME is there; its nodes cannot run in this runtime.
    """
    if str(_STANDIN) not in sys.path and not _has_knime_extension():
        sys.path.append(str(_STANDIN))
        importlib.invalidate_caches()
    module = importlib.import_module("knime.extension")
    look_alike = importlib.import_module("knime_ext.runtime.knext")
    if module.node is not look_alike.node:
        raise ConfigurationError(
            f"this Python has KNIME's own 'knime.extension' ({module.__file__}), which runs inside KNIME only; "
            "use a Python environment without it"
        )


def _has_knime_extension() -> bool:
    try:
        return importlib.util.find_spec("knime.extension") is not None
    except ModuleNotFoundError:
        return False


def declarations_in(module: ModuleType) -> list[NodeDeclaration]:
    """The nodes among the names of a module."""
    values = [getattr(module, name) for name in dict.fromkeys([*vars(module), *getattr(module, "__all__", ())])]
    found = [getattr(value, "__knext_node__", None) for value in values]
    return [declaration for declaration in found if isinstance(declaration, NodeDeclaration)]


class NodeRegistry(Mapping[str, NodeDeclaration]):
    """The nodes that workflows can use, by identifier.

    Args:
        declarations: The nodes; the same declaration may come twice.

    Raises:
        ConfigurationError: Two different nodes have the same identifier.
    """

    def __init__(self, declarations: Iterable[NodeDeclaration]) -> None:
        self._declarations: dict[str, NodeDeclaration] = {}
        for declaration in declarations:
            known = self._declarations.setdefault(declaration.id, declaration)
            if known is not declaration:
                raise ConfigurationError(
                    f"two nodes have the id {declaration.id!r}: {known.name!r} and {declaration.name!r}; rename one"
                )
        self.shapes: Mapping[str, NodeShape] = {each.id: _shape(each) for each in self._declarations.values()}

    @classmethod
    def of(cls, *factories: Any) -> NodeRegistry:
        """A registry of decorated nodes, for tests and for programs with nodes of their own."""
        return cls(factory.__knext_node__ for factory in factories)

    @classmethod
    def load(cls) -> NodeRegistry:
        """The nodes of the extension and of the platform; loaded once per process."""
        return _loaded()

    def __getitem__(self, node_id: str) -> NodeDeclaration:
        return self._declarations[node_id]

    def __iter__(self) -> Iterator[str]:
        return iter(self._declarations)

    def __len__(self) -> int:
        return len(self._declarations)

    def declaration(self, node_id: str) -> NodeDeclaration:
        """The node of that identifier.

        Raises:
            WorkflowError: There is none; the message names the nearest.
        """
        if node_id not in self._declarations:
            raise WorkflowError(f"there is no node {node_id!r}; {did_you_mean(node_id, self, kind='nodes')}")
        return self._declarations[node_id]

    def extended_by(self, *factories: Any) -> NodeRegistry:
        """A registry with further nodes."""
        return NodeRegistry([*self._declarations.values(), *(factory.__knext_node__ for factory in factories)])


@cache
def _loaded() -> NodeRegistry:
    provide_knime_extension()
    modules = [importlib.import_module(name) for name in _MODULES]
    return NodeRegistry(declaration for module in modules for declaration in declarations_in(module))


def _port_kind(port_type: AnyPortType, identifier: str | None) -> PortKind:
    name = port_type_name(port_type)
    if isinstance(port_type, PortType):
        classes = {"object_class": port_type.object_class, "spec_class": port_type.spec_class}
        return PortKind(id=port_type.id, name=name, **classes)
    if identifier is None:
        return PortKind(id=port_type, name=name)
    return PortKind(id=f"{port_type} {identifier}", name=f"{name} {identifier}")


def _port_shape(port: AnyPort) -> PortShape:
    group = isinstance(port, PortGroup)
    optional = not isinstance(port, PortGroup) and bool(port.optional)
    return PortShape(name=port.name, kind=_port_kind(port.type, port.id), optional=optional, group=group)


def _shape(declaration: NodeDeclaration) -> NodeShape:
    return NodeShape(
        factory=declaration.id,
        name=declaration.name,
        inputs=tuple(map(_port_shape, declaration.input_ports)),
        outputs=tuple(map(_port_shape, declaration.output_ports)),
    )
