"""Nodes and categories: `node` marks a class and returns its factory. Nothing is registered here."""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from functools import wraps
from typing import Any, Protocol, TypeVar, cast

from knime_ext.runtime.knext.columnar import materialised
from knime_ext.runtime.knext.contexts import ConfigurationContext, ExecutionContext
from knime_ext.runtime.knext.node_ports import AnyPort, ViewDeclaration
from knime_ext.runtime.knext.parameter import Parameter

__all__ = ["Category", "CategoryPath", "NodeDeclaration", "NodeFactory", "NodeType", "PythonNode", "category", "node"]


class NodeType(Enum):
    """What a node does, which also gives it its colour."""

    SOURCE = "Source"
    SINK = "Sink"
    LEARNER = "Learner"
    PREDICTOR = "Predictor"
    MANIPULATOR = "Manipulator"
    VISUALIZER = "Visualizer"
    OTHER = "Other"


@dataclass(frozen=True, slots=True, kw_only=True)
class Category:
    """A folder of the node list.

    Attributes:
        path: Path of the folder above, such as "/community".
        level_id: Identifier of this folder within that path.
        name: Name for people.
        description: What the nodes in it do.
        icon: Picture, relative to the extension.
        after: Identifier of the folder before this one.
        locked: Whether other vendors may not add to it.
    """

    path: str
    level_id: str
    name: str
    description: str
    icon: str
    after: str = ""
    locked: bool = True


class CategoryPath(str):
    """Path of a category, which also knows the category itself.

    Attributes:
        category: The declared category.
    """

    category: Category


def category(
    path: str, level_id: str, name: str, description: str, icon: str, after: str = "", locked: bool = True
) -> CategoryPath:
    """Declares a category and returns its path, which nodes give as their `category`.

    Args:
        path: Path of the category above, such as "/community".
        level_id: Identifier within that path.
        name: Name for people.
        description: What the nodes in it do.
        icon: Picture, relative to the extension.
        after: Identifier of the category before this one.
        locked: False lets other vendors add to it.
    """
    full = CategoryPath(f"{path.removesuffix('/')}/{level_id}")
    full.category = Category(
        path=path, level_id=level_id, name=name, description=description, icon=icon, after=after, locked=locked
    )
    return full


class PythonNode(ABC):
    """A node. Inheriting from it is optional; it says which methods a node needs."""

    input_ports: list[Any] | None = None
    output_ports: list[Any] | None = None
    output_view: ViewDeclaration | None = None

    @abstractmethod
    def configure(self, config_context: ConfigurationContext, *inputs: Any) -> Any:
        """Says what the outputs will look like, from the specs of the inputs.

        Returns:
            One spec, or a list or tuple of them in port order; None if not known yet.

        Raises:
            InvalidParametersError: The settings do not fit the inputs.
        """

    @abstractmethod
    def execute(self, exec_context: ExecutionContext, *inputs: Any) -> Any:
        """Makes the outputs.

        Returns:
            One object, or a list or tuple of them in port order; the view, if any, comes last.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeDeclaration:
    """What is known about a node without running it.

    Attributes:
        id: Identifier that workflows store; the name of the class if not given.
        name: Name for people.
        type: What the node does.
        icon_path: Picture, relative to the extension.
        category: Path of its category.
        after: Identifier of the node before it in the list.
        keywords: Further words to find it by.
        is_deprecated: Whether it is only kept for old workflows.
        is_hidden: Whether the node list leaves it out.
        node_class: The decorated class.
        input_ports: Inputs in reading order.
        output_ports: Outputs in reading order.
        output_view: The view, if it has one.
        create: Makes an instance with ports and default settings.
    """

    id: str
    name: str
    type: NodeType | None
    icon_path: str
    category: str
    after: str | None
    keywords: tuple[str, ...]
    is_deprecated: bool
    is_hidden: bool
    node_class: type
    input_ports: tuple[AnyPort, ...]
    output_ports: tuple[AnyPort, ...]
    output_view: ViewDeclaration | None
    create: Callable[[], Any]

    @property
    def description(self) -> str:
        """The documentation of the node's class: a short first line, then Markdown."""
        return inspect.cleandoc(self.node_class.__doc__ or "")


