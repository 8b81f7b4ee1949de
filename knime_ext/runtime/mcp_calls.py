"""Calls of MCP tools during a run: one caller with its sessions per run, opened on the first call."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Mapping
from contextlib import ExitStack
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar

from knime_ext.bridge import shared_bridge
from knime_ext.errors import ToolFailed, WorkflowError

if TYPE_CHECKING:
    from knime.types.tool import MCPTool
    from knime_ext.mcp import MCPToolCaller
    from knime_ext.tools import ToolResult

__all__ = ["MCPCalls"]

T = TypeVar("T")

_LOOK_EVERY_SECONDS = 0.05


class MCPCalls:
    """The way of a run to MCP servers; usable from any thread while the `with` block lasts.

    Args:
        providers: Registered servers by name; None for those in the operator's own file.
        is_canceled: Whether the run is to end; a call in flight is then canceled, also on its server. None if that
            never happens, which spares the looking.
    """

    def __init__(self, providers: Mapping[str, Any] | None, is_canceled: Callable[[], bool] | None = None) -> None:
        self.providers = providers
        self._is_canceled = is_canceled
        self._lock = threading.Lock()
        self._stack = ExitStack()
        self._caller: MCPToolCaller | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._lock:
            self._caller = None
            self._stack.close()

    def canceled_by(self, is_canceled: Callable[[], bool]) -> MCPCalls:
        """The same way over the same sessions, for work that can also be ended by itself."""
        outer = self._is_canceled
        return _SharedCalls(self, is_canceled if outer is None else lambda: is_canceled() or outer())

    def _open(self) -> MCPToolCaller:
        from knime_ext.mcp import MCPToolCaller

        with self._lock:
            if self._caller is None:
                self._caller = self._stack.enter_context(MCPToolCaller(providers=self.providers))
            return self._caller

    def text(self, tool: MCPTool, parameters: Mapping[str, Any]) -> str:
        """Calls a tool and waits for the text of its result.

        Raises:
            ToolFailed: The tool reports a failure of its own.
            MCPError: The server or the way to it failed.
            WorkflowError: The run was canceled.
        """
        caller = self._open()
        with shared_bridge() as bridge:
            result = bridge.run(self._unless_canceled(caller.acall(tool, dict(parameters))))
        if result.is_error:
            raise ToolFailed(result.text)
        return result.text

    async def acall(self, tool: MCPTool, parameters: Mapping[str, Any]) -> ToolResult:
        """Calls a tool; the result keeps every content block.

        Raises:
            MCPError: The server or the way to it failed.
            WorkflowError: The run was canceled.
        """
        return await self._unless_canceled(self._open().acall(tool, dict(parameters)))

    async def _unless_canceled(self, work: Coroutine[Any, Any, T]) -> T:
        is_canceled = self._is_canceled
        if is_canceled is None:
            return await work
        task = asyncio.ensure_future(work)
        try:
            while not task.done():
                if is_canceled():
                    raise WorkflowError("the run was canceled during a call of an MCP tool; run it again")
                # A threading event cannot be awaited, so it is looked at.
                await asyncio.wait({task}, timeout=_LOOK_EVERY_SECONDS)
            return task.result()
        finally:
            if not task.done():
                task.cancel()
                await asyncio.wait({task})


class _SharedCalls(MCPCalls):
    """Calls over the sessions of another one, which closes them."""

    def __init__(self, owner: MCPCalls, is_canceled: Callable[[], bool]) -> None:
        super().__init__(owner.providers, is_canceled)
        self._owner = owner

    def _open(self) -> MCPToolCaller:
        return self._owner._open()
