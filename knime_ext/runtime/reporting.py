"""Tells the outside what happens in a run: one event at a time, without secrets."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any

from knime_ext.runtime.events import Event
from knime_ext.runtime.redaction import Redactor

__all__ = ["Reporter"]

LOGGER = logging.getLogger(__name__)


class Reporter:
    """Passes events on to a listener. Nodes that run side by side may report at the same time.

    Args:
        listener: Called with one event at a time; an error of its own is logged and does not disturb the run.
        redact: Hides secrets in messages.
    """

    def __init__(self, listener: Callable[[Event], None] | None, redact: Redactor) -> None:
        self._listener = listener
        self._redact = redact
        # Reentrant, because a listener may set off something that reports.
        self._lock = threading.RLock()
        self._warned: set[tuple[str, str]] = set()

    def report(self, event: Event) -> None:
        """Passes an event on."""
        if self._listener is None:
            return
        with self._lock:
            try:
                self._listener(self._without_secrets(event))
            except Exception:
                LOGGER.exception("the listener of a run's events failed")

    def is_new_warning(self, node: str, message: str) -> bool:
        """False if the node has given this warning before; it is configured more than once."""
        with self._lock:
            known = (node, message) in self._warned
            self._warned.add((node, message))
            return not known

    def _without_secrets(self, event: Any) -> Event:
        texts = {each.name: getattr(event, each.name) for each in fields(event) if each.name in ("message", "because")}
        shown = {name: self._redact.text(text) for name, text in texts.items() if isinstance(text, str)}
        return replace(event, **shown) if shown != texts else event
