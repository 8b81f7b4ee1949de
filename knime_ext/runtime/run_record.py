"""The run.json of a run folder: what ran, how it ended, which files belong to it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from knime_ext.runtime.plan import Plan
from knime_ext.runtime.redaction import Redactor
from knime_ext.runtime.result import NodeOutcome

__all__ = ["run_record"]


def _node(outcome: NodeOutcome | None, settings: Mapping[str, Any] | None, redact: Redactor) -> dict[str, Any]:
    state: dict[str, Any] = {"state": "waiting"} if outcome is None else asdict(outcome)
    shown = {name: value for name, value in state.items() if value not in ("", ())}
    shown |= {"seconds": round(outcome.seconds, 6)} if outcome is not None else {}
    return shown | ({} if settings is None else {"settings": redact.tree(settings)})


def run_record(
    *,
    workflow_name: str,
    plan: Plan,
    started: str,
    state: str,
    outcomes: Mapping[str, NodeOutcome],
    settings: Mapping[str, Mapping[str, Any]],
    files: Mapping[str, Any],
    redact: Redactor,
    seconds: float | None = None,
    message: str | None = None,
) -> dict[str, Any]:
    """The content of run.json.

    Args:
        workflow_name: Name of the workflow.
        plan: Its nodes.
        started: Time of the start, ISO 8601 with time zone.
        state: "running", "succeeded", "failed" or "canceled".
        outcomes: How the nodes ended that have ended.
        settings: Parameters of the configured nodes, by node.
        files: "outputs" and "views": name to kind to file name.
        redact: Hides secrets.
        seconds: Time of the whole run.
        message: What arrived at the Tool Message Output node.
    """
    nodes = {
        node.id: {
            "name": node.shape.name,
            "factory": node.shape.factory,
            **_node(outcomes.get(node.id), settings.get(node.id), redact),
        }
        for node in plan.nodes
    }
    return {
        "format": 1,
        "workflow": workflow_name,
        "state": state,
        "started": started,
        "seconds": None if seconds is None else round(seconds, 6),
        "message": message if message is None else redact.text(message),
        "nodes": nodes,
        "outputs": files.get("outputs", {}),
        "views": files.get("views", {}),
    }
