"""Port types and what travels over them: specs while the workflow is configured, objects while it runs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any, ClassVar, TypeAlias

__all__ = [
    "AnyPortType",
    "BinaryPortObjectSpec",
    "ConnectionPortObject",
    "CredentialPortObjectSpec",
    "FilestorePortObject",
    "ImageFormat",
    "ImagePortObjectSpec",
    "PortObject",
    "PortObjectSpec",
    "PortType",
    "load_port_object",
    "port_type",
    "port_type_name",
    "save_port_object",
]


class PortObjectSpec(ABC):
    """What is known about a port's object before it exists."""

    @abstractmethod
    def serialize(self) -> dict[str, Any]:
        """The spec as JSON-able data."""

    @classmethod
    @abstractmethod
    def deserialize(cls, data: dict[str, Any], java_callback: Any = None) -> PortObjectSpec:
        """Reads what `serialize` wrote."""


class BinaryPortObjectSpec(PortObjectSpec):
    """Spec of a port that carries plain bytes; only ports with equal `id` fit together."""

    def __init__(self, id: str) -> None:
        self._id = id

    @property
    def id(self) -> str:
        """What kind of bytes the port carries."""
        return self._id

    def serialize(self) -> dict[str, Any]:
        """The spec as JSON-able data."""
        return {"id": self._id}

    @classmethod
    def deserialize(cls, data: dict[str, Any], java_callback: Any = None) -> BinaryPortObjectSpec:
        """Reads what `serialize` wrote."""
        return cls(data["id"])


class ImageFormat(Enum):
    """Formats of image ports."""

    PNG = "png"
    SVG = "svg"


class ImagePortObjectSpec(PortObjectSpec):
    """Spec of an image port.

    Args:
        format: `ImageFormat` or its value, "png" or "svg".
    """

    def __init__(self, format: str | ImageFormat) -> None:
        self._format = format if isinstance(format, str) else str(format.value)

    @property
    def format(self) -> str:
        """Format of the image: "png" or "svg"."""
        return self._format

    def serialize(self) -> dict[str, Any]:
        """The spec as JSON-able data."""
        return {"format": self._format}

    @classmethod
    def deserialize(cls, data: dict[str, Any], java_callback: Any = None) -> ImagePortObjectSpec:
        """Reads what `serialize` wrote."""
        return cls(data["format"])


class CredentialPortObjectSpec(PortObjectSpec):
    """Spec of a credential port. Only KNIME itself can read the credential behind it."""

    def __init__(self, xml_data: str | None) -> None:
        self._xml_data = xml_data

    def serialize(self) -> dict[str, Any]:
        """The spec as JSON-able data."""
        return {"data": self._xml_data}

    @classmethod
    def deserialize(cls, data: dict[str, Any], java_callback: Any = None) -> CredentialPortObjectSpec:
        """Reads what `serialize` wrote."""
        return cls(data.get("data"))


class PortObject(ABC):
    """An object of a port type of your own: a spec, and content that goes to bytes and back."""

    def __init__(self, spec: PortObjectSpec) -> None:
        self._spec = spec

    @property
    def spec(self) -> Any:
        """What was known about the object before it existed, a `PortObjectSpec`."""
        return self._spec

    @abstractmethod
    def serialize(self) -> bytes:
        """The content as bytes."""

    @classmethod
    @abstractmethod
    def deserialize(cls, spec: Any, storage: bytes) -> PortObject:
        """Reads what `serialize` wrote."""


class ConnectionPortObject(PortObject):
    """A port object around something that lives in this process only, such as an open connection."""

    def serialize(self) -> bytes:
        """Not possible.

        Raises:
            NotImplementedError: Always; the data stays in the process.
        """
        raise NotImplementedError("a connection lives in its process only and cannot be turned into bytes")

    @classmethod
    def deserialize(cls, spec: Any, storage: bytes) -> PortObject:
        """Not possible.

        Raises:
            NotImplementedError: Always; the data stays in the process.
        """
        raise NotImplementedError("a connection lives in its process only and cannot be read from bytes")

    @abstractmethod
    def to_connection_data(self) -> Any:
        """What the nodes downstream get; it stays in this process."""

    @classmethod
    @abstractmethod
    def from_connection_data(cls, spec: Any, data: Any) -> ConnectionPortObject:
        """Makes the object again from its spec and the data of `to_connection_data`."""


