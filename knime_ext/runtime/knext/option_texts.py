"""The list of options that ends the description of a parameter which has some."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["with_options"]


def _indent(text: str) -> str:
    """Indentation that the lines after the first one share, because Markdown is sensitive to it."""
    lines = [line for line in text.expandtabs().splitlines()[1:] if line.strip()]
    return " " * min((len(line) - len(line.lstrip()) for line in lines), default=0)


def with_options(description: str, title: str, options: Iterable[str]) -> str:
    """The description with a Markdown list of options below it."""
    indent = _indent(description)
    listed = "".join(f"{indent}- {option}\n" for option in options)
    return f"{description.expandtabs()}\n\n{indent}**{title}:**\n\n{listed}"
