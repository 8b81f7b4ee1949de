"""The page around everything: style and script inside, and a policy that lets nothing else in."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from knime_ext.agent.page.texts import shown

__all__ = ["html_page"]

_FOLDER = Path(__file__).parent


@cache
def _files(*names: str) -> str:
    return "\n".join((_FOLDER / name).read_text(encoding="utf-8").strip() for name in names)


@cache
def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _policy(style: str, script: str) -> str:
    """What the page may use: its own style sheet and script by their digests, and media that are in the page."""
    return (
        f"default-src 'none'; style-src {_digest(style)}; script-src {_digest(script)}; "
        "img-src data:; media-src data:; base-uri 'none'; form-action 'none'"
    )


def html_page(title: str, body: Sequence[str], *, styles: tuple[str, ...], scripts: tuple[str, ...], kind: str) -> str:
    """The whole page.

    Args:
        title: Title of the page.
        body: What stands in it, in pieces; foreign text has to be escaped already.
        styles: Names of the style sheets, which lie beside this module.
        scripts: Names of the scripts; the page works without them.
        kind: Class of the body.
    """
    style, script = _files(*styles), _files(*scripts)
    head = (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_policy(style, script)}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer">\n<meta name="color-scheme" content="light dark">\n'
        f"<title>{shown(title, 300)}</title>\n<style>{style}</style>\n</head>\n"
        f'<body class="{kind}">\n'
    )
    # Joined once: a page of many runs is tens of megabytes.
    return "".join((head, *body, f"<script>{script}</script>\n</body>\n</html>\n"))
