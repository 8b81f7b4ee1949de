"""Dialogs as JSON: settings, schema and UI schema.

`dialog_of_everything.json` is the dialog that KNIME's own Python code makes of the node below, without the texts that
are only shown; ours must be the same.
"""

from __future__ import annotations

import gc
import json
import logging
import weakref
from datetime import datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from knime_ext.runtime import knext
from knime_ext.runtime.knext.contexts import DialogCreationContext, NodeHost
from knime_ext.runtime.knext.dialog import dialog_json, ui_schema
from knime_ext.runtime.knext.settings import parameter_schema
from knime_ext.runtime.knext.version import extension_version, set_extension_version


class Color(knext.EnumParameterOptions):
    RED = ("Red", "The red one.")
    GREEN = ("Green", "The green one.")
    BLUE = ("Blue", "The blue one.")


class Many(knext.EnumParameterOptions):
    A = ("A", "a.")
    B = ("B", "b.")
    C = ("C", "c.")
    D = ("D", "d.")
    E = ("E", "e.")


@knext.parameter_group("Inner", is_advanced=True)
class Inner:
    """Inner doc."""

    deep = knext.IntParameter("Deep", "deep int", 3)
    on = knext.BoolParameter("On", "is on", True)
    shown = knext.StringParameter("Shown", "shown if on", "s").rule(knext.OneOf(on, [True]), knext.Effect.SHOW)


@knext.parameter_group("Outer", layout_direction=knext.LayoutDirection.HORIZONTAL)
class Outer:
    """Outer doc."""

    level = knext.DoubleParameter("Level", "a level", 0.5, min_value=0.0, max_value=1.0)
    inner = Inner()

    def __init__(self, n: int = 4) -> None:
        self.composed = knext.IntParameter("Composed", "made in init", n)


@knext.parameter_group("Entry")
class Entry:
    key = knext.StringParameter("Key", "the key", "k")
    value = knext.IntParameter("Value", "the value", 1)
    kind = knext.EnumParameter("Kind", "the kind", Color.GREEN.name, Color)


def second_input_is_unconnected(ctx: DialogCreationContext) -> bool:
    return ctx.get_input_specs()[1] is None


class Everything:
    """Everything node."""

    i = knext.IntParameter("Int", "an int", 5, min_value=1, max_value=10)
    i2 = knext.IntParameter()
    d = knext.DoubleParameter("Double", "a double", 1.5, is_advanced=True)
    b = knext.BoolParameter("Bool", "a bool", True)
    s = knext.StringParameter("String", "a string", "abc")
    se = knext.StringParameter("Enum string", "an enum string", enum=["p", "q"])
    sc = knext.StringParameter(
        "Choices",
        "static choices\n    with text",
        choices=[knext.StringParameter.Choice("1", "One", "the one"), "2"],
    )
    sd = knext.StringParameter("Dyn", "dyn", choices=lambda ctx: ["u", "v"])
    sn = knext.StringParameter("DynNone", "dyn none", choices=lambda ctx: [])
    creds = knext.StringParameter("Creds", "creds", choices=knext.DialogCreationContext.get_credential_names)
    m = knext.MultilineStringParameter("Multi", "lines", "a\nb", number_of_lines=7)
    p = knext.LocalPathParameter("Path", "a path", placeholder_text="pick")
    e = knext.EnumParameter("Enum", "an enum", Color.GREEN.name, Color)
    e2 = knext.EnumParameter("Enum2", "an enum2", "A", enum=Many)
    e3 = knext.EnumParameter(
        "Enum3",
        "an enum3",
        Many.C,
        Many,
        style=knext.EnumParameter.Style.VALUE_SWITCH,
        hidden_choices=lambda ctx: [Many.E],
    )
    es = knext.EnumSetParameter("EnumSet", "an enum set", enum=Color)
    c = knext.ColumnParameter("Column", "a column", column_filter=lambda c: c.ktype == knext.string())
    c2 = knext.ColumnParameter("Column2", "a column", port_index=1, include_row_key=True, include_none_column=True)
    c3 = knext.ColumnParameter("Column3", "group column", port_index=(2, 0))
    mc = knext.MultiColumnParameter("MultiCol", "columns")
    cf = knext.ColumnFilterParameter("Filter", "columns", column_filter=lambda c: c.ktype != knext.string())
    dt = knext.DateTimeParameter("Date", "a date", default_value="2024-02-29")
    dt2 = knext.DateTimeParameter(
        "DateTime",
        "a datetime",
        default_value=datetime(2024, 2, 29, 12, 30),
        show_time=True,
        show_seconds=True,
        timezone="Europe/Berlin",
    )
    new = knext.IntParameter("New", "new", lambda v: 1 if v < knext.Version(0, 5, 0) else 2, since_version="0.5.0")
    late = knext.IntParameter("Late", "not yet", 9, since_version="9.0.0")
    outer = Outer(6)
    arr = knext.ParameterArray(Entry(), "Array", "an array", button_text="Add", array_title="Entry")
    arr2 = knext.ParameterArray(Entry(), "Array2", "an array2", allow_reorder=False, is_advanced=True)
    ruled = knext.IntParameter("Ruled", "ruled", 1).rule(
        knext.And(
            knext.OneOf(e, ["RED"]),
            knext.Or(knext.Contains(es, "RED"), knext.DialogContextCondition(second_input_is_unconnected)),
        ),
        knext.Effect.HIDE,
    )


