"""CSV Writer: writes a table into a text file."""

from __future__ import annotations

from pathlib import Path

import knime.extension as knext

from knime_ext.runtime.platform.categories import IO_WRITE
from knime_ext.runtime.platform.csv_writing import check_columns, check_target, write_csv
from knime_ext.runtime.platform.exchange import empty_arrow, to_arrow
from knime_ext.runtime.platform.host import resolved_path

__all__ = ["CSVWriter"]


class ExistingFile(knext.EnumParameterOptions):
    """What happens if the file exists."""

    FAIL = ("Fail", "The node stops and leaves the file as it is.")
    OVERWRITE = ("Overwrite", "The file is replaced.")


@knext.node(
    "CSV Writer",
    knext.NodeType.SINK,
    "icons/csv_writer.png",
    IO_WRITE,
    keywords=["text", "file", "TSV", "export", "save"],
    id="CSVWriter",
)
@knext.input_table("Table", "The rows to write.")
class CSVWriter:
    """Writes a table into a CSV file.

    The file is UTF-8 with one line per row. Texts are in quotes; a missing cell is empty, an empty text is a pair of
    quotes. The file appears whole or not at all: if the node fails or is interrupted, an older file stays as it was.

    Columns of tools, messages or lists cannot be written; remove them with Column Filter before.
    """

    path = knext.StringParameter("File", "The file; a relative path starts at the folder of the workflow.", "")
    if_exists = knext.EnumParameter(
        "If file exists", "What happens if the file is there already.", ExistingFile.FAIL.name, ExistingFile
    )
    create_missing_folders = knext.BoolParameter("Create missing folders", "Make the folders of the path.", False)
    column_delimiter = knext.StringParameter("Column delimiter", "Between two values; \\t for a tab.", ",")
    write_column_header = knext.BoolParameter("Write column header", "The first line has the column names.", True)
    write_row_id = knext.BoolParameter("Write RowID", "The first column has the RowIDs.", False)

    def _file(self, ctx: knext.ConfigurationContext) -> Path:
        if not self.path.strip():
            raise knext.InvalidParametersError("no file is chosen: set 'path'")
        path = resolved_path(ctx, self.path)
        overwrite = self.if_exists == ExistingFile.OVERWRITE.name
        check_target(path, overwrite=overwrite, create_folders=self.create_missing_folders)
        return path

    def configure(self, ctx: knext.ConfigurationContext, schema: knext.Schema) -> None:
        """Refuses columns that a text file cannot hold, and places that cannot be written."""
        check_columns(empty_arrow(schema).schema)
        self._file(ctx)

    def execute(self, ctx: knext.ExecutionContext, table: knext.Table) -> None:
        """Writes the file."""
        arrow = to_arrow(table)
        check_columns(arrow.schema)
        write_csv(
            arrow,
            self._file(ctx),
            delimiter=self.column_delimiter,
            header=self.write_column_header,
            row_ids=self.write_row_id,
        )
