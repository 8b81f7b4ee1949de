"""One node of a run: makes its instance, sets its parameters, configures it and executes it.

As in KNIME, every step gets a fresh instance, so nodes cannot hand anything from `configure` to `execute` in
themselves.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Generator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from knime_ext.errors import KnimeExtError, NodeFailed, WorkflowError
from knime_ext.runtime.execution_context import EmbeddedConfigurationContext, EmbeddedExecutionContext
from knime_ext.runtime.knext.contexts import NodeHost
from knime_ext.runtime.knext.nodes import NodeDeclaration
from knime_ext.runtime.knext.settings import get_parameters, set_parameters
from knime_ext.runtime.nearest import did_you_mean
from knime_ext.runtime.node_results import checked_outputs, checked_specs, split_view
from knime_ext.runtime.plan import PlannedNode, Source
from knime_ext.runtime.services import Services
from knime_ext.runtime.settings_overrides import with_setting

__all__ = ["Configured", "Executed", "NodeRunner", "explained"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Configured:
    """A configured node.

    Attributes:
        specs: One per output port; a list for a group, None where nothing is known yet.
        variables: Flow variables for the nodes after it.
        settings: The parameters with which it was configured.
    """

    specs: tuple[Any, ...]
    variables: Mapping[str, Any]
    settings: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Executed:
    """An executed node.

    Attributes:
        outputs: One per output port; a list for a group.
        view: The HTML page of its view, None if it has none.
        variables: Flow variables for the nodes after it.
    """

    outputs: tuple[Any, ...]
    view: str | None
    variables: Mapping[str, Any]


@contextlib.contextmanager
def explained(node: str) -> Generator[None]:
    """Turns any error of a node into `NodeFailed`; the original stays its cause."""
    try:
        yield
    except NodeFailed as error:
        # A workflow within this node; its own node's name means nothing out here without the sentence around it.
        raise NodeFailed(node, str(error)) from error
    except KnimeExtError as error:
        raise NodeFailed(node, str(error)) from error
    except OSError as error:
        place = f" {str(error.filename)!r}" if error.filename else ""
        reason = f"{type(error).__name__}: {error.strerror or error}{place}; check that it exists and may be used"
        raise NodeFailed(node, reason) from error
    # A node that calls sys.exit, or lets a cancelled coroutine through, has failed; the run goes on without it.
    except (Exception, SystemExit, asyncio.CancelledError) as error:
        text = str(error)
        raise NodeFailed(node, f"{type(error).__name__}: {text}" if text else type(error).__name__) from error


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeRunner:
    """Configures and executes one node.

    Attributes:
        planned: The node with its connections.
        declaration: What it is.
        services: What the run offers.
        warn: Takes its warnings.
        report_progress: Takes its progress: a fraction and a message or None.
    """

    planned: PlannedNode
    declaration: NodeDeclaration
    services: Services
    warn: Callable[[str], None]
    report_progress: Callable[[float, str | None], None]

    @property
    def title(self) -> str:
        """The node for messages: identifier and name."""
        return f"node {self.planned.id!r} ({self.declaration.name})"

    def configure(self, specs: Sequence[Any], variables: Mapping[str, Any]) -> Configured:
        """Runs `configure`.

        Args:
            specs: One per input port; None if unconnected, a list for a group.
            variables: Flow variables that arrive.

        Raises:
            WorkflowError: A setting is wrong.
            NodeFailed: The node cannot be configured.
        """
        node = self._instance(variables)
        context = EmbeddedConfigurationContext(self.services, self._host(), variables, *self._counts())
        with explained(self.planned.id):
            returned = node.configure(context, *specs)
            checked = checked_specs(returned, self.declaration, self.planned.output_slots)
        return Configured(specs=checked, variables=dict(context.flow_variables), settings=get_parameters(node))

    def execute(self, objects: Sequence[Any], variables: Mapping[str, Any]) -> Executed:
        """Runs `execute`.

        Args:
            objects: One per input port; None if unconnected, a list for a group.
            variables: Flow variables that arrive.

        Raises:
            NodeFailed: The node failed.
        """
        node = self._instance(variables)
        context = EmbeddedExecutionContext(self.services, self._host(), variables, *self._counts())
        with explained(self.planned.id):
            returned, view = split_view(node.execute(context, *objects), self.declaration)
            outputs = checked_outputs(returned, self.declaration, self.planned.output_slots)
        return Executed(outputs=outputs, view=view, variables=dict(context.flow_variables))

    def _instance(self, variables: Mapping[str, Any]) -> Any:
        with explained(self.planned.id):
            node = self.declaration.create()
        try:
            set_parameters(node, self._settings(node, variables))
        except KnimeExtError as error:
            raise WorkflowError(f"settings of {self.title}: {error}") from error
        except Exception as error:
            raise WorkflowError(f"settings of {self.title}: {type(error).__name__}: {error}; correct them") from error
        return node

    def _settings(self, node: Any, variables: Mapping[str, Any]) -> dict[str, Any]:
        """The settings of the document, with what flow variables control."""
        settings = deepcopy(self.planned.spec.settings)
        controlled = self.planned.spec.flow_variables
        if not controlled:
            return settings
        for path, variable in controlled.items():
            if variable not in variables:
                hint = did_you_mean(variable, variables, kind="flow variables that arrive here")
                raise WorkflowError(
                    f"parameter {path!r} is controlled by the flow variable {variable!r}, which does not arrive; {hint}"
                )
            settings = with_setting(settings, node, path, variables[variable])
        return settings

    def _counts(self) -> tuple[list[int], list[int]]:
        """Connections per input and per output port; 1 for every port that is no group."""
        inputs = [1 if source is None or isinstance(source, Source) else len(source) for source in self.planned.inputs]
        return inputs, list(self.planned.output_slots)

    def _host(self) -> NodeHost:
        return NodeHost(
            credentials=self.services.credentials,
            warn=self.warn,
            report_progress=self.report_progress,
            is_canceled=self.services.is_canceled,
            temp_dir=self.services.temp_dir,
            workflow_dir=self.services.base_dir,
            home_dir=self.services.filestore.folder.parent,
            node_dir=self.services.node_folder(self.planned.id),
        )
