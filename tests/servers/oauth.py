"""An authorization server and the MCP server that it protects, on two ports, with tokens that live for seconds.

The protected server keeps sessions, so that a test can see whether a session survives a refresh.
"""

import base64
import hashlib
import json
import threading
import time
import uuid
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, urlencode

import jwt
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

JSON = dict[str, Any]

JWT_BEARER = "urn:ietf:params:oauth:grant-type:jwt-bearer"
TOKEN_EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange"


@dataclass
class Grant:
    scope: str
    end: float
    client: str


@dataclass
class AuthorizationServer:
    """What the server does, and what it has seen.

    Attributes:
        life: Seconds that an access token lives.
        told_life: Seconds that it is said to live, if that is something else: somebody's clock is wrong.
        clients: Client id to its secret; None for a public client.
        public_keys: Client id to the key that its assertions are checked with.
        refuse_refresh: True to refuse every refresh token from now on.
        broken: HTTP status that the token endpoint answers with, instead of working.
        events: What happened, in order: "register", "authorize", the grant types.
        secrets: Every token and code that was given out.
    """

    life: float = 3600.0
    told_life: float | None = None
    clients: dict[str, str | None] = field(default_factory=dict[str, str | None])
    public_keys: dict[str, str] = field(default_factory=dict[str, str])
    refuse_refresh: bool = False
    broken: int | None = None
    events: list[str] = field(default_factory=list[str])
    forms: list[JSON] = field(default_factory=list[JSON])
    secrets: list[str] = field(default_factory=list[str])
    url: str = ""
    cimd: bool = False
    codes: dict[str, JSON] = field(default_factory=dict[str, JSON])
    tokens: dict[str, Grant] = field(default_factory=dict[str, Grant])
    refresh_tokens: dict[str, Grant] = field(default_factory=dict[str, Grant])
    assertions: set[str] = field(default_factory=set[str])
    revoked: list[str] = field(default_factory=list[str])

    def metadata(self, request: Request) -> Response:
        return JSONResponse(
            {
                "issuer": self.url,
                "authorization_endpoint": f"{self.url}/authorize",
                "token_endpoint": f"{self.url}/token",
                "registration_endpoint": f"{self.url}/register",
                "revocation_endpoint": f"{self.url}/revoke",
                "code_challenge_methods_supported": ["S256"],
                "token_endpoint_auth_methods_supported": ["none", "client_secret_basic", "private_key_jwt"],
                "authorization_response_iss_parameter_supported": True,
                "client_id_metadata_document_supported": self.cimd,
            }
        )

    async def register(self, request: Request) -> Response:
        self.events.append("register")
        asked = await request.json()
        client = f"client-{uuid.uuid4().hex[:8]}"
        self.clients[client] = None
        return JSONResponse({**asked, "client_id": client, "token_endpoint_auth_method": "none"}, status_code=201)

    async def authorize(self, request: Request) -> Response:
        self.events.append("authorize")
        query = dict(request.query_params)
        code = self._secret("code")
        self.codes[code] = query
        answer = urlencode({"code": code, "state": query["state"], "iss": self.url})
        return RedirectResponse(f"{query['redirect_uri']}?{answer}")

    async def revoke(self, request: Request) -> Response:
        form = dict(parse_qsl((await request.body()).decode()))
        self.revoked.append(form["token"])
        self.refresh_tokens.pop(form["token"], None)
        self.tokens.pop(form["token"], None)
        return Response()

    async def token(self, request: Request) -> Response:
        form: JSON = dict(parse_qsl((await request.body()).decode()))
        self.events.append(form["grant_type"])
        self.forms.append(form)
        if self.broken is not None:
            return Response("out of order", self.broken)
        client = self._client(request, form)
        if client is None:
            return self._refused("invalid_client", 401)
        match form["grant_type"]:
            case "authorization_code":
                query = self.codes.pop(form["code"], None)
                digest = hashlib.sha256(form["code_verifier"].encode()).digest()
                challenge = base64.urlsafe_b64encode(digest).decode().rstrip("=")
                if query is None or query["code_challenge"] != challenge or query["client_id"] != client:
                    return self._refused("invalid_grant")
                return self._granted(query.get("scope", ""), client, refreshable=True)
            case "refresh_token":
                grant = self.refresh_tokens.pop(form["refresh_token"], None)
                if grant is None or self.refuse_refresh or grant.client != client:
                    return self._refused("invalid_grant")
                return self._granted(grant.scope, client, refreshable=True)
            case "client_credentials":
                return self._granted(form.get("scope", ""), client)
            case "urn:ietf:params:oauth:grant-type:jwt-bearer" if form["assertion"] in self.assertions:
                return self._granted(form.get("scope", ""), client)
            case "urn:ietf:params:oauth:grant-type:token-exchange" if form["subject_token"] in self.assertions:
                jag = self._secret("jag")
                self.assertions.add(jag)
                kind = "urn:ietf:params:oauth:token-type:id-jag"
                return JSONResponse({"access_token": jag, "issued_token_type": kind, "token_type": "N_A"})
            case _:
                return self._refused("invalid_grant")

    def _client(self, request: Request, form: JSON) -> str | None:
        """The client, if it has proved that it is the one it says."""
        if "client_assertion" in form:
            client = jwt.decode(form["client_assertion"], options={"verify_signature": False})["sub"]
            jwt.decode(form["client_assertion"], self.public_keys[client], ["ES256"], audience=self.url)
            return client
        basic = request.headers.get("authorization", "").removeprefix("Basic ")
        if basic:
            client, _, secret = base64.b64decode(basic).decode().partition(":")
            return client if self.clients.get(client, object()) == secret else None
        client = form.get("client_id", "")
        return client if client in self.clients and self.clients[client] == form.get("client_secret") else None

    def _granted(self, scope: str, client: str, *, refreshable: bool = False) -> Response:
        access = self._secret("access")
        self.tokens[access] = Grant(scope, time.monotonic() + self.life, client)
        told = int(self.life if self.told_life is None else self.told_life)
        answer: JSON = {"access_token": access, "token_type": "Bearer", "expires_in": told, "scope": scope}
        if refreshable:
            answer["refresh_token"] = self._secret("refresh")
            self.refresh_tokens[answer["refresh_token"]] = Grant(scope, 0, client)
        return JSONResponse(answer)

    def _refused(self, code: str, status: int = 400) -> Response:
        # Like some real ones, it quotes what it was sent.
        return JSONResponse({"error": code, "error_description": "no", "sent": self.forms[-1]}, status_code=status)

    def _secret(self, kind: str) -> str:
        secret = f"{kind}-{uuid.uuid4().hex}"
        self.secrets.append(secret)
        return secret

    def app(self) -> Starlette:
        return Starlette(
            routes=[
                Route("/.well-known/oauth-authorization-server", self.metadata),
                Route("/register", self.register, methods=["POST"]),
                Route("/authorize", self.authorize),
                Route("/token", self.token, methods=["POST"]),
                Route("/revoke", self.revoke, methods=["POST"]),
            ]
        )