SHOWN = {"description", "errorMessage", "unknownValuesText", "emptyStateLabel", "placeholder"}


def without_texts(value: Any) -> Any:
    if isinstance(value, dict):
        items: Any = value.items()  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
        return {k: without_texts(v) for k, v in items if not (k in SHOWN and isinstance(v, str))}
    if isinstance(value, list):
        return [without_texts(element) for element in value]  # pyright: ignore[reportUnknownVariableType]
    return value


def schemas() -> list[Any]:
    first = knext.Table.from_pyarrow(pa.table({"a": [1], "s": ["x"], "d": [0.5]})).schema
    third = knext.Table.from_pyarrow(pa.table({"l": [[1]], "b": [True]})).schema
    return [first, None, [third]]


def test_the_dialog_is_the_one_that_knime_makes() -> None:
    expected = json.loads(Path(__file__).with_name("dialog_of_everything.json").read_text(encoding="utf-8"))
    before = extension_version()
    set_extension_version("1.0.0")
    try:
        dialog = dialog_json(Everything(), DialogCreationContext(input_specs=schemas()))
    finally:
        set_extension_version(before)
    assert without_texts(dialog["data"]) == expected["data"]
    assert without_texts(dialog["schema"]) == expected["schema"]
    assert without_texts(dialog["ui_schema"]) == expected["ui_schema"]


def test_limits_and_placeholders_are_shown() -> None:
    elements = ui_schema(Everything, DialogCreationContext(input_specs=schemas()))["elements"]
    options = {element["label"]: element.get("options", {}) for element in elements}
    assert options["Int"]["validation"]["min"]["errorMessage"] == "Not smaller than 1."
    assert options["Path"]["placeholder"] == "pick"
    assert options["DynNone"]["placeholder"] == "Nothing to choose from"


def test_a_dialog_is_json() -> None:
    dialog = dialog_json(Everything(), DialogCreationContext(input_specs=schemas()))
    assert json.loads(json.dumps(dialog)) == dialog


def test_a_schema_needs_no_dialog() -> None:
    properties = parameter_schema(Everything)["properties"]
    assert properties["sd"]["type"] == "string"
    assert [o["const"] for o in properties["e3"]["oneOf"]] == ["A", "B", "C", "D"]


def test_descriptions_list_the_options_in_markdown() -> None:
    properties = parameter_schema(Everything)["properties"]
    options = "\n\n**Available options:**\n\n- Red: The red one.\n- Green: The green one.\n- Blue: The blue one.\n"
    assert properties["e"]["description"] == f"an enum{options}"
    indented = "static choices\n    with text\n\n    **Available options:**\n\n    - One: the one\n    - 2\n"
    assert properties["sc"]["description"] == indented
    assert properties["se"]["description"] == "an enum string"


