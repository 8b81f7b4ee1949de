"""Saved workflows keep loading: a parameter that came after a release says since when, and none goes away.

`tests/golden/released_parameters.json` holds the parameters of the latest release. Before the first one it holds those
of the version that is being made, and a new parameter is added there.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import knime_ext.extension
from knime_ext.runtime import knext
from knime_ext.runtime.knext.groups import ParameterGroup
from knime_ext.runtime.knext.member_tree import members_of
from knime_ext.runtime.knext.parameter import Member
from knime_ext.runtime.knext.version import Version
from knime_ext.runtime.registry import declarations_in

GOLDEN = Path(__file__).parent.parent / "golden" / "released_parameters.json"
RELEASED: dict[str, Any] = json.loads(GOLDEN.read_text("utf-8"))
NODES = {each.id: each.node_class for each in declarations_in(knime_ext.extension)}


def parameters(owner: object, path: str = "") -> Iterator[tuple[str, Member]]:
    """Every parameter and group by its dotted name."""
    for name, member in members_of(owner).items():
        yield path + name, member
        if isinstance(member, ParameterGroup):
            yield from parameters(member.template, f"{path}{name}.")


def undated(owner: object, released: set[str], release: str) -> list[str]:
    """The parameters that are neither of the release nor say that they came after it."""
    late = {path: member for path, member in parameters(owner) if path not in released}
    dated = {
        path
        for path, member in late.items()
        if (since := getattr(member, "since_version", None)) is not None
        and Version.parse_version(since) > Version.parse_version(release)
    }
    # A group that came later dates what is in it.
    return [path for path in late if not any(path == each or path.startswith(f"{each}.") for each in dated)]


@pytest.mark.parametrize("node", NODES)
def test_a_parameter_that_was_not_released_says_since_when_it_is_there(node: str) -> None:
    assert undated(NODES[node], set(RELEASED["nodes"].get(node, [])), RELEASED["version"]) == []


@pytest.mark.parametrize("node", RELEASED["nodes"])
def test_a_released_parameter_is_still_there(node: str) -> None:
    # To rename one, add the hook _modify_parameters, which turns old settings into new ones, and change the list.
    assert set(RELEASED["nodes"][node]) <= {path for path, _ in parameters(NODES[node])}


def test_an_undated_parameter_is_found() -> None:
    @knext.parameter_group("New group", since_version="0.3.0")
    class Late:
        inside = knext.IntParameter("Inside", "", 1)

    class Node:
        old = knext.IntParameter("Old", "", 1)
        dated = knext.IntParameter("Dated", "", 1, since_version="0.2.0")
        too_early = knext.IntParameter("Too early", "", 1, since_version="0.1.0")
        forgotten = knext.IntParameter("Forgotten", "", 1)
        late = Late()

    assert undated(Node, {"old"}, "0.1.0") == ["too_early", "forgotten"]
