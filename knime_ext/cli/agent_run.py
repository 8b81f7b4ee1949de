"""Asks an agent for every row of a table in a file, and writes the answers into another."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from knime_ext.agent import Allowance, Budget
from knime_ext.agent.batch.journal import Journal
from knime_ext.agent.batch.output_fields import OutputFields
from knime_ext.agent.batch.pacing import Pacing
from knime_ext.agent.batch.prompting import BatchPrompter
from knime_ext.agent.batch.row_answer import RowAnswer
from knime_ext.agent.batch.row_runner import BatchProgress
from knime_ext.agent.batch.row_scope import RowData, row_tools
from knime_ext.agent.batch.row_source import RowSource
from knime_ext.bridge import shared_bridge
from knime_ext.cli.batch_progress import shown_progress
from knime_ext.cli.model_option import chat_model_of
from knime_ext.cli.row_files import checked_suffix, read_rows, write_rows
from knime_ext.cli.terminal import counted
from knime_ext.cli.tool_file import read_tools
from knime_ext.errors import ConfigurationError
from knime_ext.runtime import tool_context

if TYPE_CHECKING:
    from knime.types.tool import Tool
    from knime_ext.agent.answer_format import AnswerField, AnswerFormat
    from knime_ext.agent.budget import WhenExhausted
    from knime_ext.mcp.tool_config import ToolConfig

__all__ = ["AgentOptions", "answer_form", "prompt_file"]


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentOptions:
    """What the words of `knime-mcp agent` mean."""

    prompts: Path
    out: Path
    prompt: str
    system: str
    answer: str
    model: str
    base_url: str | None
    key_variable: str | None
    tools: tuple[Path, ...]
    tool_column: str | None
    aliases: tuple[str, ...]
    tool_tokens: int | None
    concurrency: int
    rows: int | None
    max_turns: int | None
    max_calls: int | None
    max_seconds: float | None
    call_seconds: float | None
    total_tokens: int | None
    total_calls: int | None
    when_exhausted: WhenExhausted
    stop_at_first_error: bool
    fresh: bool
    retry_failed: bool
    traces: bool
    form: AnswerFormat | None
    pacing: Pacing
    html: Path | None

    @property
    def journal(self) -> Path:
        """Where finished rows are kept until all are finished."""
        return self.out.with_name(f"{self.out.name}.journal")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Tools:
    """The tools of a run, and the configurations that some of them come from."""

    rows: Sequence[Tool]
    configs: Sequence[ToolConfig]

    def limit(self, given: Any, field: str) -> Any:
        """What an option says, else the strictest of the configurations, else None."""
        configured = [limit for config in self.configs if (limit := getattr(config, field)) is not None]
        return min(configured, default=None) if given is None else given


def prompt_file(options: AgentOptions) -> None:
    """Does everything: reads, asks, writes, and says what came of it.

    Raises:
        ConfigurationError: A file, a template or an option is wrong; nothing was asked.
        RowFailed: A row failed and the run was to stop then.
    """
    checked_suffix(options.out)
    source = read_rows(options.prompts)
    model = chat_model_of(options.model, base_url=options.base_url, key_variable=options.key_variable)
    tools = _tools(options)
    data = RowData()
    with tool_context() as context:
        prompter = BatchPrompter(
            model,
            row_tools(tools.rows, context, data=data),
            prompt=options.prompt,
            system_message=options.system,
            output=OutputFields(answer=options.answer, traces=options.traces, form=options.form),
            budget=_budget(options, tools),
            when_exhausted=options.when_exhausted,
            allowance=Allowance(
                tokens=tools.limit(options.total_tokens, "max_table_tokens"),
                calls=tools.limit(options.total_calls, "max_table_tool_calls"),
            ),
            pacing=options.pacing,
            data=data,
            tool_tokens=options.tool_tokens,
        )
        fields = prompter.fields(source.schema.names)
        identity = prompter.fingerprint(source)
        with Journal.open(options.journal, fingerprint=identity, fresh=options.fresh) as journal:
            wanted = source.head(options.rows)
            summary = _ask(prompter, wanted, journal, options)
            schema = pa.schema([*source.schema, *fields], source.schema.metadata)
            rows = write_rows(options.out, schema, prompter.answered(wanted, journal))
            failures = _finish(journal, rows, options)
    _report(summary, rows, failures, options)


def answer_form(fields: Sequence[str], schema: Path | None) -> AnswerFormat | None:
    """The form of answers that the options describe; None for plain text.

    Raises:
        ConfigurationError: A field or the schema is wrong, or both are given.
    """
    from knime_ext.agent.answer_format import AnswerFormat

    if schema is None:
        return AnswerFormat.of_fields([_answer_field(word) for word in fields]) if fields else None
    if fields:
        raise ConfigurationError("give the form of answers either with --field or with --schema, not both.")
    try:
        return AnswerFormat.of_schema(json.loads(schema.read_text("utf-8")))
    except OSError as error:
        raise ConfigurationError(f"the file {str(schema)!r} cannot be read: {error.strerror or error}.") from None
    except ValueError as error:
        raise ConfigurationError(f"the file {str(schema)!r} is no JSON: {error}.") from None


def _answer_field(word: str) -> AnswerField:
    from knime_ext.agent.answer_format import AnswerField

    name, _, rest = word.partition(":")
    kind, _, description = rest.partition(":")
    return AnswerField(name.strip(), kind or "string", description.strip())


def _tools(options: AgentOptions) -> _Tools:
    rows: list[Tool] = []
    configs: list[ToolConfig] = []
    for file in options.tools:
        found = read_tools(file, options.tool_column)
        if found.damaged:
            raise found.damaged[0]
        rows += [tool for tool in found.tools if tool is not None]
    for alias in options.aliases:
        from knime_ext.mcp.alias_tools import tools_of_alias

        with shared_bridge() as bridge:
            known = bridge.run(tools_of_alias(alias))
        for provider, problem in known.problems.items():
            print(f"Warning: the tools of {provider!r} are missing: {problem}", file=sys.stderr)
        rows += known.tools
        configs.append(known.config)
    return _Tools(rows=rows, configs=configs)


def _budget(options: AgentOptions, tools: _Tools) -> Budget:
    turns = tools.limit(options.max_turns, "max_tool_call_turns")
    return Budget(
        turns=Budget().turns if turns is None else turns,
        calls=tools.limit(options.max_calls, "max_tool_calls"),
        seconds=tools.limit(options.max_seconds, "run_timeout_sec"),
        seconds_per_call=tools.limit(options.call_seconds, "timeout_sec"),
    )


def _ask(prompter: BatchPrompter, source: RowSource, journal: Journal, options: AgentOptions) -> BatchProgress:
    with shared_bridge() as bridge, shown_progress() as show:
        return bridge.run(
            prompter.run(
                source,
                journal,
                concurrency=options.concurrency,
                stop_at_first_error=options.stop_at_first_error,
                # A failure that an earlier run wrote down would not be noticed.
                retry_failed=options.retry_failed or options.stop_at_first_error,
                progress=show,
            )
        )


@dataclass(frozen=True, slots=True)
class _Failures:
    """How many rows failed, and how many have an answer with calls behind it that failed."""

    rows: int
    calls: int


def _finish(journal: Journal, rows: int, options: AgentOptions) -> _Failures:
    """Writes the page; removes the journal if nobody needs it any more."""
    failed = answered = 0
    for _, answer in _answers(journal, rows):
        failed += answer.error is not None
        answered += answer.error is None and answer.failed_calls > 0
    if options.html is not None:
        from knime_ext.agent.page.batch_page import render_batch
        from knime_ext.runtime.atomic import write_text

        page = render_batch((answer.page_row(number) for number, answer in _answers(journal, rows)), options.out.stem)
        write_text(options.html, page)
    # Rows of a preview, and rows that may be tried again, would be asked for twice without it.
    if failed == 0 and options.rows is None:
        journal.remove()
    return _Failures(failed, answered)


def _answers(journal: Journal, rows: int) -> Iterator[tuple[int, RowAnswer]]:
    return ((number, RowAnswer.from_bytes(payload)) for number, payload in journal.rows() if number < rows)


def _report(summary: BatchProgress, rows: int, failures: _Failures, options: AgentOptions) -> None:
    before = f", {summary.resumed:,} of them before" if summary.resumed else ""
    tokens = f", {summary.tokens:,} tokens" if summary.tokens else ""
    print(
        f"{counted(rows, 'row')}{before}, {failures.rows:,} failed{tokens}, "
        f"{summary.seconds:.1f} s ({summary.rows_per_second:.1f} rows/s)",
        file=sys.stderr,
    )
    if failures.calls:
        where = "--html PAGE.html shows them" if options.traces else "without --no-traces, --html PAGE.html shows them"
        print(f"{counted(failures.calls, 'answer')} came about with failed tool calls; {where}.", file=sys.stderr)
    if failures.rows:
        again = counted(failures.rows, "row")
        print(f"Run it again with --retry-failed to ask for the {again} again.", file=sys.stderr)
    print(f"Written to {options.out}")
