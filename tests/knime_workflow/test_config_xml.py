"""KNIME's XML form of settings: what is written, what comes back, what is refused."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knime_ext.errors import WorkflowError
from knime_ext.runtime.knime_workflow.config import Config, Entry, boolean, double, integer, long, text, texts
from knime_ext.runtime.knime_workflow.config_xml import escaped, format_config, parse_config, unescaped

ANY_TEXT = st.text(st.characters(exclude_categories=()))
KEYS = st.text(st.characters(min_codepoint=32, exclude_categories=("Cs",)), min_size=1).filter(
    lambda key: not any(sign in key for sign in "\ufffe\uffff")
)
ENTRIES = st.one_of(
    st.none().map(text),
    ANY_TEXT.map(text),
    st.booleans().map(boolean),
    st.integers(-(2**31), 2**31 - 1).map(integer),
    st.integers(-(2**63), 2**63 - 1).map(long),
    st.floats().map(double),
)


def _configs() -> st.SearchStrategy[Config]:
    leaves: st.SearchStrategy[Any] = st.one_of(ENTRIES, st.lists(ANY_TEXT, max_size=3).map(texts))
    tree: st.SearchStrategy[Any] = st.recursive(
        leaves, lambda inner: st.dictionaries(KEYS, inner, max_size=4).map(Config), max_leaves=12
    )
    return st.dictionaries(KEYS, tree, max_size=5).map(Config)


@given(ANY_TEXT)
def test_every_text_survives_its_escapes(value: str) -> None:
    assert unescaped(escaped(value)) == value
    assert all(" " <= sign <= "\ud7ff" for sign in escaped(value))


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ("a\nb\tc", "a%%00010b%%00009c"),
        ("100%", "100%"),
        ("100%%", "100%%00037%"),
        ("😀", "%%55357%%56832"),
        ("\0", "%%00000"),
        ("naïve ȯ", "naïve ȯ"),
    ],
)
def test_texts_are_escaped_as_knime_escapes_them(value: str, written: str) -> None:
    assert escaped(value) == written


def test_an_unfinished_escape_is_a_text_like_any_other() -> None:
    assert unescaped("%%001 %%x") == "%%001 %%x"


@given(_configs())
def test_every_config_comes_back_from_its_file(config: Config) -> None:
    back = parse_config(format_config(config, "settings.xml"), "here")

    assert back == config
    assert list(back) == list(config)


def test_a_file_looks_as_knime_writes_it() -> None:
    config = Config(
        {"name": text('A "B" & <C>'), "nothing": text(None), "model": Config(size=integer(3)), "e": Config()}
    )

    assert format_config(config, "settings.xml").decode() == (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<config xmlns="http://www.knime.org/2008/09/XMLConfig"'
        ' xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"'
        ' xsi:schemaLocation="http://www.knime.org/2008/09/XMLConfig http://www.knime.org/XMLConfig_2008_09.xsd"'
        ' key="settings.xml">\n'
        '    <entry key="name" type="xstring" value="A &quot;B&quot; &amp; &lt;C&gt;"/>\n'
        '    <entry key="nothing" type="xstring" isnull="true" value=""/>\n'
        '    <config key="model">\n'
        '        <entry key="size" type="xint" value="3"/>\n'
        "    </config>\n"
        '    <config key="e"/>\n'
        "</config>\n"
    )


def test_numbers_beyond_javas_types_become_the_nearest_that_java_can_load() -> None:
    assert integer(2**31) == Entry("xint", "2147483647")
    assert long(-(2**63) - 1) == Entry("xlong", "-9223372036854775808")
    assert double(float("inf")) == Entry("xdouble", "Infinity")
    assert double(10**400) == Entry("xdouble", "Infinity")
    assert Entry("xdouble", "-Infinity").value == float("-inf")


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b'<!DOCTYPE config [<!ENTITY a "b">]><config key="&a;"/>', "document type declaration"),
        (b'<!DOCTYPE config SYSTEM "file:///etc/passwd"><config key="a"/>', "document type declaration"),
        (b"<config key='a'>", "is not XML"),
        (b"PK\x03\x04", "is not XML"),
        (b"", "is not XML"),
        (b"<html><body/></html>", "has a <html>"),
        (b"<entry key='a' type='xint' value='1'/>", "has a <entry>"),
        (b"<config key='a'>" * 200 + b"</config>" * 200, "nested too deeply"),
    ],
)
def test_other_files_are_refused_with_their_name(content: bytes, reason: str) -> None:
    with pytest.raises(WorkflowError, match=reason) as caught:
        parse_config(content, "'x/settings.xml'")

    assert "'x/settings.xml'" in str(caught.value)
