"""Views of nodes: HTML pages, pictures, plots. Plotting libraries are used where they are there, never needed."""

from __future__ import annotations

import base64
import io
import sys
from collections.abc import Callable
from typing import Any, cast

__all__ = [
    "NodeView",
    "view",
    "view_html",
    "view_ipy_repr",
    "view_jpeg",
    "view_matplotlib",
    "view_plotly",
    "view_png",
    "view_seaborn",
    "view_svg",
]

Picture = str | bytes


class NodeView:
    """A view: an HTML page, and a picture of it if there is one.

    Args:
        html: The page.
        svg_or_png: Picture for reports, as SVG text or PNG bytes.
        render_fn: Function that makes the picture when it is needed.
        can_be_used_in_report: Whether the view fits into a report.
    """

    def __init__(
        self,
        html: str,
        svg_or_png: Picture | None = None,
        render_fn: Callable[[], Picture] | None = None,
        can_be_used_in_report: bool = False,
    ) -> None:
        self.html = html
        self.can_be_used_in_report = can_be_used_in_report
        self._picture = svg_or_png
        self._render = render_fn

    def render(self) -> Picture:
        """The picture of the view.

        Raises:
            NotImplementedError: There is none, and no function that makes it.
        """
        if self._picture is None:
            if self._render is None:
                raise NotImplementedError("this view has no picture; give svg_or_png or render_fn")
            self._picture = self._render()
        return self._picture


def _page(body: str) -> str:
    return f'<!DOCTYPE html>\n<html>\n<head><meta charset="utf-8"></head>\n<body>\n{body}\n</body>\n</html>\n'


def _picture_page(kind: str, content: bytes) -> str:
    data = base64.b64encode(content).decode("ascii")
    return _page(f'<img src="data:image/{kind};base64,{data}" style="width: 100%; height: 100%; object-fit: contain">')


def view_html(
    html: str,
    svg_or_png: Picture | None = None,
    render_fn: Callable[[], Picture] | None = None,
    can_be_used_in_report: bool = False,
) -> NodeView:
    """A view of an HTML page.

    Args:
        html: The page.
        svg_or_png: Picture for reports, as SVG text or PNG bytes.
        render_fn: Function that makes the picture when it is needed.
        can_be_used_in_report: Whether the view fits into a report.
    """
    return NodeView(html, svg_or_png, render_fn, can_be_used_in_report)


def view_svg(svg: str) -> NodeView:
    """A view of an SVG picture."""
    return NodeView(_page(svg), svg, can_be_used_in_report=True)


def view_png(png: bytes) -> NodeView:
    """A view of a PNG picture."""
    return NodeView(_picture_page("png", png), png, can_be_used_in_report=True)


def view_jpeg(jpeg: bytes) -> NodeView:
    """A view of a JPEG picture."""
    return NodeView(_picture_page("jpeg", jpeg), jpeg, can_be_used_in_report=True)


def view_matplotlib(fig: Any = None, format: str = "png") -> NodeView:
    """A view of a matplotlib figure.

    Args:
        fig: The figure; the current one if not given.
        format: "png" or "svg".

    Raises:
        ImportError: matplotlib is not installed.
        TypeError: It is no figure.
        ValueError: The format is another one.
    """
    import matplotlib.figure as figures  # pyright: ignore[reportMissingImports]
    import matplotlib.pyplot as plots  # pyright: ignore[reportMissingImports]

    if format not in ("png", "svg"):
        raise ValueError(f"a matplotlib view is 'png' or 'svg', not {format!r}")
    figure: Any = plots.gcf() if fig is None else fig  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType]
    if not isinstance(figure, figures.Figure):  # pyright: ignore[reportUnknownMemberType]
        raise TypeError(f"a matplotlib view needs a matplotlib figure, not {type(fig).__name__}")
    content = io.BytesIO()
    figure.savefig(content, format=format)  # pyright: ignore[reportUnknownMemberType]
    plots.close(figure)  # pyright: ignore[reportUnknownMemberType]
    return view_png(content.getvalue()) if format == "png" else view_svg(content.getvalue().decode())


def view_seaborn() -> NodeView:
    """A view of the plot that seaborn drew last."""
    return view_matplotlib()


def view_plotly(fig: Any) -> NodeView:
    """A view of a plotly figure.

    Raises:
        ImportError: plotly is not installed.
        TypeError: It is no figure.
    """
    import plotly.graph_objects as graph  # pyright: ignore[reportMissingImports]

    if not isinstance(fig, graph.Figure):  # pyright: ignore[reportUnknownMemberType]
        raise TypeError(f"a plotly view needs a plotly figure, not {type(fig).__name__}")
    return view_html(fig.to_html(), render_fn=lambda: fig.to_image("png"))  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType, reportUnknownLambdaType]


_PICTURES: dict[str, Callable[[Any], NodeView]] = {"svg": view_svg, "png": view_png, "jpeg": view_jpeg}


def _represented(obj: Any, kind: str) -> Any:
    content: Any = getattr(obj, f"_repr_{kind}_")()
    # Some return the content together with its metadata.
    return cast("tuple[Any, ...]", content)[0] if isinstance(content, tuple) else content


def view_ipy_repr(obj: Any) -> NodeView:
    """A view of anything that shows itself in notebooks as HTML, SVG, PNG or JPEG.

    Raises:
        ValueError: It does not.
    """
    pictures = [kind for kind in _PICTURES if hasattr(obj, f"_repr_{kind}_")]
    if hasattr(obj, "_repr_html_"):
        render = (lambda: _represented(obj, pictures[0])) if pictures else None
        return view_html(_represented(obj, "html"), render_fn=render)
    if not pictures:
        raise ValueError(f"{type(obj).__name__} does not show itself as HTML, SVG, PNG or JPEG")
    return _PICTURES[pictures[0]](_represented(obj, pictures[0]))


def _view_text(text: str) -> NodeView | None:
    if text.lstrip()[:15].lower() == "<!doctype html>":
        return view_html(text)
    if "<svg" in text[:256] and 'xmlns="http://www.w3.org/2000/svg"' in text[:256]:
        return view_svg(text)
    return None


def _view_bytes(content: bytes) -> NodeView | None:
    if content.startswith(b"\x89PNG\r\n\x1a\n"):
        return view_png(content)
    return view_jpeg(content) if content.startswith(b"\xff\xd8\xff") else None


def _view_plot(obj: Any) -> NodeView | None:
    """A figure can only come from a library that is loaded already."""
    for library, make in (("matplotlib.figure", view_matplotlib), ("plotly.graph_objects", view_plotly)):
        figures = sys.modules.get(library)
        if figures is not None and isinstance(obj, figures.Figure):
            return make(obj)
    return None


def view(obj: Any) -> NodeView:
    """A view of an HTML page, SVG text, PNG or JPEG bytes, a figure, or what shows itself in notebooks.

    Raises:
        ValueError: It is none of these. A text is only taken for HTML if it begins with the doctype.
    """
    if isinstance(obj, str):
        found = _view_text(obj)
    else:
        found = _view_bytes(obj) if isinstance(obj, bytes) else _view_plot(obj)
    return found or view_ipy_repr(obj)
