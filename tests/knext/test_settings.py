"""Reading, checking and describing the settings of a node as a tree."""

from __future__ import annotations

from typing import Any

import pytest

from knime_ext.errors import ConfigurationError
from knime_ext.runtime import knext
from knime_ext.runtime.knext.settings import describe, get_parameters, parameter_schema, set_parameters
from knime_ext.runtime.knext.version import Version


@knext.parameter_group("Errors")
class Errors:
    """What happens on errors."""

    column_name = knext.StringParameter("Column name", "Where they go.", "Errors")


class Base:
    first = knext.IntParameter("First", default_value=1)


class Node(Base):
    second = knext.IntParameter("Second", "The second.", 2, max_value=5)
    third = knext.IntParameter(
        "Third", default_value=lambda v: 30 if v < Version(0, 0, 5) else 3, since_version="0.0.5"
    )
    errors = Errors()


def test_parameters_of_bases_come_after_those_of_the_class() -> None:
    assert list(get_parameters(Node())) == ["second", "third", "errors", "first"]


def test_settings_that_are_left_out_keep_their_values() -> None:
    node = Node()
    set_parameters(node, {"first": 10})
    set_parameters(node, {"second": 5})
    assert get_parameters(node) == {"second": 5, "third": 3, "errors": {"column_name": "Errors"}, "first": 10}


def test_an_unknown_name_is_refused_with_the_nearest_known_one() -> None:
    with pytest.raises(knext.InvalidParametersError, match="no parameter 'secnd'; did you mean 'second'?"):
        set_parameters(Node(), {"secnd": 1})
    with pytest.raises(
        knext.InvalidParametersError, match="'colum_name' in the group 'errors'; did you mean 'column_name'?"
    ):
        set_parameters(Node(), {"errors": {"colum_name": "E"}})


def test_unknown_names_can_be_ignored() -> None:
    node = Node()
    set_parameters(node, {"gone": 1, "first": 4}, strict=False)
    assert node.first == 4


def test_an_unusable_value_is_named_with_its_place() -> None:
    with pytest.raises(knext.InvalidParametersError, match="parameter 'second': 6 is larger than the maximum 5"):
        set_parameters(Node(), {"second": 6})
    with pytest.raises(knext.InvalidParametersError, match="parameter 'errors.column_name': 5 .* must be a text"):
        set_parameters(Node(), {"errors": {"column_name": 5}})
    with pytest.raises(knext.InvalidParametersError, match="parameter 'errors': .* an object, not list"):
        set_parameters(Node(), {"errors": []})


def test_a_validator_that_stumbles_refuses_the_value() -> None:
    def stumble(value: Any) -> None:
        value.missing()

    class Own:
        names = knext.StringParameter(validator=stumble)

    with pytest.raises(knext.InvalidParametersError, match="parameter 'names': AttributeError: "):
        set_parameters(Own(), {"names": "x"})


def test_nothing_is_set_when_something_is_refused() -> None:
    node = Node()
    node.errors.column_name = "mine"
    before = get_parameters(node)
    with pytest.raises(knext.InvalidParametersError):
        set_parameters(node, {"second": 4, "errors": {"column_name": "x"}, "first": "one"})
    assert get_parameters(node) == before


def test_invalid_parameters_are_a_matter_of_configuration() -> None:
    assert issubclass(knext.InvalidParametersError, ConfigurationError)
    assert issubclass(knext.WorkflowExecutionError, RuntimeError)


def test_parameters_newer_than_the_settings_take_the_default_of_that_version() -> None:
    node = Node()
    set_parameters(node, {"second": 4}, saved_version="0.0.1")
    assert (node.second, node.third) == (4, 30)
    node = Node()
    set_parameters(node, {"second": 4}, saved_version="0.0.5")
    assert node.third == 3


def test_old_settings_can_be_turned_into_todays() -> None:
    class Renamed:
        today = knext.IntParameter(default_value=0)

        def _modify_parameters(self, params: dict[str, Any]) -> dict[str, Any]:
            return {"today": params.get("yesterday", params.get("today"))}

    node = Renamed()
    set_parameters(node, {"yesterday": 7})
    assert node.today == 7


def test_the_schema_says_what_each_setting_may_be() -> None:
    assert parameter_schema(Node) == {
        "type": "object",
        "properties": {
            "second": {"title": "Second", "description": "The second.", "type": "integer", "format": "int32"},
            "third": {"title": "Third", "description": "", "type": "integer", "format": "int32"},
            "errors": {
                "type": "object",
                "properties": {
                    "column_name": {"title": "Column name", "description": "Where they go.", "type": "string"}
                },
            },
            "first": {"title": "First", "description": "", "type": "integer", "format": "int32"},
        },
    }


def test_parameters_of_a_later_version_are_not_in_the_schema() -> None:
    class Future:
        now = knext.IntParameter()
        later = knext.IntParameter(since_version="99.0.0")

    assert list(parameter_schema(Future)["properties"]) == ["now"]
    assert list(get_parameters(Future())) == ["now", "later"]


def test_descriptions_are_for_people() -> None:
    assert describe(Node)[:3:2] == [
        {"key": "second", "name": "Second", "is_advanced": False, "description": "The second."},
        {
            "key": "errors",
            "name": "Errors",
            "is_advanced": False,
            "description": "What happens on errors.",
            "parameters": [
                {"key": "column_name", "name": "Column name", "is_advanced": False, "description": "Where they go."}
            ],
        },
    ]
