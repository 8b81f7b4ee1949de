"""Nodes in the embedded runtime: the look-alike of `knime.extension`, and the runtime's checks of what nodes return."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import knime.extension as knext

from knime_ext.runtime.knext.contexts import (
    ConfigurationContext,
    Credential,
    DialogCreationContext,
    ExecutionContext,
    NodeHost,
)
from knime_ext.runtime.knext.dialog import dialog_json
from knime_ext.runtime.knext.node_ports import PortGroup
from knime_ext.runtime.knext.settings import set_parameters
from knime_ext.runtime.knext.table import as_input
from knime_ext.runtime.node_results import checked_outputs, checked_specs, split_view
from knime_ext.runtime.registry import NodeRegistry
from tests.knime_parity.plain import each_of_group, plain_dialog, plain_page, plain_spec, plain_table
from tests.knime_parity.world import JSON, Surroundings

__all__ = ["RuntimeWorld"]


class _Context(ExecutionContext):
    """Runs workflow tools, and no tools of MCP servers: as KNIME's context does, so that both worlds take one way."""

    def __init__(self, host: NodeHost, counts: tuple[list[int], list[int]], around: Surroundings) -> None:
        super().__init__(host, {}, *counts)
        self._around = around

    def _execute_tool(
        self, tool: Any, parameters: dict[str, Any], inputs: list[Any], execution_hints: dict[str, str]
    ) -> tuple[str, list[Any], list[str]]:
        assert self._around.run_tool is not None
        message, tables = self._around.run_tool(tool, parameters, inputs, execution_hints)
        return message, tables, []


class RuntimeWorld:
    """The embedded runtime."""

    def __init__(self) -> None:
        self._registry = NodeRegistry.load()
        self._temporary = TemporaryDirectory()  # of the workflow: what a node leaves there, its next execution finds

    def dialog(self, node: str, inputs: Sequence[Any], around: Surroundings, settings: Mapping[str, Any]) -> JSON:
        """Settings, their schema and the UI schema."""
        context = DialogCreationContext(
            self._host(around, [], []), {}, [each_of_group(_spec_of, each) for each in inputs]
        )
        return _guarded(lambda: plain_dialog(dialog_json(self._instance(node, settings), context)))

    def configure(self, node: str, inputs: Sequence[Any], around: Surroundings, settings: Mapping[str, Any]) -> JSON:
        """Specs and warnings, or the error."""

        def run() -> JSON:
            warnings: list[str] = []
            specs = self._configured(node, inputs, around, settings, warnings)
            return {"specs": [each_of_group(plain_spec, spec) for spec in specs], "warnings": warnings}

        return _guarded(run)

    def execute(self, node: str, inputs: Sequence[Any], around: Surroundings, settings: Mapping[str, Any]) -> JSON:
        """Outputs, page, warnings, progress and tool calls, or the error."""

        def run() -> JSON:
            warnings: list[str] = []
            progress: list[list[Any]] = []
            promised = self._configured(node, inputs, around, settings, warnings)
            outputs, view = self._executed(node, inputs, around, settings, warnings, progress)
            return {
                "outputs": [each_of_group(_output, output) for output in outputs],
                "page": plain_page(view),
                "warnings": warnings,
                "progress": progress,
                "broken promises": _broken_promises(promised, outputs),
            }

        return _guarded(run)

    def table(self, node: str, settings: Mapping[str, Any]) -> Any:
        """The table that a node without inputs gives."""
        return self._executed(node, [], Surroundings(), settings, [], [])[0][0]

    def _instance(self, node: str, settings: Mapping[str, Any]) -> Any:
        instance = self._registry.declaration(node).create()
        set_parameters(instance, dict(settings))
        return instance

    def _host(self, around: Surroundings, warnings: list[str], progress: list[list[Any]]) -> NodeHost:
        def report(fraction: float, message: str | None) -> None:
            progress.append([fraction, message])

        return NodeHost(
            credentials={name: Credential(*pair, name) for name, pair in around.credentials.items()},
            warn=warnings.append,
            report_progress=report,
            is_canceled=lambda: around.canceled,
            temp_dir=Path(self._temporary.name),
            node_dir=Path(self._temporary.name),
        )

    def _counts(self, node: str, inputs: Sequence[Any], around: Surroundings) -> tuple[list[int], list[int]]:
        declaration = self._registry.declaration(node)
        taken = [len(each) if isinstance(each, list) else 1 for each in inputs]  # pyright: ignore[reportUnknownArgumentType]
        given = [around.data_outputs if isinstance(port, PortGroup) else 1 for port in declaration.output_ports]
        return taken, given

    def _configured(
        self,
        node: str,
        inputs: Sequence[Any],
        around: Surroundings,
        settings: Mapping[str, Any],
        warnings: list[str],
    ) -> tuple[Any, ...]:
        counts = self._counts(node, inputs, around)
        context = ConfigurationContext(self._host(around, warnings, []), {}, *counts)
        specs = [each_of_group(_spec_of, each) for each in inputs]
        returned = self._instance(node, settings).configure(context, *specs)
        return checked_specs(returned, self._registry.declaration(node), counts[1])

    def _executed(
        self,
        node: str,
        inputs: Sequence[Any],
        around: Surroundings,
        settings: Mapping[str, Any],
        warnings: list[str],
        progress: list[list[Any]],
    ) -> tuple[tuple[Any, ...], str | None]:
        declaration, counts = self._registry.declaration(node), self._counts(node, inputs, around)
        context = _Context(self._host(around, warnings, progress), counts, around)
        arrived = [each_of_group(_arrived, each) for each in inputs]
        returned, view = split_view(self._instance(node, settings).execute(context, *arrived), declaration)
        return checked_outputs(returned, declaration, counts[1]), view


def _guarded(run: Callable[[], JSON]) -> JSON:
    try:
        return run()
    except knext.InvalidParametersError as error:
        return {"error": str(error)}


def _arrived(value: Any) -> Any:
    return as_input(value) if isinstance(value, knext.Table) else value


def _spec_of(value: Any) -> Any:
    if isinstance(value, knext.Table):
        return value.schema
    return value.spec if isinstance(value, knext.PortObject) else value


def _output(output: Any) -> JSON:
    return plain_table(output) if isinstance(output, knext.Table) else plain_spec(output.spec)


def _broken_promises(promised: Sequence[Any], outputs: Sequence[Any]) -> list[str]:
    pairs = [(spec, table) for spec, table in zip(promised, outputs, strict=True) if isinstance(spec, knext.Schema)]
    return [f"{spec} was promised, {table.schema} came" for spec, table in pairs if table.schema != spec]
