"""Configures every node of a plan, in order, before anything executes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from knime_ext.runtime.node_runner import Configured, NodeRunner
from knime_ext.runtime.plan import Plan, PlannedNode, Source

__all__ = ["GraphConfiguration", "configure_graph", "incoming_variables"]


@dataclass(slots=True, kw_only=True)
class GraphConfiguration:
    """The specs and flow variables of a workflow's nodes, as far as they are known.

    Attributes:
        nodes: Identifier to what `configure` gave. Nodes whose inputs are not known yet are absent.
    """

    nodes: dict[str, Configured] = field(default_factory=dict[str, Configured])

    def spec(self, source: Source) -> Any:
        """The spec on an output; None if it is not known."""
        configured = self.nodes.get(source.node)
        if configured is None:
            return None
        spec = configured.specs[source.port]
        if not isinstance(spec, list):
            return spec
        members = cast("list[Any]", spec)
        return members[source.slot] if source.slot < len(members) else None

    def inputs(self, node: PlannedNode) -> list[Any] | None:
        """The specs at the inputs of a node; None if one of them is not known yet."""
        specs: list[Any] = []
        for source in node.inputs:
            if source is None:
                specs.append(None)
                continue
            group = not isinstance(source, Source)
            found = [self.spec(each) for each in (source if group else (source,))]
            if any(spec is None for spec in found):
                return None
            specs.append(found if group else found[0])
        return specs


def incoming_variables(node: PlannedNode, variables: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """The flow variables that arrive at a node; of two with the same name the first one wins.

    Args:
        node: The node.
        variables: Flow variables that leave each node.
    """
    arriving: dict[str, Any] = {}
    for source in reversed(node.variables_from):
        arriving |= variables.get(source, {})
    return arriving


def configure_graph(plan: Plan, runner: Callable[[PlannedNode], NodeRunner]) -> GraphConfiguration:
    """Configures all nodes whose inputs are known; the others follow when those before them have executed.

    Raises:
        WorkflowError: A setting is wrong, or a node cannot be configured.
    """
    done = GraphConfiguration()
    for node in plan.nodes:
        variables = {source: done.nodes[source].variables for source in node.variables_from if source in done.nodes}
        specs = done.inputs(node)
        if specs is not None and len(variables) == len(node.variables_from):
            done.nodes[node.id] = runner(node).configure(specs, incoming_variables(node, variables))
    return done
