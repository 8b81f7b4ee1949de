"""Runs one SQL query over tables in a DuckDB that can reach nothing else: no file, no network, no setting."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.compute as pc

from knime_ext.errors import ConfigurationError
from knime_ext.runtime.nearest import did_you_mean
from knime_ext.runtime.platform.arrow_columns import ROW_ID, storage_of

__all__ = ["run_query"]


def run_query(
    tables: Sequence[pa.Table],
    sql: str,
    variables: Mapping[str, Any] | None = None,
    canceled: Callable[[], bool] | None = None,
) -> pa.Table:
    """The result of the query.

    Args:
        tables: Visible as `table1`, `table2`, ...; the first one also as `input`. Row ids are not visible.
        sql: One SELECT statement in DuckDB's dialect.
        variables: Values that the query may use as `$name`.
        canceled: Asked a few times per second; True stops the query.

    Returns:
        Columns in KNIME's types. A logical column, such as one of tools, that is selected whole keeps its type.

    Raises:
        ConfigurationError: The text is no single SELECT, the query fails, or a result column has no KNIME type.
    """
    with _sandbox(tables) as connection:
        statement = _single_select(connection, sql)
        values = _values(statement, variables or {})
        logical = _logical_types(connection, tables)
        try:
            with _interrupted_when(canceled, connection):
                result = connection.sql(statement.query, params=values).to_arrow_table()
        except duckdb.Error as error:
            raise ConfigurationError(_explanation(error)) from error
    _refuse_repeated_names(result)
    return pa.table({field.name: _knime_column(result[field.name], field, logical) for field in result.schema})


@contextmanager
def _sandbox(tables: Sequence[pa.Table]) -> Generator[duckdb.DuckDBPyConnection]:
    # Without a temporary directory nothing is spilled to disk either.
    connection = duckdb.connect(":memory:", config={"temp_directory": "", "python_enable_replacements": False})
    try:
        for number, table in enumerate(tables, 1):
            if table.column_names in ([], [ROW_ID]):
                raise ConfigurationError(f"input table {number} has no columns to query: connect another table")
            connection.register(f"table{number}", _plain(table))
        if tables:
            connection.sql('CREATE VIEW "input" AS SELECT * FROM table1')
        connection.sql("SET enable_external_access = false")
        connection.sql("SET lock_configuration = true")
        yield connection
    finally:
        connection.close()


def _plain(table: pa.Table) -> pa.Table:
    return pa.table({name: storage_of(table[name]) for name in table.column_names if name != ROW_ID})


def _single_select(connection: duckdb.DuckDBPyConnection, sql: str) -> duckdb.Statement:
    try:
        statements = connection.extract_statements(sql)
    except duckdb.Error as error:
        raise ConfigurationError(_explanation(error)) from error
    if len(statements) != 1:
        raise ConfigurationError(f"the query has {len(statements)} statements: write exactly one SELECT")
    if statements[0].type != duckdb.StatementType.SELECT:
        raise ConfigurationError(f"the query is a {statements[0].type.name} statement: only SELECT is possible")
    return statements[0]


def _values(statement: duckdb.Statement, variables: Mapping[str, Any]) -> dict[str, Any]:
    """The variables that the query uses."""
    for name in sorted(statement.named_parameters):
        if name not in variables:
            hint = did_you_mean(name, variables, kind="flow variables")
            raise ConfigurationError(f"the query uses ${name}, but there is no flow variable {name!r}; {hint}")
    return {name: variables[name] for name in statement.named_parameters}


def _explanation(error: duckdb.Error) -> str:
    if isinstance(error, duckdb.PermissionException):
        return (
            "the query asks for a file, the network or an extension, which SQL Query does not allow: "
            "read the data with another node"
        )
    if isinstance(error, duckdb.InterruptException):
        return "the query was canceled"
    kind, _, text = str(error).partition(": ")
    sentence = " ".join((text or kind).split("\n\nLINE")[0].split())
    return f"the query fails: {sentence}"


def _logical_types(
    connection: duckdb.DuckDBPyConnection, tables: Sequence[pa.Table]
) -> dict[str, pa.BaseExtensionType]:
    """Logical type by the form in which its cells leave DuckDB; only structures are recognised again."""
    found: dict[str, pa.BaseExtensionType] = {}
    for number, table in enumerate(tables, 1):
        shape = connection.sql(f"SELECT * FROM table{number} LIMIT 0").to_arrow_table().schema
        kinds = [field.type for field in table.schema if field.name != ROW_ID]
        for kind, arrived in zip(kinds, shape, strict=True):  # by position: equal names but for the case are renamed
            if isinstance(kind, pa.BaseExtensionType) and pa.types.is_struct(arrived.type):
                found.setdefault(str(arrived.type), kind)
    return found


@contextmanager
def _interrupted_when(canceled: Callable[[], bool] | None, connection: duckdb.DuckDBPyConnection) -> Generator[None]:
    if canceled is None:
        yield
        return
    finished = threading.Event()

    def watch() -> None:
        while not finished.wait(0.1):
            if canceled():
                connection.interrupt()

    watcher = threading.Thread(target=watch, name="sql-query-cancel")
    watcher.start()
    try:
        yield
    finally:
        finished.set()
        watcher.join()


def _refuse_repeated_names(result: pa.Table) -> None:
    repeated = [name for name in result.column_names if result.column_names.count(name) > 1]
    if repeated:
        raise ConfigurationError(f"the result has two columns named {repeated[0]!r}: rename one with AS")


def _knime_column(column: Any, field: pa.Field, logical: dict[str, pa.BaseExtensionType]) -> Any:
    kind = field.type
    known = logical.get(str(kind))
    if known is not None:
        storage = known.storage_type
        chunks = [pa.ExtensionArray.from_storage(known, chunk.cast(storage)) for chunk in column.chunks]
        return pa.chunked_array(chunks, type=known)
    if logical and pa.types.is_struct(kind):
        raise ConfigurationError(
            f"result column {field.name!r} is a structure: select a column of tools whole, or one of its fields"
        )
    wanted = _knime_type(field.name, kind)
    try:
        return column if wanted.equals(kind) else pc.cast(column, wanted, safe=not pa.types.is_floating(wanted))
    except pa.ArrowInvalid as error:
        raise ConfigurationError(
            f"result column {field.name!r} has a value beyond 64 bits: convert it with CAST(... AS DOUBLE)"
        ) from error


_SAME: tuple[Callable[[pa.DataType], bool], ...] = (
    pa.types.is_int32,
    pa.types.is_int64,
    pa.types.is_float64,
    pa.types.is_string,
    pa.types.is_boolean,
    pa.types.is_null,
    pa.types.is_date32,
    pa.types.is_timestamp,
    pa.types.is_time64,
)


def _knime_type(name: str, kind: pa.DataType) -> pa.DataType:
    if any(same(kind) for same in _SAME):
        return kind
    if pa.types.is_list(kind):
        return pa.list_(_knime_type(name, kind.value_type))
    if pa.types.is_decimal(kind):
        return pa.int64() if kind.scale == 0 else pa.float64()
    if pa.types.is_floating(kind):
        return pa.float64()
    if pa.types.is_integer(kind):
        return pa.int32() if kind.bit_width < 32 else pa.int64()
    if pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        return pa.string()
    raise ConfigurationError(
        f"result column {name!r} has type {kind}, which no KNIME column can hold: convert it to a text with CAST"
    )
