"""A server that answers as OpenMetadata's does: stateless JSON-RPC over `POST /mcp`, with a bearer token.

It has no sessions, answers every request with one JSON document, and knows only the handshake of the older era; a
method that it does not know is an error 500 with a body that is no JSON-RPC, as the Java SDK below it makes it.
"""

import json
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from tests.servers.legacy import serving_app

JSON = dict[str, Any]

TABLES: list[JSON] = [
    {"name": "customers", "fullyQualifiedName": "shop.crm.public.customers", "description": "One row per customer"},
    {"name": "orders", "fullyQualifiedName": "shop.sales.public.orders", "description": "Orders of customers"},
    {"name": "carriers", "fullyQualifiedName": "shop.sales.public.carriers", "description": "Who ships the orders"},
]


def _text(description: str, **more: Any) -> JSON:
    return {"type": "string", "description": description, **more}


TOOLS: list[JSON] = [
    {
        "name": "search_metadata",
        "description": "Finds data assets and business terms by words.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "query": _text("Words to look for."),
                "entityType": _text("Kind of asset.", enum=["table", "topic", "dashboard"]),
                "limit": {"type": "integer", "description": "How many results, 10 if not given."},
            },
            "required": ["query"],
        },
    },
    {
        "name": "get_entity_details",
        "description": "Everything about one asset.",
        "inputSchema": {
            "type": "object",
            "properties": {"entityType": _text("Kind of asset."), "fqn": _text("Fully qualified name.")},
            "required": ["entityType", "fqn"],
        },
    },
    {
        "name": "get_entity_lineage",
        "description": "Where the data of an asset comes from and goes to.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "entityType": _text("Kind of asset."),
                "fqn": _text("Fully qualified name."),
                "upstreamDepth": {"type": "integer"},
                "downstreamDepth": {"type": "integer"},
            },
            "required": ["entityType", "fqn"],
        },
    },
    {
        "name": "create_glossary",
        "description": "Creates a glossary.",
        "inputSchema": {
            "type": "object",
            "properties": {"name": _text("Name."), "description": _text("Description.")},
            "required": ["name", "description"],
        },
    },
    {
        "name": "create_glossary_term",
        "description": "Creates a term in a glossary.",
        "inputSchema": {
            "type": "object",
            "properties": {"glossary": _text("Glossary."), "name": _text("Name."), "description": _text("Meaning.")},
            "required": ["glossary", "name", "description"],
        },
    },
    {
        "name": "patch_entity",
        "description": "Changes an asset by a JSON Patch.",
        "inputSchema": {
            "type": "object",
            "properties": {"fqn": _text("Fully qualified name."), "patch": _text("JSON Patch as text.")},
            "required": ["fqn", "patch"],
        },
    },
]


@dataclass
class OpenMetadataServer:
    """What the server wants, and what it has seen.

    Attributes:
        token: The bearer token that it accepts.
        seen: The methods of all messages, in order.
        url: Its endpoint.
    """

    token: str = "catalog-token-1234"
    seen: list[str] = field(default_factory=list[str])
    url: str = ""

    async def handle(self, request: Request) -> Response:
        """Answers an HTTP request."""
        if request.method != "POST":
            return Response(status_code=405)
        if request.headers.get("authorization") != f"Bearer {self.token}":
            return JSONResponse({"code": 401, "message": "Not Authorized! Token not present"}, status_code=401)
        accepted = request.headers.get("accept", "")
        if "application/json" not in accepted or "text/event-stream" not in accepted:
            return JSONResponse({"message": "Both application/json and text/event-stream required"}, status_code=400)
        message: JSON = json.loads(await request.body())
        self.seen.append(message["method"])
        if "id" not in message:
            return Response(status_code=202)
        return self._answer(message)

    def _answer(self, message: JSON) -> Response:
        params: JSON = message.get("params") or {}
        match message["method"]:
            case "initialize":
                return _done(message, _handshake(params))
            case "tools/list":
                return _done(message, {"tools": TOOLS})
            case "tools/call":
                return _call(message, params["name"], params.get("arguments") or {})
            case method:
                return JSONResponse({"message": f"Missing handler for request type: {method}"}, status_code=500)


def _handshake(params: JSON) -> JSON:
    return {
        "protocolVersion": params["protocolVersion"],
        "capabilities": {"tools": {"listChanged": True}, "prompts": {"listChanged": True}},
        "serverInfo": {"name": "openmetadata-mcp-stateless", "version": "1.9.0"},
    }


def _call(message: JSON, name: str, arguments: JSON) -> Response:
    match name:
        case "search_metadata":
            hits = [table for table in TABLES if arguments["query"].rstrip("s") in str(table)][: arguments.get("limit")]
            result = {"results": hits, "totalFound": len(hits), "query": arguments["query"]}
        case "get_entity_details":
            found = [table for table in TABLES if table["fullyQualifiedName"] == arguments["fqn"]]
            result = found[0] if found else {"error": f"table instance for {arguments['fqn']} not found"}
        case "get_entity_lineage":
            result = {"nodes": [arguments["fqn"]], "edges": []}
        case "create_glossary":
            return _done(message, _content("A glossary of that name exists already", is_error=True))
        case _:
            error = {"code": -32602, "message": f"Unknown tool: {name}", "data": f"Tool not found: {name}"}
            return JSONResponse({"jsonrpc": "2.0", "id": message["id"], "error": error})
    return _done(message, _content(json.dumps(result), is_error="error" in result))


def _content(text: str, *, is_error: bool = False) -> JSON:
    return {"content": [{"type": "text", "text": text}], "isError": is_error}


def _done(message: JSON, result: JSON) -> Response:
    return JSONResponse({"jsonrpc": "2.0", "id": message["id"], "result": result})


@contextmanager
def openmetadata() -> Generator[OpenMetadataServer]:
    """The server on a free port, in a thread; its `url` is set."""
    server = OpenMetadataServer()
    app = Starlette(routes=[Route("/mcp", server.handle, methods=["GET", "POST", "DELETE"])])
    with serving_app(app) as origin:
        server.url = origin + "/mcp"
        yield server
