"""Prompts as templates over the columns of a row, written by anybody."""

from __future__ import annotations

from datetime import date
from time import perf_counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knime_ext.agent.batch.templates import PromptTemplate
from knime_ext.errors import AgentError, ConfigurationError

_WHOLE_ROW = (
    '{"name": "Ann", "My column": 3, "row": "nested", "größe": 1.5, "items": ["a", "b"], "missing": null, "n": 3, '
    '"when": "2025-12-24", "place": {"city": "Basel"}}'
)
THERE = ["name", "My column", "row", "größe", "items"]


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("Hello {{ name }}!\n", "Hello Ann!\n"),
        ("{{ row['My column'] }}, {{ row.name }}, {{ row['row'] }}", "3, Ann, nested"),
        ("{{ größe }} {{ row.items }}", "1.5 ['a', 'b']"),
        ("{{ missing }}|{{ missing or 'none' }}", "|none"),
        ("{% if n > 2 %}many{% else %}few{% endif %}", "many"),
        ("{% for item in row.items %}{{ loop.index }}. {{ item.upper() }}; {% endfor %}", "1. A; 2. B; "),
        ("{% for i in range(3) %}{% for j in range(2) %}{{ i * j }}{% endfor %}{% endfor %}", "000102"),
        ("{% set who = name ~ '!' ~ n %}{{ who|lower }}", "ann!3"),
        ("{{ row.items|join(', ') }} {{ row.items|map('upper')|list|tojson }}", 'a, b ["A", "B"]'),
        ("{{ when.strftime('%d.%m.%Y') }} {{ when.year + 1 }}", "24.12.2025 2026"),
        ("{{ place.city }}/{{ place.get('zip', '?') }}", "Basel/?"),
        ("{{ name.replace('n', 'm') }} {{ name|replace('n', 'N') }} {{ name[::-1] }}", "Amm ANN nnA"),
        ("{% for column in row %}{{ column[0] }}{% endfor %}", "nMrgimnwp"),
        ("<b>{{ '<&>' }}</b>", "<b><&></b>"),
        ("{% if row.n %}{{ row }} {{ row|tojson }}{% endif %}", f"{_WHOLE_ROW} {_WHOLE_ROW}"),
    ],
)
def test_cells_are_filled_in(template: str, text: str) -> None:
    cells: dict[str, Any] = {"name": "Ann", "My column": 3, "row": "nested", "größe": 1.5, "items": ["a", "b"]}
    cells |= {"missing": None, "n": 3, "when": date(2025, 12, 24), "place": {"city": "Basel"}}
    assert PromptTemplate(template).render(cells) == text


@pytest.mark.parametrize(
    ("template", "columns"),
    [
        ("no column", ()),
        ("{{ name }} and {{ row['My column'] }}", ("name", "My column")),
        ("{{ row.items }}{% set größe = 1 %}{{ größe }}{% for name in row.items %}{{ name }}{% endfor %}", ("items",)),
        ("{{ range(3)|list }} {% for i in range(2) %}{{ loop.index }}{% endfor %}", ()),
        ("{% for column in row %}{{ row[column] }}{% endfor %}", tuple(THERE)),
    ],
)
def test_the_columns_that_a_template_needs_are_known_before_it_runs(template: str, columns: tuple[str, ...]) -> None:
    assert PromptTemplate(template).columns(THERE) == columns


def test_a_missing_column_is_named_with_the_nearest_one() -> None:
    with pytest.raises(ConfigurationError, match="system message uses the column 'My colum'.*did you mean 'My column'"):
        PromptTemplate("{{ row['My colum'] }}", what="system message").columns(THERE)
    with pytest.raises(ConfigurationError, match="the column 'zzz', which the table does not have; it has 'name', 'My"):
        PromptTemplate("{{ zzz }}").columns(THERE)


@pytest.mark.parametrize(
    ("template", "reason"),
    [
        ("one\n{{ name", "line 2: unexpected end of template"),
        ("{% include 'secrets' %}", "'include' cannot be used in a prompt"),
        ("{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}", "'macro' cannot be used"),
        ("{% for i in [1] recursive %}{{ loop([1]) }}{% endfor %}", "'for' cannot be used"),
        ("{{ name|attr('upper') }}", "No filter named 'attr'"),
        ("{{ 'a'|center(10**9) }}", "No filter named 'center'"),
        ("{{ " + "(" * 3000 + "1" + ")" * 3000 + " }}", "nested too deeply"),
        ("x" * 300_000, "longer than 200,000"),
    ],
)
def test_a_template_that_cannot_be_used_says_where_and_why(template: str, reason: str) -> None:
    with pytest.raises(ConfigurationError, match="template of the prompt cannot be used") as caught:
        PromptTemplate(template)
    assert reason in str(caught.value)


