"""The table of KNIME's own nodes against the nodes of this project."""

from __future__ import annotations

from pathlib import Path

import pytest

from knime_ext.runtime import NodeRegistry
from knime_ext.runtime.knext.settings import parameter_schema
from knime_ext.runtime.knime_workflow.node_forms import EXTENSION_ID, NodeForms
from knime_ext.runtime.knime_workflow.platform_table import PLATFORM_NODES, WITHOUT_COUNTERPART

ROOT = Path(__file__).parents[2]
ONLY_HERE = {"WorkflowToTool": {"workflows"}}


def test_every_node_of_the_platform_is_in_the_table_or_known_to_be_missing(registry: NodeRegistry) -> None:
    platform = {each for each in registry if registry[each].node_class.__module__.startswith("knime_ext.runtime.")}

    assert platform == {*PLATFORM_NODES, *WITHOUT_COUNTERPART}


@pytest.mark.parametrize("node_id", sorted(PLATFORM_NODES))
def test_the_rows_cover_the_parameters_of_the_node(node_id: str, registry: NodeRegistry) -> None:
    node = PLATFORM_NODES[node_id]
    parameters = set(parameter_schema(registry[node_id].create())["properties"])

    assert {name for row in node.rows for name in row.parameters} == parameters - ONLY_HERE.get(node_id, set())
    for rows in node.layouts.values():
        assert {name for row in rows for name in row.parameters} <= parameters


@pytest.mark.parametrize("node_id", sorted(PLATFORM_NODES))
def test_the_groups_of_ports_are_those_of_the_node(node_id: str, registry: NodeRegistry) -> None:
    node, shape = PLATFORM_NODES[node_id], registry.shapes[node_id]

    for groups, ports in ((node.inputs, shape.inputs), (node.outputs, shape.outputs)):
        ours = {group.ours: group for group in groups if isinstance(group.ours, int)}
        assert list(ours) == list(range(len(ports)))
        assert [group.grows for group in ours.values()] == [port.group for port in ports]


def test_names_are_those_of_the_nodes(registry: NodeRegistry) -> None:
    assert {node_id: node.name for node_id, node in PLATFORM_NODES.items()} == {
        node_id: registry[node_id].name for node_id in PLATFORM_NODES
    }


def test_factories_are_told_apart(registry: NodeRegistry) -> None:
    forms = NodeForms(registry)
    found = {node_id: forms.of(node_id) for node_id in registry}

    for node_id, form in found.items():
        assert forms.behind(form.factory, form.factory_settings) is form, node_id


def test_the_extension_is_the_one_that_knime_knows() -> None:
    lines = dict(line.split(": ", 1) for line in (ROOT / "knime.yml").read_text("utf-8").splitlines() if ": " in line)

    assert f"{lines['group_id']}.{lines['name']}" == EXTENSION_ID