_MODERN: JSON = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}


@dataclass
class ProtectedServer:
    """An MCP server that wants a token with every request.

    Attributes:
        modern: True for one of the era since 2026 alone, else it is of the era before, with sessions.
        issuer: Who gives the tokens out.
        rights: Tool to the scope that it needs.
        sessions: Sessions that were begun.
        calls: Session and access token of every call of a tool.
    """

    issuer: AuthorizationServer
    modern: bool = False
    rights: dict[str, str] = field(default_factory=dict[str, str])
    sessions: list[str] = field(default_factory=list[str])
    calls: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    authorizations: list[str] = field(default_factory=list[str])
    url: str = ""

    def metadata(self, request: Request) -> Response:
        return JSONResponse({"resource": f"{self.url}/mcp", "authorization_servers": [self.issuer.url]})

    async def mcp(self, request: Request) -> Response:
        header = request.headers.get("authorization", "")
        self.authorizations.append(header)
        token = header.removeprefix("Bearer ")
        grant = self.issuer.tokens.get(token)
        place = f'resource_metadata="{self.url}/.well-known/oauth-protected-resource/mcp"'
        if grant is None or grant.end < time.monotonic():
            # Some servers quote the token in their answer.
            return JSONResponse(
                {"error": f"bad token {token}"}, status_code=401, headers={"WWW-Authenticate": f"Bearer {place}"}
            )
        if request.method != "POST":
            return Response(status_code=405 if request.method == "GET" else 200)
        message = json.loads(await request.body())
        if message["method"] == "tools/call":
            needed = self.rights.get(message["params"]["name"], "")
            if needed and needed not in grant.scope.split():
                challenge = f'Bearer error="insufficient_scope", scope="{needed}", {place}'
                return Response(status_code=403, headers={"WWW-Authenticate": challenge})
            self.calls.append((request.headers.get("mcp-session-id", ""), token))
        if "id" not in message:
            return Response(status_code=202)
        answer = self._answer(message, token)
        if "error" in answer:
            return JSONResponse({"jsonrpc": "2.0", "id": message["id"], **answer})
        headers = {"mcp-session-id": self.sessions[-1]} if message["method"] == "initialize" else {}
        return JSONResponse({"jsonrpc": "2.0", "id": message["id"], **answer}, headers=headers)

    def _answer(self, message: JSON, token: str) -> JSON:
        match message["method"]:
            case "server/discover" if self.modern:
                return {"result": {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}, **_MODERN}}
            case "initialize" if not self.modern:
                self.sessions.append(uuid.uuid4().hex)
                version = message["params"]["protocolVersion"]
                info = {"name": "protected", "version": "1"}
                return {"result": {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info}}
            case "tools/list":
                tools = [{"name": name, "inputSchema": {"type": "object"}} for name in ("whoami", "admin", "leak")]
                return {"result": {"tools": tools}}
            case "tools/call" if message["params"]["name"] == "leak":
                return {"error": {"code": -32000, "message": f"failed with Authorization: Bearer {token}"}}
            case "tools/call":
                result: JSON = {"content": [{"type": "text", "text": "somebody"}]}
                return {"result": result | (_MODERN if self.modern else {})}
            case _:
                return {"error": {"code": -32601, "message": "no such method"}}

    def app(self) -> Starlette:
        return Starlette(
            routes=[
                Route("/.well-known/oauth-protected-resource/mcp", self.metadata),
                Route("/mcp", self.mcp, methods=["GET", "POST", "DELETE"]),
            ]
        )


@contextmanager
def listening(app: Starlette) -> Generator[str]:
    """The origin of an application that is served by a thread."""
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="critical", lifespan="off", ws="none"))
    thread = threading.Thread(target=server.run, name="oauth-test-server")
    thread.start()
    try:
        deadline = time.monotonic() + 30
        while not server.started:
            assert thread.is_alive() and time.monotonic() < deadline
            thread.join(0.01)
        port = server.servers[0].sockets[0].getsockname()[1]
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        thread.join(30)


@contextmanager
def protected(authorization: AuthorizationServer | None = None) -> Generator[ProtectedServer]:
    """A protected server and, as its `issuer`, the authorization server, both listening."""
    issuer = authorization or AuthorizationServer()
    server = ProtectedServer(issuer)
    with listening(issuer.app()) as issuer.url, listening(server.app()) as server.url:
        yield server
