"""Keeps secrets out of what the libraries below log.

At level DEBUG the SDK logs messages as they came, and a server may repeat what it was sent.
"""

from __future__ import annotations

import logging
import traceback

from knime_ext.mcp.live_secrets import without_live_secrets

__all__ = ["hide_secrets_in_logs"]

_LIBRARIES = ("client", "httpcore2", "httpx2", "mcp")


class _SecretFilter(logging.Filter):
    def filter(self, record: logging.LogRecord) -> bool:
        text = record.getMessage()
        clean = without_live_secrets(text)
        if clean != text:
            record.msg, record.args = clean, ()
        if record.exc_info and record.exc_info[0] is not None:
            text = "".join(traceback.format_exception(*record.exc_info))
            clean = without_live_secrets(text)
            if clean != text:
                record.exc_info, record.exc_text = None, clean.rstrip("\n")
        return True


_FILTER = _SecretFilter()


def hide_secrets_in_logs() -> None:
    """Puts stars in place of secrets in the log messages of the libraries that are loaded by now."""
    for name, logger in tuple(logging.root.manager.loggerDict.items()):
        if isinstance(logger, logging.Logger) and name.partition(".")[0] in _LIBRARIES:
            logger.addFilter(_FILTER)
