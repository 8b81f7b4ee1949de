"""Runs one platform node in a workflow of its own: tables go in through Workflow Input nodes, as callers give them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from knime_ext.runtime.document import parse_workflow
from knime_ext.runtime.engine import run_workflow
from knime_ext.runtime.knext.table import Table
from knime_ext.runtime.registry import provide_knime_extension
from knime_ext.runtime.result import RunResult

provide_knime_extension()  # before the test modules import the nodes' own modules

RunNode = Callable[..., RunResult]


def _workflow(factory: str, settings: Mapping[str, Any], ports: Sequence[int], variables: Mapping[str, Any]) -> Any:
    kinds = {
        str: "StringConfiguration",
        bool: "BooleanConfiguration",
        int: "IntegerConfiguration",
        float: "DoubleConfiguration",
    }
    inputs = [
        {"id": f"in{number}", "factory": "WorkflowInput", "settings": {"parameter_name": f"in{number}"}}
        for number in range(len(ports))
    ]
    parameters = [
        {
            "id": f"set-{name}",
            "factory": kinds[type(value)],
            "settings": {"parameter_name": name, "default_value": value},
        }
        for name, value in variables.items()
    ]
    tables = [{"from": [f"in{number}", 0], "to": ["node", port]} for number, port in enumerate(ports)]
    flows = [{"from": [each["id"], "variables"], "to": ["node", "variables"]} for each in parameters]
    return {
        "name": "one node",
        "nodes": [*inputs, *parameters, {"id": "node", "factory": factory, "settings": dict(settings)}],
        "connections": tables + flows,
    }


@pytest.fixture
def run_node(tmp_path: Path) -> RunNode:
    """Runs a node with settings and input tables; relative paths start in `tmp_path`.

    The tables go to input port 0, 1, ... or to the ports given as `ports`.
    """

    def run(
        factory: str,
        settings: Mapping[str, Any] | None = None,
        *tables: pa.Table,
        ports: Sequence[int] | None = None,
        variables: Mapping[str, Any] | None = None,
    ) -> RunResult:
        taken = ports if ports is not None else range(len(tables))
        workflow = parse_workflow(_workflow(factory, settings or {}, list(taken), variables or {}))
        inputs = {f"in{number}": Table.from_pyarrow(table) for number, table in enumerate(tables)}
        return run_workflow(workflow, base_dir=tmp_path, inputs=inputs)

    return run


@pytest.fixture
def output(run_node: RunNode) -> Callable[..., pa.Table]:
    """As `run_node`, but gives the Arrow table at the node's first output, row ids included."""
    return lambda *args, **kwargs: run_node(*args, **kwargs).table("node").to_pyarrow()


@pytest.fixture
def failure(run_node: RunNode) -> Callable[..., str]:
    """As `run_node`, but gives the message of the failure, and fails itself where there is none."""
    from knime_ext.errors import WorkflowError

    def message(*args: Any, **kwargs: Any) -> str:
        with pytest.raises(WorkflowError) as caught:
            run_node(*args, **kwargs)
        return str(caught.value)

    return message
