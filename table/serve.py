"""Run the server: one process, one event loop, agents beside it."""

from __future__ import annotations

import hashlib
import secrets
import socket
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field

import uvicorn

from spades_env.checks import shown
from table.app import make_app
from table.equity import Shelf
from table.house import House
from table.limits import VOICE_BYTES, Limits
from table.quick import QUICK_SECONDS
from table.settings import PACES
from table.store import Store
from table.thinking import Thinkers


@dataclass(frozen=True)
class Options:
    """What the command was given."""

    agents: Mapping[str, str]
    """{name that a page may choose: what `load_agent` takes}."""
    database: str
    workers: int = 1
    time_limit: float = 5.0
    hosts: Collection[str] = ()
    origins: Collection[str] = ()
    pace: str | None = None
    """A key of PACES, instead of the rooms' own speeds."""
    seed: int | None = None
    """Makes all cards foreseeable: for tests."""
    quick_wait: float = QUICK_SECONDS
    limits: Limits = field(default_factory=Limits)


class _Server(uvicorn.Server):
    """A server that says when it is there."""

    started_hook: Callable[[], None] | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started and self.started_hook is not None:
            self.started_hook()


def listening_socket(host: str, port: int) -> socket.socket:
    """A socket bound to an address; OSError if it is taken or not ours. Port 0 takes a free one."""
    if not _may_be_host(host):
        raise ValueError(f"host is {shown(host)}; allowed: an address or a name of this machine, such as 127.0.0.1")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    return socket.create_server((host, port), family=family, backlog=1024)


def _may_be_host(host: str) -> bool:
    """Whether the system can be asked for a host; it takes none for all of this machine's addresses."""
    try:
        return host.isprintable() and bool(host.encode("idna"))
    except UnicodeError:
        return False


def serve(options: Options, sockets: socket.socket, started: Callable[[], None] | None = None) -> None:
    """Serve until interrupted."""
    store = Store(options.database)
    shelf = Shelf(f"{options.database}-equity")
    thinkers = Thinkers(options.agents, shelf=shelf, workers=options.workers, time_limit=options.time_limit)
    house = House(
        store,
        thinkers,
        options.agents,
        limits=options.limits,
        pace=None if options.pace is None else PACES[options.pace],
        quick_wait=options.quick_wait,
        secret=_secrets(options.seed),
    )
    config = uvicorn.Config(
        make_app(house, hosts=options.hosts, origins=options.origins),
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        ws_max_size=4 * VOICE_BYTES,
        ws_per_message_deflate=False,
        timeout_graceful_shutdown=2,
    )
    server = _Server(config)
    server.started_hook = started
    server.run(sockets=[sockets])


def _secrets(seed: int | None) -> Callable[[], bytes]:
    """What makes the secret of each new room."""
    if seed is None:
        return lambda: secrets.token_bytes(32)
    rooms = iter(range(2**31))
    return lambda: hashlib.sha256(f"{seed}/{next(rooms)}".encode()).digest()
