"""CSV Reader: reads a table from a text file."""

from __future__ import annotations

from pathlib import Path

import knime.extension as knext

from knime_ext.runtime.platform.categories import IO_READ
from knime_ext.runtime.platform.csv_reading import CSVFormat, csv_schema, read_csv
from knime_ext.runtime.platform.exchange import knime_schema, knime_table
from knime_ext.runtime.platform.host import resolved_path

__all__ = ["CSVReader"]


@knext.node(
    "CSV Reader",
    knext.NodeType.SOURCE,
    "icons/csv_reader.png",
    IO_READ,
    keywords=["text", "file", "TSV", "delimiter", "import"],
    id="CSVReader",
)
@knext.output_table("File table", "The rows of the file.")
class CSVReader:
    """Reads a table from a CSV file.

    The types of the columns are found in the values: whole numbers, numbers, true/false, dates (`2026-01-31`), dates
    with time, and texts for everything else. An empty value is a missing cell; an empty value in quotes is an empty
    text. Column names that occur twice get a number.

    When the node is configured it looks at the beginning of the file, so that the nodes after it know the columns.
    A file that is missing, has rows of different length or another encoding stops the node with a message that says
    where and why.
    """

    path = knext.LocalPathParameter("File", "The file; a relative path starts at the folder of the workflow.")
    column_delimiter = knext.StringParameter("Column delimiter", "Between two values; \\t for a tab.", ",")
    quote_char = knext.StringParameter("Quote character", "Around values with delimiters or line breaks.", '"')
    first_row_contains_column_names = knext.BoolParameter(
        "First row contains column names", "Otherwise the columns are named Column0, Column1 and so on.", True
    )
    first_column_contains_row_ids = knext.BoolParameter(
        "First column contains RowIDs", "Otherwise the rows are numbered.", False
    )
    file_encoding = knext.StringParameter("File encoding", "Such as utf-8, latin-1, utf-16, cp1252.", "utf-8")
    skip_first_lines = knext.IntParameter("Skip first lines of file", "How many.", 0, min_value=0, is_advanced=True)

    def _format(self) -> CSVFormat:
        return CSVFormat(
            delimiter=self.column_delimiter,
            quote=self.quote_char,
            header=self.first_row_contains_column_names,
            row_ids=self.first_column_contains_row_ids,
            encoding=self.file_encoding,
            skip_lines=self.skip_first_lines,
        )

    def _file(self, ctx: knext.ConfigurationContext) -> Path:
        if not self.path:
            raise knext.InvalidParametersError("no file is chosen: set 'path'")
        return resolved_path(ctx, self.path)

    def configure(self, ctx: knext.ConfigurationContext) -> knext.Schema:
        """The columns, as the beginning of the file shows them."""
        return knime_schema(csv_schema(self._file(ctx), self._format()).empty_table())

    def execute(self, ctx: knext.ExecutionContext) -> knext.Table:
        """Reads the whole file."""
        return knime_table(read_csv(self._file(ctx), self._format()))
