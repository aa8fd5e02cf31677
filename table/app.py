"""The web application: the page as files, one WebSocket, and headers that let nothing else in."""

from __future__ import annotations

import ipaddress
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from starlette.applications import Starlette
from starlette.datastructures import Headers, MutableHeaders
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Mount, Route, WebSocketRoute
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocket

from table.connection import Connection
from table.house import House, is_local
from table.messages import read_catalogues

WEB: Final = Path(__file__).parent / "web"
POLICY_VIOLATION, TRY_LATER = 1008, 1013


class Guard:
    """Headers of every answer, and hosts and origins that are let in.

    A page of another site must not talk to this server in its visitor's name: `Origin` must be the host asked for. A
    name that somebody else made point here must not either (DNS rebinding): the host asked for must be one of
    `hosts`, an address, or `localhost`.
    """

    def __init__(self, app: ASGIApp, hosts: Collection[str] = (), origins: Collection[str] = ()) -> None:
        self._app, self._origins = app, frozenset(origins)
        self._hosts = {"localhost", *hosts, *(urlsplit(checked_origin(origin)).hostname for origin in origins)}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on, or refuse with 403."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        if not self._is_known(headers.get("host", "")) or not self._is_ours(headers):
            if scope["type"] == "websocket":
                await WebSocket(scope, receive, send).close(POLICY_VIOLATION)
            else:
                await PlainTextResponse("this host or origin is not let in", 403)(scope, receive, send)
            return
        host = headers.get("host", "")

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(_headers(host))
            await send(message)

        await self._app(scope, receive, with_headers)

    def _is_known(self, host: str) -> bool:
        try:
            name = urlsplit(f"//{host}").hostname
        except ValueError:
            return False
        if name is None or name in self._hosts:
            return name is not None
        try:
            ipaddress.ip_address(name)
        except ValueError:
            return False
        return True

    def _is_ours(self, headers: Headers) -> bool:
        """Programs other than browsers send no origin."""
        origin = headers.get("origin")
        if origin is None or origin in self._origins:
            return True
        try:
            return urlsplit(origin).netloc == headers.get("host")
        except ValueError:
            return False


def checked_origin(text: str) -> str:
    """An origin as browsers send it; ValueError for anything else."""
    try:
        parts = urlsplit(text)
        whole = (
            parts.scheme in ("http", "https") and bool(parts.hostname) and text == f"{parts.scheme}://{parts.netloc}"
        )
    except ValueError:
        whole = False
    if not whole:
        raise ValueError(f"origin is {text!r}; allowed: http:// or https://, a host and perhaps a port, no more")
    return text


def _headers(host: str) -> dict[str, str]:
    policy = (
        "default-src 'self'; "
        f"connect-src 'self' ws://{host} wss://{host}; "
        "img-src 'self' data:; style-src 'self'; script-src 'self'; media-src 'self' blob:; "
        "object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
    return {
        "content-security-policy": policy,
        "x-content-type-options": "nosniff",
        "referrer-policy": "no-referrer",
        "cross-origin-opener-policy": "same-origin",
        "cross-origin-resource-policy": "same-origin",
        "permissions-policy": "microphone=(self), camera=(), geolocation=()",
        "cache-control": "no-cache",
    }


def make_app(house: House, *, hosts: Collection[str] = (), origins: Collection[str] = ()) -> Starlette:
    """The application. `hosts` are more names of this server, `origins` other pages that may use it."""
    catalogues = read_catalogues()
    connections: dict[str, int] = {}

    async def page(request: Request) -> Response:
        return FileResponse(WEB / "index.html")

    async def messages(request: Request) -> Response:
        catalogue = catalogues.get(request.path_params["language"])
        return PlainTextResponse("no such language", 404) if catalogue is None else JSONResponse(catalogue)

    async def socket(websocket: WebSocket) -> None:
        address = websocket.client.host if websocket.client else "unknown"
        limits, here = house.limits, connections.get(address, 0)
        if sum(connections.values()) >= limits.connections or (
            here >= limits.connections_per_address and not is_local(address)
        ):
            await websocket.close(TRY_LATER)
            return
        connections[address] = here + 1
        try:
            await Connection(websocket, house, address).run()
        finally:
            connections[address] -= 1
            if not connections[address]:
                del connections[address]

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        house.thinkers.start()
        try:
            yield
        finally:
            await house.close()
            house.thinkers.close()
            house.store.close()

    routes: list[Any] = [
        Route("/", page),
        Route("/r/{code}", page),
        Route("/messages/{language}.json", messages),
        WebSocketRoute("/ws", socket),
        Mount("/", StaticFiles(directory=WEB)),
    ]
    guard = Middleware(Guard, hosts=hosts, origins=origins)
    return Starlette(routes=routes, middleware=[guard], lifespan=lifespan)
