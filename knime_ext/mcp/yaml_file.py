"""A YAML file that people edit by hand and programs change: problems are told by line, comments elsewhere stay.

Such a file has one section, a mapping of names to entries:

    providers:
      docs:
        provider_type: http
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import yaml

from knime_ext.errors import ConfigurationError

__all__ = ["YamlFile"]

INDENT = "  "


class YamlFile:
    """The text of a file and what it means.

    Args:
        path: Where it is, for messages.
        text: Its content.
        section: Name of the mapping that holds the entries.

    Raises:
        ConfigurationError: The text is no YAML, or not of this form.
    """

    def __init__(self, path: Path, text: str, section: str) -> None:
        self.path = path
        self.text = text if not text or text.endswith("\n") else text + "\n"
        self.section = section
        try:
            self._root = yaml.compose(self.text, Loader=yaml.SafeLoader)
            self._data: object = yaml.safe_load(self.text)
        except yaml.MarkedYAMLError as error:
            line = 1 if error.problem_mark is None else error.problem_mark.line + 1
            raise self.fault(line, f"this is no YAML ({error.problem or error.context})") from None
        except (yaml.YAMLError, ValueError):
            raise self.fault(1, "this is no YAML, or holds characters that cannot be printed") from None
        if self._root is not None:
            self._check_keys(self._root, set())
        if self._data is not None and not isinstance(self._data, dict):
            raise self.fault(1, f"the file must hold the key {section!r}; write '{section}:' and entries below it")

    @classmethod
    def read(cls, path: Path, section: str) -> YamlFile:
        """Reads a file; one that does not exist is empty.

        Raises:
            ConfigurationError: It cannot be read, or is not of this form.
        """
        try:
            text = path.read_text(encoding="utf-8")
        except FileNotFoundError:
            text = ""
        except UnicodeDecodeError:
            raise ConfigurationError(f"{str(path)!r} is no UTF-8 text; save it as UTF-8") from None
        except OSError as error:
            raise ConfigurationError(f"cannot read {str(path)!r}: {error.strerror or error}") from None
        return cls(path, text, section)

    @property
    def data(self) -> dict[str, Any]:
        """What the file says."""
        return cast("dict[str, Any]", self._data or {})

    def line(self, place: Sequence[int | str]) -> int:
        """The line, counted from 1, of a place such as `("providers", "docs", "url")`.

        Steps that lead nowhere are passed over, so that a missing field has the line of what misses it.
        """
        node, line = self._root, 1
        for step in place:
            found = _step(node, step)
            if found is not None:
                node, line = found
        return line

    def fault(self, line: int, text: str) -> ConfigurationError:
        """The error that says what is wrong in a line."""
        return ConfigurationError(f"{str(self.path)!r}, line {line}: {text}")

    def with_entry(self, name: str, entry: Mapping[str, Any]) -> YamlFile:
        """The file with an entry added or replaced."""
        entries = {**self._entries(), name: dict(entry)}
        section = self._section()
        if section is None:
            return self._with_section(entries)
        pairs = _pairs(section)
        spans = {key: (key_node.start_mark.line, _last_line(self._lines, value)) for key, key_node, value in pairs}
        start, end = spans.get(name, (max(end for _, end in spans.values()),) * 2)
        indent = " " * pairs[0][1].start_mark.column
        return self._spliced(start, end, textwrap.indent(_dumped({name: entries[name]}), indent))

    def without_entry(self, name: str) -> YamlFile:
        """The file without an entry."""
        entries = self._entries()
        del entries[name]
        section = self._section()
        if section is None or not entries:
            return self._with_section(entries)
        for key, key_node, value in _pairs(section):
            if key == name:
                return self._spliced(key_node.start_mark.line, _last_line(self._lines, value), "")
        return self

    @property
    def _lines(self) -> list[str]:
        return self.text.splitlines(keepends=True)

    def _entries(self) -> dict[str, Any]:
        return dict(self.data.get(self.section) or {})

    def _section(self) -> yaml.MappingNode | None:
        """The section if it is written line by line and has entries, so that single lines can be changed."""
        found = _step(self._root, self.section)
        node = None if found is None else found[0]
        is_block = isinstance(node, yaml.MappingNode) and not node.flow_style and bool(cast("list[Any]", node.value))
        return cast("yaml.MappingNode", node) if is_block else None

    def _with_section(self, entries: Mapping[str, Any]) -> YamlFile:
        """The file with the whole section written anew."""
        found = _step(self._root, self.section)
        block = textwrap.indent(_dumped(entries), INDENT) if entries else ""
        text = f"{self.section}:\n{block}" if entries else f"{self.section}: {{}}\n"
        if found is None:
            return self._spliced(len(self._lines), len(self._lines), text)
        return self._spliced(found[1] - 1, max(_last_line(self._lines, found[0]), found[1]), text)

    def _spliced(self, start: int, end: int, text: str) -> YamlFile:
        lines = self._lines
        return YamlFile(self.path, "".join(lines[:start]) + text + "".join(lines[end:]), self.section)

    def _check_keys(self, node: yaml.Node, visited: set[int]) -> None:
        """Refuses what YAML lets pass: of two equal keys, the later one would win unseen."""
        if id(node) in visited:  # an alias; it may even stand within what it repeats
            return
        visited.add(id(node))
        if isinstance(node, yaml.MappingNode):
            seen: set[str] = set()
            for key, key_node, value in _pairs(node):
                if key in seen:
                    raise self.fault(key_node.start_mark.line + 1, f"{key!r} is here a second time; remove one of them")
                seen.add(key)
                self._check_keys(value, visited)
        elif isinstance(node, yaml.SequenceNode):
            for item in cast("list[yaml.Node]", node.value):
                self._check_keys(item, visited)


def _pairs(node: yaml.MappingNode) -> list[tuple[str, yaml.Node, yaml.Node]]:
    pairs = cast("list[tuple[yaml.Node, yaml.Node]]", node.value)
    return [(str(cast("object", key.value)), key, value) for key, value in pairs]


def _step(node: yaml.Node | None, step: int | str) -> tuple[yaml.Node, int] | None:
    """The node one step below, with its line counted from 1."""
    if isinstance(node, yaml.MappingNode):
        for key, key_node, value in _pairs(node):
            if key == str(step):
                return value, key_node.start_mark.line + 1
    if isinstance(node, yaml.SequenceNode) and isinstance(step, int):
        items = cast("list[yaml.Node]", node.value)
        if step < len(items):
            return items[step], items[step].start_mark.line + 1
    return None


def _last_line(lines: Sequence[str], node: yaml.Node) -> int:
    """The line after a node. YAML's own mark may be further down, behind comments that belong to what follows."""
    goes_on = isinstance(node, yaml.CollectionNode) and not node.flow_style
    end = min(node.end_mark.line + (0 if goes_on else 1), len(lines))
    while end > node.start_mark.line + 1 and (not lines[end - 1].strip() or lines[end - 1].lstrip().startswith("#")):
        end -= 1
    return end


def _dumped(entries: Mapping[str, Any]) -> str:
    return yaml.safe_dump(dict(entries), sort_keys=False, allow_unicode=True, default_flow_style=False, width=110)
