"""Describes the public names of a module of nodes' API as plain JSON: kinds, signatures, members, and nothing else.

Describes KNIME's `knime.extension` for the golden file, and the look-alike for the comparison with it. As a program,
with the environment of `make knime`, it prints what belongs into the golden file `tests/golden/knime_api.json`:

    KNIME_PYTHON_SRC=<checkout of knime-python> .venv-knime/bin/python tests/knime_parity/api_description.py
"""

from __future__ import annotations

import enum
import importlib
import inspect
import json
import os
import sys
import warnings
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType
from typing import Any

SOURCE_FOLDERS = ("org.knime.python3", "org.knime.python3.arrow", "org.knime.python3.views", "org.knime.python3.nodes")


def describe(module: ModuleType, names: Iterable[str]) -> dict[str, Any]:
    """What each of the names is."""
    return {name: _described(getattr(module, name)) for name in sorted(names)}


def public_names(module: ModuleType) -> list[str]:
    """The names that a module offers: everything without an underscore that is no module."""
    return [name for name, value in vars(module).items() if name[0] != "_" and not inspect.ismodule(value)]


def _described(value: Any) -> Any:
    if isinstance(value, type) and issubclass(value, enum.Enum):
        return {"enum": [member.name for member in value]}
    if isinstance(value, type):
        return {"class": _signature(value), "members": _members(value)}
    return _signature(value) if callable(value) else type(value).__name__


def _members(cls: type) -> dict[str, str]:
    """Public members, inherited ones too: the signature of a method, "property" or "attribute"."""
    families = [vars(base) for base in cls.__mro__ if base.__module__ != "builtins"]
    names = sorted({name for family in families for name in family if name[0] != "_"})
    return {name: _member(inspect.getattr_static(cls, name), getattr(cls, name)) for name in names}


def _member(static: Any, value: Any) -> str:
    if isinstance(static, property):
        return "property"
    return _signature(value) if inspect.isfunction(value) or inspect.ismethod(value) else "attribute"


_MARKS = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}


def _signature(of: Any) -> str:
    """Such as "(label=None, *, style)"; without types and without self. "(...)" where Python cannot tell."""
    shown: list[str] = []
    try:
        parameters = inspect.signature(of).parameters.values()
    except ValueError:
        return "(...)"
    for each in parameters:
        if each.kind is inspect.Parameter.KEYWORD_ONLY and not any(text[0] == "*" for text in shown):
            shown.append("*")
        shown.append(_MARKS.get(each.kind, "") + each.name + _default(each.default))
    return f"({', '.join(text for text in shown if text != 'self')})"


def _default(value: Any) -> str:
    """How a default shows: "" for none, "=..." for one that is no plain value."""
    if value is inspect.Parameter.empty:
        return ""
    if isinstance(value, enum.Enum):
        return f"={type(value).__name__}.{value.name}"
    plain = isinstance(value, (bool, int, float, str, type(None)))
    return f"={value!r}" if plain else "=..."


def _knime_extension(source: str) -> ModuleType:
    folders = [Path(source) / name / "src" / "main" / "python" for name in SOURCE_FOLDERS]
    sys.path[:0] = [str(folder) for folder in folders]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return importlib.import_module("knime.extension")


def main() -> None:
    """Prints the description of KNIME's API."""
    module = _knime_extension(os.environ["KNIME_PYTHON_SRC"])
    json.dump(describe(module, public_names(module)), sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
