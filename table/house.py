"""All rooms of a server and who is connected to them: codes, seats, coming and going, what each is told.

Everything here runs on one event loop. A room is in memory while somebody is connected to it; the store has it anyway.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable, Mapping
from typing import Any

from spades_env.rules import Rules
from table.driver import Driver
from table.errors import Refusal
from table.limits import CODE_ALPHABET, CODE_LENGTH, Buckets, Limits
from table.options import paragraph_of
from table.places import Hosted, Peer, Place
from table.protocol import SettingsFrame
from table.quick import QUICK_SECONDS, QuickMatch
from table.room import Room
from table.settings import YOU, Pace, Settings, checked_settings
from table.store import Store
from table.thinking import Thinkers, check_rules


class House:
    """Rooms, and the people in them.

    Args:
        agents: {name that a page may choose: what `load_agent` takes}.
        pace: instead of the rooms' own speeds; for tests.
        quick_wait: seconds that the first of a quick match waits before agents fill up.
        secret: makes the secret of a new room; for tests.
    """

    def __init__(
        self,
        store: Store,
        thinkers: Thinkers,
        agents: Mapping[str, str],
        *,
        limits: Limits | None = None,
        pace: Pace | None = None,
        quick_wait: float = QUICK_SECONDS,
        secret: Callable[[], bytes] = lambda: secrets.token_bytes(32),
    ) -> None:
        self.store, self.thinkers, self.agents = store, thinkers, agents
        self.limits = limits or Limits()
        self._pace, self._secret = pace, secret
        self.quick = QuickMatch(self, quick_wait)
        self._driver = Driver(thinkers, self.now, self.tell)
        self._hosted: dict[str, Hosted] = {}
        self._wrong = Buckets(self.limits.wrong_codes_per_second, self.limits.wrong_codes_burst)
        self._new = Buckets(self.limits.rooms_per_second, self.limits.rooms_burst)

    @property
    def rooms(self) -> int:
        """Rooms in memory."""
        return len(self._hosted)

    def now(self) -> float:
        """The clock of everything here, in seconds."""
        return asyncio.get_running_loop().time()

    # ------------------------------------------------------------ coming and going

    def create(self, peer: Peer, frame: SettingsFrame, name: str) -> tuple[Place, str | None]:
        """Make a room; where its maker is, and her token (None if she watches)."""
        if not is_local(peer.address) and not self._new.of(peer.address, self.now()).take(self.now()):
            raise Refusal("too_fast", "too many new rooms")
        settings = checked_settings(frame, tuple(self.agents))
        for chosen in {*settings.seats, settings.hint, settings.open_agent} & set(self.agents):
            check_rules(self.agents[chosen], settings.rules)
        hosted = self.open_room(settings)
        room, now = hosted.room, self.now()
        token = None
        if settings.mode != "watch":
            _, token = room.sit(name, now, seat=settings.seats.index(YOU))
        if not settings.shared:
            room.begin(None, now)
        room.journal.write_room(room)
        return self.place_at(peer, hosted, room.host), token

    def join(self, peer: Peer, code: str, name: str, token: str | None) -> tuple[Place, str | None]:
        """Come to a room by its code: to one's seat by its token, else to a free seat, else as a spectator."""
        now = self.now()
        wrong = self._wrong.of(peer.address, now)
        if wrong.is_empty(now):
            raise Refusal("too_fast", "too many wrong codes")
        hosted = self._find(code.upper())
        if hosted is None:
            wrong.take(now)
            raise Refusal("no_such_room")
        room = hosted.room
        if token is not None:
            try:
                seat = room.sit_again(token, now)
            except Refusal:
                wrong.take(now)
                self._forget_if_empty(hosted)
                raise
            self._replace(hosted, seat)
            return self.place_at(peer, hosted, seat), None
        try:
            return self._sit(peer, hosted, name)
        except Refusal:
            self._forget_if_empty(hosted)
            raise

    def _sit(self, peer: Peer, hosted: Hosted, name: str) -> tuple[Place, str | None]:
        room = hosted.room
        try:
            if not room.settings.shared:
                raise Refusal("full")
            seat, token = room.sit(name, self.now())
        except Refusal:
            if not room.settings.spectators or room.spectators >= self.limits.spectators:
                raise
            if room.settings.mode == "practice":
                raise Refusal("full") from None
            room.spectators += 1
            return self.place_at(peer, hosted, None), None
        return self.place_at(peer, hosted, seat), token

    def leave(self, place: Place, *, for_good: bool) -> None:
        """A connection goes: for good (her seat is free again), or it broke off and she may come back."""
        hosted = place.hosted
        if place not in hosted.places:
            return
        hosted.places.remove(place)
        room = hosted.room
        if place.seat is None:
            room.spectators -= 1
        elif for_good:
            room.stand_up(place.seat, self.now())
        else:
            room.gone(place.seat, self.now())
        if room.settings.mode == "watch" and for_good and not hosted.places:
            room.closed = True
            room.journal.write_room(room)
        self._forget_if_empty(hosted)
        self.tell(hosted)

    # ------------------------------------------------------------ telling

    def joined(self, place: Place, token: str | None) -> dict[str, Any]:
        """What somebody is told who has come to a room."""
        settings = place.hosted.room.settings
        return {
            "t": "joined",
            "code": place.hosted.room.code,
            "seat": place.seat,
            "token": token,
            "settings": settings.to_dict(),
            "rules_page": rules_page(settings.rules),
        }

    def tell(self, hosted: Hosted, *, answer_to: Peer | None = None, r: int | None = None) -> None:
        """Tell everybody in a room its state; `r` is the number of the request that `answer_to` made."""
        now = self.now()
        seen_by_all, preparing = None, self._is_preparing(hosted.room)
        for place in list(hosted.places):
            if place.seat is None:
                seen_by_all = seen_by_all or hosted.room.state_for(None, now)
                state = seen_by_all
            else:
                state = hosted.room.state_for(place.seat, now)
            state["preparing"] = preparing
            place.peer.send(state | {"r": r} if place.peer is answer_to and r is not None else state)
        hosted.changed.set()

    def _is_preparing(self, room: Room) -> bool:
        """Whether the agent to act waits for the workers to begin."""
        turn = room.course.game.turn
        return turn is not None and not self.thinkers.ready and not self.thinkers.is_quick(room.seats[turn].agent)

    # ------------------------------------------------------------ rooms in memory

    def open_room(self, settings: Settings) -> Hosted:
        """A new room with a new code."""
        if len(self._hosted) >= self.limits.rooms:
            raise Refusal("busy")
        code = new_code()
        while self.store.has_room(code):
            code = new_code()
        return self._host(Room(code, settings, self._secret(), self.store, pace=self._pace))

    def _find(self, code: str) -> Hosted | None:
        """A room in memory, or from the store as it stood."""
        if code in self._hosted:
            return self._hosted[code]
        room = self.store.read_room(code)
        if room is None:
            return None
        if len(self._hosted) >= self.limits.rooms:
            raise Refusal("busy")
        room.pace = self._pace
        room.wake(self.now())
        return self._host(room)

    def _host(self, room: Room) -> Hosted:
        hosted = Hosted(room)
        self._hosted[room.code] = hosted
        hosted.task = asyncio.create_task(self._driver.drive(hosted), name=f"room {room.code}")
        return hosted

    def place_at(self, peer: Peer, hosted: Hosted, seat: int | None) -> Place:
        if seat is None and hosted.room.settings.mode == "watch" and not hosted.places:
            hosted.room.spectators += 1
        place = Place(peer, hosted, seat)
        hosted.places.append(place)
        return place

    def _replace(self, hosted: Hosted, seat: int) -> None:
        """Another connection with the same token takes the seat over."""
        for place in [place for place in hosted.places if place.seat == seat]:
            hosted.places.remove(place)
            place.peer.send(Refusal("replaced").message())

    def _forget_if_empty(self, hosted: Hosted) -> None:
        """A room that nobody is connected to leaves memory; the store has it."""
        if hosted.places or hosted.room.code not in self._hosted:
            return
        del self._hosted[hosted.room.code]
        if hosted.task is not None:
            hosted.task.cancel()

    async def close(self) -> None:
        """Stop driving the rooms."""
        self.quick.close()
        tasks = [hosted.task for hosted in self._hosted.values() if hosted.task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def new_code() -> str:
    """A code of 40 random bits."""
    return "".join(secrets.choice(CODE_ALPHABET) for _ in range(CODE_LENGTH))


def is_local(address: str) -> bool:
    """Whether an address is the machine's own."""
    return address in ("127.0.0.1", "::1")


def rules_page(rules: Rules) -> list[dict[str, Any]]:
    """Every rule field with its value and what it means, for the rules page."""
    return [
        {"field": name, "value": value, "text": text, "paragraph": paragraph_of(name)}
        for name, value, text in rules.describe()
    ]
