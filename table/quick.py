"""Quick match: strangers who want the same rules are seated together; after a while agents fill up."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Protocol

from spades_env.rules import PRESETS, Rules
from table.errors import Refusal
from table.places import Hosted, Peer, Place
from table.settings import OPEN, YOU, Settings

QUICK_SECONDS: Final = 20.0


@dataclass(eq=False)
class Waiting:
    """Somebody who waits for a quick match."""

    peer: Peer
    name: str
    since: float
    seated: Callable[[Place], None]
    """Told where she sits once there is a table."""


class Rooms(Protocol):
    """What a quick match asks of the house."""

    def now(self) -> float:
        """The clock, in seconds."""
        ...

    def open_room(self, settings: Settings) -> Hosted:
        """A new room."""
        ...

    def place_at(self, peer: Peer, hosted: Hosted, seat: int | None) -> Place:
        """A connection comes to a room."""
        ...

    def joined(self, place: Place, token: str | None) -> dict[str, Any]:
        """What somebody is told who has come to a room."""
        ...

    def tell(self, hosted: Hosted) -> None:
        """Tell everybody in a room its state."""
        ...


class QuickMatch:
    """Those who wait, by preset; the first of a queue waits `wait` seconds at most."""

    def __init__(self, house: Rooms, wait: float) -> None:
        self._house, self._wait = house, wait
        self._queues: dict[str, list[Waiting]] = {}
        self._task: asyncio.Task[None] | None = None

    def close(self) -> None:
        """Seat nobody any more."""
        if self._task is not None:
            self._task.cancel()

    def join(self, peer: Peer, name: str, preset: str, seated: Callable[[Place], None]) -> Waiting:
        """Wait for strangers who want the same rules; `seated` is called when there is a table."""
        if preset not in PRESETS:
            raise Refusal("bad_settings", f"rules is {preset[:40]!r}; allowed: {', '.join(PRESETS)}")
        waiting = Waiting(peer, name, self._house.now(), seated)
        self._queues.setdefault(preset, []).append(waiting)
        try:
            self._seat(preset)
        except Refusal:
            self.leave(waiting)
            raise
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._watch_queues())
        return waiting

    def leave(self, waiting: Waiting) -> None:
        """She does not want to wait any longer, or is gone."""
        for preset, queue in self._queues.items():
            if waiting in queue:
                queue.remove(waiting)
                self._tell_waiting(preset)

    def _seat(self, preset: str) -> None:
        """Seat those who wait, if there are enough of them or the first has waited long enough."""
        queue, rules = self._queues[preset], Rules.preset(preset)
        while len(queue) >= rules.players or (queue and self._house.now() >= queue[0].since + self._wait):
            hosted = self._house.open_room(_settings(rules))
            party = [queue.pop(0) for _ in range(min(rules.players, len(queue)))]
            for waiting in party:
                seat, token = hosted.room.sit(waiting.name, self._house.now())
                place = self._house.place_at(waiting.peer, hosted, seat)
                waiting.seated(place)
                waiting.peer.send(self._house.joined(place, token))
            hosted.room.begin(None, self._house.now())
            self._house.tell(hosted)
        self._tell_waiting(preset)

    def _tell_waiting(self, preset: str) -> None:
        queue = self._queues[preset]
        for waiting in queue:
            left = max(0, round(queue[0].since + self._wait - self._house.now()))
            waiting.peer.send({"t": "waiting", "waiting": len(queue), "seconds": left})

    async def _watch_queues(self) -> None:
        while any(self._queues.values()):
            await asyncio.sleep(0.25)
            for preset, queue in list(self._queues.items()):
                if queue and self._house.now() >= queue[0].since + self._wait:
                    with contextlib.suppress(Refusal):  # no room for more: they wait on
                        self._seat(preset)


def _settings(rules: Rules) -> Settings:
    return Settings(
        rules=rules,
        seats=(YOU, *[OPEN] * (rules.players - 1)),
        mode="play",
        speed="normal",
        hint="normal",
        claims=True,
        spectators=False,
        patience=45,
        open_agent="normal",
    )
