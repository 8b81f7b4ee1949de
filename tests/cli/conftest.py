"""The example's MCP server, in a process of its own."""

from collections.abc import Iterator

import pytest

from knime_ext.cli.example import orders_agent, running_server


@pytest.fixture(scope="module")
def server_url() -> Iterator[str]:
    """Address of the example's server, HTTP+SSE on a free port."""
    with running_server(orders_agent() / "server.py") as url:
        yield url
