"""Rich text of KNIME's descriptions and annotations, as the plain text that documents have."""

from __future__ import annotations

import re
from html.parser import HTMLParser

__all__ = ["plain_text"]

_BREAKING = frozenset({"p", "br", "li", "div", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "tr"})


class _Collector(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Starts a line where the text does."""
        if tag in _BREAKING:
            self.parts.append("\n")

    def handle_data(self, data: str) -> None:
        """Keeps the text."""
        self.parts.append(data)


def plain_text(written: str, content_type: str) -> str:
    """The text without its marks.

    Args:
        written: The text as it is stored.
        content_type: "text/html" for marked text; any other is plain already.
    """
    if content_type != "text/html":
        return written
    collector = _Collector()
    collector.feed(written)
    collector.close()
    return re.sub(r"\n\s*\n", "\n", "".join(collector.parts)).strip()
