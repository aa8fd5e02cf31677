"""A server of the table for tests, in a thread of its own with real sockets; and a client that speaks the protocol."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import uvicorn
from websockets.sync.client import ClientConnection, connect

from table.app import make_app
from table.equity import Shelf
from table.house import House
from table.limits import VOICE_BYTES, Limits
from table.serve import listening_socket
from table.settings import PACES
from table.store import Store
from table.thinking import Thinkers

AGENTS = {"easy": "easy", "normal": "normal"}
PATIENCE = 100.0
"""Seconds after which a test gives up; machines that run tests are busy."""
FAST = Limits(frames_per_second=1e6, frames_burst=10**6, lines_per_second=1e6, lines_burst=10**6)
"""No limits on what a test sends."""


class Client:
    """One connection; `states` are all states it was sent."""

    def __init__(self, port: int, *, hello: bool = True, **options: Any) -> None:
        self._open = ExitStack()
        self.socket: ClientConnection = self._open.enter_context(
            connect(f"ws://127.0.0.1:{port}/ws", proxy=None, **options)
        )
        self.raw: list[str] = []
        self.state: dict[str, Any] = {}
        if hello:
            self.send(t="hello", v=1)
            self.welcome = self.until("welcome")

    def send(self, **frame: Any) -> None:
        self.socket.send(json.dumps(frame))

    def receive(self, timeout: float = PATIENCE) -> dict[str, Any]:
        text = self.socket.recv(timeout)
        assert isinstance(text, str)
        self.raw.append(text)
        message: dict[str, Any] = json.loads(text)
        if message["t"] == "state":
            self.state = message
        return message

    def until(self, *types: str, timeout: float = PATIENCE) -> dict[str, Any]:
        """The next message of one of these types."""
        end = time.monotonic() + timeout
        while (message := self.receive(max(0.01, end - time.monotonic())))["t"] not in types:
            pass
        return message

    def ask(self, **frame: Any) -> dict[str, Any]:
        """Send a frame and return its answer, known by its number."""
        number = len(self.raw) + 1_000
        self.send(**frame, r=number)
        while (message := self.receive()).get("r") != number:
            pass
        return message

    def code_of(self, **frame: Any) -> str:
        """The error that a frame is answered with."""
        answer = self.ask(**frame)
        assert answer["t"] == "error", answer
        return str(answer["code"])

    def until_state(self, good: Any, timeout: float = PATIENCE) -> dict[str, Any]:
        """The first state, from now on or the last one, for which `good` holds."""
        end = time.monotonic() + timeout
        while not (self.state and good(self.state)):
            self.until("state", timeout=max(0.01, end - time.monotonic()))
        return self.state

    def my_turn(self) -> dict[str, Any]:
        return self.until_state(lambda s: s.get("turn") == s["you"] or s["phase"] in ("deal over", "match over"))

    def play(self, actions: int) -> None:
        """So many first legal actions of one's own, over the ends of deals."""
        for _ in range(actions):
            state = self.my_turn()
            if state["phase"] == "deal over":
                self.ask(t="next", n=state["n"])
            elif state["phase"] == "match over":
                self.ask(t="again")
            else:
                assert self.ask(t="act", n=state["n"], action=state["legal"][0])["t"] == "state"

    def create(self, name: str = "Ann", **settings: Any) -> dict[str, Any]:
        joined = self.ask(t="create", settings=settings, name=name)
        assert joined["t"] == "joined", joined
        self.until("state")
        return joined

    def close(self) -> None:
        self._open.close()


class Server:
    """A running server: its port, and clients that are closed with it."""

    def __init__(self, port: int, house: House) -> None:
        self.port, self.house = port, house
        self._clients: list[Client] = []

    def client(self, **options: Any) -> Client:
        client = Client(self.port, **options)
        self._clients.append(client)
        return client

    def close(self) -> None:
        for client in self._clients:
            client.close()


@contextmanager
def running(
    database: Path, *, agents: dict[str, str] = AGENTS, time_limit: float = 5.0, pace: str = "instant", **options: Any
) -> Iterator[Server]:
    """A server on a free port, until the block ends."""
    listening = listening_socket("127.0.0.1", 0)
    house = House(
        Store(database),
        Thinkers(agents, shelf=Shelf(f"{database}-equity"), time_limit=time_limit),
        agents,
        pace=PACES[pace],
        **{"limits": FAST} | options,
    )
    config = uvicorn.Config(
        make_app(house), log_level="critical", ws_max_size=4 * VOICE_BYTES, timeout_graceful_shutdown=1
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    found = Server(listening.getsockname()[1], house)
    try:
        while not server.started and thread.is_alive():
            time.sleep(0.01)
        yield found
    finally:
        found.close()
        server.should_exit = True
        thread.join(30)
        assert not thread.is_alive()
