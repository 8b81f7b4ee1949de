"""Where files are: a path of ours, relative to the workflow's folder, and KNIME's location with its file system.

The folder that relative paths start from is, in a KNIME workflow, its data area: the folder `data` that KNIME keeps and
moves together with the workflow.
"""

from __future__ import annotations

import posixpath
from pathlib import PurePosixPath, PureWindowsPath
from urllib.parse import unquote, urlsplit

from knime_ext.runtime.knime_workflow.config import Config, boolean, integer, text
from knime_ext.runtime.knime_workflow.rows import Unsupported

__all__ = ["DATA_AREA", "file_chooser", "is_absolute", "location", "path_at", "rebased"]

DATA_AREA = "data"
_IN_DATA_AREA = "knime.workflow.data"
_IN_WORKFLOW = "knime.workflow"


def is_absolute(path: str) -> bool:
    """Whether a path starts at the root of a file system, or at the user's home, on any system."""
    return PurePosixPath(path).is_absolute() or PureWindowsPath(path).is_absolute() or path.startswith("~")


def location(path: str) -> Config:
    """A path of ours as KNIME's location."""
    config = Config(location_present=boolean(True))
    if path and not is_absolute(path):
        config |= Config(file_system_type=text("RELATIVE"), file_system_specifier=text(_IN_DATA_AREA))
    else:
        config["file_system_type"] = text("LOCAL")
    config["path"] = text(path)
    return config


def file_chooser(path: str) -> Config:
    """What the dialog of KNIME's file choosers remembers for such a location."""
    relative = bool(path) and not is_absolute(path)
    return Config(
        has_fs_port=boolean(False),
        overwritten_by_variable=boolean(False),
        convenience_fs_category=text("RELATIVE" if relative else "LOCAL"),
        relative_to=text(_IN_DATA_AREA),
        mountpoint=text("LOCAL"),
        spaceId=text(""),
        spaceName=text(""),
        custom_url_timeout=integer(10_000),
        connected_fs=boolean(True),
    )


def path_at(config: Config) -> str:
    """KNIME's location as a path of ours, relative to the data area.

    Raises:
        Unsupported: It is in a file system that only KNIME has.
    """
    if not config.value("location_present", True):
        return ""
    kind, path = config.string("file_system_type"), config.string("path")
    if kind == "LOCAL":
        return path
    if kind == "RELATIVE":
        return _relative(config.string("file_system_specifier"), path)
    if kind == "CUSTOM_URL":
        return _of_url(path)
    raise Unsupported(f"reads or writes {path!r} in the file system {kind!r}, which only KNIME has")


def _relative(start: str, path: str) -> str:
    if start == _IN_DATA_AREA:
        return path.lstrip("/")
    if start == _IN_WORKFLOW:
        normal = posixpath.normpath(path.lstrip("/") or ".")
        inside = normal.removeprefix(f"{DATA_AREA}/")
        return inside if inside != normal else f"../{normal}"
    raise Unsupported(f"has the path {path!r} relative to {start!r}, which only KNIME knows")


def _of_url(url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme == "file":
        return unquote(parts.path)
    if parts.scheme == "knime" and parts.netloc == _IN_WORKFLOW:
        return _relative(_IN_WORKFLOW, unquote(parts.path))
    raise Unsupported(f"reads or writes the URL {url!r}; use a file")


def rebased(path: str) -> str:
    """A path relative to the data area as one relative to the workflow's folder itself."""
    if not path or is_absolute(path):
        return path
    outside = path.removeprefix("../")
    return outside if outside != path else f"{DATA_AREA}/{path}"
