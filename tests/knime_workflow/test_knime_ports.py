"""Port numbers of KNIME."""

from __future__ import annotations

import pytest

from knime_ext.runtime.knime_workflow.config import Config, text
from knime_ext.runtime.knime_workflow.knime_ports import (
    FLOW_VARIABLES,
    TABLE,
    PortGroup,
    creation_config,
    port_counts,
    port_number,
    port_of,
)

AGENT = [
    PortGroup(ours=0, key="Input Chat model # 0"),
    PortGroup(ours=1, key="Input Tools # 1"),
    PortGroup(ours=2, key="Conversation history", least=0, grows=True),
    PortGroup(ours=3, key="Data inputs", least=0, grows=True),
]


@pytest.mark.parametrize(
    ("counts", "numbers"),
    [
        ([1, 1, 0, 2], {(0, 0): 1, (1, 0): 2, (3, 0): 3, (3, 1): 4}),
        ([1, 1, 1, 1], {(0, 0): 1, (1, 0): 2, (2, 0): 3, (3, 0): 4}),
    ],
)
def test_an_optional_port_counts_only_where_it_was_added(
    counts: list[int], numbers: dict[tuple[int, int], int]
) -> None:
    for (port, slot), number in numbers.items():
        assert port_number(AGENT, counts, port, slot) == number
        assert port_of(AGENT, counts, number) == (port, slot)


def test_port_zero_carries_flow_variables_at_every_node() -> None:
    assert port_of(AGENT, [1, 1, 0, 0], 0) == ("variables", 0)
    assert port_number(AGENT, [1, 1, 0, 0], "variables", 0) == 0


def test_a_configuration_node_gives_its_variable_at_the_port_that_people_see() -> None:
    outputs = [PortGroup(ours="variables", object_class=FLOW_VARIABLES)]

    assert port_number(outputs, [1], "variables", 0) == 1
    assert port_of(outputs, [1], 1) == port_of(outputs, [1], 0) == ("variables", 0)


@pytest.mark.parametrize("number", [3, 99])
def test_a_port_that_is_not_there_has_no_meaning(number: int) -> None:
    with pytest.raises(KeyError):
        port_of(AGENT, [1, 1, 0, 0], number)


def test_a_port_that_is_taken_has_no_second_slot() -> None:
    with pytest.raises(KeyError):
        port_number(AGENT, [1, 1, 0, 0], 0, 1)


def test_settings_keep_added_ports_and_give_back_their_number() -> None:
    groups = [PortGroup(ours=0, key="input", least=2, grows=True), PortGroup(ours=None, key="type", exchangeable=True)]
    kept = creation_config(zip(groups, [4, 1], strict=True))

    assert kept == Config(
        input=Config(port_0=Config(object_class=text(TABLE)), port_1=Config(object_class=text(TABLE))),
        type=Config(object_class=text(TABLE)),
    )
    assert port_counts(groups, kept) == [4, 1]
    assert port_counts(groups, None) == [2, 1]
