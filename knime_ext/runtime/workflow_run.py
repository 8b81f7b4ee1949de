"""One run of a configured workflow: executes its nodes, keeps their outputs, remembers how they ended."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from knime_ext.errors import NodeFailed, WorkflowError
from knime_ext.runtime import events
from knime_ext.runtime.graph_configuration import GraphConfiguration, incoming_variables
from knime_ext.runtime.knext.table import Table
from knime_ext.runtime.node_results import spec_of
from knime_ext.runtime.node_runner import Executed, NodeRunner, explained
from knime_ext.runtime.plan import Plan, PlannedNode, Source
from knime_ext.runtime.port_store import PortStore
from knime_ext.runtime.redaction import Redactor
from knime_ext.runtime.reporting import Reporter
from knime_ext.runtime.result import NodeOutcome, RunFailed, RunResult, RunState
from knime_ext.runtime.run_exports import RunExports
from knime_ext.runtime.run_folder import RunFolder
from knime_ext.runtime.run_record import run_record
from knime_ext.runtime.schedule import run_plan
from knime_ext.runtime.services import Services

__all__ = ["WorkflowRun"]

_CANCELED = "the run was canceled"


@dataclass(slots=True, kw_only=True)
class WorkflowRun:
    """Executes a plan once.

    Attributes:
        name: Name of the workflow.
        plan: Its nodes in order.
        configuration: What is known of them before they execute.
        runner: Gives the runner of a node.
        services: What the run offers to nodes.
        reporter: Takes events.
        redact: Hides secrets in messages and in the record.
        folder: Where tables go.
        exports: Takes what leaves the workflow.
        keep_record: Whether run.json is written.
        stop: Asks running nodes to end.
    """

    name: str
    plan: Plan
    configuration: GraphConfiguration
    runner: Callable[[PlannedNode], NodeRunner]
    services: Services
    reporter: Reporter
    redact: Redactor
    folder: RunFolder
    exports: RunExports
    keep_record: bool
    stop: Callable[[], None]
    _store: PortStore = field(init=False)
    _nodes: dict[str, PlannedNode] = field(init=False)
    _started: str = field(init=False)
    _clock: float = field(init=False)
    _outcomes: dict[str, NodeOutcome] = field(init=False, default_factory=dict[str, NodeOutcome])
    _errors: dict[str, WorkflowError] = field(init=False, default_factory=dict[str, WorkflowError])
    _variables: dict[str, Mapping[str, Any]] = field(init=False, default_factory=dict[str, Mapping[str, Any]])

    def __post_init__(self) -> None:
        """Starts the clock."""
        self._store = PortStore(self.folder)
        self._nodes = {node.id: node for node in self.plan.nodes}
        self._started = datetime.now(UTC).isoformat(timespec="seconds")
        self._clock = time.monotonic()

    def execute(self) -> RunResult:
        """Executes all nodes and waits for them.

        Raises:
            RunFailed: A node failed.
            ConfigurationError: The record of the run cannot be written.
        """
        self._record("running")
        self.reporter.report(events.RunStarted(nodes=tuple(self._nodes)))
        try:
            run_plan(self.plan, self._run, self._skip, self.services.is_canceled, self.stop)
        except BaseException:
            # The caller's thread was interrupted; whoever reads the folder should know how the run ended.
            self._record("canceled")
            raise
        return self._finish()

    def _finish(self) -> RunResult:
        state = self._state()
        seconds = time.monotonic() - self._clock
        self._record(state, seconds)
        result = RunResult(
            state=state,
            nodes={node_id: self._outcomes[node_id] for node_id in self._nodes},
            outputs=self._store.opened(),
            workflow_outputs=self.exports.tables,
            message=self.exports.message,
            views=dict(self.exports.pages),
            seconds=seconds,
            folder=self.folder.path if self.keep_record else None,
            _files=self.folder,
        )
        self.reporter.report(events.RunFinished(state=state, seconds=seconds))
        if state == "failed":
            raise self._failure(result)
        return result

    def _state(self) -> RunState:
        states = {outcome.state for outcome in self._outcomes.values()}
        if "failed" in states:
            return "failed"
        return "canceled" if states & {"canceled", "skipped"} else "succeeded"

    def _failure(self, result: RunResult) -> RunFailed:
        """The first failure, in the order of the plan, with the names of the others."""
        first, *others = [node_id for node_id in self._nodes if self._outcomes[node_id].state == "failed"]
        also = f" (also failed: {', '.join(map(repr, others))})" if others else ""
        error = RunFailed(first, self._outcomes[first].message + also, result)
        cause = self._errors[first].__cause__ or self._errors[first]
        error.__cause__ = cause if self.redact.is_clean(cause) else None
        return error

    def _record(self, state: str, seconds: float | None = None) -> None:
        if not self.keep_record:
            return
        record = run_record(
            workflow_name=self.name,
            plan=self.plan,
            started=self._started,
            state=state,
            outcomes=self._outcomes,
            settings={node_id: each.settings for node_id, each in self.configuration.nodes.items()},
            files=self.exports.files,
            redact=self.redact,
            seconds=seconds,
            message=self.exports.message,
        )
        self.folder.write_record(record)

    def _skip(self, node_id: str, because: str) -> None:
        ended = self._outcomes.get(because)
        failed = ended is not None and ended.state == "failed"
        reason = f"node {because!r} failed" if failed else _CANCELED
        self._outcomes[node_id] = NodeOutcome(state="skipped", message=reason)
        self.reporter.report(events.NodeSkipped(node=node_id, because=reason))

    def _run(self, node_id: str) -> bool:
        """Runs a node in a thread of its own; never raises."""
        if self.services.is_canceled():
            self._skip(node_id, "")
            return False
        node = self._nodes[node_id]
        self.reporter.report(events.NodeStarted(node=node_id, name=node.shape.name))
        start = time.monotonic()
        try:
            sizes = self._execute(node)
        except WorkflowError as error:
            self._end_badly(node_id, error, time.monotonic() - start)
            return False
        seconds = time.monotonic() - start
        self._outcomes[node_id] = NodeOutcome(state="succeeded", seconds=seconds, tables=sizes)
        self.reporter.report(events.NodeFinished(node=node_id, seconds=seconds, tables=sizes))
        return True

    def _end_badly(self, node_id: str, error: WorkflowError, seconds: float) -> None:
        """Whatever a node says after it was asked to stop counts as having stopped."""
        if self.services.is_canceled():
            self._outcomes[node_id] = NodeOutcome(state="canceled", message=_CANCELED, seconds=seconds)
            self.reporter.report(events.NodeSkipped(node=node_id, because=_CANCELED))
            return
        reason = self.redact.text(error.reason if isinstance(error, NodeFailed) else str(error))
        self._errors[node_id] = error
        self._outcomes[node_id] = NodeOutcome(state="failed", message=reason, seconds=seconds)
        self.reporter.report(events.NodeFailed(node=node_id, message=reason, seconds=seconds))

    def _execute(self, node: PlannedNode) -> tuple[events.PortSize, ...]:
        runner = self.runner(node)
        variables = incoming_variables(node, self._variables)
        with explained(node.id):
            objects = [self._input(source) for source in node.inputs]
        self._reconfigure(node, runner, objects, variables)
        executed = runner.execute(objects, variables)
        with explained(node.id):
            if self.services.is_canceled():
                raise WorkflowError(_CANCELED)
            return self._keep(node, objects, executed)

    def _input(self, source: Source | tuple[Source, ...] | None) -> Any:
        if source is None:
            return None
        return self._store.get(source) if isinstance(source, Source) else [self._store.get(each) for each in source]

    def _reconfigure(
        self, node: PlannedNode, runner: NodeRunner, objects: list[Any], variables: Mapping[str, Any]
    ) -> None:
        """As in KNIME, a node is configured again with what really arrives, which may differ from what was promised."""
        if node.variables_from:
            specs = [self._specs(source, value) for source, value in zip(node.inputs, objects, strict=True)]
            self.configuration.nodes[node.id] = runner.configure(specs, variables)

    def _specs(self, source: Source | tuple[Source, ...] | None, value: Any) -> Any:
        if source is None:
            return None
        if isinstance(source, Source):
            return self._spec(source, value)
        return [self._spec(each, member) for each, member in zip(source, value, strict=True)]

    def _spec(self, source: Source, value: Any) -> Any:
        port = self.runner(self._nodes[source.node]).declaration.output_ports[source.port]
        return spec_of(value, port, self.configuration.spec(source))

    def _keep(self, node: PlannedNode, objects: list[Any], executed: Executed) -> tuple[events.PortSize, ...]:
        if objects and isinstance(objects[0], Table):
            self.exports.collect(node.id, objects[0])
        if executed.view is not None:
            self.exports.show(node.id, executed.view)
        sizes = self._store.put(node.id, executed.outputs)
        self._variables[node.id] = executed.variables
        return sizes
