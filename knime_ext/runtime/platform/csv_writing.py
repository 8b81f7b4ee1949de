"""Writes a table as CSV: UTF-8, texts quoted, missing cells empty; the file appears whole or not at all."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
from pyarrow import csv

from knime_ext.errors import ConfigurationError
from knime_ext.runtime.atomic import atomic_file
from knime_ext.runtime.platform.arrow_columns import ROW_ID, is_logical, type_name

__all__ = ["check_columns", "check_target", "write_csv"]


def check_columns(schema: pa.Schema) -> None:
    """Refuses columns that a text file cannot hold.

    Raises:
        ConfigurationError: Names the column and how to get rid of it.
    """
    for field in schema:
        if is_logical(field.type) or pa.types.is_nested(field.type) or type_name(field.type) == "binary data":
            raise ConfigurationError(
                f"column {field.name!r} holds {type_name(field.type)}, which a CSV file cannot hold: "
                "remove it with Column Filter before"
            )


def check_target(path: Path, *, overwrite: bool, create_folders: bool) -> None:
    """Refuses a place that must not or cannot be written.

    Raises:
        ConfigurationError: Names the path and the repair.
    """
    if path.is_dir():
        raise ConfigurationError(f"{str(path)!r} is a folder: give the name of a file")
    if path.exists() and not overwrite:
        raise ConfigurationError(f"the file {str(path)!r} exists already: choose another name or allow overwriting")
    if not create_folders and not path.parent.is_dir():
        raise ConfigurationError(
            f"there is no folder {str(path.parent)!r}: create it or switch on 'Create missing folders'"
        )


def write_csv(table: pa.Table, path: Path, *, delimiter: str = ",", header: bool = True, row_ids: bool = False) -> None:
    """Writes the file; a reader sees the old one or the new one.

    Args:
        table: The rows, with their `<RowID>` column.
        path: The file; missing folders are made.
        delimiter: One character between two values.
        header: Whether the first line has the column names.
        row_ids: Whether the row ids are the first column, named "RowID".

    Raises:
        ConfigurationError: The delimiter is no single character, or the file cannot be written.
    """
    delimiter = delimiter.replace("\\t", "\t")
    if len(delimiter) != 1 or not delimiter.isascii() or delimiter in '\r\n"':
        raise ConfigurationError(f"the column delimiter {delimiter!r} is not one plain character: give ',' or another")
    shown = table.rename_columns({ROW_ID: "RowID"}) if row_ids else table.drop_columns([ROW_ID])
    with atomic_file(path) as partial:
        csv.write_csv(shown, partial, csv.WriteOptions(include_header=header, delimiter=delimiter))
