"""What a node is called and looks like in KNIME: one of KNIME's own, or a Python node of this project's extension."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from knime_ext.runtime.knext.node_ports import AnyPort
from knime_ext.runtime.knext.node_ports import PortGroup as DeclaredGroup
from knime_ext.runtime.knext.nodes import NodeDeclaration
from knime_ext.runtime.knext.ports import PortType
from knime_ext.runtime.knext.version import extension_version
from knime_ext.runtime.knime_workflow.config import Config, Place, text
from knime_ext.runtime.knime_workflow.json_settings import from_config, to_config
from knime_ext.runtime.knime_workflow.knime_ports import TABLE, PortGroup
from knime_ext.runtime.knime_workflow.platform_node import Bundle, PlatformNode
from knime_ext.runtime.knime_workflow.platform_table import MERGE_VARIABLES, PLATFORM_NODES
from knime_ext.runtime.knime_workflow.rows import Row
from knime_ext.runtime.knime_workflow.settings_trees import SettingsShape
from knime_ext.runtime.registry import NodeRegistry

__all__ = ["EXTENSION_ID", "MERGER", "NodeForm", "NodeForms"]

EXTENSION_ID = "org.knimemcp.mcp_tools"
"""Identifier of this project's extension, as knime.yml has it."""

_PYTHON_FACTORY = "org.knime.python3.nodes.extension.ExtensionNodeSetFactory$DynamicExtensionNodeFactory"
_VERSION = "extension_version_Internals"
_PYTHON_OBJECT = "org.knime.python3.nodes.ports.PythonBinaryBlobFileStorePortObject"
_PORT_CLASSES: Mapping[Any, str] = {
    PortType.TABLE: TABLE,
    PortType.CONNECTION: "org.knime.python3.nodes.ports.PythonTransientConnectionPortObject",
    PortType.IMAGE: "org.knime.core.node.port.image.ImagePortObject",
    PortType.CREDENTIAL: "org.knime.credentials.base.CredentialPortObject",
    PortType.WORKFLOW: "org.knime.core.node.workflow.capture.WorkflowPortObject",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeForm:
    """A kind of node as KNIME knows it.

    Attributes:
        node_id: Identifier of our node; "" for Merge Variables, which only KNIME has.
        shape: Its parameters.
        factory: Class of the factory.
        factory_settings: What tells the nodes of one factory apart.
        name: Name in KNIME.
        bundle: Where it comes from.
        inputs: Groups of inputs.
        outputs: Groups of outputs.
        platform: The row of the table, None for a Python node.
    """

    node_id: str
    shape: SettingsShape | None
    factory: str
    name: str
    bundle: Bundle
    inputs: Sequence[PortGroup]
    outputs: Sequence[PortGroup]
    platform: PlatformNode | None = None
    factory_settings: Config = field(default_factory=Config)

    @property
    def keeps_ports(self) -> bool:
        """Whether KNIME keeps something about groups of ports in the settings."""
        return any(group.key is not None for group in (*self.inputs, *self.outputs))

    def write(self, settings: Mapping[str, Any]) -> Config:
        """KNIME's model settings for usable settings of ours."""
        if self.platform is None:
            schema = self.shape.schema if self.shape is not None else {}
            model = to_config(settings, schema)
            model[_VERSION] = text(str(extension_version()))
            return model
        model = Config()
        for row in self.platform.rows:
            row.write(settings, model)
        return model

    def read(self, model: Config) -> dict[str, Any]:
        """Settings of ours for KNIME's model settings.

        Raises:
            Unsupported: They ask for what this runtime does not do.
            ValueError: A value is none of its type.
        """
        if self.platform is None:
            return from_config(model)
        found: dict[str, Any] = {}
        for row in self.platform.rows_for(model):
            found |= row.read(model)
        return found

    def place_of(self, path: str) -> Place | None:
        """The entry of KNIME's with exactly the value of a parameter, given by its dotted path."""
        if self.platform is None:
            return path.replace(".", "/")
        return _place(self.platform.rows, path)

    def parameter_at(self, place: Place, model: Config) -> str | None:
        """The dotted path of the parameter with exactly the value of an entry of KNIME's."""
        if self.platform is None:
            return place.replace("/", ".")
        rows = self.platform.rows_for(model)
        names = [name for row in rows for name in row.parameters]
        return next((name for name in names if _place(rows, name) == place), None)


def _place(rows: Sequence[Row], parameter: str) -> Place | None:
    return next((row.place_of(parameter) for row in rows if parameter in row.parameters), None)


MERGER = NodeForm(
    node_id="",
    shape=None,
    factory=MERGE_VARIABLES.factory,
    name=MERGE_VARIABLES.name,
    bundle=MERGE_VARIABLES.bundle,
    inputs=MERGE_VARIABLES.inputs,
    outputs=MERGE_VARIABLES.outputs,
    platform=MERGE_VARIABLES,
)


def _group(port: AnyPort, number: int, direction: str) -> PortGroup:
    object_class = _PORT_CLASSES.get(port.type, _PYTHON_OBJECT) if isinstance(port.type, str) else _PYTHON_OBJECT
    if isinstance(port, DeclaredGroup) or port.optional:
        return PortGroup(ours=number, key=port.name, least=0, grows=True, object_class=object_class)
    return PortGroup(ours=number, key=f"{direction} {port.name} # {number}", object_class=object_class)


def _platform_form(node: PlatformNode, node_id: str, shape: SettingsShape) -> NodeForm:
    return NodeForm(
        node_id=node_id,
        shape=shape,
        factory=node.factory,
        name=node.name,
        bundle=node.bundle,
        inputs=node.inputs,
        outputs=node.outputs,
        platform=node,
    )


def _python_form(declaration: NodeDeclaration, shape: SettingsShape) -> NodeForm:
    bundle = Bundle(EXTENSION_ID, "MCP Tools", "The knime-mcp authors", str(extension_version()))
    return NodeForm(
        node_id=declaration.id,
        shape=shape,
        factory=_PYTHON_FACTORY,
        factory_settings=Config(extension_id=text(EXTENSION_ID), node_id=text(declaration.id)),
        name=declaration.name,
        bundle=bundle,
        inputs=[_group(port, number, "Input") for number, port in enumerate(declaration.input_ports)],
        outputs=[_group(port, number, "Output") for number, port in enumerate(declaration.output_ports)],
    )


class NodeForms:
    """The nodes of a registry as KNIME knows them.

    Args:
        registry: The nodes.
    """

    def __init__(self, registry: NodeRegistry) -> None:
        self._registry = registry
        self._known: dict[str, NodeForm] = {}

    def of(self, node_id: str) -> NodeForm:
        """The form of one of our nodes.

        Raises:
            WorkflowError: There is no such node; the message names the nearest.
        """
        if node_id not in self._known:
            declaration = self._registry.declaration(node_id)
            shape = SettingsShape(declaration)
            platform = PLATFORM_NODES.get(node_id)
            form = _python_form(declaration, shape) if platform is None else _platform_form(platform, node_id, shape)
            self._known[node_id] = form
        return self._known[node_id]

    def behind(self, factory: str, factory_settings: Config) -> NodeForm | None:
        """The form of a stored node, None if the registry has no such node."""
        if factory == MERGER.factory:
            return MERGER
        if factory == _PYTHON_FACTORY:
            node_id = factory_settings.string("node_id")
            ours = factory_settings.string("extension_id") == EXTENSION_ID and node_id not in PLATFORM_NODES
            return self.of(node_id) if ours and node_id in self._registry else None
        for node_id, node in PLATFORM_NODES.items():
            if node_id in self._registry and factory in (node.factory, *node.other_factories):
                return self.of(node_id)
        return None