class FilestorePortObject(PortObject):
    """A port object that reads and writes a file or folder instead of bytes."""

    def serialize(self) -> bytes:
        """Not possible.

        Raises:
            RuntimeError: Always; `write_to` is used instead.
        """
        raise RuntimeError("a port object with a file store is written by write_to, not by serialize")

    @classmethod
    def deserialize(cls, spec: Any, storage: bytes) -> PortObject:
        """Not possible.

        Raises:
            RuntimeError: Always; `read_from` is used instead.
        """
        raise RuntimeError("a port object with a file store is read by read_from, not by deserialize")

    @abstractmethod
    def write_to(self, file_path: str) -> None:
        """Writes the object to the path, which may become a file or a folder."""

    @classmethod
    @abstractmethod
    def read_from(cls, spec: Any, file_path: str) -> FilestorePortObject:
        """Reads what `write_to` wrote."""


def save_port_object(port_object: PortObject, file_path: str) -> None:
    """Writes the content of a port object to a path."""
    if isinstance(port_object, FilestorePortObject):
        port_object.write_to(file_path)
    else:
        Path(file_path).write_bytes(port_object.serialize())


def load_port_object(port_object_type: type[PortObject], spec: PortObjectSpec, file_path: str) -> PortObject:
    """Reads a port object that `save_port_object` wrote."""
    if issubclass(port_object_type, FilestorePortObject):
        return port_object_type.read_from(spec, file_path)
    return port_object_type.deserialize(spec, Path(file_path).read_bytes())


@dataclass
class PortType:
    """A port type of your own; the built-in ones are the plain strings `PortType.TABLE` and so on.

    Attributes:
        id: Identifier of the type.
        name: Name for people.
        object_class: Class of its port objects.
        spec_class: Class of its specs.
    """

    id: str
    name: str
    object_class: type
    spec_class: type

    BINARY: ClassVar[str] = "PortType.BINARY"
    CONNECTION: ClassVar[str] = "PortType.CONNECTION"
    TABLE: ClassVar[str] = "PortType.TABLE"
    IMAGE: ClassVar[str] = "PortType.IMAGE"
    CREDENTIAL: ClassVar[str] = "PortType.CREDENTIAL"
    WORKFLOW: ClassVar[str] = "PortType.WORKFLOW"
    HUB_AUTHENTICATION: ClassVar[str] = "PortType.HUB_AUTHENTICATION"

    def is_super_type_of(self, port_type: PortType) -> bool:
        """Whether an input of this type takes objects of the other: both of its classes must be subclasses."""
        return issubclass(port_type.spec_class, self.spec_class) and issubclass(
            port_type.object_class, self.object_class
        )


AnyPortType: TypeAlias = PortType | str
"""A port type of your own or one of the built-in strings."""


def port_type(
    name: str, object_class: type[PortObject], spec_class: type[PortObjectSpec], id: str | None = None
) -> PortType:
    """Makes a port type out of the classes of its objects and specs.

    Args:
        name: Name for people.
        object_class: Class of the port objects.
        spec_class: Class of their specs.
        id: Identifier; the full name of the object class if not given.
    """
    return PortType(
        id=id or f"{object_class.__module__}.{object_class.__qualname__}",
        name=name,
        object_class=object_class,
        spec_class=spec_class,
    )


def port_type_name(port_type: AnyPortType) -> str:
    """Name of a port type for people, such as "Table"."""
    if isinstance(port_type, PortType):
        return port_type.name
    return port_type.removeprefix("PortType.").replace("_", " ").capitalize()
