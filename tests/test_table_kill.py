"""kill −9 of the server while people play: after every start each table stands where its people last saw it, or later.

"Later" by what was written and not yet told: what agents did in the last moment. Every state that anybody was shown is
one that the table went through.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette", reason="needs the extra `table`")

from table_sockets import Client
from websockets.exceptions import ConnectionClosed

from spades_env.record.files import check_record
from table.store import Store

ROOT = Path(__file__).resolve().parent.parent
SHOWN = ("bids", "blind", "scores", "bags", "tricks", "played", "hand", "turn", "phase", "deal", "dealer", "broken")


class Process:
    """`spades table` on a port of its own."""

    def __init__(self, database: Path) -> None:
        command = [sys.executable, "-m", "tests.table_killable", str(database)]
        environment = os.environ | {"PYTHONPATH": str(ROOT)}
        self.process = subprocess.Popen(
            command, env=environment, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line.startswith("port "), line
        self.port = int(line.split()[1])

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        assert self.process.wait(30) == -signal.SIGKILL
        assert self.process.stdout is not None
        self.process.stdout.close()


class Player:
    """A person at a table of her own with agents, or with a friend, who comes back after every kill."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.code = self.token = ""
        self.shown: list[dict[str, Any]] = []
        self.client: Client | None = None

    def come(self, port: int, settings: dict[str, Any]) -> None:
        """Make the room, or come back to the seat and compare what is shown."""
        self.client = Client(port)
        if not self.code:
            joined = self.client.ask(t="create", settings=settings, name=self.name)
            self.code, self.token = joined["code"], joined["token"]
            self.client.until("state")
            return
        joined = self.client.ask(t="join", code=self.code, name=self.name, token=self.token)
        assert joined["t"] == "joined", joined
        state = self.client.until("state")
        last = self.shown[-1]
        assert state["n"] >= last["n"]
        if state["n"] == last["n"]:
            assert {name: state[name] for name in SHOWN} == {name: last[name] for name in SHOWN}
        elif state["deal"] == last["deal"]:
            assert state["played"][: len(last["played"])] == last["played"]
            assert set(state["hand"]) <= set(last["hand"])
        history = len(last["history"])
        assert state["history"][:history] == last["history"]

    def play(self, seconds: float, chance: random.Random) -> None:
        """Play until the time is over or the server is gone; remember every state that was shown."""
        assert self.client is not None
        end = time.monotonic() + seconds
        try:
            while time.monotonic() < end:
                state = self.client.state
                self._answer(state, chance)
                self.client.until("state", timeout=1.0)
                self.shown.append(self.client.state)
        except (ConnectionClosed, TimeoutError, EOFError):
            pass
        self.shown.append(self.client.state)

    def _answer(self, state: dict[str, Any], chance: random.Random) -> None:
        assert self.client is not None
        if state["phase"] == "deal over":
            self.client.send(t="next", n=state["n"])
        elif state["phase"] == "match over":
            self.client.send(t="again")
        elif state["turn"] == state["you"]:
            self.client.send(t="act", n=state["n"], action=chance.choice(state["legal"]))

    def leave(self) -> None:
        if self.client is not None:
            self.client.close()


def went_through(store: Store, player: Player) -> int:
    """Check that every state the player was shown lies on the course of her table; how many were."""
    room = store.read_room(player.code)
    assert room is not None
    seen = {state["n"]: state for state in player.shown}
    again = type(room)(room.code, room.settings, room.secret, room.journal, seats=room.seats, begun=True)
    for event in (*store.events(player.code), None):
        if (state := seen.pop(again.course.n, None)) is not None:
            told = again.state_for(state["you"], 0.0)
            assert {name: told[name] for name in SHOWN} == {name: state[name] for name in SHOWN}
        if event is not None:
            again.course.take(event)
    assert not seen  # no state beyond what was written
    return len(player.shown)


def killed(tmp_path: Path, kills: int, seed: int) -> None:
    chance, database = random.Random(seed), tmp_path / "a.sqlite"
    players = [Player(f"P{k}") for k in range(3)]
    settings: list[dict[str, Any]] = [
        {"rules": {"preset": "classic"}, "seats": ["you", "easy", "easy", "easy"]},
        {"rules": {"preset": "two_player"}, "seats": ["you", "easy"]},
        {"rules": {"preset": "modern"}, "seats": ["easy", "you", "easy", "normal"], "mode": "practice"},
    ]
    for _ in range(kills):
        server = Process(database)
        for player, chosen in zip(players, settings, strict=True):
            player.come(server.port, chosen)
        for player in players:
            player.play(chance.uniform(0.02, 0.25), chance)
        server.kill()
        for player in players:
            player.leave()
    store = Store(database)
    assert sum(went_through(store, player) for player in players) > 10 * kills
    for record in store.records():
        check_record(record)
    store.close()


@pytest.mark.timeout(600)
def test_a_few_kills(tmp_path: Path) -> None:
    killed(tmp_path, kills=4, seed=1)


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_a_hundred_kills(tmp_path: Path) -> None:
    killed(tmp_path, kills=100, seed=2)
