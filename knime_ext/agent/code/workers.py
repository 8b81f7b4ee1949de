"""The worker processes that run code of models: a few for the whole process, and none while no code runs."""

from __future__ import annotations

import os
import threading
from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from knime_ext.errors import ConfigurationError

if TYPE_CHECKING:
    from pydantic_monty import Monty

__all__ = ["MAX_WORKERS", "Workers", "load_monty", "shared_workers"]

MAX_WORKERS = max(16, 2 * (os.cpu_count() or 1))
"""Pieces of code that run at the same time; others wait. A worker that waits for a tool counts."""

LOOK_EVERY_SECONDS = 0.1


def load_monty() -> Any:
    """The library that runs the code.

    Raises:
        ConfigurationError: It is not installed.
    """
    try:
        import pydantic_monty
    except ImportError:
        raise ConfigurationError(
            "code of a model runs in the sandbox of 'pydantic-monty', which is not installed; "
            "install it with: pip install 'knime-mcp[code]'"
        ) from None
    return pydantic_monty


class Workers:
    """A pool of worker processes that is there as long as anybody uses it. Any thread may use it.

    It is the library's pool for threads on purpose: the one for event loops can abort the interpreter at its end.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._users = 0
        self._pool: Monty | None = None

    @contextmanager
    def pool(self) -> Generator[Monty]:
        """The pool; its processes end when its last user leaves.

        Raises:
            ConfigurationError: The library is not installed, or its worker cannot be started.
        """
        pool = self._enter()
        try:
            yield pool
        finally:
            self._leave()

    def _enter(self) -> Monty:
        monty = load_monty()
        with self._lock:
            if self._pool is None:
                # A process serves one piece of code: nothing that went wrong in it reaches another run.
                pool: Monty = monty.Monty(
                    min_processes=1,
                    max_processes=MAX_WORKERS,
                    max_checkouts_per_worker=1,
                    checkout_timeout=LOOK_EVERY_SECONDS,
                )
                try:
                    pool.__enter__()
                except (OSError, RuntimeError) as error:
                    raise ConfigurationError(
                        f"the worker of 'pydantic-monty' cannot be started ({error}); install it again with: "
                        "pip install --force-reinstall 'knime-mcp[code]'"
                    ) from error
                self._pool = pool
            self._users += 1
            return self._pool

    def _leave(self) -> None:
        with self._lock:
            self._users -= 1
            if self._users == 0 and self._pool is not None:
                pool, self._pool = self._pool, None
                pool.__exit__(None, None, None)


_SHARED = Workers()


def shared_workers() -> Workers:
    """The worker processes of this process."""
    return _SHARED
