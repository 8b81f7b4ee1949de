"""Server values: comparable, hashable, silent about secrets, strict about addresses."""

from dataclasses import FrozenInstanceError, replace

import pytest

from knime_ext.errors import ConfigurationError
from knime_ext.mcp import SSEServer, StdioServer, StreamableHTTPServer, Timeouts, URLServer, server_from_uri
from knime_ext.mcp.foreign_text import name_of, quotable, secrets_of

SECRET = {"Authorization": "Bearer s3cret-t0ken"}


def test_equal_values_are_one_key_and_different_credentials_are_two():
    first = SSEServer("https://example.com/sse", headers=SECRET)
    assert {first: 1}[SSEServer("https://example.com/sse", headers=dict(SECRET))] == 1
    assert first != SSEServer("https://example.com/sse")
    assert first != StreamableHTTPServer("https://example.com/sse", headers=SECRET)
    assert len({first, SSEServer("https://example.com/sse"), replace(first, timeouts=Timeouts(call=1))}) == 3


def test_values_are_frozen_and_keep_their_own_headers():
    headers = dict(SECRET)
    server = URLServer("https://example.com/mcp", headers=headers)
    headers.clear()
    assert server.headers == SECRET
    with pytest.raises(FrozenInstanceError):
        server.url = "https://example.org"  # pyright: ignore[reportAttributeAccessIssue]


def test_secrets_are_not_in_the_repr():
    stdio = StdioServer("db", "serve", env={"PASSWORD": "hunter22"})
    assert "s3cret" not in repr(URLServer("https://example.com/mcp", headers=SECRET))
    assert "hunter22" not in repr(stdio)


def test_the_address_for_rows_is_the_url_or_the_name_of_the_provider():
    assert SSEServer("https://example.com/sse").uri == "https://example.com/sse"
    assert StdioServer("db", "serve", ("--fast",)).uri == "stdio:db"


def test_a_url_in_a_row_is_a_server_that_finds_out_by_itself():
    assert server_from_uri("https://example.com/mcp") == URLServer("https://example.com/mcp")
    limits = Timeouts(connect=1, list=2, call=3)
    assert server_from_uri("http://localhost:8000/sse", timeouts=limits).timeouts == limits


def test_a_name_in_a_row_is_a_registered_provider():
    database = StdioServer("db", "serve")
    assert server_from_uri("stdio:db", {"db": database}) is database
    with pytest.raises(ConfigurationError, match=r"no provider 'sh' is registered \(known: 'db'\); a command can only"):
        server_from_uri("stdio:sh", {"db": database})


@pytest.mark.parametrize(
    "address",
    ["", "example.com/mcp", "ftp://example.com", "file:///etc/passwd", "http://", " https://example.com", "npx x"],
)
def test_anything_else_is_refused(address: str):
    with pytest.raises(ConfigurationError, match="is neither an http:// nor an https:// URL"):
        server_from_uri(address)


def test_a_broken_port_is_refused():
    with pytest.raises(ConfigurationError, match="is not a URL .*; correct it"):
        server_from_uri("http://example.com:port/mcp")


@pytest.mark.parametrize("make", [server_from_uri, SSEServer, StreamableHTTPServer, URLServer])
def test_an_address_with_a_password_is_refused_without_repeating_it(make: type):
    with pytest.raises(ConfigurationError, match="holds a user name or password") as caught:
        make("https://ann:hunter22@example.com/mcp")
    assert "hunter22" not in str(caught.value)
    assert "https://example.com/mcp" in str(caught.value)


def test_messages_name_a_server_without_the_query_that_may_hold_a_key():
    assert name_of(URLServer("https://example.com/mcp?key=abcdef")) == "'https://example.com/mcp'"
    assert name_of(StdioServer("db", "serve")) == "'stdio:db'"


def test_foreign_texts_lose_secrets_escape_codes_and_hidden_characters():
    secrets = secrets_of(URLServer("https://example.com/mcp", headers=SECRET))
    assert quotable("sent Bearer s3cret-t0ken, s3cret-t0ken\x00", secrets) == "sent ***, ***"
    assert quotable("\x1b[1;31mred\x1b[0m\u202eevil\u200b") == "redevil"


def test_long_foreign_texts_keep_the_end_that_matters():
    assert quotable("a" * 1000) == "a" * 500 + "…"
    assert quotable("a" * 1000 + "the end", end=True).endswith("the end")
