"""Which Python classes cells can hold, and who encodes and decodes them.

A class is looked up by its exact `module.qualname`. One Python class is the *default* of a KNIME value factory:
its cells are read as that class. Others may be *proxies*: they can be written to the same cells. The registry
knows names only; classes are imported when the first value is encoded or decoded.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any, Literal, cast

from knime_ext.runtime.knext import ktypes
from knime_ext.runtime.knext.ktypes import KnimeType, LogicalType, PrimitiveType, PrimitiveTypeId

__all__ = [
    "MESSAGE_FACTORY",
    "TOOL_FACTORY",
    "WORKFLOW_TOOL_FACTORY",
    "PythonValueFactory",
    "ValueType",
    "logical",
    "logical_type_text",
    "python_types",
    "register_default_value_types",
    "register_value_factory",
    "value_type_of",
]

TOOL_FACTORY = "org.knime.core.node.agentic.tool.ToolValueFactory"
WORKFLOW_TOOL_FACTORY = "org.knime.core.node.agentic.tool.WorkflowToolValueFactory"
BYTE_VECTOR_FACTORY = "org.knime.core.data.v2.value.DenseByteVectorValueFactory"
MESSAGE_FACTORY = "org.knime.ai.core.data.message.MessageValueFactory"


class PythonValueFactory:
    """Encodes the objects of a class for table cells and decodes them; both get None for missing cells."""

    def __init__(self, compatible_type: type | None) -> None:
        self._compatible_type = compatible_type

    @property
    def compatible_type(self) -> Any:
        """The Python class of the values."""
        return self._compatible_type

    def decode(self, storage: Any) -> Any:
        """The value in a cell, from what Arrow gives: numbers, texts, lists, and dicts with keys "0", "1", ..."""
        return storage

    def encode(self, value: Any) -> Any:
        """What the cell stores for a value."""
        return value

    def needs_conversion(self) -> bool:
        """Whether values differ from what the cells store."""
        return True


def logical_type_text(java_factory_name: str) -> str:
    """The JSON text that names a KNIME value factory in schemas and Arrow files."""
    return json.dumps({"value_factory_class": java_factory_name}, separators=(",", ":"))


@cache
def _loaded_factory(source: str | type) -> Any:
    if isinstance(source, str):
        module, _, name = source.rpartition(".")
        source = getattr(import_module(module), name)
    make = cast("Callable[[], Any]", source)
    return make()


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueType:
    """A Python class that cells can hold.

    Attributes:
        python_type: Full name of the class.
        factory: Value factory of the class, or its full name.
        storage: Type in which the values are stored.
        logical_type: JSON text that names KNIME's value factory.
        data_type: Name of the cell type for people.
    """

    python_type: str
    factory: str | type
    storage: KnimeType
    logical_type: str
    data_type: str

    @property
    def value_factory(self) -> Any:
        """Encodes and decodes the values; imported on first use."""
        return _loaded_factory(self.factory)


Role = Literal["default", "proxy", "legacy"]


class _Registry:
    """Value types by KNIME's factory (how cells are read) and by Python class (how values are written)."""

    def __init__(self) -> None:
        self.readers: dict[str, ValueType] = {}
        self.writers: dict[str, ValueType] = {}

    def add(self, value_type: ValueType, role: Role) -> None:
        if role != "proxy":
            self.readers[value_type.logical_type] = value_type
        elif value_type.logical_type not in self.readers:
            raise ValueError(
                f"{value_type.python_type!r} cannot stand for cells of {value_type.logical_type}, "
                "which has no default class yet; register that one first"
            )
        if role != "legacy":
            self.writers[value_type.python_type] = value_type


_registry = _Registry()


def _full_name(of: str | type) -> str:
    return of if isinstance(of, str) else f"{of.__module__}.{of.__qualname__}"


def register_value_factory(
    value_type: str | type,
    factory_class: str | type,
    storage_type: KnimeType,
    java_factory_name: str,
    *,
    role: Role = "default",
    data_type: str | None = None,
) -> None:
    """Lets cells hold the objects of a class.

    Args:
        value_type: The class, or its full name.
        factory_class: Its value factory, or the full name of one; constructed without arguments.
        storage_type: Type in which the values are stored.
        java_factory_name: KNIME's value factory for such cells.
        role: "default": the cells are read as this class; "proxy": the class can also be written to the cells of
            another one; "legacy": such cells are read, but `logical` does not give their type.
        data_type: Name of the cell type for people; the name of the class if not given.

    Raises:
        ValueError: A proxy for cells that have no default class.
    """
    name = _full_name(value_type)
    entry = ValueType(
        python_type=name,
        factory=factory_class,
        storage=storage_type,
        logical_type=logical_type_text(java_factory_name),
        data_type=data_type or name.rpartition(".")[2],
    )
    _registry.add(entry, role)


