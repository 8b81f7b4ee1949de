"""Views of nodes."""

from __future__ import annotations

from typing import Any

import pytest

from knime_ext.runtime import knext

SVG = '<svg xmlns="http://www.w3.org/2000/svg"></svg>'
PNG = b"\x89PNG\r\n\x1a\n..."
JPEG = b"\xff\xd8\xff..."


class Shown:
    def __init__(self, **kinds: Any) -> None:
        for kind, content in kinds.items():
            setattr(self, f"_repr_{kind}_", lambda content=content: content)


def test_an_html_page_is_taken_as_it_is() -> None:
    page = "\n<!DOCTYPE html><p>hello"
    assert knext.view(page).html == page
    assert knext.view_html("<p>part").html == "<p>part"


def test_pictures_are_put_into_a_page_without_network() -> None:
    svg, png, jpeg = knext.view(SVG), knext.view(PNG), knext.view(JPEG)
    assert (svg.render(), png.render(), jpeg.render()) == (SVG, PNG, JPEG)
    assert SVG in svg.html
    assert "data:image/png;base64," in png.html
    assert "data:image/jpeg;base64," in jpeg.html
    assert svg.can_be_used_in_report


def test_a_picture_is_rendered_once_and_only_if_there_is_one() -> None:
    calls: list[int] = []
    view = knext.view_html("<p>", render_fn=lambda: calls.append(1) or SVG)
    assert (view.render(), view.render(), len(calls)) == (SVG, SVG, 1)
    with pytest.raises(NotImplementedError, match="no picture"):
        knext.view_html("<p>").render()


def test_what_shows_itself_in_notebooks_is_shown() -> None:
    assert knext.view(Shown(html="<b>x</b>")).html == "<b>x</b>"
    assert knext.view(Shown(html=("<b>x</b>", {"meta": 1}), png=PNG)).render() == PNG
    assert knext.view(Shown(svg=SVG)).render() == SVG


@pytest.mark.parametrize("nothing", [5, "<p>no doctype", b"bytes"])
def test_anything_else_is_refused(nothing: Any) -> None:
    with pytest.raises(ValueError, match="does not show itself"):
        knext.view(nothing)
