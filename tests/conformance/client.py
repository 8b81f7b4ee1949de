"""The client that the conformance suite tests: our `MCPClient`, told by the scenario's name what to do.

The suite starts it with the URL of a server as the last argument and says the rest in MCP_CONFORMANCE_SCENARIO and
MCP_CONFORMANCE_CONTEXT.
"""

import json
import logging
import os
import sys
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlsplit

import httpx2

from knime_ext.errors import KnimeExtError, MCPAuthError
from knime_ext.mcp import MCPClient, StreamableHTTPServer, Timeouts
from knime_ext.mcp.auth import MemoryStore
from knime_ext.mcp.questions import Answer, Handlers, Question, asking, decline, defaults_of
from knime_ext.mcp.sign_in import Auth, ClientCredentials, EnterpriseManaged, OAuth, PrivateKeyJWT, WorkloadIdentity

SCENARIO = os.environ.get("MCP_CONFORMANCE_SCENARIO", "")
CONTEXT: dict[str, Any] = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT") or "{}")
PATIENCE = Timeouts(connect=120, list=120, call=120)
"""The suite starts all scenarios at once, on a machine that may be busy with other things."""


class Browser:
    """Signs in by following the one redirect that the suite's authorization servers answer with."""

    redirect_uri = "http://localhost:3000/callback"

    async def authorize(self, url: str) -> str:
        async with httpx2.AsyncClient(trust_env=False, timeout=30) as client:
            answer = await client.get(url, follow_redirects=False)
        return answer.headers["location"]


def client(url: str, auth: Auth | None = None) -> MCPClient:
    return MCPClient(StreamableHTTPServer(url, auth=auth, timeouts=PATIENCE))


def call_offered(url: str, calls: dict[str, dict[str, Any]] | None = None, auth: Auth | None = None) -> None:
    """Calls the tools that the client offers: those given, or all, with arguments that fit their schema."""
    with client(url, auth) as mcp:
        for tool in mcp.list_tools():
            arguments = _least_arguments(tool.schema) if calls is None else calls.get(tool.name)
            if arguments is not None:
                print(tool.name, mcp.call_tool(tool.name, arguments))


def _least_arguments(schema: Mapping[str, Any]) -> dict[str, Any]:
    values: dict[str, Any] = {"string": "x", "integer": 0, "number": 0, "boolean": False, "object": {}, "array": []}
    properties = schema.get("properties", {})
    return {name: values.get(properties.get(name, {}).get("type"), "x") for name in schema.get("required", [])}


def list_only(url: str) -> None:
    with client(url) as mcp:
        print(mcp.list_tools())


def add_numbers(url: str) -> None:
    call_offered(url, {"add_numbers": {"a": 5, "b": 3}})


def replay(url: str) -> None:
    """Makes the calls that the suite asks for."""
    with client(url) as mcp:
        offered = {tool.name for tool in mcp.list_tools()}
        for call in CONTEXT.get("toolCalls", []):
            if call["name"] in offered:
                print(mcp.call_tool(call["name"], call.get("arguments") or {}))


def answering(url: str) -> None:
    """Calls every tool and answers what the server asks: defaults where there are some, yes where there are none."""

    def answer(question: Question) -> Answer:
        schema = question.schema or {}
        missing = _least_arguments(schema) | {
            name: True for name in schema.get("properties", {}) if name == "confirmed"
        }
        return Answer(action="accept", content=missing | defaults_of(schema))

    with asking(Handlers(elicit=answer)):
        call_offered(url)


def metadata(url: str) -> None:
    """A host that can do everything."""
    with asking(Handlers(elicit=decline, sample=lambda request: {}, roots=())):
        add_numbers(url)


def echo_schema(url: str) -> None:
    """Sends a schema back as it came."""
    with client(url) as mcp:
        schemas = {tool.name: tool.schema for tool in mcp.list_tools()}
        mcp.call_tool("json_schema_echo", {"schema": schemas["json_schema_2020_12_tool"]})


def issuer_of(url: str) -> str:
    """The authorization server; the operator of a program knows it, the suite lets it be looked up only."""
    parts = urlsplit(url)
    origin = f"{parts.scheme}://{parts.netloc}"
    for place in (f"/.well-known/oauth-protected-resource{parts.path}", "/.well-known/oauth-protected-resource"):
        answer = httpx2.get(origin + place, timeout=30, trust_env=False)
        if answer.status_code == 200:
            return answer.json()["authorization_servers"][0]
    raise MCPAuthError("the server says nothing about its authorization server")


def person(url: str) -> None:
    """Somebody signs in, and calls every tool."""
    auth = OAuth(
        client_id=CONTEXT.get("client_id"),
        client_secret=CONTEXT.get("client_secret"),
        issuer=CONTEXT.get("issuer"),
        client_metadata_url="https://conformance-test.local/client-metadata.json",
        person=Browser(),
        store=MemoryStore(),
    )
    call_offered(url, auth=auth)


def secret(url: str) -> None:
    auth = ClientCredentials(
        client_id=CONTEXT["client_id"], client_secret=CONTEXT["client_secret"], issuer=issuer_of(url)
    )
    call_offered(url, auth=auth)


def private_key(url: str) -> None:
    auth = PrivateKeyJWT(
        client_id=CONTEXT["client_id"],
        private_key=CONTEXT["private_key_pem"],
        algorithm=CONTEXT["signing_algorithm"],
        issuer=issuer_of(url),
    )
    call_offered(url, auth=auth)


def company(url: str) -> None:
    auth = EnterpriseManaged(
        client_id=CONTEXT["client_id"],
        client_secret=CONTEXT["client_secret"],
        issuer=issuer_of(url),
        idp_token_endpoint=CONTEXT["idp_token_endpoint"],
        idp_client_id=CONTEXT["idp_client_id"],
        id_token=CONTEXT["idp_id_token"],
    )
    call_offered(url, auth=auth)


def platform(url: str) -> None:
    auth = WorkloadIdentity(client_id=CONTEXT["client_id"], assertion=CONTEXT["valid_jwt"], issuer=issuer_of(url))
    call_offered(url, auth=auth)


SCENARIOS: dict[str, Callable[[str], None]] = {
    "initialize": list_only,
    "json-schema-ref-no-deref": list_only,
    "json-schema-2020-12-preservation": echo_schema,
    "tools_call": add_numbers,
    "request-metadata": metadata,
    "elicitation-sep1034-client-defaults": answering,
    "sep-2322-client-request-state": answering,
    "http-standard-headers": add_numbers,
    "http-custom-headers": replay,
    "auth/client-credentials-basic": secret,
    "auth/client-credentials-jwt": private_key,
    "auth/enterprise-managed-authorization": company,
    "auth/wif-jwt-bearer": platform,
}
"""What to do in which scenario. In the others about signing in, a person does; else every tool is called."""


def main() -> int:
    """Plays the scenario; 1 if it ended with an error, which some scenarios want to see."""
    logging.basicConfig(level=logging.INFO, stream=sys.stderr)
    play = SCENARIOS.get(SCENARIO, person if SCENARIO.startswith("auth/") else call_offered)
    try:
        play(sys.argv[-1])
    except KnimeExtError as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
