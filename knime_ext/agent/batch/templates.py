"""Prompts with places for the cells of a row, such as `Summarise {{ text }} for {{ row['Given name'] }}`."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from typing import Any

from jinja2 import TemplateError, TemplateSyntaxError, nodes
from jinja2.meta import find_undeclared_variables

from knime_ext.agent.batch.template_limits import MAX_CHARS, PromptEnvironment, RowValues, limited, metered
from knime_ext.errors import AgentError, ConfigurationError

__all__ = ["PromptTemplate"]

_ROW = "row"
_MAX_TEMPLATE_CHARS = 200_000

_environment = PromptEnvironment()


class PromptTemplate:
    """A Jinja template over the columns of a table.

    A column is written as `{{ name }}`, or as `{{ row['Any name'] }}` where the name is no identifier. Missing cells
    are empty. Conditions, loops, the usual filters and methods of texts work; whatever reaches beyond the row does
    not, and a template that would use up the machine is stopped.
    """

    def __init__(self, text: str, *, what: str = "prompt") -> None:
        """Reads a template.

        Args:
            text: The template.
            what: What it is for, for messages: "prompt" or "system message".

        Raises:
            ConfigurationError: It is no valid template; the message names the line.
        """
        self.text = text
        self._what = what
        try:
            tree = self._parsed(text)
            self._wanted = _columns(tree)
            code = _environment.compile(limited(tree))
            self._template = _environment.template_class.from_code(_environment, code, _environment.globals)
        except TemplateSyntaxError as error:
            raise self._wrong(f"line {error.lineno}: {error.message}") from None
        except (TemplateError, ValueError) as error:
            raise self._wrong(str(error)) from None
        except (RecursionError, MemoryError, SyntaxError):
            raise self._wrong("it is nested too deeply") from None

    def _parsed(self, text: str) -> nodes.Template:
        if len(text) > _MAX_TEMPLATE_CHARS:
            raise self._wrong(f"it is longer than {_MAX_TEMPLATE_CHARS:,} characters")
        return _environment.parse(text)

    def _wrong(self, reason: str) -> ConfigurationError:
        return ConfigurationError(f"the template of the {self._what} cannot be used: {reason.rstrip('.')}; correct it.")

    def columns(self, there: Sequence[str]) -> tuple[str, ...]:
        """The columns that the template needs, in the order of the table.

        Args:
            there: Names of the table's columns.

        Raises:
            ConfigurationError: It names a column that the table does not have.
        """
        wanted = set(there) if self._wanted is None else self._wanted
        for name in sorted(wanted - set(there)):
            near = difflib.get_close_matches(name, there, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"it has {', '.join(map(repr, there)) or 'none'}."
            raise ConfigurationError(
                f"the template of the {self._what} uses the column {name!r}, which the table does not have; {hint}"
            )
        return tuple(name for name in there if name in wanted)

    def render(self, cells: Mapping[str, Any]) -> str:
        """The text for one row.

        Args:
            cells: Values by the names of their columns; those of `columns` at least.

        Raises:
            AgentError: The template does not fit this row, or does too much.
        """
        parts: list[str] = []
        left = MAX_CHARS
        try:
            with metered():
                # The row comes last: a column of that name is row['row'].
                for part in self._template.generate({**cells, _ROW: RowValues(cells)}):
                    parts.append(part)
                    left -= len(part)
                    if left < 0:
                        raise AgentError(
                            f"the {self._what} is longer than {MAX_CHARS:,} characters; shorten the cells."
                        )
        except AgentError:
            raise
        except Exception as error:
            reason = str(error).rstrip(".") or type(error).__name__
            raise AgentError(f"the template of the {self._what} cannot be filled in: {reason}.") from None
        return "".join(parts)


def _columns(tree: nodes.Template) -> set[str] | None:
    """The columns that a template names; None if it goes through the whole row."""
    names = find_undeclared_variables(tree)
    if _ROW not in names:
        return names
    rows = sum(1 for name in tree.find_all(nodes.Name) if name.name == _ROW)
    parts = [_column(part) for part in tree.find_all((nodes.Getattr, nodes.Getitem))]
    by_name = [name for name in parts if name is not None]
    return (names - {_ROW}) | set(by_name) if len(by_name) == rows else None


def _column(part: nodes.Getattr | nodes.Getitem) -> str | None:
    """The column that `row.name` or `row['name']` means; None for anything else."""
    if not (isinstance(part.node, nodes.Name) and part.node.name == _ROW):
        return None
    if isinstance(part, nodes.Getattr):
        return part.attr
    value: object = part.arg.value if isinstance(part.arg, nodes.Const) else None
    return value if isinstance(value, str) else None
