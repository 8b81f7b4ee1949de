from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from knime_ext.errors import KnimeExtError
from knime_ext.runtime.document import parse_workflow
from knime_ext.runtime.engine import run_workflow
from knime_ext.runtime.knext.settings import set_parameters
from knime_ext.runtime.registry import NodeRegistry

KINDS = {
    "x": "StringConfiguration",
    7: "IntegerConfiguration",
    0.5: "DoubleConfiguration",
    True: "BooleanConfiguration",
}


def value_after(tmp_path: Path, factory: str, settings: dict[str, Any], **parameters: Any) -> Any:
    """The value of `p` as a node after the Configuration node sees it."""
    nodes = [
        {"id": "conf", "factory": factory, "settings": {"parameter_name": "p", **settings}},
        {"id": "use", "factory": "SQLQuery", "settings": {"query": "SELECT $p AS p"}},
    ]
    connections = [{"from": ["conf", "variables"], "to": ["use", "variables"]}]
    workflow = parse_workflow({"name": "w", "nodes": nodes, "connections": connections})
    result = run_workflow(workflow, base_dir=tmp_path, parameters=parameters)
    return result.table("use").to_pyarrow().column("p")[0].as_py()


@pytest.mark.parametrize(("given", "factory"), KINDS.items())
def test_the_default_counts_until_a_caller_gives_a_value(tmp_path: Path, given: Any, factory: str) -> None:
    defaults = {"StringConfiguration": "é", "IntegerConfiguration": 3, "DoubleConfiguration": 2.25}
    default = defaults.get(factory, False)
    assert value_after(tmp_path, factory, {"default_value": default}) == default
    assert value_after(tmp_path, factory, {"default_value": default}, p=given) == given


def test_a_whole_number_will_do_for_a_double(tmp_path: Path) -> None:
    value = value_after(tmp_path, "DoubleConfiguration", {"default_value": 0.0}, p=4)
    assert (value, type(value)) == (4.0, float)


@pytest.mark.parametrize(
    ("factory", "settings", "given", "message"),
    [
        ("IntegerConfiguration", {}, "three", "the value 'three' of the parameter 'p' is not a whole number"),
        ("IntegerConfiguration", {}, True, "is not a whole number"),
        (
            "IntegerConfiguration",
            {"use_minimum": True, "minimum": 0},
            -1,
            "-1 of the parameter 'p' is beyond its minimum 0",
        ),
        ("DoubleConfiguration", {"use_maximum": True, "maximum": 1.0}, 1.5, "is beyond its maximum 1.0"),
        ("BooleanConfiguration", {}, 1, "the value 1 of the parameter 'p' is not true or false"),
        ("StringConfiguration", {}, 5, "the value 5 of the parameter 'p' is not a text"),
    ],
)
def test_a_value_that_does_not_fit_is_refused(
    tmp_path: Path, factory: str, settings: dict[str, Any], given: Any, message: str
) -> None:
    with pytest.raises(KnimeExtError) as caught:
        value_after(tmp_path, factory, settings, p=given)
    assert message in str(caught.value)


def test_a_default_beyond_its_own_limits_is_refused(tmp_path: Path) -> None:
    settings = {"default_value": 3, "use_minimum": True, "minimum": 5}
    with pytest.raises(KnimeExtError, match="the default value 3 of the parameter 'p' is beyond its minimum 5"):
        value_after(tmp_path, "IntegerConfiguration", settings)


@pytest.mark.parametrize("name", ["", "1st", "a b", "größe", "knime.x", "x" * 65])
def test_names_that_callers_cannot_write_are_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(KnimeExtError, match="the parameter name .* is not possible"):
        value_after(tmp_path, "StringConfiguration", {"parameter_name": name})


@pytest.mark.parametrize(
    ("factory", "settings", "schema"),
    [
        (
            "StringConfiguration",
            {"default_value": "x", "description": "Which one"},
            {"type": "string", "default": "x", "description": "Which one"},
        ),
        (
            "IntegerConfiguration",
            {"label": "Top n", "use_minimum": True, "minimum": 1, "default_value": 10},
            {"type": "integer", "default": 10, "minimum": 1, "description": "Top n"},
        ),
        (
            "DoubleConfiguration",
            {"use_maximum": True, "maximum": 2.5},
            {"type": "number", "default": 0.0, "maximum": 2.5, "description": "Label"},
        ),
        ("BooleanConfiguration", {}, {"type": "boolean", "default": False, "description": "Label"}),
    ],
)
def test_the_schema_tells_models_type_default_limits_and_description(
    factory: str, settings: dict[str, Any], schema: dict[str, Any]
) -> None:
    node = NodeRegistry.load().declaration(factory).create()
    set_parameters(node, settings)
    assert node.parameter_schema() == schema
