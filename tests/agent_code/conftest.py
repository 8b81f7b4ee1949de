"""A server for the tests of this folder."""

from collections.abc import Iterator

import pytest

from tests.servers.process import mcpserver


@pytest.fixture(scope="session")
def toolbox_url() -> Iterator[str]:
    """The SDK's example server over streamable HTTP."""
    with mcpserver("streamable-http") as url:
        yield url
