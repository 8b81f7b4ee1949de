"""Nodes under KNIME's own Python code, through the harness that stands for KNIME's Java side."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from tests.knime_parity.knime_code import ROOT, TOOL_FACTORY, tool_spec
from tests.knime_parity.plain import each_of_group, plain_dialog, plain_page, plain_spec, plain_table
from tests.knime_parity.world import JSON, Surroundings

__all__ = ["KnimeWorld"]

_DATA_OUTPUTS = "Data outputs"


class KnimeWorld:
    """KNIME's Python process with this extension loaded as KNIME loads it.

    Args:
        harness: The harness.
    """

    def __init__(self, harness: Any) -> None:
        self._harness = harness
        self.runtime = harness.Runtime()
        self.runtime.register_plugin_xml(ROOT / "plugin.xml", {TOOL_FACTORY: tool_spec(harness)})
        harness.JAVA_TOOL_VALUE_FACTORIES.add(TOOL_FACTORY)
        self._register_messages()
        self.extension = self.runtime.load_extension(knime_yml=str(ROOT / "knime.yml"))

    def _register_messages(self) -> None:
        """What KNIME's AI extension registers."""
        java = "org.knime.ai.core.data.message.MessageValueFactory"
        value = "knime.types.message.MessageValue"
        self.runtime.register_value_factory("knime.types.message", "MessageValueFactory", java, value)

    def dialog(self, node: str, inputs: Sequence[Any], around: Surroundings, settings: Mapping[str, Any]) -> JSON:
        """Settings, their schema and the UI schema."""
        handle = self.extension.node(node, dict(settings))
        return self._guarded(lambda: plain_dialog(handle.dialog(list(inputs), self._environment(around))))

    def configure(self, node: str, inputs: Sequence[Any], around: Surroundings, settings: Mapping[str, Any]) -> JSON:
        """Specs and warnings, or the error."""
        environment = self._environment(around)

        def run() -> JSON:
            specs = self.extension.node(node, dict(settings)).configure(list(inputs), environment)
            return {"specs": [each_of_group(_spec, spec) for spec in specs], "warnings": environment.warnings}

        return self._guarded(run)

    def execute(self, node: str, inputs: Sequence[Any], around: Surroundings, settings: Mapping[str, Any]) -> JSON:
        """Outputs, page, warnings, progress and tool calls, or the error."""
        environment = self._environment(around)

        def run() -> JSON:
            result = self.extension.node(node, dict(settings)).execute(list(inputs), environment, batch_size=2)
            return {
                "outputs": [each_of_group(_output, output) for output in result.outputs],
                "page": plain_page(result.view_html),
                "warnings": result.warnings,
                "progress": [list(each) for each in result.progress],
                "broken promises": [text for severity, text in environment.log if severity == "coding"],
            }

        return self._guarded(run)

    def table(self, node: str, settings: Mapping[str, Any]) -> Any:
        """The table that a node without inputs gives."""
        return self.extension.node(node, dict(settings)).execute().outputs[0]

    def _environment(self, around: Surroundings) -> Any:
        return self._harness.Environment(
            credentials=dict(around.credentials),
            output_group_sizes={_DATA_OUTPUTS: around.data_outputs},
            tool_runner=around.run_tool,
            canceled=around.canceled,
        )

    def _guarded(self, run: Callable[[], JSON]) -> JSON:
        try:
            return run()
        except self._harness.NodeFailure as failure:
            return {"error": failure.message}


def _spec(spec: Any) -> JSON:
    return {"data": cast("JSON", spec)["data"]} if isinstance(spec, dict) else plain_spec(spec)


def _output(output: Any) -> JSON:
    return {"data": cast("JSON", output)["spec"]["data"]} if isinstance(output, dict) else plain_table(output)
