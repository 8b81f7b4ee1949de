"""KNIME's XML form of a tree of settings, written as KNIME writes it and read with care.

Characters that XML cannot hold, and some that it could, are written as `%%` and five decimal digits of the UTF-16 code
unit. A document type declaration is refused, so that no entity is ever expanded.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from typing import Any, NoReturn
from xml.parsers import expat
from xml.sax.saxutils import quoteattr

from knime_ext.errors import WorkflowError
from knime_ext.runtime.knime_workflow.config import Config, Entry

__all__ = ["escaped", "format_config", "parse_config", "safe_parser", "unescaped"]

_DEEPEST = 100
_HEAD = (
    '<config xmlns="http://www.knime.org/2008/09/XMLConfig" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" '
    'xsi:schemaLocation="http://www.knime.org/2008/09/XMLConfig http://www.knime.org/XMLConfig_2008_09.xsd" key={}>'
)
_TO_ESCAPE = re.compile(r"[\x00-\x1f\ud800-\U0010ffff]|%(?=%)")
_ESCAPED = re.compile(r"%%([0-9]{5})")


def escaped(value: str) -> str:
    """The text with what XML cannot hold as `%%ddddd`."""
    return _TO_ESCAPE.sub(lambda found: "".join(f"%%{unit:05}" for unit in _units(found.group())), value)


def unescaped(value: str) -> str:
    """What `escaped` made of a text, back."""
    if "%%" not in value:
        return value
    units = _ESCAPED.sub(lambda found: chr(min(int(found.group(1)), 0xFFFF)), value)
    return units.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def _units(character: str) -> tuple[int, ...]:
    encoded = character.encode("utf-16-le", "surrogatepass")
    return struct.unpack(f"<{len(encoded) // 2}H", encoded)


def format_config(config: Config, key: str) -> bytes:
    """A whole file.

    Args:
        config: The content.
        key: Key of the outermost config: the name of the file.
    """
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', _HEAD.format(_quoted(key)), *_lines(config, 1), "</config>", ""]
    return "\n".join(lines).encode("utf-8")


def _lines(config: Config, depth: int) -> Iterator[str]:
    indent = "    " * depth
    for key, content in config.items():
        if isinstance(content, Entry):
            null = ' isnull="true"' if content.written is None else ""
            value = _quoted(escaped(content.written or ""))
            yield f'{indent}<entry key={_quoted(key)} type="{content.type}"{null} value={value}/>'
        elif content:
            yield f"{indent}<config key={_quoted(key)}>"
            yield from _lines(content, depth + 1)
            yield f"{indent}</config>"
        else:
            yield f"{indent}<config key={_quoted(key)}/>"


def _quoted(value: str) -> str:
    # Always in double quotes, as KNIME does.
    return quoteattr(value.replace('"', "\0")).replace("\0", "&quot;")


def safe_parser(origin: str) -> expat.XMLParserType:
    """A parser that refuses document type declarations, and with them every entity.

    Args:
        origin: The file, for messages.
    """
    parser = expat.ParserCreate()

    def refuse(*_: Any) -> NoReturn:
        raise WorkflowError(f"{origin} has a document type declaration, which is refused; save it with a newer KNIME")

    parser.StartDoctypeDeclHandler = refuse
    parser.EntityDeclHandler = refuse
    return parser


class _Reader:
    """Builds the tree while the parser reads."""

    def __init__(self, origin: str) -> None:
        self.origin = origin
        self.root: Config | None = None
        self._open: list[Config] = []

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        if tag == "config":
            self._start_config(attributes.get("key", ""))
        elif tag == "entry" and self._open:
            is_null = attributes.get("isnull") == "true"
            written = None if is_null else unescaped(attributes.get("value", ""))
            self._open[-1][attributes.get("key", "")] = Entry(attributes.get("type", ""), written)
        else:
            raise WorkflowError(f"{self.origin} is no file of KNIME settings: it has a <{tag}>; check the file")

    def _start_config(self, key: str) -> None:
        if len(self._open) >= _DEEPEST:
            raise WorkflowError(f"{self.origin} is nested too deeply to be a file of KNIME settings; check the file")
        config = Config()
        if self._open:
            self._open[-1][key] = config
        else:
            self.root = config
        self._open.append(config)

    def end(self, tag: str) -> None:
        if tag == "config":
            self._open.pop()


def parse_config(content: bytes, origin: str) -> Config:
    """Reads what `format_config` or KNIME wrote.

    Args:
        content: The file.
        origin: Its name, for messages.

    Raises:
        WorkflowError: It is no such file, or has a document type declaration.
    """
    reader, parser = _Reader(origin), safe_parser(origin)
    parser.StartElementHandler = reader.start
    parser.EndElementHandler = reader.end
    try:
        parser.Parse(content, True)
    except expat.ExpatError as error:
        raise WorkflowError(f"{origin} is not XML: {error}; check the file") from None
    return reader.root or Config()
