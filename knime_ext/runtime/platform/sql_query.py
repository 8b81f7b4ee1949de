"""SQL Query: computes a table from other tables with one SQL statement."""

from __future__ import annotations

import knime.extension as knext

from knime_ext.runtime.platform.categories import TABLE
from knime_ext.runtime.platform.exchange import empty_arrow, knime_schema, knime_table, to_arrow

__all__ = ["SQLQuery"]


@knext.node(
    "SQL Query",
    knext.NodeType.MANIPULATOR,
    "icons/sql_query.png",
    TABLE,
    keywords=["DuckDB", "select", "group by", "aggregate", "sort", "formula"],
    id="SQLQuery",
)
@knext.input_table_group("Tables", "The tables to query, known as table1, table2 and so on.")
@knext.output_table("Result", "The rows of the query's result.")
class SQLQuery:
    """Computes a table with an SQL query over the input tables.

    The inputs are the tables `table1`, `table2` and so on, in the order of the ports; the first one is also called
    `input`. The query is one SELECT statement in the SQL dialect of DuckDB:

        SELECT customer, sum(quantity * unit_price) AS revenue
        FROM input GROUP BY customer ORDER BY revenue DESC

    **Flow variables** are used by name after a dollar sign, as values: `LIMIT $top_n`, `WHERE country = $country`. They
    cannot change the query itself.

    **Nothing else is within reach**: no files, no network, no extensions, no settings. RowIDs are not visible; the
    result has new ones.

    **Tools** and other logical columns pass through if they are selected whole, as in `SELECT * FROM input`. Results
    become KNIME's types: decimals without digits after the point become long integers, other decimals doubles. A result
    that no column can hold, such as a structure, stops the node with a message.

    The query also runs, over empty tables, when the node is configured; so a wrong column name shows before anything
    is executed.
    """

    query = knext.MultilineStringParameter(
        "SQL statement", "One SELECT statement.", "SELECT * FROM input", number_of_lines=12
    )

    def configure(self, ctx: knext.ConfigurationContext, schemas: list[knext.Schema]) -> knext.Schema:
        """The columns of the result, by running the query over empty tables."""
        from knime_ext.runtime.platform.sql_sandbox import run_query

        tables = [empty_arrow(schema) for schema in schemas]
        return knime_schema(run_query(tables, self.query, ctx.flow_variables))

    def execute(self, ctx: knext.ExecutionContext, tables: list[knext.Table]) -> knext.Table:
        """Runs the query."""
        from knime_ext.runtime.platform.sql_sandbox import run_query

        arrow = [to_arrow(table) for table in tables]
        return knime_table(run_query(arrow, self.query, ctx.flow_variables, ctx.is_canceled))