Node = TypeVar("Node")
NodeOut = TypeVar("NodeOut", covariant=True)


class NodeFactory(Protocol[NodeOut]):
    """What the decorated name is afterwards: a function that makes instances, no class."""

    __knext_node__: NodeDeclaration
    __name__: str

    def __call__(self, *args: Any, **kwargs: Any) -> NodeOut:
        """Makes an instance with ports and default settings."""
        ...


def _materialising(method: Callable[..., Any]) -> Callable[..., Any]:
    """Lets a node return slices of tables and schemas where whole ones are wanted."""

    @wraps(method)
    def call(*args: Any, **kwargs: Any) -> Any:
        result = method(*args, **kwargs)
        if isinstance(result, (list, tuple)):
            return [materialised(element) for element in cast("list[Any]", result)]
        return materialised(result)

    return call


def _refuse_loose_parameters(instance: object) -> None:
    loose = [name for name, value in vars(instance).items() if isinstance(value, Parameter)]
    if loose:
        raise AttributeError(
            f"{type(instance).__name__!r} sets the parameter {loose[0]!r} in its constructor; "
            "make it an attribute of the class, or put it into a parameter group"
        )


@dataclass(frozen=True, slots=True)
class _Equipment:
    """Ports and view that every instance of a node gets."""

    input_ports: list[AnyPort]
    output_ports: list[AnyPort]
    output_view: ViewDeclaration | None

    @classmethod
    def of(cls, sample: object) -> _Equipment:
        inputs, outputs = getattr(sample, "input_ports", None), getattr(sample, "output_ports", None)
        return cls(inputs or [], outputs or [], getattr(sample, "output_view", None))

    def factory(self, node_class: type[Node]) -> NodeFactory[Node]:
        @wraps(node_class, updated=())
        def create(*args: Any, **kwargs: Any) -> Node:
            instance: Any = node_class(*args, **kwargs)
            _refuse_loose_parameters(instance)
            instance.input_ports, instance.output_ports = self.input_ports, self.output_ports
            instance.output_view = self.output_view
            instance.configure = _materialising(instance.configure)
            instance.execute = _materialising(instance.execute)
            return instance

        return cast("NodeFactory[Node]", create)


def node(
    name: str,
    node_type: NodeType | Any,
    icon_path: str,
    category: str,
    after: str | None = None,
    keywords: list[str] | None = None,
    id: str | None = None,
    is_deprecated: bool = False,
    is_hidden: bool = False,
) -> Callable[[type[Node]], NodeFactory[Node]]:
    """Makes a class a node; the name then stands for a function that makes instances.

    Args:
        name: Name for people.
        node_type: What the node does.
        icon_path: Picture, relative to the extension.
        category: Path of its category.
        after: Identifier of the node before it in the list.
        keywords: Further words to find it by.
        id: Identifier that workflows store; the name of the class if not given.
        is_deprecated: Whether it is only kept for old workflows.
        is_hidden: Whether the node list leaves it out.
    """

    def decorate(node_class: type[Node]) -> NodeFactory[Node]:
        # An instance, because the constructor may set ports, too; its failures show up when the module is imported.
        equipment = _Equipment.of(node_class())
        factory = equipment.factory(node_class)
        factory.__knext_node__ = NodeDeclaration(
            id=id or node_class.__name__,
            name=name,
            type=node_type if isinstance(node_type, NodeType) else None,
            icon_path=icon_path,
            category=category,
            after=after,
            keywords=tuple(keywords or ()),
            is_deprecated=is_deprecated,
            is_hidden=is_hidden,
            node_class=node_class,
            input_ports=tuple(equipment.input_ports),
            output_ports=tuple(equipment.output_ports),
            output_view=equipment.output_view,
            create=factory,
        )
        return factory

    return decorate
