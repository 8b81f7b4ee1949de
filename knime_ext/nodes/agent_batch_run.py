"""One run of the Agent Batch Prompter: rows in, agents side by side, columns out. Imported only on execution."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import knime.extension as knext
import pyarrow as pa

from knime_ext.agent.batch.journal import Journal
from knime_ext.agent.batch.prompting import BatchPrompter
from knime_ext.agent.batch.row_answer import RowAnswer
from knime_ext.agent.batch.row_scope import RowData, row_tools
from knime_ext.agent.batch.row_source import RowSource
from knime_ext.agent.batch.trace_files import save_traces
from knime_ext.bridge import shared_bridge
from knime_ext.errors import RowFailed
from knime_ext.nodes.agent_batch_settings import AgentBatchSettings
from knime_ext.nodes.agent_settings import AgentMode, IterationLimit
from knime_ext.nodes.cells import tools_in
from knime_ext.nodes.chat_model_port import ChatModelPortObject
from knime_ext.nodes.journal_place import open_journal, remove_journal
from knime_ext.nodes.tool_host import ToolHost

if TYPE_CHECKING:
    from langchain_core.tools import BaseTool

    from knime.types.tool import Tool
    from knime_ext.agent.batch.row_runner import BatchProgress
    from knime_ext.agent.budget import Allowance, Budget, WhenExhausted
    from knime_ext.agent.page.batch_page import BatchPageRow
    from knime_ext.mcp.alias_tools import AliasTools
    from knime_ext.mcp.tool_config import ToolConfig

__all__ = ["BatchInputs", "prompt_rows"]

TRACES = "KNIME_MCP_TRACES"
"""Environment variable with the folder where all conversations of all nodes are kept."""

_ROW_ID = "<RowID>"

_ENDS: Mapping[str, WhenExhausted] = {
    IterationLimit.FAIL.name: "fail",
    IterationLimit.FINAL_RESPONSE.name: "answer",
    IterationLimit.REFUSE.name: "refuse",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchInputs:
    """What arrived at the ports of the node."""

    chat_model: ChatModelPortObject
    prompts: knext.Table
    tools: knext.Table | None


def prompt_rows(settings: AgentBatchSettings, ctx: Any, inputs: BatchInputs) -> list[Any]:
    """Asks for every row and gives what the node returns: the table and the page.

    Raises:
        knext.InvalidParametersError: A row failed, and errors do not go to a column.
        KnimeExtError: Nothing could be asked, or the node was stopped.
    """
    source = _source(inputs.prompts)
    data = RowData()
    with ToolHost(_Quiet(ctx), changed=settings.mcp.changed_tools, questions=settings.mcp.questions) as host:
        known = _of_alias(settings, ctx)
        tools = _tools(settings, [*_of_table(settings, inputs.tools), *(known.tools if known else ())], host, data)
        prompter = _prompter(
            settings, inputs.chat_model.create_model(ctx), tools, data, known.config if known else None
        )
        prompter.check(source)
        identity = prompter.fingerprint(source)
        wanted = source.head(settings.rows.preview or None)
        with open_journal(ctx, identity) as journal:
            progress = _ask(settings, ctx, prompter, wanted, journal)
            if folder := os.environ.get(TRACES):
                save_traces(Path(folder) / f"answers-{identity[:16]}.arrow", journal)
            outputs = [_table(prompter, wanted, journal), knext.view_html(_page(wanted, journal))]
            if settings.rows.preview == 0:
                remove_journal(journal)
    _warn(ctx, progress)
    return outputs


def _source(table: knext.Table) -> RowSource:
    """The table, a batch at a time; its row identifiers are a column too."""

    def batches(names: Sequence[str]) -> Iterator[pa.RecordBatch]:
        for batch in table.batches():
            part = batch.to_pyarrow().select(list(names))
            # A part of a table is a record batch in KNIME and a table elsewhere.
            yield from [part] if isinstance(part, pa.RecordBatch) else part.to_batches()

    first = next(iter(table.batches()), table)
    return RowSource(schema=first.to_pyarrow().schema, batches=batches, num_rows=table.num_rows)


def _tools(settings: AgentBatchSettings, rows: Sequence[Tool], host: ToolHost, data: RowData) -> Sequence[BaseTool]:
    in_code = settings.mode == AgentMode.CODE.name
    tools = row_tools(
        rows,
        host,
        data=data,
        simple_types_only=settings.simple_types_only,
        approval=settings.approval.policy(),
        approve=host.approve,
        # Code reads results whole; the model gets what the code prints.
        max_result_chars=None if in_code else settings.limits.result_chars,
    )
    if not in_code:
        return tools
    from knime_ext.agent import CodeLimits, code_tool

    chars, seconds = settings.limits.result_chars, settings.limits.seconds_per_call or None
    return [code_tool(tools, CodeLimits(output_bytes=chars, result_chars=chars, seconds_per_call=seconds))]


def _of_table(settings: AgentBatchSettings, table: knext.Table | None) -> list[Tool]:
    column = settings.tools_in(None if table is None else table.schema)
    return [] if table is None or column is None else tools_in(table, column)


def _of_alias(settings: AgentBatchSettings, ctx: Any) -> AliasTools | None:
    alias = settings.tool_alias.strip()
    if not alias:
        return None
    from knime_ext.mcp.alias_tools import tools_of_alias

    with shared_bridge() as bridge:
        known = bridge.run(tools_of_alias(alias, providers=getattr(ctx, "_mcp_providers", None)))
    for provider, problem in known.problems.items():
        ctx.set_warning(f"The tools of {provider!r} are missing: {problem}")
    return known


def _least(*limits: Any) -> Any:
    return min((limit for limit in limits if limit is not None), default=None)


def _budget(settings: AgentBatchSettings, config: ToolConfig | None) -> Budget:
    """What each row may spend: the node's limits, and none above those of the tool configuration."""
    own = settings.limits.budget()
    if config is None:
        return own
    return replace(
        own,
        turns=min(own.turns, config.max_tool_call_turns),
        calls=_least(own.calls, config.max_tool_calls),
        seconds=_least(own.seconds, config.run_timeout_sec),
        seconds_per_call=_least(own.seconds_per_call, config.timeout_sec),
    )


