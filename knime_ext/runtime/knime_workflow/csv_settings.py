"""CSV Reader and CSV Writer: paths, delimiters, encodings, and transformations that only KNIME has."""

from __future__ import annotations

import codecs
from typing import Any

from knime_ext.runtime.knime_workflow.config import Config, boolean, char, long, text
from knime_ext.runtime.knime_workflow.locations import file_chooser, location, path_at
from knime_ext.runtime.knime_workflow.rows import Settings, Unsupported

__all__ = [
    "read_delimiter",
    "read_new_encoding",
    "read_new_path",
    "read_reader",
    "read_writer_path",
    "refuse_transformation",
    "write_delimiter",
    "write_reader",
    "write_writer_path",
]

_TAB = "\\t"
_ENCODINGS = {
    "utf-8": "UTF-8",
    "ascii": "US-ASCII",
    "iso8859-1": "ISO-8859-1",
    "utf-16": "UTF-16",
    "utf-16-le": "UTF-16LE",
    "utf-16-be": "UTF-16BE",
    "cp1252": "windows-1252",
}
"""Python's name of an encoding to Java's, where they differ."""


def write_delimiter(settings: Settings, model: Config) -> None:
    """Puts the delimiter; a tab is a tab in KNIME's settings."""
    model.put("settings/column_delimiter", text(settings["column_delimiter"].replace(_TAB, "\t")))


def read_delimiter(model: Config) -> dict[str, Any]:
    """The delimiter."""
    found = model.value("settings/column_delimiter")
    return {} if found is None else {"column_delimiter": found.replace("\t", _TAB)}


def _charset(name: str) -> str:
    try:
        known = codecs.lookup(name).name
    except (LookupError, ValueError):
        return name
    return _ENCODINGS.get(known, known)


def _encoding(charset: str) -> str:
    return next((ours for ours, java in _ENCODINGS.items() if java == charset), charset)


def write_reader(settings: Settings, model: Config) -> None:
    """Puts what the CSV Reader has in several entries: file, quotes, encoding, lines to skip."""
    model.put("settings/file_selection/file_system_chooser__Internals", file_chooser(settings["path"]))
    model.put("settings/file_selection/path", location(settings["path"]))
    model.put("settings/quote_char", text(settings["quote_char"]))
    model.put("settings/quote_escape_char", text(settings["quote_char"]))
    model.put("encoding/charset", text(_charset(settings["file_encoding"])))
    model.put("limit_rows/skip_lines", boolean(settings["skip_first_lines"] > 0))
    model.put("limit_rows/number_of_lines_to_skip", long(settings["skip_first_lines"]))


def read_reader(model: Config) -> dict[str, Any]:
    """File, quotes, encoding, lines to skip.

    Raises:
        Unsupported: The file is where only KNIME can read it, or its columns are changed while they are read.
    """
    refuse_transformation(model)
    found: dict[str, Any] = {}
    if "settings" in model:
        found["path"] = path_at(model.below("settings/file_selection/path"))
    quote = model.value("settings/quote_char")
    if quote is not None:
        found["quote_char"] = quote.strip("\0")
    if "encoding" in model:
        found["file_encoding"] = _encoding(model.string("encoding/charset", "UTF-8"))
    if model.value("limit_rows/skip_lines", False):
        found["skip_first_lines"] = model.value("limit_rows/number_of_lines_to_skip", 0)
    return found


def refuse_transformation(model: Config) -> None:
    """Refuses columns that are renamed, left out or moved while a file is read.

    Raises:
        Unsupported: Some are.
    """
    older = model.below("table_spec_config_Internals/table_transformation/columns")
    for key, column in older.configs():
        if not key.isdigit():
            continue
        name = column.string("external_spec/name")
        kept = column.value("keep", True) and column.value("position", int(key)) == int(key)
        if not kept or column.string("name", name) != name:
            raise Unsupported(f"renames, drops or moves the column {name!r} while it reads the file")
    for _, column in model.below("transformationParameters/columnTransformation").configs():
        name = column.string("columnName")
        if not column.value("includeInOutput", True) or column.string("columnRename", name) != name:
            raise Unsupported(f"renames or drops the column {name!r} while it reads the file")


def read_new_path(model: Config) -> dict[str, Any]:
    """The file, in the layout of KNIME 5.9 and later.

    Raises:
        Unsupported: The file is where only KNIME can read it, or its columns are changed while they are read.
    """
    refuse_transformation(model)
    return {"path": path_at(model.below("csvReaderParameters/multiFileSelectionParams/source/path"))}


def read_new_encoding(model: Config) -> dict[str, Any]:
    """The encoding, in the layout of KNIME 5.9 and later."""
    name = model.string("csvReaderParameters/fileEncodingParams/fileEncoding", "UTF_8")
    if name == "OTHER":
        name = model.string("csvReaderParameters/fileEncodingParams/customEncoding", "UTF-8")
    return {"file_encoding": _encoding("UTF-8" if name == "DEFAULT" else name.replace("_", "-"))}


def write_writer_path(settings: Settings, model: Config) -> None:
    """Puts the CSV Writer's file and its quotes."""
    chooser = "settings/file_chooser_settings"
    model.put(f"{chooser}/file_system_chooser__Internals", file_chooser(settings["path"]))
    model.put(f"{chooser}/path", location(settings["path"]))
    model.put("settings/quote_char", char('"'))
    model.put("settings/quote_escape_char", char('"'))


def read_writer_path(model: Config) -> dict[str, Any]:
    """The CSV Writer's file.

    Raises:
        Unsupported: It is where only KNIME can write it.
    """
    return {"path": path_at(model.below("settings/file_chooser_settings/path"))} if "settings" in model else {}
