"""KNIME's classes of cells for the simple types, as its settings name them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from knime_ext.runtime.knime_workflow.config import Config, boolean, text

__all__ = ["CELL_CLASSES", "cell_type_of", "data_type", "parsed_cell"]

CELL_CLASSES: Mapping[str, str] = {
    "STRING": "org.knime.core.data.def.StringCell",
    "INTEGER": "org.knime.core.data.def.IntCell",
    "LONG": "org.knime.core.data.def.LongCell",
    "DOUBLE": "org.knime.core.data.def.DoubleCell",
    "BOOLEAN": "org.knime.core.data.def.BooleanCell",
}
"""Type of a Table Creator's column to KNIME's class."""

_TYPES = {cell_class.rpartition(".")[2]: name for name, cell_class in CELL_CLASSES.items()}


def data_type(name: str) -> Config:
    """A type as settings hold it."""
    return Config(cell_class=text(CELL_CLASSES[name]), is_null=boolean(False))


def cell_type_of(config: Config) -> str | None:
    """The type that settings hold, None if it is no simple one.

    A cell of a Boolean column may have the inner class that KNIME uses for its constants.
    """
    cell_class = config.string("cell_class").partition("$")[0]
    return _TYPES.get(cell_class.rpartition(".")[2])


def parsed_cell(written: str, cell_type: str) -> Any:
    """A cell from its text.

    Raises:
        ValueError: The text is none of the type.
    """
    return _PARSERS[cell_type](written)


def _parsed_boolean(written: str) -> bool:
    if written.strip().lower() not in ("true", "false"):
        raise ValueError(f"{written!r} is neither true nor false")
    return written.strip().lower() == "true"


_PARSERS: Mapping[str, Callable[[str], Any]] = {
    "STRING": str,
    "INTEGER": int,
    "LONG": int,
    "DOUBLE": float,
    "BOOLEAN": _parsed_boolean,
}
