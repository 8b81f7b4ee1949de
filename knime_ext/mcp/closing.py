"""What can be closed: in a `with` block, in an `async with` block, or by hand."""

from __future__ import annotations

from types import TracebackType
from typing import Self

from knime_ext.mcp.lease import Lease

__all__ = ["Closing"]


class Closing:
    """Works over a lease, which connects at the first use; closed, it can be used again."""

    _lease: Lease

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    def close(self) -> None:
        """Ends all sessions and closes every connection; child processes are gone afterwards."""
        self._lease.close()

    async def aclose(self) -> None:
        """The same as `close` for async code."""
        await self._lease.aclose()
