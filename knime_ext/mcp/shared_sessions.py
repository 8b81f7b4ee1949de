"""The sessions of this process: one per server and principal, shared by everybody who holds it.

A session lives on one event loop, so there is one set of them per loop. Everything but tests runs on the loop of the
shared bridge, which makes that one the set of the process.
"""

from __future__ import annotations

import asyncio
import threading
from dataclasses import dataclass, replace

from knime_ext.mcp.egress import EgressPolicy, Origin
from knime_ext.mcp.leased_session import LeasedSession
from knime_ext.mcp.questions import Handlers
from knime_ext.mcp.servers import Server, Timeouts
from knime_ext.mcp.sessions import Session

__all__ = ["SharedSessions", "sessions_of_this_loop"]


@dataclass(frozen=True, slots=True)
class _Key:
    """What makes two holders want the same session. Time limits do not: everybody brings their own."""

    server: Server
    policy: EgressPolicy
    origin: Origin
    handlers: Handlers


@dataclass(slots=True)
class _Shared:
    session: Session
    holders: int = 0


class SharedSessions:
    """The sessions on one event loop."""

    def __init__(self) -> None:
        self._shared: dict[_Key, _Shared] = {}

    def lease(self, server: Server, policy: EgressPolicy, origin: Origin, handlers: Handlers) -> LeasedSession:
        """A share in the session with a server. Nothing is opened before its first request.

        Args:
            server: The server; its headers, environment and sign-in say who the principal is.
            policy: Where requests may go.
            origin: Where the server's address comes from.
            handlers: Who answers the server's questions.
        """
        key = _Key(replace(server, timeouts=_NO_TIMES), policy, origin, handlers)
        if key not in self._shared:
            self._shared[key] = _Shared(Session(server, policy, origin, handlers))
        shared = self._shared[key]
        shared.holders += 1
        return LeasedSession(server, shared.session, lambda: self._give_back(key, shared))

    async def _give_back(self, key: _Key, shared: _Shared) -> None:
        shared.holders -= 1
        if shared.holders == 0:
            # Whoever comes from now on opens another one.
            del self._shared[key]
            await shared.session.close()


_NO_TIMES = Timeouts()
_by_loop: dict[asyncio.AbstractEventLoop, SharedSessions] = {}
_lock = threading.Lock()


def sessions_of_this_loop() -> SharedSessions:
    """The sessions of the running event loop."""
    loop = asyncio.get_running_loop()
    with _lock:
        if loop not in _by_loop:
            for ended in [other for other in _by_loop if other.is_closed()]:
                del _by_loop[ended]
            _by_loop[loop] = SharedSessions()
        return _by_loop[loop]
