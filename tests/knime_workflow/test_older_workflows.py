"""Workflows that were saved before a node got more settings and outputs still load, run and export.

`older/` holds a document and what `knime-mcp export` made of it when the Agent Prompter had neither limits, forms of
answers and approval nor an output with the answer.
"""

from __future__ import annotations

from pathlib import Path

from knime_ext.runtime import RunResult, Workflow, load_workflow, run_workflow
from knime_ext.runtime.knime_workflow import opened_knime_workflow, read_knime_workflow, write_knime_workflow
from tests.knime_workflow.archives import unpacked, without_notes
from tests.knime_workflow.documents import REGISTRY

OLDER = Path(__file__).parent / "older"


def agent_in(workflow: Workflow) -> dict[str, object]:
    """The settings of its Agent Prompter."""
    [settings] = [node.settings for node in workflow.nodes if node.factory == "AgentPrompter"]
    return settings


def ports(workflow: Workflow) -> list[tuple[object, ...]]:
    """Where its connections begin and end, whatever the nodes are called."""
    return sorted((*wire.source[1:], *wire.target[1:]) for wire in workflow.connections)


def test_an_older_export_is_read_as_its_document() -> None:
    assert read_knime_workflow(OLDER / "agent.knwf", REGISTRY) == load_workflow(OLDER / "agent.json")


def test_an_older_export_that_knime_saved_keeps_its_settings_and_ports(tmp_path: Path) -> None:
    saved = unpacked(OLDER / "agent.knwf", tmp_path)
    without_notes(saved)
    workflow, document = read_knime_workflow(saved, REGISTRY), load_workflow(OLDER / "agent.json")
    kept = agent_in(document)
    del kept["simple_types_only"]  # the default
    assert agent_in(workflow) == kept
    assert ports(workflow) == ports(document)


def test_an_older_workflow_runs_and_exports_as_before(tmp_path: Path) -> None:
    with opened_knime_workflow(OLDER / "agent.knwf", REGISTRY) as opened:
        check(run_workflow(opened.workflow, base_dir=opened.base_dir))
        write_knime_workflow(opened.workflow, tmp_path / "again.knwf", REGISTRY, opened.base_dir)
    with opened_knime_workflow(tmp_path / "again.knwf", REGISTRY) as opened:
        check(run_workflow(opened.workflow, base_dir=opened.base_dir))


def check(result: RunResult) -> None:
    """What the workflow gave when it was saved."""
    ranking = result.workflow_outputs["result"].to_pyarrow()
    assert ranking.column_names == ["<RowID>", "customer", "orders", "revenue_usd"]
    assert ranking["revenue_usd"][0].as_py() == 18342.5
    conversation = result.workflow_outputs["conversation"]
    assert (conversation.column_names, conversation.num_rows) == (["Talk", "Problems"], 5)
