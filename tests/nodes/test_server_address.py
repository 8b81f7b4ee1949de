"""The address of a server is checked while it is typed."""

import pytest

from knime_ext.nodes.server_address import check_address


@pytest.mark.parametrize(
    "address",
    [
        "",
        "crm",
        "my-docs.2",
        "http://localhost:8000/sse",
        "https://example.com/mcp",
        "http://[::1]:9/mcp",
        "https://例え.jp/mcp",
    ],
)
def test_web_addresses_and_names_of_providers_are_accepted_and_so_is_none_yet(address: str) -> None:
    check_address(address)


@pytest.mark.parametrize(
    "address",
    ["example.com/mcp", "ftp://example.com", "stdio:files", "http://", "https://host:port/", " http://a", "npx server"],
)
def test_anything_else_is_refused(address: str) -> None:
    with pytest.raises(ValueError, match="correct it"):
        check_address(address)


@pytest.mark.parametrize(
    "address", ["https://me:hunter2@example.com/mcp", "http://hunter2@host:1/", "http://a:hunter2@b:x/"]
)
def test_credentials_in_the_address_are_refused_and_not_repeated(address: str) -> None:
    with pytest.raises(ValueError, match="correct it|remove it") as caught:
        check_address(address)
    assert "hunter2" not in str(caught.value)
