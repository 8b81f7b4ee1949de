"""Servers for the tests of the client; every test must leave the process as it found it."""

from collections.abc import Iterator

import pytest

from tests.mcp.conftest import nothing_left
from tests.servers.openmetadata import OpenMetadataServer, openmetadata
from tests.servers.process import mcpserver

__all__ = ["nothing_left"]


@pytest.fixture(scope="session")
def catalog_server() -> Iterator[OpenMetadataServer]:
    with openmetadata() as server:
        yield server


@pytest.fixture
def catalog(catalog_server: OpenMetadataServer) -> OpenMetadataServer:
    """A server like OpenMetadata's that has seen nothing yet."""
    catalog_server.seen.clear()
    return catalog_server


@pytest.fixture(scope="session")
def toolbox() -> Iterator[str]:
    """The URL of a server made with the SDK."""
    with mcpserver("streamable-http") as address:
        yield address
