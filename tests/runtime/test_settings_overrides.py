from typing import Any

import pytest

from knime_ext.errors import ConfigurationError, KnimeExtError
from knime_ext.runtime.document import NodeSpec
from knime_ext.runtime.settings_overrides import overridden
from tests.runtime.small_nodes import REGISTRY, run, values, workflow

FLOW = workflow(
    {"zähler": ("Count", {"rows": 2, "details": {"mode": "down"}}), "add": "Add"}, (["zähler", 0], ["add", 0])
)


def settings(overrides: dict[str, Any], node: str = "zähler") -> dict[str, Any]:
    spec = overridden(FLOW, overrides, REGISTRY).node(node)
    assert isinstance(spec, NodeSpec)
    return spec.settings


def complaint(overrides: dict[str, Any]) -> str:
    with pytest.raises(KnimeExtError) as error:
        overridden(FLOW, overrides, REGISTRY)
    return str(error.value)


@pytest.mark.parametrize(
    ("path", "text", "value"),
    [
        ("rows", "5", 5),
        ("details.factor", "0.5", 0.5),
        ("details.on", "no", False),
        ("details.on", "TRUE", True),
        ("details.mode", "up", "up"),
        ("columns", "a, b", ["a", "b"]),
        ("columns", '["a,b"]', ["a,b"]),
        ("columns", "", []),
        ("rows", 7, 7),
    ],
)
def test_a_text_becomes_a_value_of_the_parameters_type(path: str, text: Any, value: Any):
    changed: Any = settings({f"zähler.{path}": text})
    for step in path.split("."):
        changed = changed[step]
    assert changed == value


def test_other_settings_and_the_document_stay_as_they_are():
    assert settings({"zähler.details.step": "2"}) == {"rows": 2, "details": {"mode": "down", "step": 2}}
    assert FLOW.nodes[0].settings == {"rows": 2, "details": {"mode": "down"}}


def test_a_run_takes_overrides():
    assert values(run(FLOW, settings={"zähler.rows": "1", "add.amount": "10"}).table("add")) == [10]


@pytest.mark.parametrize(
    ("key", "value", "sentence"),
    [
        ("rows", "1", "'rows' names no parameter; write NODE.PARAMETER"),
        ("zahler.rows", "1", "cannot set 'zahler.rows': there is no node 'zahler'; did you mean 'zähler'?"),
        ("zähler.row", "1", "cannot set 'zähler.row': there is no parameter 'row'; did you mean 'rows'?"),
        (
            "zähler.details.fcator",
            "1",
            "cannot set 'zähler.details.fcator': there is no parameter 'details.fcator'; "
            "did you mean 'details.factor'?",
        ),
        (
            "zähler.rows",
            "five",
            "cannot set 'zähler.rows': parameter 'rows': 'five' is not a whole number such as 5; correct the value",
        ),
        (
            "zähler.details.on",
            "maybe",
            "cannot set 'zähler.details.on': parameter 'details.on': 'maybe' is not true or false; correct the value",
        ),
    ],
)
def test_a_wrong_override_names_the_nearest(key: str, value: str, sentence: str):
    assert complaint({key: value}) == sentence


def test_a_value_that_the_node_refuses_is_refused_when_the_run_starts():
    with pytest.raises(KnimeExtError, match="parameter 'rows': -5 is smaller than the minimum 0"):
        run(FLOW, settings={"zähler.rows": "-5"})


def test_an_error_of_an_override_is_a_configuration_error():
    with pytest.raises(ConfigurationError):
        run(FLOW, settings={"zähler.rows": "x"})
