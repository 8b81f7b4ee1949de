"""Single parameters: values, defaults, checks."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any, assert_type
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knime_ext.runtime import knext
from knime_ext.runtime.knext.settings import get_parameters, set_parameters
from knime_ext.runtime.knext.version import Version, extension_version, set_extension_version


class Size(knext.EnumParameterOptions):
    SMALL = ("Small", "Not much.")
    LARGE = ("Large", "A lot.")


class Node:
    count = knext.IntParameter("Count", "how many", 3, min_value=1, max_value=10)
    share = knext.DoubleParameter(min_value=0.0)
    active = knext.BoolParameter("Active", default_value=True)
    text = knext.StringParameter("Text", default_value="abc")
    choice = knext.StringParameter("Choice", choices=[knext.StringParameter.Choice("1", "One"), "2"])
    listed = knext.StringParameter("Listed", enum=["p", "q"])
    lines = knext.MultilineStringParameter("Lines")
    path = knext.LocalPathParameter("Path")
    size = knext.EnumParameter("Size", default_value=Size.LARGE, enum=Size)
    sizes = knext.EnumSetParameter("Sizes", enum=Size)
    column = knext.ColumnParameter("Column")
    columns = knext.MultiColumnParameter("Columns")
    picked = knext.ColumnFilterParameter("Picked")
    day = knext.DateTimeParameter("Day", default_value="2024-02-29")


def test_defaults_are_there_without_any_settings() -> None:
    node = Node()
    assert (node.count, node.share, node.active, node.text, node.lines, node.path) == (3, 0.0, True, "abc", "", "")
    assert (node.choice, node.listed, node.size, node.sizes) == ("1", "p", "LARGE", ["SMALL", "LARGE"])
    assert (node.column, node.columns, node.day) == (None, [], dt.date(2024, 2, 29))
    assert node.picked == knext.ColumnFilterConfig()


def test_a_type_checker_knows_the_values() -> None:
    node = Node()
    assert_type(node.count, int)
    assert_type(node.share, float)
    assert_type(node.active, bool)
    assert_type(node.text, str)
    assert_type(node.size, str)
    assert_type(node.sizes, list[str])
    assert_type(node.column, str | None)
    assert_type(node.columns, list[str])
    assert_type(node.picked, knext.ColumnFilterConfig)
    assert_type(Node.count, knext.IntParameter)


def test_values_belong_to_the_instance() -> None:
    first, second = Node(), Node()
    first.count = 5
    first.columns.append("a")
    assert (second.count, second.columns) == (3, [])
    assert vars(first)["__parameters__"]["count"] == 5


def test_the_label_is_the_attribute_name_unless_given() -> None:
    assert Node.share.label == "share"
    assert Node.count.label == "Count"


@pytest.mark.parametrize(
    ("name", "value", "error", "message"),
    [
        ("count", 0, ValueError, "0 is smaller than the minimum 1"),
        ("count", 11, ValueError, "11 is larger than the maximum 10"),
        ("count", "5", TypeError, "must be a whole number"),
        ("count", 5.0, TypeError, "must be a whole number"),
        ("share", "x", TypeError, "must be a number"),
        ("share", -0.1, ValueError, "smaller than the minimum"),
        ("active", 1, TypeError, "must be true or false"),
        ("text", 5, TypeError, "must be a text"),
        ("lines", None, TypeError, "must be a text"),
        ("path", "/no/such/place", ValueError, "there is no file or folder at '/no/such/place'"),
        ("path", 5, TypeError, "must be a text"),
        ("size", "HUGE", ValueError, "'HUGE' is no option of 'Size'; options are 'SMALL', 'LARGE'"),
        ("size", "Large", ValueError, "is no option"),
        ("sizes", "SMALL", TypeError, "must be a list"),
        ("sizes", ["SMALL", "HUGE"], ValueError, "'HUGE' is no option"),
        ("column", 5, TypeError, "must be the name of a column"),
        ("columns", "a", TypeError, "must be a list of names of columns"),
        ("columns", ["a", 5], TypeError, "must be a list of names of columns"),
        ("picked", {}, TypeError, "must be a column filter"),
        ("day", 5, ValueError, "neither a date nor a text"),
        ("day", "yesterday", ValueError, "'yesterday' is no date in ISO format"),
    ],
)
def test_unusable_values_are_refused_and_the_old_value_stays(
    name: str, value: Any, error: type[Exception], message: str
) -> None:
    node = Node()
    before = getattr(node, name)
    with pytest.raises(error, match=message):
        setattr(node, name, value)
    assert getattr(node, name) == before


def test_a_boolean_passes_as_a_whole_number_as_in_knime() -> None:
    node = Node()
    node.count = True
    assert node.count is True


def test_a_whole_number_passes_as_a_number() -> None:
    node = Node()
    node.share = 2
    assert node.share == 2


def test_a_path_must_exist_if_it_is_absolute(tmp_path: Path) -> None:
    node = Node()
    node.path = str(tmp_path)
    node.path = "relative/to/the/workflow.csv"
    node.path = ""
    assert node.path == ""


def test_a_validator_replaces_the_builtin_check() -> None:
    def even(value: int) -> None:
        if value % 2:
            raise ValueError(f"{value} is odd")

    class Own:
        count = knext.IntParameter(validator=even, min_value=1)

    node = Own()
    node.count = -2
    with pytest.raises(ValueError, match="3 is odd"):
        node.count = 3


def test_a_validator_can_be_a_decorated_function() -> None:
    class Own:
        text = knext.StringParameter()

        @text.validator
        def _check(value: str) -> None:  # pyright: ignore[reportSelfClsParameterName, reportGeneralTypeIssues]
            if not value:
                raise ValueError("must not be empty")

    assert vars(Own)["_check"] is None
    with pytest.raises(ValueError, match="must not be empty"):
        Own().text = ""


def test_options_stay_checked_beside_a_validator() -> None:
    def not_small(value: str) -> None:
        if value == "SMALL":
            raise ValueError("too small")

    class Own:
        size = knext.EnumParameter(enum=Size, default_value="LARGE", validator=not_small)

    with pytest.raises(ValueError, match="too small"):
        Own().size = "SMALL"
    with pytest.raises(ValueError, match="is no option"):
        Own().size = "HUGE"


def test_an_enum_parameter_without_options_has_one() -> None:
    class Own:
        size = knext.EnumParameter()
        sizes = knext.EnumSetParameter()

    assert Own().size == "DEFAULT_OPTION"
    assert Own().sizes == ["DEFAULT_OPTION"]


def test_choices_are_checked_when_they_are_declared() -> None:
    choice = knext.StringParameter.Choice
    with pytest.raises(ValueError, match="two choices with the id 'a'"):
        knext.StringParameter(choices=["a", choice("a", "A")])
    with pytest.raises(TypeError, match="must be texts or StringParameter.Choice"):
        knext.StringParameter(choices=[5])
    with pytest.raises(TypeError, match="must be a list or tuple"):
        knext.StringParameter(choices={"a"})  # pyright: ignore[reportArgumentType]
    with pytest.raises(TypeError, match="enum must be a list"):
        knext.StringParameter(enum=("a",))  # pyright: ignore[reportArgumentType]
    with pytest.raises(ValueError, match="either enum or choices"):
        knext.StringParameter(enum=["a"], choices=["b"])
    with pytest.raises(ValueError, match="must not be empty"):
        choice("", "Nothing")
    with pytest.raises(TypeError, match="must be texts"):
        choice("a", 5)  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize(("lines", "error"), [(0, ValueError), ("3", TypeError)])
def test_the_height_of_a_multiline_field_is_a_positive_number(lines: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match="number_of_lines"):
        knext.MultilineStringParameter(number_of_lines=lines)


def test_a_default_may_depend_on_the_version() -> None:
    class Own:
        count = knext.IntParameter(default_value=lambda version: 1 if version < Version(2, 0, 0) else 2)

    before = extension_version()
    try:
        set_extension_version("1.9.0")
        assert Own().count == 1
        set_extension_version("2.0.0")
        assert Own().count == 2
    finally:
        set_extension_version(before)


def test_versions_compare_by_number_and_refuse_other_texts() -> None:
    assert Version.parse_version("1.10.0") > Version.parse_version("1.9.9")
    assert Version.parse_version(None) == Version(0, 0, 0)
    assert str(Version(1, 2, 3)) == "1.2.3"
    for text in ("1.0", "1.0.x", "1.0.-1", ""):
        with pytest.raises(ValueError, match="is no version"):
            Version.parse_version(text)


def test_no_column_is_stored_as_an_empty_text() -> None:
    node = Node()
    assert get_parameters(node)["column"] == ""
    set_parameters(node, {"column": "a", "columns": ["", "b"]})
    assert (node.column, node.columns) == ("a", ["b"])
    set_parameters(node, {"column": ""})
    assert node.column is None


@given(
    count=st.integers(1, 10),
    share=st.floats(min_value=0, allow_nan=False, allow_infinity=False),
    active=st.booleans(),
    text=st.text(),
    columns=st.lists(st.text(min_size=1)),
    column=st.none() | st.text(min_size=1),
    day=st.dates(),
)
def test_settings_survive_being_read_and_set_again(**values: Any) -> None:
    node, copy = Node(), Node()
    for name, value in values.items():
        setattr(node, name, value)
    tree = get_parameters(node)
    set_parameters(copy, tree)
    assert get_parameters(copy) == tree
    assert {name: getattr(copy, name) for name in values} == values


def test_dates_and_times() -> None:
    class Own:
        day = knext.DateTimeParameter(default_value="29.02.2024", date_format="%d.%m.%Y", max_value="01.01.2025")
        moment = knext.DateTimeParameter(
            default_value=dt.datetime(2024, 2, 29, 12, 30), show_time=True, timezone="Europe/Berlin"
        )
        empty = knext.DateTimeParameter(min_value="2020-01-01")

    node = Own()
    assert node.day == dt.date(2024, 2, 29)
    assert node.empty == dt.date(2020, 1, 1)
    assert get_parameters(node) == {"day": "2024-02-29", "moment": "2024-02-29T12:30:00", "empty": "2020-01-01"}
    set_parameters(node, {"moment": "2024-02-29T11:30:00Z", "empty": None})
    assert node.moment == dt.datetime(2024, 2, 29, 12, 30, tzinfo=ZoneInfo("Europe/Berlin"))
    assert get_parameters(node)["moment"] == "2024-02-29T12:30:00"
    assert node.empty is None
    with pytest.raises(ValueError, match="after the latest value"):
        node.day = dt.date(2026, 1, 1)
    with pytest.raises(ValueError, match="before the earliest value"):
        node.empty = dt.date(2019, 1, 1)
    node.moment = dt.datetime(2024, 2, 29)
    assert get_parameters(node)["moment"] == "2024-02-29T00:00:00"
    with pytest.raises(TypeError, match="must be a datetime"):
        node.moment = dt.date(2024, 1, 1)


def test_a_date_without_default_is_today() -> None:
    class Own:
        day = knext.DateTimeParameter()
        moment = knext.DateTimeParameter(show_time=True)

    assert abs(Own().day - dt.date.today()) <= dt.timedelta(days=1)
    assert isinstance(Own().moment, dt.datetime)
