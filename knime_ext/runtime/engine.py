"""Runs a workflow: plans it, configures all of its nodes, then executes them side by side.

Nothing executes and nothing is written unless every node could be planned, and configured as far as that is possible
before the nodes in front of it have executed.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from knime_ext.errors import NodeFailed, WorkflowError
from knime_ext.runtime.document import Workflow
from knime_ext.runtime.events import Event, NodeProgress, NodeWarning
from knime_ext.runtime.filestore import FileStore
from knime_ext.runtime.graph_configuration import GraphConfiguration, configure_graph
from knime_ext.runtime.knext.contexts import Credential
from knime_ext.runtime.knext.table import Table
from knime_ext.runtime.mcp_calls import MCPCalls
from knime_ext.runtime.node_runner import NodeRunner
from knime_ext.runtime.plan import PlannedNode, plan_workflow
from knime_ext.runtime.redaction import Redactor
from knime_ext.runtime.registry import NodeRegistry
from knime_ext.runtime.reporting import Reporter
from knime_ext.runtime.result import RunResult
from knime_ext.runtime.run_exports import RunExports
from knime_ext.runtime.run_folder import RunFolder, named_folder, temporary_directory, temporary_folder
from knime_ext.runtime.services import Services
from knime_ext.runtime.settings_overrides import overridden
from knime_ext.runtime.workflow_interface import check_names, interface_of
from knime_ext.runtime.workflow_run import WorkflowRun

if TYPE_CHECKING:
    from knime_ext.mcp import Server
    from knime_ext.runtime.person import Person

__all__ = ["Cancel", "configure_workflow", "run_prepared", "run_workflow"]


class Cancel(Protocol):
    """Tells whether a run is to end; `threading.Event` is one."""

    def is_set(self) -> bool:
        """Whether it is."""
        ...


def run_workflow(
    workflow: Workflow,
    *,
    base_dir: str | Path = ".",
    out: str | Path | None = None,
    settings: Mapping[str, Any] | None = None,
    events: Callable[[Event], None] | None = None,
    cancel: Cancel | None = None,
    inputs: Mapping[str, Table] | None = None,
    parameters: Mapping[str, Any] | None = None,
    providers: Mapping[str, Server] | None = None,
    credentials: Mapping[str, Credential] | None = None,
    registry: NodeRegistry | None = None,
    filestore: FileStore | None = None,
    person: Person | None = None,
) -> RunResult:
    """Runs a workflow and waits for its end.

    Args:
        workflow: The document.
        base_dir: The workflow's folder; relative paths in its settings start there. It is only read.
        out: Folder for the run's files; without it they are temporary.
        settings: `"NODE.PARAMETER"` to a value that replaces the document's; texts are converted.
        events: Called with every event, one at a time, from the threads of the run.
        cancel: Once it is set, running nodes are asked to stop and no further node starts.
        inputs: Tables for the workflow's Workflow Input nodes, by their parameter names.
        parameters: Values for the workflow's Configuration nodes, by their parameter names.
        providers: Registered MCP servers by name; None for those in the operator's own file.
        credentials: Credentials by name.
        registry: The nodes that can be used; those of the extension and the platform if not given.
        filestore: Where workflow tools lie; the user's own file store if not given.
        person: Who answers questions of servers and approves tool calls during the run; nobody if not given.

    Returns:
        What the run gave; its `state` is "succeeded", or "canceled" if `cancel` ended it.

    Raises:
        ConfigurationError: A file, a folder or an argument of this call is wrong. Nothing was executed or written.
        WorkflowError: The workflow cannot be planned or configured. Nothing was executed or written.
        RunFailed: A node failed; `result` has what the other branches gave.
    """
    stop = threading.Event()

    def is_canceled() -> bool:
        return stop.is_set() or (cancel is not None and cancel.is_set())

    with ExitStack() as stack:
        services = Services(
            registry=registry or NodeRegistry.load(),
            filestore=filestore or FileStore.default(),
            base_dir=Path(base_dir).absolute(),
            temp_dir=Path(stack.enter_context(temporary_directory())),
            mcp=stack.enter_context(MCPCalls(providers, is_canceled)),
            is_canceled=is_canceled,
            credentials=credentials or {},
            inputs=inputs or {},
            parameters=parameters or {},
            person=person,
            kept=None if out is None else Path(out).absolute(),
        )
        prepared = overridden(workflow, settings or {}, services.registry)
        return run_prepared(prepared, services, out=out, events=events, stop=stop.set)


def run_prepared(
    workflow: Workflow,
    services: Services,
    *,
    out: str | Path | None = None,
    events: Callable[[Event], None] | None = None,
    stop: Callable[[], None] = lambda: None,
) -> RunResult:
    """Runs a workflow for somebody who has the services of a run already: the way of workflow tools."""
    prepared = _Prepared(workflow, services, events)
    with ExitStack() as stack:
        folder = temporary_folder() if out is None else stack.enter_context(named_folder(Path(out).absolute()))
        return prepared.run(folder, keep_record=out is not None, stop=stop).execute()


def configure_workflow(workflow: Workflow, services: Services) -> GraphConfiguration:
    """Plans and configures a workflow without executing anything.

    Raises:
        WorkflowError: It cannot be planned or configured.
    """
    return _Prepared(workflow, services, None).configuration


class _Prepared:
    """A workflow that is planned and configured."""

    def __init__(self, workflow: Workflow, services: Services, listener: Callable[[Event], None] | None) -> None:
        self._workflow = workflow
        self._services = services
        self._interface = interface_of(workflow, services.registry)
        check_names("input", services.inputs, (port.name for port in self._interface.inputs))
        check_names("parameter", services.parameters, self._interface.parameters)
        self._redact = Redactor(credential.password for credential in services.credentials.values())
        self._reporter = Reporter(listener, self._redact)
        self._plan = plan_workflow(workflow, services.registry.shapes)
        self.configuration = self._configured()

    def _configured(self) -> GraphConfiguration:
        try:
            return configure_graph(self._plan, self._runner)
        except WorkflowError as error:
            if self._redact.is_clean(error):
                raise
            reason = self._redact.text(error.reason if isinstance(error, NodeFailed) else str(error))
            clean = NodeFailed(error.node, reason) if isinstance(error, NodeFailed) else WorkflowError(reason)
        raise clean

    def _runner(self, node: PlannedNode) -> NodeRunner:
        return NodeRunner(
            planned=node,
            declaration=self._services.registry.declaration(node.shape.factory),
            services=self._services,
            warn=partial(self._warn, node.id),
            report_progress=partial(self._progress, node.id),
        )

    def _warn(self, node: str, message: str) -> None:
        if self._reporter.is_new_warning(node, message):
            self._reporter.report(NodeWarning(node=node, message=message))

    def _progress(self, node: str, fraction: float, message: str | None) -> None:
        self._reporter.report(NodeProgress(node=node, fraction=fraction, message=message))

    def run(self, folder: RunFolder, *, keep_record: bool, stop: Callable[[], None]) -> WorkflowRun:
        views = [node.id for node in self._plan.nodes if self._runner(node).declaration.output_view is not None]
        return WorkflowRun(
            name=self._workflow.name,
            plan=self._plan,
            configuration=self.configuration,
            runner=self._runner,
            services=self._services,
            reporter=self._reporter,
            redact=self._redact,
            folder=folder,
            exports=RunExports(self._interface, views, folder.path if keep_record else None),
            keep_record=keep_record,
            stop=stop,
        )
