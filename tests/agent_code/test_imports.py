"""Imports in code of a model: tolerated for tools, kept where the sandbox has the module, else refused with a hint."""

from __future__ import annotations

import ast

import pydantic_monty
import pytest
from hypothesis import given
from hypothesis import strategies as st

from knime_ext.agent import filter_imports
from knime_ext.agent.code.imports import MODULES
from tests.agent_code.tools import answer, runner

TOOLS = ["search", "price_of"]


@pytest.mark.parametrize(
    ("code", "filtered"),
    [
        ("import search", "pass"),
        ("import search as find", "find = search"),
        ("from tools import search", "pass"),
        ("from tools import search, price_of", "pass; pass"),
        ("from tools import search as find, price_of", "find = search; pass"),
        ("from my.tools import search", "pass"),
        ("from .tools import *", "pass"),
        ("from search import search", "pass"),
        ("import tools\ntools.search(query='x')", "pass\nsearch(query='x')"),
        ("import tools as t, json\nt.search(t.other)", "pass; import json\nsearch(t.other)"),
        ("import json, re", "import json, re"),
        ("from collections import Counter", "from collections import Counter"),
        ("if True:\n    import search\nx = 1; import search; y = 2", "if True:\n    pass\nx = 1; pass; y = 2"),
        ("from tools import (\n    search,\n    price_of as p,\n)\np()", "\\\n\\\n\\\npass; p = price_of\np()"),
        ("ünïcode = 'é'; import search; ünïcode", "ünïcode = 'é'; pass; ünïcode"),
        ("'''import requests'''  # import search", "'''import requests'''  # import search"),
        ("this is no Python import x", "this is no Python import x"),
    ],
)
def test_imports_of_tools_and_modules(code: str, filtered: str) -> None:
    assert filter_imports(code, TOOLS) == filtered


@pytest.mark.parametrize(
    ("code", "hint"),
    [
        ("import requests", "there is no module 'requests' here; call the tools without importing them"),
        ("import numpy as np", "there is no module 'numpy' here"),
        ("from os.path2 import x\nimport pandas.io", "there is no module 'pandas.io' here"),
        ("from tools import delete_all", "there is no tool 'delete_all'; the tools are there without an import"),
        ("from . import helper", "there is no tool 'helper'"),
    ],
)
def test_every_other_import_raises_with_a_hint(code: str, hint: str) -> None:
    assert hint in filter_imports(code, TOOLS)
    message = answer(runner(), code.partition("\n")[2] or code)
    assert "ImportError: " in message.text and hint in message.text


def test_a_refused_import_can_be_caught_as_in_python() -> None:
    code = "try:\n    import numpy\nexcept ImportError:\n    numpy = None\nnumpy is None"
    assert answer(runner(), code).content == "Result: True"


def test_lines_keep_their_numbers() -> None:
    code = "from tools import (\n    price_of,\n    half,\n)\n\n1 / 0"
    assert "line 6" in answer(runner(), code).text


def test_the_sandbox_has_the_modules_that_stay() -> None:
    with pydantic_monty.Monty() as pool, pool.checkout() as session:
        for module in sorted(MODULES - {"__future__"}):
            session.feed_run(f"import {module}")


LINES = st.sampled_from(
    ["import search", "import requests", "from tools import search as s", "import json", "x = 'import search'"]
    + [
        "if x:\n    import search, json",
        "from tools import (\n    search,\n    nothing)",
        "y = 1; import requests; z = 2",
    ]
)


@given(st.lists(LINES, max_size=6).map("\n".join))
def test_what_is_filtered_is_python_of_as_many_lines_and_stays_as_it_is(code: str) -> None:
    filtered = filter_imports(code, TOOLS)
    ast.parse(filtered)
    assert filtered.count("\n") == code.count("\n")
    assert filter_imports(filtered, TOOLS) == filtered
