"""Versions of an extension: which parameters exist since when, and what their defaults were."""

from __future__ import annotations

from typing import NamedTuple

from knime_ext import __version__

__all__ = ["Version", "extension_version", "set_extension_version"]


class Version(NamedTuple):
    """Version of an extension, three non-negative integers that compare in order."""

    major: int
    minor: int
    patch: int

    def __repr__(self) -> str:
        return f"{self.major}.{self.minor}.{self.patch}"

    __str__ = __repr__

    @classmethod
    def parse_version(cls, version_string: str | Version | None) -> Version:
        """Reads a version; no version at all is 0.0.0, older than any release.

        Raises:
            ValueError: The text is not of the form "major.minor.patch".
        """
        if version_string is None:
            return cls(0, 0, 0)
        if isinstance(version_string, Version):
            return version_string
        parts = version_string.split(".")
        if len(parts) != 3 or not all(part.isascii() and part.isdigit() for part in parts):
            raise ValueError(f"{version_string!r} is no version; write three numbers such as '1.0.0'")
        return cls(*map(int, parts))


_current = Version.parse_version(__version__)


def set_extension_version(version: str | Version) -> None:
    """Says which version the loaded extension has; defaults that depend on the version are taken for it."""
    global _current
    _current = Version.parse_version(version)


def extension_version() -> Version:
    """Version of the loaded extension; that of this project if no host has set another."""
    return _current
