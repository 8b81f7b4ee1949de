"""One tool call per row of a table, without a model: side by side, limited, written down as each finishes."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

from knime.types.tool import MCPTool, Tool, WorkflowTool
from knime_ext.agent.batch.journal import Journal, fingerprint
from knime_ext.agent.batch.limiter import Limiter
from knime_ext.agent.batch.row_runner import BatchProgress, FinishedRow, run_rows
from knime_ext.agent.batch.row_source import RowSource
from knime_ext.agent.cancellation import Cancel
from knime_ext.agent.threads import call_in_thread
from knime_ext.agent.workflow_dispatch import DEFAULT_HINTS
from knime_ext.errors import KnimeExtError, ToolFailed
from knime_ext.tools import ToolResult, encode_tools
from knime_ext.tools.result_columns import media_of
from knime_ext.tools.row_tools import RowTools

__all__ = ["CallLimits", "CallOutcome", "RowCalls"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CallLimits:
    """How much goes on at a time.

    Attributes:
        concurrency: Rows that are called side by side.
        per_minute: Calls that begin per minute at each server; None for no limit.
        seconds_per_call: After which a call is stopped; None for no limit but the server's own.
    """

    concurrency: int = 16
    per_minute: float | None = None
    seconds_per_call: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CallOutcome:
    """What came of the call of one row.

    Attributes:
        text: Text of the result; None if the call failed.
        structured: Its structured value.
        media: Data in base64 and MIME type of each picture, sound or file.
        error: Why the call failed.
    """

    text: str | None = None
    structured: Any = None
    media: Sequence[Sequence[str]] = ()
    error: str | None = None

    @classmethod
    def of(cls, result: ToolResult) -> CallOutcome:
        """What came of a call that did not fail."""
        media = [(base64.b64encode(each.data).decode("ascii"), each.mime_type) for each in media_of(result)]
        return cls(text=result.text, structured=result.structured, media=media)

    def to_bytes(self) -> bytes:
        """For the journal."""
        whole = {"text": self.text, "structured": self.structured, "media": self.media, "error": self.error}
        return json.dumps(whole).encode("ascii")

    @classmethod
    def from_bytes(cls, payload: bytes) -> CallOutcome:
        """From the journal."""
        return cls(**json.loads(payload))


class RowCalls:
    """Calls the tools of rows through a host.

    Args:
        tools: Which tool each row is for, and its arguments.
        context: The host, see `ToolContext`.
        limits: How much goes on at a time.
    """

    def __init__(self, tools: RowTools, context: Any, limits: CallLimits) -> None:
        self._tools = tools
        self._context = context
        self._limits = limits
        self._servers: dict[str, Limiter] = {}

    async def run(
        self,
        rows: RowSource,
        journal: Journal,
        *,
        stop_at_first_error: bool = False,
        progress: Callable[[BatchProgress], None] | None = None,
        cancel: Cancel | None = None,
    ) -> BatchProgress:
        """Calls all rows that are not in the journal, whose payloads are outcomes; see `run_rows`.

        Raises:
            RowFailed: A row failed and the run was to stop then.
            RowsCancelled: It was stopped by `cancel`.
        """
        return await run_rows(
            rows.rows(self._tools.columns),
            self._row,
            journal=journal,
            concurrency=self._limits.concurrency,
            stop_at_first_error=stop_at_first_error,
            total=rows.num_rows,
            progress=progress,
            cancel=cancel,
        )

    def fingerprint(self, rows: RowSource) -> str:
        """What tells these calls from all others: tools, arguments, rows."""
        sources = self._tools.sources
        about = {
            "what": "tool calls",
            "names": self._tools.names,
            "mapped": {name: repr(source) for name, source in sources.mapped.items()},
            "columns": list(self._tools.columns),
            "rows": rows.num_rows,
        }
        return fingerprint(about, self._content(rows))

    def _content(self, rows: RowSource) -> Iterator[bytes]:
        yield repr(encode_tools(self._tools.tools).to_pylist()).encode("utf-8", "surrogatepass")
        for _, row in rows.rows(self._tools.columns):
            yield repr(row).encode("utf-8", "surrogatepass")

    async def _row(self, number: int, row: Mapping[str, Any]) -> FinishedRow:
        try:
            plan = self._tools.plan_for(row)
            outcome = CallOutcome.of(await self._call(plan.tool, plan.arguments(row)))
        except (KnimeExtError, RuntimeError, TimeoutError) as error:
            outcome = CallOutcome(error=str(error) or type(error).__name__)
        return FinishedRow(payload=outcome.to_bytes(), error=outcome.error)

    async def _call(self, tool: Tool, arguments: dict[str, Any]) -> ToolResult:
        seconds = self._limits.seconds_per_call
        async with self._turn(tool):
            limit = asyncio.timeout(seconds)
            try:
                async with limit:
                    return await self._result(tool, arguments)
            except TimeoutError:
                if limit.expired():
                    raise TimeoutError(f"tool {tool.name!r} took longer than {seconds:g} s and was stopped") from None
                raise

    def _turn(self, tool: Tool) -> AbstractAsyncContextManager[None]:
        """The turn of a call at its server."""
        per_minute = self._limits.per_minute
        if per_minute is None or not isinstance(tool, MCPTool):
            return nullcontext()
        limiter = self._servers.get(tool.server_uri)
        if limiter is None:
            limiter = self._servers[tool.server_uri] = Limiter(per_minute=per_minute)
        return limiter

    async def _result(self, tool: Tool, arguments: dict[str, Any]) -> ToolResult:
        if isinstance(tool, MCPTool):
            result: ToolResult = await self._context._acall_mcp_tool(tool, arguments)
            if result.is_error:
                raise ToolFailed(result.text)
            return result
        assert isinstance(tool, WorkflowTool)
        defaults = {name: part["default"] for name, part in tool.parameter_schema.items() if "default" in part}
        given = {name: value for name, value in defaults.items() if value is not None} | arguments
        message, _, _ = await call_in_thread(self._context._execute_tool, tool, given, list[Any](), dict(DEFAULT_HINTS))
        return ToolResult.of_text(message)
