"""The rows that the tables of settings consist of: which parameter of ours is which entry of KNIME's.

A row writes its part of a node's model settings and reads it back. What KNIME can say and this runtime cannot is never
dropped silently: reading it raises `Unsupported`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeAlias

from knime_ext.runtime.knime_workflow.config import Config, Entry, Place, boolean, double, integer, long, text

__all__ = ["Choice", "Constant", "Converted", "Modelled", "Only", "Row", "Same", "Settings", "Unsupported"]

Settings: TypeAlias = Mapping[str, Any]
"""Parameters of a node of ours with their values; complete and of the right types."""

Kind: TypeAlias = Literal["text", "boolean", "integer", "long", "double"]

_WRITE: Mapping[Kind, Callable[[Any], Entry]] = {
    "text": text,
    "boolean": boolean,
    "integer": integer,
    "long": long,
    "double": double,
}


class Unsupported(Exception):
    """KNIME's settings ask for something that this runtime does not do; the text completes "node X ..."."""


class Row(Protocol):
    """One row of a table."""

    @property
    def parameters(self) -> Sequence[str]:
        """The parameters of ours that it covers."""
        ...

    def write(self, settings: Settings, model: Config) -> None:
        """Puts KNIME's entries into a node's model settings."""
        ...

    def read(self, model: Config) -> dict[str, Any]:
        """The parameters that KNIME's entries mean; none where the entries are absent.

        Raises:
            Unsupported: They mean something that this runtime does not do.
        """
        ...

    def place_of(self, parameter: str) -> Place | None:
        """The entry with exactly the parameter's value, which a flow variable can therefore control in both."""
        ...


@dataclass(frozen=True, slots=True)
class Same:
    """A parameter that KNIME has with the same meaning and the same values."""

    parameter: str
    place: Place
    kind: Kind = "text"

    @property
    def parameters(self) -> Sequence[str]:
        """The one parameter."""
        return (self.parameter,)

    def write(self, settings: Settings, model: Config) -> None:
        """Puts the value."""
        model.put(self.place, _WRITE[self.kind](settings[self.parameter]))

    def read(self, model: Config) -> dict[str, Any]:
        """The value, if it is there."""
        value = model.value(self.place)
        return {} if value is None else {self.parameter: value}

    def place_of(self, parameter: str) -> Place | None:
        """The entry."""
        return self.place if parameter == self.parameter else None


@dataclass(frozen=True, slots=True)
class Choice:
    """A parameter whose values KNIME calls by other names.

    Attributes:
        parameter: Name of the parameter.
        place: KNIME's entry.
        names: Value of ours to KNIME's.
        also: Further values of KNIME's that mean one of ours.
    """

    parameter: str
    place: Place
    names: Mapping[str, str | bool]
    also: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def parameters(self) -> Sequence[str]:
        """The one parameter."""
        return (self.parameter,)

    def write(self, settings: Settings, model: Config) -> None:
        """Puts KNIME's name of the value."""
        name = self.names[settings[self.parameter]]
        model.put(self.place, boolean(name) if isinstance(name, bool) else text(name))

    def read(self, model: Config) -> dict[str, Any]:
        """The value that KNIME's name stands for."""
        written = model.value(self.place)
        if written is None:
            return {}
        ours = {name: value for value, name in self.names.items()} | dict(self.also)
        if written not in ours:
            raise Unsupported(f"has {self.place!r} set to {written!r}")
        return {self.parameter: ours[written]}

    def place_of(self, parameter: str) -> Place | None:
        """The entry, if all values have the same names on both sides."""
        alike = all(ours == theirs for ours, theirs in self.names.items())
        return self.place if parameter == self.parameter and alike else None


@dataclass(frozen=True, slots=True)
class Constant:
    """Something that KNIME wants to find and that means nothing here."""

    place: Place
    content: Entry | Config

    @property
    def parameters(self) -> Sequence[str]:
        """None."""
        return ()

    def write(self, settings: Settings, model: Config) -> None:
        """Puts it."""
        content = self.content
        model.put(self.place, Config(content) if isinstance(content, Config) else content)

    def read(self, model: Config) -> dict[str, Any]:
        """Nothing."""
        return {}

    def place_of(self, parameter: str) -> Place | None:
        """No entry."""
        return None


@dataclass(frozen=True, slots=True)
class Only:
    """Something that the runtime always does in one way; KNIME may be set to another.

    Attributes:
        place: KNIME's entry.
        entry: The way it is done here.
        also: Further values that make no difference.
        written: Whether it is written; False for entries of other versions of KNIME.
    """

    place: Place
    entry: Entry
    also: Sequence[Any] = ()
    written: bool = True

    @property
    def parameters(self) -> Sequence[str]:
        """None."""
        return ()

    def write(self, settings: Settings, model: Config) -> None:
        """Puts the entry."""
        if self.written:
            model.put(self.place, self.entry)

    def read(self, model: Config) -> dict[str, Any]:
        """Nothing; refuses another value."""
        value = model.value(self.place)
        if value is not None and value != self.entry.value and value not in self.also:
            raise Unsupported(f"has {self.place!r} set to {value!r}")
        return {}

    def place_of(self, parameter: str) -> Place | None:
        """No entry."""
        return None


@dataclass(frozen=True, slots=True)
class Converted:
    """Parameters that need more than another name.

    Attributes:
        parameters: Names of the parameters.
        writer: Puts KNIME's entries into the model settings.
        reader: Gives the parameters that KNIME's entries mean.
    """

    parameters: Sequence[str]
    writer: Callable[[Settings, Config], None]
    reader: Callable[[Config], dict[str, Any]]

    def write(self, settings: Settings, model: Config) -> None:
        """Puts the entries."""
        self.writer(settings, model)

    def read(self, model: Config) -> dict[str, Any]:
        """The parameters."""
        return self.reader(model)

    def place_of(self, parameter: str) -> Place | None:
        """No entry."""
        return None


@dataclass(frozen=True, slots=True)
class Modelled:
    """A row whose entry KNIME accompanies with the identifier of its settings model."""

    row: Same | Choice | Only | Constant
    model_id: str

    @property
    def parameters(self) -> Sequence[str]:
        """Those of the row."""
        return self.row.parameters

    def write(self, settings: Settings, model: Config) -> None:
        """Puts the identifier and the entry."""
        internals = Config({"SettingsModelID": text(self.model_id), "EnabledStatus": boolean(True)})
        model.put(f"{self.row.place}_Internals", internals)
        self.row.write(settings, model)

    def read(self, model: Config) -> dict[str, Any]:
        """What the row reads."""
        return self.row.read(model)

    def place_of(self, parameter: str) -> Place | None:
        """The entry of the row."""
        return self.row.place_of(parameter)
