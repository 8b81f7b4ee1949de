"""What a browser would see of a page: its elements with their classes and texts."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser

__all__ = ["Element", "Page"]

VOID = frozenset(("meta", "img", "rect", "br", "input"))


@dataclass(slots=True)
class Element:
    """An element with everything in it."""

    tag: str
    attributes: dict[str, str | None] = field(default_factory=dict[str, "str | None"])
    children: list[Element | str] = field(default_factory=list["Element | str"])

    @property
    def classes(self) -> list[str]:
        """Its classes."""
        return (self.attributes.get("class") or "").split()

    @property
    def text(self) -> str:
        """The text in it, without style sheets and scripts."""
        if self.tag in ("style", "script"):
            return ""
        return "".join(child if isinstance(child, str) else child.text for child in self.children)

    def all(self, tag: str = "", kind: str = "") -> list[Element]:
        """All elements below with a tag and a class."""
        found: list[Element] = []
        for child in self.children:
            if isinstance(child, Element):
                if tag in ("", child.tag) and (not kind or kind in child.classes):
                    found.append(child)
                found += child.all(tag, kind)
        return found

    def one(self, tag: str = "", kind: str = "") -> Element:
        """The only such element."""
        (found,) = self.all(tag, kind)
        return found

    @property
    def rows(self) -> list[list[str]]:
        """The cells of a table."""
        return [[cell.text for cell in row.all() if cell.tag in ("th", "td")] for row in self.all("tr")]


class Page(HTMLParser):
    """A parsed page; an element that is not closed or closed twice is an error."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.root = Element("")
        self._open = [self.root]
        self.feed(html)
        self.close()
        assert self._open == [self.root], [element.tag for element in self._open]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = Element(tag, dict(attrs))
        assert len(element.attributes) == len(attrs), attrs
        self._open[-1].children.append(element)
        if tag not in VOID:
            self._open.append(element)

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self._open.pop().tag == tag

    def handle_data(self, data: str) -> None:
        self._open[-1].children.append(data)
