"""Keeps secrets out of what a run tells and writes."""

from __future__ import annotations

import re
import traceback
from collections.abc import Iterable, Mapping
from typing import Any, cast

__all__ = ["Redactor"]

_HIDDEN = "***"
_SECRET_KEY = re.compile(r"passw|secret|token|api_?key|authorization|bearer", re.IGNORECASE)
_SHORTEST = 4  # replacing shorter texts would tear up ordinary words


class Redactor:
    """Replaces known secrets in texts, and the values of settings whose names promise a secret."""

    def __init__(self, secrets: Iterable[str]) -> None:
        # The longest first, so that a secret that contains another one goes as a whole.
        self._secrets = sorted({each for each in secrets if len(each) >= _SHORTEST}, key=len, reverse=True)

    def text(self, text: str) -> str:
        """The text with every known secret replaced."""
        for secret in self._secrets:
            text = text.replace(secret, _HIDDEN)
        return text

    def is_clean(self, error: BaseException) -> bool:
        """Whether the traceback of an error, with all of its causes, holds no known secret."""
        shown = "".join(traceback.format_exception(error))
        return self.text(shown) == shown

    def tree(self, value: Any, key: str = "") -> Any:
        """A tree of settings with every secret replaced."""
        if isinstance(value, str):
            return _HIDDEN if value and _SECRET_KEY.search(key) else self.text(value)
        if isinstance(value, Mapping):
            return {name: self.tree(each, str(name)) for name, each in cast("Mapping[Any, Any]", value).items()}
        if isinstance(value, list | tuple):
            return [self.tree(each, key) for each in cast("list[Any]", value)]
        return value