def test_choices_come_from_the_context_and_are_asked_for_once() -> None:
    calls: list[object] = []

    def names(ctx: DialogCreationContext) -> list[str]:
        calls.append(ctx)
        return ctx.get_credential_names()

    class Own:
        key = knext.StringParameter("Key", choices=names)

    ctx = DialogCreationContext(NodeHost(credentials={"openai": knext.Credential("u", "p", "openai")}))
    dialog = dialog_json(Own(), ctx)
    assert dialog["schema"]["properties"]["model"]["properties"]["key"]["oneOf"] == [
        {"const": "openai", "title": "openai"}
    ]
    assert calls == [ctx]
    dialog_json(Own(), DialogCreationContext())
    assert len(calls) == 2


def test_choices_do_not_keep_a_context_with_its_credentials_alive() -> None:
    class Own:
        key = knext.StringParameter("Key", choices=knext.DialogCreationContext.get_credential_names)

    ctx = DialogCreationContext()
    dialog_json(Own(), ctx)
    alive = weakref.ref(ctx)
    del ctx
    gc.collect()
    assert alive() is None


def test_choices_that_are_no_list_are_refused() -> None:
    class Own:
        key = knext.StringParameter("Key", choices=lambda ctx: "abc")

    with pytest.raises(TypeError, match="must be a list or tuple"):
        dialog_json(Own(), DialogCreationContext())


def test_broken_hidden_choices_show_all_options(caplog: pytest.LogCaptureFixture) -> None:
    def broken(ctx: object) -> Any:
        raise RuntimeError("oops")

    class Own:
        color = knext.EnumParameter("Color", enum=Color, default_value="RED", hidden_choices=broken)

    with caplog.at_level(logging.WARNING):
        assert len(parameter_schema(Own)["properties"]["color"]["oneOf"]) == 3
    assert "hidden_choices of 'Color' failed" in caplog.text


def test_a_rule_inside_a_group_means_the_parameter_beside_it() -> None:
    class Own:
        first = Inner()
        second = Inner()

    elements = ui_schema(Own, DialogCreationContext())["elements"]
    scopes = [e["elements"][0]["elements"][2]["rule"]["condition"]["scope"] for e in elements]
    assert scopes == [
        "#/properties/model/properties/first/properties/on",
        "#/properties/model/properties/second/properties/on",
    ]


def test_groups_can_have_rules() -> None:
    class Own:
        on = knext.BoolParameter()
        group: Any = Inner()
        group.rule(knext.OneOf(on, [True]), knext.Effect.SHOW)

    section = ui_schema(Own, DialogCreationContext())["elements"][1]
    assert section["rule"]["condition"]["scope"] == "#/properties/model/properties/on"


def test_a_rule_on_a_parameter_of_another_node_is_explained() -> None:
    class Own:
        shown = knext.IntParameter().rule(knext.OneOf(Everything.b, [True]), knext.Effect.SHOW)

    with pytest.raises(ValueError, match="depends on the parameter 'Bool', which the node does not have"):
        ui_schema(Own, DialogCreationContext())


@pytest.mark.parametrize("combine", [knext.And, knext.Or])
def test_a_combination_needs_conditions(combine: Any) -> None:
    with pytest.raises(ValueError, match="at least one condition"):
        combine()


def test_a_column_of_a_port_that_carries_no_table_keeps_the_dialog_shut() -> None:
    class Own:
        column = knext.ColumnParameter()
        provided = knext.ColumnParameter(schema_provider=lambda ctx: 5)

    with pytest.raises(TypeError, match="carries no table"):
        dialog_json(Own(), DialogCreationContext(input_specs=[knext.BinaryPortObjectSpec("x")]))
    with pytest.raises(TypeError, match="must come from a schema, not int"):
        dialog_json(Own(), DialogCreationContext(input_specs=[None]))
