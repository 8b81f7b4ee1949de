"""One run of the Tool Caller: rows in, calls side by side, columns out. Imported only when the node executes."""

from __future__ import annotations

from typing import Any

import knime.extension as knext

from knime_ext.agent.batch.row_calls import CallLimits, CallOutcome, RowCalls
from knime_ext.agent.batch.row_runner import BatchProgress
from knime_ext.agent.batch.row_source import RowSource
from knime_ext.bridge import shared_bridge
from knime_ext.errors import RowFailed
from knime_ext.nodes.appended_columns import appended, free_names
from knime_ext.nodes.cells import tools_in
from knime_ext.nodes.journal_place import open_journal, remove_journal
from knime_ext.nodes.tool_call_results import ResultTable
from knime_ext.nodes.tool_call_settings import ResultForm, ToolCallSettings
from knime_ext.nodes.tool_host import ToolHost
from knime_ext.tools.row_tools import ArgumentSources, RowTools

__all__ = ["call_tools"]


def call_tools(settings: ToolCallSettings, ctx: knext.ExecutionContext, tools: knext.Table, data: knext.Table) -> Any:
    """Calls a tool per row of the data and gives the data with the results.

    Raises:
        knext.InvalidParametersError: A row failed, and errors do not go to a column.
        KnimeExtError: Nothing could be called, or the run was canceled.
    """
    chosen = _chosen_tools(settings, tools, data)
    rows = RowSource.of_table(data.to_pyarrow())
    with ToolHost(_Quiet(ctx), changed=settings.mcp.changed_tools, questions=settings.mcp.questions) as host:
        calls = RowCalls(chosen, host, _limits(settings))
        with open_journal(ctx, calls.fingerprint(rows)) as journal:
            work = calls.run(
                rows,
                journal,
                stop_at_first_error=settings.error_column is None,
                progress=lambda progress: ctx.set_progress(progress.fraction, str(progress)),
                cancel=ctx.is_canceled,
            )
            try:
                with shared_bridge() as bridge:
                    progress = bridge.run(work)
            except RowFailed as failure:
                identifier = next(row for number, row in rows.rows(["<RowID>"]) if number == failure.number)["<RowID>"]
                raise knext.InvalidParametersError(f"Row {identifier!r} failed: {failure.reason}") from failure
            typed = settings.results == ResultForm.TYPED.name
            results = ResultTable(chosen.output_schemas(), typed=typed, prefix=settings.column_prefix)
            for number, payload in journal.rows():
                results.add(number, CallOutcome.from_bytes(payload))
            table = _with_results(settings, data, results)
            remove_journal(journal)
    _warn(ctx, progress, results)
    return table


def _chosen_tools(settings: ToolCallSettings, tools: knext.Table, data: knext.Table) -> RowTools:
    found = tools_in(tools, settings.tools_in(tools.schema))
    names = settings.names_in(data.schema)
    sources = ArgumentSources(
        columns=data.column_names if settings.by_name else [], mapped=settings.mapped(data.schema)
    )
    if names is None:
        return RowTools.one(found, settings.tool_name.strip(), sources)
    return RowTools.named_by(names, found, sources)


def _limits(settings: ToolCallSettings) -> CallLimits:
    limits = settings.limits
    return CallLimits(
        concurrency=limits.concurrency,
        per_minute=limits.per_minute or None,
        seconds_per_call=limits.seconds_per_call or None,
    )


def _with_results(settings: ToolCallSettings, data: knext.Table, results: ResultTable) -> Any:
    # Not a mapping: a value of a result may be called as one of the other columns.
    columns = [(settings.result_column_name, results.texts()), *results.columns()]
    if settings.error_column is not None:
        columns.append((settings.error_column, results.errors()))
    names = free_names(data.column_names, [name for name, _ in columns])
    return appended(data, dict(zip(names, [cells for _, cells in columns], strict=True)))


def _warn(ctx: Any, progress: BatchProgress, results: ResultTable) -> None:
    failed, of = results.failed, progress.done + progress.resumed
    if failed:
        ctx.set_warning(f"{failed:,} of {of:,} calls failed; the error column says why.")
    elif results.odd:
        ctx.set_warning(
            f"{results.odd:,} of {of:,} results are not what the tool's output schema says; see the errors."
        )


class _Quiet:
    """The node's context, but for its progress bar: that shows rows and not single calls."""

    def __init__(self, ctx: Any) -> None:
        self._ctx = ctx

    def __getattr__(self, name: str) -> Any:
        return getattr(self._ctx, name)

    def set_progress(self, fraction: float, message: str | None = None) -> None:
        """Shows nothing."""
