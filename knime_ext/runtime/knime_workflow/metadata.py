"""The description of a workflow: in `workflow-metadata.xml`, and for older programs in `workflowset.meta`."""

from __future__ import annotations

import re
from datetime import datetime
from xml.parsers import expat
from xml.sax.saxutils import escape

from knime_ext.errors import WorkflowError
from knime_ext.runtime.knime_workflow.config_xml import safe_parser
from knime_ext.runtime.knime_workflow.plain_text import plain_text

__all__ = ["LEGACY_FILE", "METADATA_FILE", "holds", "legacy_metadata", "metadata", "read_legacy", "read_metadata"]

METADATA_FILE, LEGACY_FILE = "workflow-metadata.xml", "workflowset.meta"

# What XML 1.0 has no way to write; a carriage return has one, but only as a reference.
_UNWRITABLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_PLACEHOLDER = re.compile(r"There has been no (title|description) set for this workflow's metadata\.\s*")


def holds(description: str) -> bool:
    """Whether XML can hold every character of a text."""
    return not _UNWRITABLE.search(description)


def _content(description: str) -> str:
    return escape(_UNWRITABLE.sub("", description), {"\r": "&#13;"})


def metadata(description: str, changed: datetime) -> bytes:
    """The metadata file of KNIME 5.1 and later."""
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<workflow-metadata content-type="text/plain"'
        ' xmlns="http://www.knime.org/core/node/workflow/metadata/v1.0">\n'
        f"    <last-modified>{changed.isoformat(timespec='milliseconds')}</last-modified>\n"
        f"    <description>{_content(description)}</description>\n"
        "</workflow-metadata>\n"
    ).encode()


def legacy_metadata(description: str, changed: datetime) -> bytes:
    """The metadata file of earlier versions, which KNIME keeps writing."""
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<KNIMEMetaInfo nrOfElements="2" xmlns="http://www.knime.org/2.9/metainfo">\n'
        f'    <element form="multiline" name="Comments" read-only="false">{_content(description)}</element>\n'
        f'    <element form="text" name="Last Edited" read-only="true">{changed:%Y-%m-%d %H:%M:%S %z}</element>\n'
        "</KNIMEMetaInfo>\n"
    ).encode()


class _Texts:
    """The text of every element with its tag and attributes."""

    def __init__(self) -> None:
        self.found: list[tuple[str, dict[str, str], str]] = []
        self._open: list[tuple[str, dict[str, str], list[str]]] = []

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        self._open.append((tag, attributes, []))

    def text(self, data: str) -> None:
        if self._open:
            self._open[-1][2].append(data)

    def end(self, tag: str) -> None:
        name, attributes, parts = self._open.pop()
        self.found.append((name, attributes, "".join(parts)))


def _texts(content: bytes, origin: str) -> list[tuple[str, dict[str, str], str]]:
    texts, parser = _Texts(), safe_parser(origin)
    parser.StartElementHandler, parser.CharacterDataHandler, parser.EndElementHandler = (
        texts.start,
        texts.text,
        texts.end,
    )
    try:
        parser.Parse(content, True)
    except expat.ExpatError as error:
        raise WorkflowError(f"{origin} is not XML: {error}; check the file") from None
    return texts.found


def read_metadata(content: bytes, origin: str) -> str:
    """The description in a metadata file.

    Raises:
        WorkflowError: The file is no XML, or has a document type declaration.
    """
    found = _texts(content, origin)
    kind = next((attributes.get("content-type", "") for tag, attributes, _ in found if tag == "workflow-metadata"), "")
    return next((plain_text(text, kind) for tag, _, text in found if tag == "description"), "")


def read_legacy(content: bytes, origin: str) -> str:
    """The description in a metadata file of an earlier version.

    Raises:
        WorkflowError: The file is no XML, or has a document type declaration.
    """
    found = _texts(content, origin)
    comments = (text for tag, attributes, text in found if tag == "element" and attributes.get("name") == "Comments")
    return _PLACEHOLDER.sub("", next(comments, ""))