BOMBS = [
    "{{ 'a' * 10**9 }}",
    "{{ 10**9 * 'a' }}",
    "{{ [1] * 10**9 }}",
    "{{ '%999999999d' % 1 }}",
    "{{ '{:999999999}'.format(1) }}",
    "{{ 'a'.ljust(10**9) }}",
    "{{ 2 ** 9999999 }}",
    "{% set a = 99 %}" + "{% set a = a * a %}" * 40 + "{{ a }}",
    "{% set a = 'aaaaaaaaaa' %}" + "{% set a = a ~ a %}" * 40 + "{{ a|length }}",
    "{% set a = 'aaaaaaaaaa' %}" + "{% set a = a + a %}" * 40 + "{{ a|length }}",
    "{% set a = [1, 1] %}" + "{% set a = [a, a] %}" * 40 + "{{ a }}",
    "{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}",
    "{% for i in range(99999) %}{{ 'a' * 1000 }}{% endfor %}",
    "{{ range(99999)|map('string')|join('x' * 99999) }}",
    "{{ ('x' * 99999).join(range(99999)|map('string')|list) }}",
    "{{ ('a' * 99999)|replace('a', 'b' * 99999) }}",
    "{{ ('a' * 99999).replace('a', 'b' * 99999) }}",
]
ESCAPES = [
    "{{ ''.__class__.__mro__ }}",
    "{{ row.__class__ }}",
    "{{ row['__class__'].__base__ }}",
    "{{ name.__init__.__globals__ }}",
    "{{ ''['__class__'] }}",
    "{{ '{0.__class__}'.format(name) }}",
    "{{ name|map(attribute='__class__')|join }}",
    "{{ lipsum.__globals__ }}",
    "{{ cycler.__init__.__globals__.os.popen('id').read() }}",
    "{{ namespace() }}",
    "{{ self._TemplateReference__context }}",
    "{{ range.__class__ }}",
    "{{ loop.__class__ }}",
    "{{ dict(a=1) }}",
    "{{ place.update({'a': 1}) }}",
    "{{ place.items.__self__ }}",
]


@pytest.mark.parametrize("template", BOMBS + ESCAPES)
def test_no_template_uses_up_the_machine_or_gets_out(template: str) -> None:
    began = perf_counter()
    with pytest.raises(AgentError, match="cannot be filled in|is longer than"):
        PromptTemplate(template).render({"name": "Ann", "place": {}})
    assert perf_counter() - began < 20  # seconds; a fraction of one on an idle machine


def test_a_function_is_never_written_into_a_prompt() -> None:
    with pytest.raises(AgentError, match="a function cannot be written"):
        PromptTemplate("{{ range }}").render({})


def test_a_row_that_does_not_fit_is_an_error_of_its_own() -> None:
    template = PromptTemplate("{{ 100 / n }}")
    assert template.render({"n": 8}) == "12.5"
    with pytest.raises(AgentError, match="cannot be filled in: division by zero"):
        template.render({"n": 0})
    with pytest.raises(AgentError, match="has no attribute 'city'"):
        PromptTemplate("{{ place.city }}").render({"place": {}})
    with pytest.raises(AgentError, match="longer than 1,000,000 characters; shorten the cells"):
        PromptTemplate("{{ text }}").render({"text": "x" * 1_000_001})
    assert PromptTemplate("{{ text|truncate(10) }}").render({"text": "x" * 9_000_000}) == "xxxxxxx..."


@given(st.text(), st.text(), st.text(alphabet="abc {}%#", max_size=20))
def test_cells_are_text_and_never_part_of_the_template(name: str, cell: str, around: str) -> None:
    quoted = name.replace("\\", "\\\\").replace("'", "\\'").replace("{", "\\x7b").replace("}", "\\x7d")
    quoted = quoted.replace("%", "\\x25").replace("\r", "\\r").replace("\n", "\\n")
    template = PromptTemplate("[{{ row['" + quoted + "'] }}] {{ other }}")
    assert template.columns([name, "other"]) == tuple(dict.fromkeys([name, "other"]))
    cells = {name: cell, "other": around} if name != "other" else {"other": cell}
    assert template.render(cells) == f"[{cell}] {cells['other']}"
