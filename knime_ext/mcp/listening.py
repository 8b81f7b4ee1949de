"""The standing request over which a server of 2026-07-28 says, between calls, that its list of tools has changed."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack, suppress

import anyio
from mcp import MCPError as WireError
from mcp.client import Client
from mcp.client.subscriptions import SubscriptionLost
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from knime_ext.mcp.exchange import Exchange, noting
from knime_ext.mcp.tap import Tap

__all__ = ["Listening"]

ACKNOWLEDGE_SECONDS = 10.0
PAUSE_SECONDS = 30.0
"""How long to wait before listening again when the server, or a proxy in between, ends the request."""

_ENDINGS = (SubscriptionLost, WireError, TimeoutError, anyio.BrokenResourceError, anyio.ClosedResourceError)


class Listening:
    """Listens to one server while a conversation with it lasts. Owned by the conversation.

    Args:
        tap: Counts what the server says.
    """

    def __init__(self, tap: Tap) -> None:
        self._tap = tap
        self._task: asyncio.Task[None] | None = None
        self._may_start_at = 0.0

    def start(self, client: Client) -> None:
        """Listens from now on, unless that is going on, has failed lately, or the server has no such thing."""
        tools = client.server_capabilities.tools
        announced = tools is not None and tools.list_changed and client.protocol_version in MODERN_PROTOCOL_VERSIONS
        now = anyio.current_time()
        if announced and now >= self._may_start_at and (self._task is None or self._task.done()):
            self._may_start_at = now + PAUSE_SECONDS
            self._task = asyncio.create_task(self._listen(client), name="knime-mcp-listening")

    async def stop(self) -> None:
        """Listens no more."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])

    async def _listen(self, client: Client) -> None:
        # However the request ends, the session goes on: who asks next notices what there is to notice.
        with noting(Exchange(survives=True, lasts=True)), suppress(*_ENDINGS):
            async with AsyncExitStack() as stack:
                try:
                    with anyio.fail_after(ACKNOWLEDGE_SECONDS):
                        changes = await stack.enter_async_context(client.listen(tools_list_changed=True))
                except (WireError, TimeoutError):
                    self._may_start_at = float("inf")  # it announces what it does not have
                    return
                # What changed before that, nobody has told.
                self._tap.list_changes += 1
                async for _ in changes:
                    pass  # the tap has counted it when it came in
