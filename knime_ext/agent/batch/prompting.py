"""One agent run per row of a table: a template over the columns in, an answer with all that led to it out."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
from langchain_core.language_models import BaseChatModel
from langchain_core.tools import BaseTool

from knime_ext.agent.agent import FINAL_PROMPT, Agent
from knime_ext.agent.batch.journal import Journal, fingerprint
from knime_ext.agent.batch.output_fields import OutputFields
from knime_ext.agent.batch.pacing import Pacing, SharedPace
from knime_ext.agent.batch.retries import without_own_retries
from knime_ext.agent.batch.row_answer import RowAnswer
from knime_ext.agent.batch.row_runner import BatchProgress, FinishedRow, run_rows
from knime_ext.agent.batch.row_scope import RowData, row_scope
from knime_ext.agent.batch.row_source import RowSource
from knime_ext.agent.batch.templates import PromptTemplate
from knime_ext.agent.budget import Allowance, Budget, WhenExhausted
from knime_ext.agent.cancellation import Cancel
from knime_ext.agent.langchain_tools import tool_definitions
from knime_ext.agent.model_errors import model_name
from knime_ext.agent.pace import Pace
from knime_ext.agent.tool_offer import ToolCatalogue
from knime_ext.bridge import shared_bridge
from knime_ext.errors import AgentError, ConfigurationError

__all__ = ["BatchPrompter", "prompt_table"]

_FORMAT = 1
"""Changes with the form of what the journal holds."""


class BatchPrompter:
    """Asks a model once per row of a table, with tools, many rows at a time. Holds no state of a run."""

    def __init__(
        self,
        model: BaseChatModel,
        tools: Sequence[BaseTool] = (),
        *,
        prompt: str,
        system_message: str = "",
        output: OutputFields | None = None,
        keep_traces: bool | None = None,
        budget: Budget | None = None,
        when_exhausted: WhenExhausted = "answer",
        final_prompt: str = FINAL_PROMPT,
        allowance: Allowance | None = None,
        pacing: Pacing | None = None,
        data: RowData | None = None,
        tool_tokens: int | None = None,
    ) -> None:
        """Puts everything together; nothing is asked yet.

        Args:
            model: Any LangChain chat model. Retries of its own are switched off.
            tools: LangChain tools with different names, for all rows; such as `row_tools` gives.
            prompt: Template of the prompt, see `PromptTemplate`.
            system_message: Template of the instructions; none if empty.
            output: The columns for the answers, and the form of answers.
            keep_traces: Whether the journal keeps conversations; as the output does if not given.
            budget: What each row may spend; 25 turns if not given.
            when_exhausted: As in `Agent`.
            final_prompt: As in `Agent`.
            allowance: What all rows may spend together; unlimited if not given.
            pacing: Limits per model and per server, and retries.
            data: The repository that `tools` were made with, if they take tables.
            tool_tokens: As in `Agent`; every row has found nothing when it begins.

        Raises:
            ConfigurationError: A template is wrong, or two tools have the same name.
        """
        if not prompt.strip():
            raise ConfigurationError("the prompt is empty; write a text, with columns as {{ name }}.")
        self._prompt = PromptTemplate(prompt)
        self._system = PromptTemplate(system_message, what="system message")
        self._output = output or OutputFields()
        self._keeps_traces = self._output.traces if keep_traces is None else keep_traces
        self._model = without_own_retries(model)
        self._tools = list(tools)
        self._budget = budget or Budget()
        self._when_exhausted: WhenExhausted = when_exhausted
        self._final_prompt = final_prompt
        self._allowance = allowance or Allowance()
        self._pacing = pacing or Pacing()
        self._data = data
        # Rows have agents of their own where the instructions differ; the search over the tools is made once.
        self._tool_tokens = tool_tokens
        self._catalogue = ToolCatalogue({tool.name: tool for tool in self._tools}, tool_tokens)
        self._agent(Pace(), "")  # says now what is wrong with the tools

    def columns(self, there: Sequence[str]) -> list[str]:
        """The columns of the input that the templates need.

        Raises:
            ConfigurationError: A template names a column that is not there.
        """
        wanted = {*self._prompt.columns(there), *self._system.columns(there)}
        return [name for name in there if name in wanted]

    def fields(self, there: Sequence[str]) -> list[pa.Field]:
        """The columns that the output has behind those of the input.

        Raises:
            ConfigurationError: A name is missing or stands twice.
        """
        return self._output.fields(there)

    def check(self, source: RowSource) -> None:
        """Makes sure that templates and columns fit a table, before anything is asked.

        Raises:
            ConfigurationError: They do not.
        """
        self.columns(source.schema.names)
        self.fields(source.schema.names)

    def fingerprint(self, source: RowSource) -> str:
        """What tells this run over this table from every other one. Reads the columns that are used.

        Neither limits for all rows nor the speed are part of it: they may change between a run and its continuation.
        """
        there = source.schema.names
        settings = {
            "format": _FORMAT,
            "model": [type(self._model).__name__, model_name(self._model), getattr(self._model, "temperature", None)],
            "prompt": self._prompt.text,
            "system_message": self._system.text,
            "traces": self._keeps_traces,
            "form": self._output.form and [dict(self._output.form.schema), self._output.form.attempts],
            "budget": repr(self._budget),
            "when_exhausted": [self._when_exhausted, self._final_prompt],
            "tool_tokens": self._tool_tokens,
            "tools": [[definition, _place(tool)] for tool, definition in self._definitions()],
        }
        rows = source.rows(self.columns(there))
        return fingerprint(settings, (json.dumps(list(row.values()), default=str).encode() for _, row in rows))

    def _definitions(self) -> Iterator[tuple[BaseTool, Any]]:
        with row_scope():
            for tool in self._tools:
                yield tool, tool_definitions([tool])

    async def run(
        self,
        source: RowSource,
        journal: Journal,
        *,
        concurrency: int = 16,
        stop_at_first_error: bool = False,
        retry_failed: bool = False,
        progress: Callable[[BatchProgress], None] | None = None,
        cancel: Cancel | None = None,
    ) -> BatchProgress:
        """Asks for every row that the journal does not have yet.

        Args:
            source: The table.
            journal: Opened with the `fingerprint` of the whole table.
            concurrency: How many rows are worked on at a time.
            stop_at_first_error: True stops at the first row that fails; False writes its error down.
            retry_failed: Whether rows that failed in an earlier run are done again.
            progress: Told how far the run is.
            cancel: An event or a function; the run stops at once after it is set or true.

        Raises:
            RowFailed: A row failed and the run was to stop then.
            RowsCancelled: It was stopped by `cancel`.
        """
        self._look_back(journal, retry_failed=retry_failed)
        pace = SharedPace(self._pacing)
        agent = None if self._system.columns(source.schema.names) else self._agent(pace, self._system.render({}))

        async def work(number: int, cells: Mapping[str, Any]) -> FinishedRow:
            with row_scope():
                answer = await self._answered(agent, pace, cells)
            return FinishedRow(payload=answer.to_bytes(), error=answer.error, tokens=answer.tokens)

        return await run_rows(
            source.rows(self.columns(source.schema.names)),
            work,
            journal=journal,
            concurrency=concurrency,
            stop_at_first_error=stop_at_first_error,
            total=source.num_rows,
            progress=progress,
            cancel=cancel,
        )

    def _look_back(self, journal: Journal, *, retry_failed: bool) -> None:
        """Counts what earlier runs have spent, and forgets the rows that are to be done again."""
        limited = (self._allowance.tokens, self._allowance.calls) != (None, None)
        failed: list[int] = []
        for number, payload in journal.rows() if limited or retry_failed else ():
            answer = RowAnswer.from_bytes(payload)
            self._allowance.spend(tokens=answer.tokens, calls=answer.tool_calls)
            if answer.error is not None:
                failed.append(number)
        if retry_failed:
            journal.forget(failed)

    async def _answered(self, agent: Agent | None, pace: Pace, cells: Mapping[str, Any]) -> RowAnswer:
        try:
            prompt = self._prompt.render(cells)
            agent = agent or self._agent(pace, self._system.render(cells))
        except AgentError as error:
            return RowAnswer(error=str(error))
        return RowAnswer.of_run(prompt, await agent.aattempt(prompt), trace=self._keeps_traces)

    def _agent(self, pace: Pace, system_message: str) -> Agent:
        return Agent(
            self._model,
            self._tools,
            system_message=system_message,
            budget=self._budget,
            when_exhausted=self._when_exhausted,
            final_prompt=self._final_prompt,
            data=self._data,
            allowance=self._allowance,
            answer_format=self._output.form,
            pace=pace,
            catalogue=self._catalogue,
        )

    def answered(self, source: RowSource, journal: Journal) -> Iterator[pa.RecordBatch]:
        """The table with the answers behind its own columns, a few rows at a time.

        Raises:
            ConfigurationError: The journal does not have all rows.
        """
        fields = self.fields(source.schema.names)
        answers = iter(journal.rows())
        first = 0
        for batch in source.batches(source.schema.names):
            payloads = [_payload(answers, number) for number in range(first, first + batch.num_rows)]
            first += batch.num_rows
            yield self._extended(batch, [RowAnswer.from_bytes(payload) for payload in payloads], fields)

    def _extended(
        self, batch: pa.RecordBatch, answers: Sequence[RowAnswer], fields: Sequence[pa.Field]
    ) -> pa.RecordBatch:
        schema = pa.schema([*batch.schema, *fields], batch.schema.metadata)
        return pa.RecordBatch.from_arrays([*batch.columns, *self._output.arrays(answers)], schema=schema)


def _payload(answers: Iterator[tuple[int, bytes]], number: int) -> bytes:
    for found, payload in answers:
        if found == number:
            return payload
        if found > number:
            break
    raise ConfigurationError(f"row {number + 1} is not in the journal; run it again, or start afresh.")


def _place(tool: BaseTool) -> list[Any]:
    """Where a tool lives, for the fingerprint."""
    known = tool.metadata or {}
    return [known.get("server"), known.get("provider"), known.get("wire_name")]


def prompt_table(
    prompter: BatchPrompter,
    table: pa.Table,
    journal: Path,
    *,
    rows: int | None = None,
    fresh: bool = False,
    concurrency: int = 16,
    stop_at_first_error: bool = False,
    retry_failed: bool = False,
    progress: Callable[[BatchProgress], None] | None = None,
    cancel: Cancel | None = None,
) -> pa.Table:
    """Asks for every row of a table, in code that is not async; may be called in any thread.

    Args:
        prompter: What is asked, and of whom.
        table: One row per prompt.
        journal: A file for finished rows, from which the next call goes on if this one ends early. It stays.
        rows: Only the first rows; all if not given.
        fresh: Whether to forget what the journal has.
        concurrency: As in `BatchPrompter.run`.
        stop_at_first_error: As in `BatchPrompter.run`.
        retry_failed: As in `BatchPrompter.run`.
        progress: As in `BatchPrompter.run`; called in another thread.
        cancel: As in `BatchPrompter.run`.

    Returns:
        The rows with their answers.

    Raises:
        ConfigurationError: A template does not fit the table, or the journal belongs to something else.
        RowFailed: A row failed and the run was to stop then.
        RowsCancelled: It was stopped by `cancel`.
    """
    source = RowSource.of_table(table)
    prompter.check(source)
    with Journal.open(journal, fingerprint=prompter.fingerprint(source), fresh=fresh) as opened:
        wanted = source.head(rows)
        work = prompter.run(
            wanted,
            opened,
            concurrency=concurrency,
            stop_at_first_error=stop_at_first_error,
            retry_failed=retry_failed,
            progress=progress,
            cancel=cancel,
        )
        with shared_bridge() as bridge:
            bridge.run(work)
        schema = pa.schema([*table.schema, *prompter.fields(table.column_names)], table.schema.metadata)
        return pa.Table.from_batches(prompter.answered(wanted, opened), schema)
