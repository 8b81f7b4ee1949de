"""One run of the Tool Caller: rows in, calls side by side, columns out. Imported only when the node executes."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext, suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

import knime.extension as knext

from knime.types.tool import MCPTool, Tool, WorkflowTool
from knime_ext.agent.batch.journal import Journal, fingerprint
from knime_ext.agent.batch.limiter import Limiter
from knime_ext.agent.batch.row_runner import BatchProgress, FinishedRow, run_rows
from knime_ext.agent.batch.row_source import RowSource
from knime_ext.agent.threads import call_in_thread
from knime_ext.bridge import shared_bridge
from knime_ext.errors import ConfigurationError, KnimeExtError, RowFailed, ToolFailed
from knime_ext.nodes.appended_columns import appended, free_names
from knime_ext.nodes.cells import tools_by_row
from knime_ext.nodes.journal_place import open_journal, remove_journal
from knime_ext.nodes.tool_call_results import CallOutcome, ResultTable
from knime_ext.nodes.tool_call_settings import ResultForm, ToolCallSettings
from knime_ext.nodes.tool_host import ToolHost
from knime_ext.tools import ToolResult, encode_tools
from knime_ext.tools.cell_arguments import ArgumentPlan

__all__ = ["call_tools"]


def call_tools(settings: ToolCallSettings, ctx: knext.ExecutionContext, tools: knext.Table, data: knext.Table) -> Any:
    """Calls a tool per row of the data and gives the data with the results.

    Raises:
        knext.InvalidParametersError: A row failed, and errors do not go to a column.
        KnimeExtError: Nothing could be called, or the run was canceled.
    """
    choice = _Choice.of(settings, tools, data)
    rows = RowSource.of_table(data.to_pyarrow())
    journal = open_journal(ctx, _fingerprint(settings, choice, rows))
    with journal, ToolHost(_Quiet(ctx), changed=settings.mcp.changed_tools, questions=settings.mcp.questions) as host:
        calls = _Calls(choice, host, ctx, settings)
        progress = calls.run(rows, journal)
        typed = settings.results == ResultForm.TYPED.name
        results = ResultTable(choice.output_schemas(), typed=typed, prefix=settings.column_prefix)
        for number, payload in journal.rows():
            results.add(number, CallOutcome.from_bytes(payload))
        table = _with_results(settings, data, results)
        remove_journal(journal)
    _warn(ctx, progress, results)
    return table


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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Choice:
    """Which tool each row is for, and where its arguments come from.

    Attributes:
        tools: The tools by every name that a row may use; several where a name is not unique.
        single: The plan of the one tool; None if a column names the tools.
        names: The column that names them.
        columns: The columns of the data that calls need.
        plan: Makes the plan of a tool.
    """

    tools: Mapping[str, Sequence[Tool]]
    single: ArgumentPlan | None
    names: str | None
    columns: Sequence[str]
    plan: partial[ArgumentPlan]

    @classmethod
    def of(cls, settings: ToolCallSettings, tools: knext.Table, data: knext.Table) -> _Choice:
        names = settings.names_in(data.schema)
        column = settings.tools_in(tools.schema)
        found = [tool for tool in tools_by_row(tools, column) if tool is not None]
        by_name = _by_name(found)
        by_column = data.column_names if settings.by_name else []
        plan = partial(ArgumentPlan.make, columns=by_column, mapped=settings.mapped(data.schema), strict=names is None)
        if names is None:
            single = plan(_single(by_name, found, settings.tool_name.strip()))
            return cls(tools=by_name, single=single, names=None, columns=single.columns, plan=plan)
        needed = {names: None, **{column: None for each in _plans(plan, found) for column in each.columns}}
        return cls(tools=by_name, single=None, names=names, columns=list(needed), plan=plan)

    def output_schemas(self) -> list[dict[str, Any]]:
        """What the tools say about their results: of the one tool, or of all that a row may name."""
        tools = [self.single.tool] if self.single else [tool for same in self.tools.values() for tool in same]
        schemas = [tool.output_schema for tool in tools if isinstance(tool, MCPTool)]
        return list({id(schema): schema for schema in schemas if schema is not None}.values())


def _plans(plan: partial[ArgumentPlan], tools: Iterable[Tool]) -> Iterator[ArgumentPlan]:
    """The plans of the tools that can be called like that."""
    for tool in tools:
        with suppress(ConfigurationError):
            yield plan(tool)


def _by_name(tools: Sequence[Tool]) -> dict[str, list[Tool]]:
    """The tools by their names; by their names on their servers where no tool has that name."""
    found: dict[str, list[Tool]] = {}
    for tool in tools:
        found.setdefault(tool.name, []).append(tool)
    wire: dict[str, list[Tool]] = {}
    for tool in tools:
        if isinstance(tool, MCPTool) and tool.tool_name not in found:
            wire.setdefault(tool.tool_name, []).append(tool)
    return {**found, **wire}


def _single(by_name: Mapping[str, Sequence[Tool]], tools: Sequence[Tool], name: str) -> Tool:
    """The tool for all rows."""
    if name or len(tools) == 1:
        return _named(by_name, name) if name else tools[0]
    raise ConfigurationError(f"the tools table has {len(tools)} tools; enter the name of one of them in the dialog")


def _named(tools: Mapping[str, Sequence[Tool]], name: str) -> Tool:
    """The tool of that name.

    Raises:
        ConfigurationError: There is none, or more than one.
    """
    same = tools.get(name, ())
    if len(same) == 1:
        return same[0]
    if same:
        raise ConfigurationError(
            f"{len(same)} tools are called {name!r}; give each a name of its own with the Tool Builder"
        )
    known = ", ".join(map(repr, list(tools)[:10])) + (", ..." if len(tools) > 10 else "")
    raise ConfigurationError(f"the tools table has no tool {name!r}; it has {known or 'none'}")


class _Calls:
    """Calls the tools of rows."""

    def __init__(self, choice: _Choice, host: Any, ctx: Any, settings: ToolCallSettings) -> None:
        self._choice = choice
        self._host = host  # a ToolHost, by the methods that every host's context has
        self._ctx = ctx
        self._settings = settings
        self._plans: dict[str, ArgumentPlan] = {}
        self._limiters: dict[str, Limiter] = {}

    def run(self, rows: RowSource, journal: Journal) -> BatchProgress:
        """Calls all rows that are not in the journal."""
        work = run_rows(
            rows.rows(self._choice.columns),
            self._row,
            journal=journal,
            concurrency=self._settings.limits.concurrency,
            stop_at_first_error=self._settings.error_column is None,
            total=rows.num_rows,
            progress=self._show,
            cancel=self._ctx.is_canceled,
        )
        try:
            with shared_bridge() as bridge:
                return bridge.run(work)
        except RowFailed as failure:
            identifier = next(row for number, row in rows.rows(["<RowID>"]) if number == failure.number)["<RowID>"]
            raise knext.InvalidParametersError(f"Row {identifier!r} failed: {failure.reason}") from failure

    def _show(self, progress: BatchProgress) -> None:
        self._ctx.set_progress(progress.fraction, str(progress))

    async def _row(self, number: int, row: Mapping[str, Any]) -> FinishedRow:
        try:
            plan = self._plan_for(row)
            outcome = CallOutcome.of(await self._call(plan.tool, plan.arguments(row)))
        except (KnimeExtError, RuntimeError, TimeoutError) as error:
            outcome = CallOutcome(error=str(error) or type(error).__name__)
        return FinishedRow(payload=outcome.to_bytes(), error=outcome.error)

    def _plan_for(self, row: Mapping[str, Any]) -> ArgumentPlan:
        if self._choice.single is not None:
            return self._choice.single
        assert self._choice.names is not None
        name = row[self._choice.names]
        if name is None:
            raise ConfigurationError(f"the column {self._choice.names!r} names no tool here")
        if name not in self._plans:
            self._plans[name] = self._choice.plan(_named(self._choice.tools, name))
        return self._plans[name]

    async def _call(self, tool: Tool, arguments: dict[str, Any]) -> ToolResult:
        seconds = self._settings.limits.seconds_per_call or None
        async with self._turn(tool):
            limit = asyncio.timeout(seconds)
            try:
                async with limit:
                    return await self._result(tool, arguments)
            except TimeoutError:
                if limit.expired():
                    raise TimeoutError(f"tool {tool.name!r} took longer than {seconds:g} s and was stopped") from None
                raise

    def _turn(self, tool: Tool) -> AbstractAsyncContextManager[None]:
        """The turn of a call at its server."""
        per_minute = self._settings.limits.per_minute
        if not per_minute or not isinstance(tool, MCPTool):
            return nullcontext()
        limiter = self._limiters.get(tool.server_uri)
        if limiter is None:
            limiter = self._limiters[tool.server_uri] = Limiter(per_minute=per_minute)
        return limiter

    async def _result(self, tool: Tool, arguments: dict[str, Any]) -> ToolResult:
        if isinstance(tool, MCPTool):
            result = await self._host._acall_mcp_tool(tool, arguments)
            if result.is_error:
                raise ToolFailed(result.text)
            return result
        assert isinstance(tool, WorkflowTool)
        defaults = {name: part["default"] for name, part in tool.parameter_schema.items() if "default" in part}
        given = {name: value for name, value in defaults.items() if value is not None} | arguments
        hints = {"execution-mode": "DEFAULT", "with-view-nodes": "false"}
        message, _, _ = await call_in_thread(self._host._execute_tool, tool, given, list[Any](), hints)
        return ToolResult.of_text(message)


def _fingerprint(settings: ToolCallSettings, choice: _Choice, rows: RowSource) -> str:
    """What tells these calls from all others: tools, arguments, data."""
    plan = choice.plan.keywords
    single = choice.single
    tools = [single.tool] if single is not None else [tool for same in choice.tools.values() for tool in same]
    about = {
        "node": "ToolCaller",
        "names": choice.names,
        "mapped": {name: repr(source) for name, source in plan["mapped"].items()},
        "by_name": settings.by_name,
        "rows": rows.num_rows,
    }
    return fingerprint(about, _content(tools, choice, rows))


def _content(tools: Sequence[Tool], choice: _Choice, rows: RowSource) -> Iterator[bytes]:
    yield repr(encode_tools(tools).to_pylist()).encode()
    for _, row in rows.rows(choice.columns):
        yield repr(row).encode("utf-8", "surrogatepass")
