"""`${VAR}` and `${VAR:-default}` in the strings of configuration files, replaced when the value is needed."""

from __future__ import annotations

import re
from collections.abc import Mapping

from knime_ext.errors import ConfigurationError

__all__ = ["has_placeholder", "resolved"]

_PLACEHOLDER = re.compile(r"\$(?:(?P<escaped>\$(?=\{))|\{(?P<name>[A-Za-z_][A-Za-z0-9_]*)(?::-(?P<default>[^}]*))?\})")


def has_placeholder(text: str) -> bool:
    """Whether a text holds a variable."""
    return any(match["name"] for match in _PLACEHOLDER.finditer(text))


def resolved(text: str, environment: Mapping[str, str], where: str) -> str:
    """A text with its variables replaced; `$${` stands for a plain `${`.

    Args:
        text: The text, such as `"Bearer ${TOKEN:-none}"`. A default counts when the variable is unset or empty.
        environment: Values of the variables. They are not searched for variables again.
        where: What the text is, for the message: `"'url' of provider 'docs'"`.

    Raises:
        ConfigurationError: A variable is not set and has no default.
    """

    def value(match: re.Match[str]) -> str:
        if match["escaped"]:
            return "$"
        found = environment.get(match["name"]) or match["default"]
        if found is None and match["name"] not in environment:
            raise ConfigurationError(
                f"{where} needs the environment variable {match['name']!r}, which is not set; set it, or write "
                f"'${{{match['name']}:-default}}'"
            )
        return found or ""

    return _PLACEHOLDER.sub(value, text)
