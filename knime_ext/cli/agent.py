"""`knime-mcp agent`: one agent run per row of a table."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from knime_ext.cli.failures import ends_well
from knime_ext.cli.model_option import BaseURLOption, KeyVariableOption, ModelOption

__all__ = ["agent"]


class OnError(StrEnum):
    """What a row that fails does to the others."""

    COLUMN = "column"
    FAIL = "fail"


class WhenExhausted(StrEnum):
    """What happens when a limit is used up and the model still asks for tools."""

    ANSWER = "answer"
    REFUSE = "refuse"
    FAIL = "fail"


def agent(
    ctx: typer.Context,
    prompts: Annotated[
        Path, typer.Argument(metavar="PROMPTS", help="The table: a .csv, .parquet or .arrow file, one prompt per row.")
    ],
    prompt: Annotated[
        str, typer.Option("--prompt", help="The prompt, with columns as {{ name }} or {{ row['Any name'] }}.")
    ],
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="File for the answers: .parquet, .arrow or .csv.")],
    model: ModelOption,
    base_url: BaseURLOption = None,
    api_key_env: KeyVariableOption = None,
    system: Annotated[str, typer.Option("--system", help="Instructions for the model, with columns likewise.")] = "",
    tools: Annotated[
        list[Path] | None, typer.Option("--tools", metavar="FILE.arrow", help="A table of tools. May be repeated.")
    ] = None,
    tool_column: Annotated[
        str | None, typer.Option("--tool-column", help="Its column; the first column of tools by default.")
    ] = None,
    tool_alias: Annotated[
        list[str] | None,
        typer.Option("--tool-alias", metavar="NAME", help="Tools of `knime-mcp config tools`. May be repeated."),
    ] = None,
    tool_tokens: Annotated[
        int | None,
        typer.Option(
            "--tool-tokens", help="If the definitions of the tools have more tokens, the model searches them.", min=0
        ),
    ] = None,
    answer: Annotated[str, typer.Option("--answer", metavar="COLUMN", help="Name of the answer column.")] = "answer",
    rows: Annotated[int | None, typer.Option("--rows", help="Preview: the first rows only.", min=1)] = None,
    concurrency: Annotated[int, typer.Option("--concurrency", help="Rows at a time.", min=1, max=1000)] = 16,
    on_error: Annotated[
        OnError, typer.Option("--on-error", help="Write a row's failure into its error column, or stop.")
    ] = OnError.COLUMN,
    max_turns: Annotated[
        int | None, typer.Option("--max-turns", help="Replies of the model per row that may ask for tools.", min=0)
    ] = None,
    max_calls: Annotated[int | None, typer.Option("--max-calls", help="Tool calls per row.", min=0)] = None,
    max_seconds: Annotated[float | None, typer.Option("--max-seconds", help="Seconds per row.", min=0.1)] = None,
    call_seconds: Annotated[
        float | None, typer.Option("--call-seconds", help="Seconds per tool call.", min=0.1)
    ] = None,
    when_exhausted: Annotated[
        WhenExhausted,
        typer.Option(
            "--when-exhausted",
            help="After a limit: a last answer without tools, refusals until it answers, or failure.",
        ),
    ] = WhenExhausted.ANSWER,
    total_tokens: Annotated[int | None, typer.Option("--total-tokens", help="Tokens of all rows.", min=0)] = None,
    total_calls: Annotated[int | None, typer.Option("--total-calls", help="Tool calls of all rows.", min=0)] = None,
    model_concurrency: Annotated[
        int | None, typer.Option("--model-concurrency", help="Requests to the model at a time.", min=1)
    ] = None,
    model_per_minute: Annotated[
        float | None, typer.Option("--model-per-minute", help="Requests to the model per minute.", min=0.1)
    ] = None,
    server_concurrency: Annotated[
        int | None, typer.Option("--server-concurrency", help="Calls to each MCP server at a time.", min=1)
    ] = None,
    server_per_minute: Annotated[
        float | None, typer.Option("--server-per-minute", help="Calls to each MCP server per minute.", min=0.1)
    ] = None,
    attempts: Annotated[
        int, typer.Option("--attempts", help="How often the model is asked when it is overloaded.", min=1)
    ] = 6,
    fresh: Annotated[bool, typer.Option("--fresh", help="Forget what an earlier run has finished.")] = False,
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="Ask again for rows that failed in an earlier run.")
    ] = False,
    traces: Annotated[bool, typer.Option("--traces/--no-traces", help="Keep the conversations.")] = True,
    fields: Annotated[
        list[str] | None,
        typer.Option(
            "--field",
            metavar="NAME[:TYPE[:DESCRIPTION]]",
            help="A value that answers must have; it becomes a column. Types: string, integer, number, boolean, and "
            "lists of them such as string[]. May be repeated.",
        ),
    ] = None,
    schema: Annotated[
        Path | None, typer.Option("--schema", metavar="FILE.json", help="JSON Schema that answers must fit, instead.")
    ] = None,
    html: Annotated[
        Path | None, typer.Option("--html", metavar="PAGE.html", help="Also write a page to look at.")
    ] = None,
) -> None:
    """Ask an agent once per row of a table; the same command goes on where it was stopped."""
    with ends_well(ctx.obj):
        from knime_ext.agent.batch.pacing import Pacing
        from knime_ext.agent.batch.retries import Retries
        from knime_ext.cli.agent_run import AgentOptions, answer_form, prompt_file

        prompt_file(
            AgentOptions(
                prompts=prompts,
                out=out,
                prompt=prompt,
                system=system,
                answer=answer,
                model=model,
                base_url=base_url,
                key_variable=api_key_env,
                tools=tuple(tools or ()),
                tool_column=tool_column,
                aliases=tuple(tool_alias or ()),
                tool_tokens=tool_tokens,
                concurrency=concurrency,
                rows=rows,
                max_turns=max_turns,
                max_calls=max_calls,
                max_seconds=max_seconds,
                call_seconds=call_seconds,
                total_tokens=total_tokens,
                total_calls=total_calls,
                when_exhausted=when_exhausted.value,  # pyright: ignore[reportArgumentType]
                stop_at_first_error=on_error is OnError.FAIL,
                fresh=fresh,
                retry_failed=retry_failed,
                traces=traces,
                form=answer_form(fields or [], schema),
                pacing=Pacing(
                    model_concurrency=model_concurrency,
                    model_per_minute=model_per_minute,
                    server_concurrency=server_concurrency,
                    server_per_minute=server_per_minute,
                    retries=Retries(attempts=attempts),
                ),
                html=html,
            )
        )
