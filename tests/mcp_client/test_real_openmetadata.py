"""A real OpenMetadata server, where one is at hand."""

import os

import pytest

from knime_ext.mcp import MCPClient, OpenMetadataTool

HOST, TOKEN = os.environ.get("METADATA_HOST"), os.environ.get("METADATA_TOKEN")


@pytest.mark.skipif(not (HOST and TOKEN), reason="METADATA_HOST and METADATA_TOKEN are not set: no OpenMetadata server")
def test_a_real_openmetadata_server_lists_and_searches():
    with MCPClient(f"{str(HOST).rstrip('/')}/mcp", token=TOKEN) as client:
        names = {tool.name for tool in client.list_tools()}
        assert OpenMetadataTool.SEARCH_METADATA in names
        result = client.call_tool(OpenMetadataTool.SEARCH_METADATA, {"query": "*"}).raise_for_failure()
        assert result.text
