"""Filters of columns, as people set them in dialogs."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from knime_ext.runtime import knext
from knime_ext.runtime.knext.column_parameters import spec_at
from knime_ext.runtime.knext.parameters import (
    ColumnFilterMode,
    ManualFilterConfig,
    PatternFilterConfig,
    TypeFilterConfig,
)
from knime_ext.runtime.knext.settings import get_parameters, set_parameters

TABLE = knext.Table.from_pyarrow(pa.table({"name": ["x"], "Amount": [0.5], "amount 2": [1.5], "n": [1]}))
SCHEMA = TABLE.schema


def picked(config: knext.ColumnFilterConfig) -> list[str]:
    names = config.apply(SCHEMA).column_names
    assert config.apply(TABLE).column_names == names
    return names


def pattern(text: str, mode: ColumnFilterMode = ColumnFilterMode.WILDCARD, **kwargs: Any) -> list[str]:
    return picked(knext.ColumnFilterConfig(mode, PatternFilterConfig(text, **kwargs)))


def test_columns_are_picked_by_hand() -> None:
    assert picked(knext.ColumnFilterConfig()) == ["name", "Amount", "amount 2", "n"]
    assert picked(knext.ColumnFilterConfig(included_column_names=["n"])) == ["name", "Amount", "amount 2", "n"]
    only = ManualFilterConfig(["n", "gone", "Amount"], include_unknown_columns=False)
    assert picked(knext.ColumnFilterConfig(manual_filter=only)) == ["Amount", "n"]
    without = ManualFilterConfig([], ["name"])
    assert picked(knext.ColumnFilterConfig(manual_filter=without)) == ["Amount", "amount 2", "n"]


def test_columns_are_picked_by_pattern() -> None:
    assert pattern("am*2") == ["amount 2"]
    assert pattern("?mount", case_sensitive=False) == ["Amount", "amount 2"]
    assert pattern("n.me") == []
    assert pattern("n.me", ColumnFilterMode.REGEX) == ["name"]
    assert pattern("^[aA]", ColumnFilterMode.REGEX, inverted=True) == ["name", "n"]


def test_columns_are_picked_by_type() -> None:
    def by_type(name: str) -> list[str]:
        return picked(knext.ColumnFilterConfig(ColumnFilterMode.TYPE, type_filter=TypeFilterConfig([name])))

    assert by_type("org.knime.core.data.DoubleValue") == ["Amount", "amount 2"]
    assert by_type("org.knime.core.data.LongValue") == ["n"]


class Node:
    columns = knext.ColumnFilterParameter(column_filter=lambda column: column.ktype != knext.string())


def test_only_columns_that_can_be_picked_are() -> None:
    node = Node()
    assert node.columns.apply(SCHEMA).column_names == ["Amount", "amount 2", "n"]
    set_parameters(node, get_parameters(node))
    assert node.columns.apply(TABLE).column_names == ["Amount", "amount 2", "n"]


def test_settings_of_a_filter_are_those_of_knime() -> None:
    assert get_parameters(Node()) == {
        "columns": {
            "mode": "MANUAL",
            "patternFilter": {"pattern": "", "isCaseSensitive": True, "isInverted": False},
            "typeFilter": {"selectedTypes": [], "typeDisplays": []},
            "manualFilter": {"manuallySelected": [], "manuallyDeselected": [], "includeUnknownColumns": True},
        }
    }
    node = Node()
    tree = get_parameters(node)
    tree["columns"]["mode"] = "REGEX"
    tree["columns"]["patternFilter"]["pattern"] = "^n$"
    set_parameters(node, tree)
    assert node.columns.apply(SCHEMA).column_names == ["n"]
    assert get_parameters(node) == tree


def test_what_is_left_out_of_a_filter_has_its_default() -> None:
    node = Node()
    set_parameters(node, {"columns": {"mode": "WILDCARD", "patternFilter": {"pattern": "n"}}})
    assert node.columns.apply(SCHEMA).column_names == ["Amount", "amount 2", "n"]
    set_parameters(node, {"columns": {"manualFilter": {"manuallyDeselected": ["n"]}}})
    assert node.columns.apply(SCHEMA).column_names == ["Amount", "amount 2"]


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"mode": "manual"}, "'manual' is no mode of a column filter; modes are MANUAL, REGEX"),
        ({"pattern": "n"}, "a column filter has no 'pattern'; it has mode, patternFilter"),
        ("n", "'n' must be a column filter"),
        ({"patternFilter": 5}, "'patternFilter' of a column filter must be an object, not int"),
    ],
)
def test_a_broken_filter_is_named(setting: Any, message: str) -> None:
    with pytest.raises(knext.InvalidParametersError, match=f"parameter 'columns': .*({message})"):
        set_parameters(Node(), {"columns": setting})


def test_the_schema_of_a_port_is_found_by_its_index() -> None:
    specs = [SCHEMA, None, [SCHEMA[["n"]]]]
    assert spec_at(specs, 0) == SCHEMA
    assert spec_at(specs, 1).num_columns == 0
    assert spec_at(specs, (2, 0)).column_names == ["n"]
    assert spec_at(specs, (2, 5)).num_columns == 0


@pytest.mark.parametrize(
    ("index", "error", "message"),
    [
        (7, IndexError, "no input port 7; the node has 2 inputs"),
        ((0, 0), TypeError, "port 0 is no group"),
        (1, TypeError, "input port 1 carries no table"),
    ],
)
def test_a_wrong_index_is_explained(index: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        spec_at([SCHEMA, knext.BinaryPortObjectSpec("x")], index)
