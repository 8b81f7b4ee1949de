"""Runs a workflow for a person at a terminal: progress, conversation, results, and where they are."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from rich.markup import escape
from rich.table import Table as RichTable

from knime_ext.cli.conversation import print_conversation
from knime_ext.cli.conversation_cells import messages_in, tool_kinds
from knime_ext.cli.progress import Watch, watched
from knime_ext.cli.terminal import console, counted
from knime_ext.runtime import NodeRegistry, load_workflow, run_workflow
from knime_ext.runtime.knime_workflow import is_knime_workflow, opened_knime_workflow
from knime_ext.runtime.readable_cells import csv_columns

if TYPE_CHECKING:
    from knime_ext.runtime import RunResult, Workflow
    from knime_ext.runtime.knext.contexts import Credential
    from knime_ext.runtime.knext.table import Table
    from knime_ext.runtime.knime_workflow import OpenedWorkflow
    from knime_ext.runtime.person import Person

__all__ = ["run_and_print"]

_AGENT = "AgentPrompter"
_TOOLS_INPUT = 1
_SHOWN_ROWS = 10
_LONGEST_CELL = 60


def run_and_print(
    path: Path, settings: Mapping[str, Any], out: Path | None, credentials: Mapping[str, Credential] | None = None
) -> None:
    """Runs a workflow and prints what came of it.

    Args:
        path: The workflow document, or a workflow in KNIME's own format.
        settings: "node.param" to value; texts are converted to the parameter's type.
        out: Folder for the results; None keeps nothing.
        credentials: Credentials by name.

    Raises:
        KnimeExtError: The workflow cannot run, or a node failed.
        KeyboardInterrupt: The user stopped it; everything has ended by then.
    """
    with ExitStack() as stack:
        if not is_knime_workflow(path):
            workflow, base_dir, opened = load_workflow(path), path.resolve().parent, None
        else:
            opened = stack.enter_context(opened_knime_workflow(path, NodeRegistry.load()))
            workflow, base_dir = opened.workflow, opened.base_dir
        with watched() as show:
            result = run_workflow(
                workflow,
                out=out,
                base_dir=base_dir,
                settings=settings,
                events=show,
                credentials=credentials or {},
                person=_person(show),
            )
        if opened is not None:
            _keep_written_files(opened, out)
    _print_result(workflow, result)
    _print_files(result, out)


def _person(show: Watch) -> Person | None:
    if not sys.stdin.isatty():
        return None
    from knime_ext.cli.questions import person_at_terminal  # MCP is heavy, and not every workflow needs it

    return person_at_terminal(show.aside)


def _keep_written_files(opened: OpenedWorkflow, out: Path | None) -> None:
    """A .knwf file runs out of a temporary folder: what its nodes wrote there goes along with the results."""
    if out is not None:
        opened.keep_written_files(out / "data")
    elif opened.temporary and (lost := opened.written_files()):
        names = ", ".join(map(str, lost))
        print(f"The workflow wrote {names} beside itself; give --out DIR to keep it.", file=sys.stderr)


def _print_result(workflow: Workflow, result: RunResult) -> None:
    for node in workflow.nodes:
        if node.factory == _AGENT:
            _print_agent(workflow, result, node.id)
    for name, table in result.workflow_outputs.items():
        if not messages_in(table):  # conversations are printed already
            _print_table(name, table)
    if result.message is not None:
        print(f"Message: {result.message}")


def _print_agent(workflow: Workflow, result: RunResult, agent: str) -> None:
    if result.nodes[agent].state != "succeeded":
        return
    ends = [each.source for each in workflow.connections if each.target == (agent, _TOOLS_INPUT)]
    kinds = tool_kinds(result.table(node, int(port), slot) for node, port, slot in ends)
    console().print()
    print_conversation(messages_in(result.table(agent)), kinds)


def _cell(text: str) -> str:
    line = " ".join(text.split())
    return escape(line if len(line) <= _LONGEST_CELL else line[: _LONGEST_CELL - 1] + "…")


def _print_table(name: str, table: Table) -> None:
    """The first rows of a table."""
    out = console()
    data = table.to_pyarrow().slice(0, _SHOWN_ROWS)
    numbers = {
        field.name for field in data.schema if pa.types.is_integer(field.type) or pa.types.is_floating(field.type)
    }
    columns = csv_columns(data)
    shown = RichTable(box=None, header_style="bold", padding=(0, 2, 0, 0), pad_edge=False)
    for column in columns:
        shown.add_column(escape(column), justify="right" if column in numbers else "left")
    for row in zip(*columns.values(), strict=True):
        shown.add_row(*map(_cell, row))
    more = f", the first {_SHOWN_ROWS}" if table.num_rows > _SHOWN_ROWS else ""
    out.print(f"[bold]{escape(name)}[/bold] [dim]({counted(table.num_rows, 'row')}{more})[/dim]")
    out.print(shown)
    out.print()


def _print_files(result: RunResult, out: Path | None) -> None:
    if out is None:
        print("Nothing was kept; --out DIR keeps tables and pages.", file=sys.stderr)
        return
    console().print(f"Written to [bold]{escape(str(out))}[/bold]")
    for name in result.workflow_outputs:
        print(f"  {name}.arrow, {name}.csv")
    for node in result.views:
        print(f"  {node}.html")
    print("  nodes/, run.json")
