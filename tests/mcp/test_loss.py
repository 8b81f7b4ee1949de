"""What a failure says about the session, as a table."""

import httpx2
import pytest
from mcp import MCPError as WireError

from knime_ext.mcp.exchange import Exchange
from knime_ext.mcp.loss import Loss, loss_of

REQUEST = httpx2.Request("POST", "https://example.com/mcp")


def status_error(status: int) -> httpx2.HTTPStatusError:
    return httpx2.HTTPStatusError("no", request=REQUEST, response=httpx2.Response(status, request=REQUEST))


@pytest.mark.parametrize(
    ("error", "exchange", "loss"),
    [
        (WireError(-32600, "Session terminated"), Exchange(status=404), Loss.REFUSED),
        (WireError(-32600, "Session not found"), Exchange(status=404), Loss.REFUSED),
        (WireError(-32001, "Session not found"), Exchange(status=404), Loss.REFUSED),
        (WireError(-32000, "Bad Request: No valid session ID provided"), Exchange(status=400), Loss.REFUSED),
        (WireError(-32600, "Session terminated"), Exchange(), Loss.REFUSED),
        (status_error(404), Exchange(status=404), Loss.REFUSED),
        (status_error(400), Exchange(status=400), Loss.REFUSED),
        (WireError(-32000, "Connection closed"), Exchange(), Loss.REFUSED),
        (WireError(-32000, "Connection closed"), Exchange(sent=True), Loss.UNKNOWN),
        (WireError(-32000, "SSE stream ended without a response"), Exchange(sent=True, status=200), Loss.UNKNOWN),
        (WireError(-32603, "?"), Exchange(failure=httpx2.ReadError("reset")), Loss.UNKNOWN),
        (WireError(-32603, "?"), Exchange(failure=httpx2.RemoteProtocolError("gone")), Loss.UNKNOWN),
        (WireError(-32603, "?"), Exchange(failure=httpx2.ConnectError("refused")), Loss.NONE),
        (WireError(-32603, "?"), Exchange(failure=httpx2.ReadTimeout("slow")), Loss.NONE),
        (WireError(-32000, "the session of parliament is over"), Exchange(status=200), Loss.NONE),
        (WireError(-32603, "Server returned an error response"), Exchange(status=500), Loss.NONE),
        (WireError(-32000, "Connection closed"), Exchange(breach="too large"), Loss.NONE),
        (status_error(500), Exchange(status=500), Loss.NONE),
        (status_error(401), Exchange(status=401), Loss.NONE),
        (TimeoutError(), Exchange(), Loss.NONE),
        (RuntimeError("a bug"), Exchange(), Loss.NONE),
    ],
)
def test_a_failure_of_a_request_in_a_session_is_judged(error: Exception, exchange: Exchange, loss: Loss):
    assert loss_of(error, exchange, is_legacy=True) is loss


def test_todays_protocol_has_no_sessions_that_a_server_could_end():
    assert loss_of(WireError(-32601, "Not Found"), Exchange(status=404), is_legacy=False) is Loss.NONE
