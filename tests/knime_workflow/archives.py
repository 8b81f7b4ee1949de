"""Reading and changing what was written, without the code that wrote it."""

from __future__ import annotations

import zipfile
from pathlib import Path
from xml.etree import ElementTree

CONFIG = "{http://www.knime.org/2008/09/XMLConfig}"


def files_in(archive: Path) -> dict[str, bytes]:
    """Content by path, of a whole archive."""
    with zipfile.ZipFile(archive) as opened:
        return {name: opened.read(name) for name in opened.namelist()}


def unpacked(archive: Path, folder: Path) -> Path:
    """Unpacks an archive and gives the workflow's folder."""
    with zipfile.ZipFile(archive) as opened:
        opened.extractall(folder)
    return next(path for path in folder.iterdir() if path.is_dir())


def entries(content: bytes) -> dict[str, str | None]:
    """Value of every entry by the keys that lead to it, None for null."""
    found: dict[str, str | None] = {}

    def walk(element: ElementTree.Element, prefix: str) -> None:
        for child in element:
            key = prefix + child.attrib["key"]
            if child.tag == f"{CONFIG}entry":
                found[key] = None if child.attrib.get("isnull") == "true" else child.attrib["value"]
            else:
                walk(child, f"{key}/")

    walk(ElementTree.fromstring(content), "")
    return found


def without_notes(folder: Path) -> None:
    """Takes our own notes out of all files, as KNIME does when it saves a workflow."""
    ElementTree.register_namespace("", CONFIG.strip("{}"))
    for file in [*folder.rglob("settings.xml"), *folder.rglob("workflow.knime")]:
        tree = ElementTree.parse(file)
        root = tree.getroot()
        for child in [child for child in root if child.attrib["key"] == "knime_mcp"]:
            root.remove(child)
        tree.write(file, encoding="utf-8", xml_declaration=True)