def value_type_of(logical_type: str) -> ValueType:
    """The value type of cells with this logical type.

    Raises:
        ValueError: No value factory is registered for it.
    """
    known = _registry.readers.get(logical_type)
    if known is None:
        raise ValueError(f"no value factory is registered for cells of type {logical_type}")
    return known


def python_types() -> list[str]:
    """Full names of the Python classes that cells can hold."""
    return sorted(_registry.writers)


def logical(value_type: Any) -> LogicalType:
    """The type of cells that hold objects of a Python class.

    Raises:
        TypeError: No value factory is registered for the class, or it is no class.
    """
    known = _registry.writers.get(_full_name(value_type)) if isinstance(value_type, type) else None
    if known is None:
        shown = _full_name(value_type) if isinstance(value_type, type) else repr(value_type)
        raise TypeError(
            f"cells cannot hold {shown}: no value factory is registered for exactly this class; "
            f"there are value factories for {', '.join(python_types())}"
        )
    is_default = _registry.readers[known.logical_type].python_type == known.python_type
    return LogicalType(known.logical_type, known.storage, None if is_default else _Proxy(value_type, known))


class _Proxy:
    """Writes the objects of one class to the cells of another."""

    def __init__(self, compatible_type: type, value_type: ValueType) -> None:
        self.compatible_type = compatible_type
        self._value_type = value_type

    def encode(self, value: Any) -> Any:
        return self._value_type.value_factory.encode(value)

    def decode(self, storage: Any) -> Any:
        return self._value_type.value_factory.decode(storage)

    def needs_conversion(self) -> bool:
        return True


def _texts(count: int) -> list[KnimeType]:
    return [ktypes.string()] * count


def _tool_storage() -> KnimeType:
    byte = PrimitiveType(PrimitiveTypeId.BYTE)
    return ktypes.struct(byte, *_texts(5), ktypes.int32(), *_texts(2))


def _workflow_tool_storage() -> KnimeType:
    ports = ktypes.list_(ktypes.struct(*_texts(4)))
    return ktypes.struct(ktypes.string(), ktypes.struct(*_texts(3), ports, ports, ktypes.int32()))


def _message_storage() -> KnimeType:
    parts = ktypes.list_(ktypes.struct(ktypes.string(), ktypes.blob()))
    calls = ktypes.list_(ktypes.struct(*_texts(3)))
    return ktypes.struct(ktypes.string(), parts, calls, *_texts(2))


def _register_all(names: Iterable[str], factory: str, storage: KnimeType, java: str, data_type: str) -> None:
    role: Role = "default"
    for name in names:
        register_value_factory(name, factory, storage, java, role=role, data_type=data_type)
        role = "proxy"


def _register_tools() -> None:
    tool = "knime.types.tool."
    _register_all(
        [tool + "Tool", tool + "WorkflowTool", tool + "MCPTool"],
        tool + "ToolValueFactory",
        _tool_storage(),
        TOOL_FACTORY,
        "Tool",
    )
    register_value_factory(
        tool + "WorkflowTool",
        tool + "WorkflowToolValueFactory",
        _workflow_tool_storage(),
        WORKFLOW_TOOL_FACTORY,
        role="legacy",
        data_type="Workflow Tool",
    )


class _ByteVectorFactory(PythonValueFactory):
    """Bytes are stored as they are. KNIME's class for them is one of bytes too."""

    def __init__(self) -> None:
        super().__init__(bytes)


def register_default_value_types() -> None:
    """Registers the value types that come with this project: tools, messages, dates and times.

    Happens by itself on import; calling it again restores these registrations.
    """
    from knime_ext.runtime.knext import time_types

    time_types.register()
    _register_tools()
    message = "knime.types.message."
    register_value_factory(
        message + "MessageValue",
        message + "MessageValueFactory",
        _message_storage(),
        MESSAGE_FACTORY,
        data_type="Message",
    )
    register_value_factory(
        "knime.types.builtin.DenseByteVectorValue",
        _ByteVectorFactory,
        PrimitiveType(PrimitiveTypeId.BLOB),
        BYTE_VECTOR_FACTORY,
        data_type="Byte vector",
    )


register_default_value_types()
