"""Row Filter: our criteria and KNIME's predicates, which come in two layouts.

Until KNIME 5.9 a predicate has `predicateValues`, where NEQ is not met by missing cells. Since 5.10 it has
`filterValueParameters`, where NEQ is met by missing cells and NEQ_MISS is not. KNIME 5.10 and later read both.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from knime_ext.runtime.knime_workflow.cell_types import data_type
from knime_ext.runtime.knime_workflow.config import Config, Entry, double, integer, long, text
from knime_ext.runtime.knime_workflow.rows import Settings, Unsupported

__all__ = ["ROW_IDS", "chosen_column", "column_choice", "read_criteria", "write_criteria"]

ROW_IDS = "<RowID>"
_OPERATORS = ("EQ", "NEQ", "LT", "LTE", "GT", "GTE", "WILDCARD", "REGEX")
_WITHOUT_VALUE = ("IS_MISSING", "IS_NOT_MISSING")
_BOOLEAN = {"IS_TRUE": "true", "IS_FALSE": "false"}
_INTEGER = re.compile(r"[+-]?[0-9]{1,18}")
_NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")


def column_choice(column: str | None) -> Config:
    """A column, or the row ids, as KNIME's settings hold the choice."""
    is_row_id = column == ROW_IDS
    return Config(
        regularChoice=text(None if is_row_id or not column else column),
        specialChoice_Internals=text("ROW_ID" if is_row_id else None),
    )


def chosen_column(config: Config) -> str:
    """The column that a choice of KNIME's settings names.

    Raises:
        Unsupported: It is the number of the row.
    """
    special = config.string("specialChoice_Internals")
    if special and special != "ROW_ID":
        raise Unsupported(f"filters by {special!r}")
    return ROW_IDS if special else config.string("regularChoice")


def write_criteria(settings: Settings, model: Config) -> None:
    """Puts a predicate per criterion."""
    predicates = {str(at): _predicate(criterion) for at, criterion in enumerate(settings["criteria"])}
    model["predicates"] = Config(predicates)


def _predicate(criterion: Mapping[str, Any]) -> Config:
    operator, values = _operator_and_values(criterion)
    return Config(
        columnV2=column_choice(criterion["column"]),
        operator=text(operator),
        predicateValues=Config(
            values=Config({str(at): value for at, value in enumerate(values)}), inputKind=text("SINGLE")
        ),
    )


def _operator_and_values(criterion: Mapping[str, Any]) -> tuple[str, list[Config]]:
    operator, value = criterion["operator"], criterion["value"]
    if operator in _WITHOUT_VALUE:
        return operator, []
    is_text = criterion["column"] == ROW_IDS or operator in ("WILDCARD", "REGEX")
    if not is_text and operator in ("EQ", "NEQ") and value.strip().lower() in ("true", "false"):
        return "IS_TRUE" if (value.strip().lower() == "true") == (operator == "EQ") else "IS_FALSE", []
    cell_type, entry = ("STRING", text(value)) if is_text else _guessed(value)
    config = Config(typeIdentifier=data_type(cell_type))
    if cell_type == "STRING":
        matching = "CASESENSITIVE" if criterion["case_sensitive"] else "CASEINSENSITIVE"
        config["stringCaseMatching"] = Config(caseMatching=text(matching))
    config["value"] = entry
    return operator, [config]


def _guessed(value: str) -> tuple[str, Entry]:
    """Type and entry of a value. KNIME wants the type of the column, which a document does not have."""
    stripped = value.strip()
    if _INTEGER.fullmatch(stripped):
        is_short = -(2**31) <= int(stripped) < 2**31
        return ("INTEGER", integer(int(stripped))) if is_short else ("LONG", long(int(stripped)))
    if _NUMBER.fullmatch(stripped):
        return "DOUBLE", double(float(stripped))
    return "STRING", text(value)


def read_criteria(model: Config) -> dict[str, Any]:
    """Our criteria for KNIME's predicates.

    Raises:
        Unsupported: A predicate is none that this runtime has.
    """
    if "predicates" not in model:
        return {}
    return {"criteria": [_criterion(config) for _, config in model.below("predicates").configs()]}


def _criterion(config: Config) -> dict[str, Any]:
    column = chosen_column(config.below("columnV2")) if "columnV2" in config else _legacy_column(config)
    operator = config.string("operator")
    if "filterValueParameters" in config:
        operator = _renamed(operator, column)
        parameters = config.below("filterValueParameters")
        value = parameters.find("pattern") or parameters.find("value")
        sensitive = parameters.string("caseSensitivity", "CASE_SENSITIVE") == "CASE_SENSITIVE"
    else:
        parameters = config.below("predicateValues/values/0")
        value = parameters.find("value")
        sensitive = parameters.string("stringCaseMatching/caseMatching", "CASESENSITIVE") == "CASESENSITIVE"
    if operator in _BOOLEAN:
        return {"column": column, "operator": "EQ", "value": _BOOLEAN[operator], "case_sensitive": True}
    if operator not in _OPERATORS + _WITHOUT_VALUE:
        raise Unsupported(f"filters {column!r} with the operator {operator!r}")
    written = value.written if isinstance(value, Entry) and value.written is not None else ""
    return {
        "column": column,
        "operator": operator,
        "value": "" if operator in _WITHOUT_VALUE else written,
        "case_sensitive": sensitive,
    }


def _renamed(operator: str, column: str) -> str:
    """The older name of an operator of KNIME 5.10; row ids are never missing, so there both mean the same."""
    if operator == "NEQ" and column != ROW_IDS:
        return "NEQ (or missing)"
    return "NEQ" if operator == "NEQ_MISS" else operator


def _legacy_column(config: Config) -> str:
    selected = config.string("column/selected") or config.string("column")
    if selected == "<row-numbers>":
        raise Unsupported("filters by the number of the row")
    return ROW_IDS if selected == "<row-keys>" else selected
