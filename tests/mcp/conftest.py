"""Every test of the MCP room must leave the process as it found it."""

from collections.abc import Iterator

import pytest

from knime_ext.mcp.lines import forget_verdicts
from tests.mcp.bench import assert_nothing_new_since, belongings


@pytest.fixture(autouse=True)
def nothing_left() -> Iterator[None]:
    """Threads, child processes and TCP connections are the same after a test as before."""
    forget_verdicts()
    before = belongings()
    yield
    assert_nothing_new_since(before)
