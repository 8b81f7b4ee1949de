"""Icons: one per node and category, drawn in one style, 16 by 16."""

import re
import struct
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

import knime_ext.extension
import knime_ext.runtime.platform
from knime_ext.runtime.knext.nodes import NodeDeclaration
from knime_ext.runtime.registry import declarations_in

ICONS = Path(knime_ext.extension.__file__).parent.parent / "icons"
DECLARATIONS = [*declarations_in(knime_ext.extension), *declarations_in(knime_ext.runtime.platform)]
SOURCES = sorted(ICONS.glob("*.svg"))
LINES, ACCENT, PAPER = "#2f3e4e", "#0f8b8d", "#ffffff"


def pixels_of(png: bytes) -> tuple[int, int]:
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    return struct.unpack(">II", png[16:24])


@pytest.mark.parametrize("declaration", DECLARATIONS, ids=lambda each: each.id)
def test_every_node_has_its_icon(declaration: NodeDeclaration) -> None:
    assert (ICONS.parent / declaration.icon_path).is_file()


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.stem)
def test_an_icon_is_drawn_in_the_common_style(source: Path) -> None:
    drawing = ElementTree.parse(source).getroot()
    assert (drawing.get("viewBox"), drawing.get("width"), drawing.get("height")) == ("0 0 16 16", "16", "16")
    text = source.read_text("utf-8")
    assert "<title>" in text
    colours = set(re.findall(r"#[0-9a-f]{6}", text))
    assert {LINES, ACCENT} <= colours <= {LINES, ACCENT, PAPER}


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.stem)
def test_an_icon_has_a_picture_of_16_pixels(source: Path) -> None:
    assert pixels_of(source.with_suffix(".png").read_bytes()) == (16, 16)


def test_there_are_no_icons_that_nobody_shows() -> None:
    shown = {Path(declaration.icon_path).stem for declaration in DECLARATIONS} | {"category"}
    assert {path.stem for path in ICONS.iterdir()} == shown