def _allowance(settings: AgentBatchSettings, config: ToolConfig | None) -> Allowance:
    """What all rows may spend together, likewise."""
    own = settings.limits.allowance()
    if config is None:
        return own
    return type(own)(
        tokens=_least(own.tokens, config.max_table_tokens), calls=_least(own.calls, config.max_table_tool_calls)
    )


def _prompter(
    settings: AgentBatchSettings, model: Any, tools: Sequence[BaseTool], data: RowData, config: ToolConfig | None
) -> BatchPrompter:
    # KNIME_MCP_TRACES keeps what this node itself would not.
    output = settings.output()
    return BatchPrompter(
        model,
        tools,
        prompt=settings.prompt,
        system_message=settings.system_message,
        output=output,
        keep_traces=output.traces or bool(os.environ.get(TRACES)),
        budget=_budget(settings, config),
        allowance=_allowance(settings, config),
        when_exhausted=_ENDS[settings.limits.when_reached],
        final_prompt=settings.limits.final_prompt,
        pacing=settings.speed.pacing(),
        tool_tokens=settings.limits.tool_tokens or None,
        data=data,
    )


def _ask(
    settings: AgentBatchSettings, ctx: Any, prompter: BatchPrompter, source: RowSource, journal: Journal
) -> BatchProgress:
    work = prompter.run(
        source,
        journal,
        concurrency=settings.rows.concurrency,
        stop_at_first_error=settings.stops_at_first_error,
        retry_failed=settings.stops_at_first_error,
        progress=lambda progress: ctx.set_progress(progress.fraction, str(progress)),
        cancel=ctx.is_canceled,
    )
    try:
        with shared_bridge() as bridge:
            return bridge.run(work)
    except RowFailed as failure:
        identifier = next(row for number, row in source.rows([_ROW_ID]) if number == failure.number)[_ROW_ID]
        raise knext.InvalidParametersError(f"Row {identifier!r} failed: {failure.reason}") from failure


def _table(prompter: BatchPrompter, source: RowSource, journal: Journal) -> Any:
    output = knext.BatchOutputTable.create(row_ids="keep")
    for batch in prompter.answered(source, journal):
        output.append(pa.Table.from_batches([batch]))
    if output.num_batches == 0:
        schema = pa.schema([*source.schema, *prompter.fields(source.schema.names)])
        return knext.Table.from_pyarrow(schema.empty_table())
    return output


def _page(source: RowSource, journal: Journal) -> str:
    from knime_ext.agent.page.batch_page import render_batch

    def rows() -> Iterator[BatchPageRow]:
        answers = journal.rows()
        for (number, row), (_, payload) in zip(source.rows([_ROW_ID]), answers, strict=False):
            yield RowAnswer.from_bytes(payload).page_row(number, row[_ROW_ID])

    return render_batch(rows(), "Answers")


def _warn(ctx: Any, progress: BatchProgress) -> None:
    if progress.failed:
        ctx.set_warning(
            f"{progress.failed:,} of {progress.done + progress.resumed:,} rows failed; the error column says why."
        )


class _Quiet:
    """The node's context, but for its progress bar: that shows rows and not single calls."""

    def __init__(self, ctx: Any) -> None:
        self._ctx = ctx

    def __getattr__(self, name: str) -> Any:
        return getattr(self._ctx, name)

    def set_progress(self, fraction: float, message: str | None = None) -> None:
        """Shows nothing."""
