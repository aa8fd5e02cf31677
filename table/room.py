"""One table as pure logic: who sits where, what happens next and when, what each is told.

No clock, no files, no sockets: time comes in as `now` (seconds, monotonic), and what must not be lost goes to a
`Journal` before anybody is told of it.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal, Protocol

from spades_env.engine.batch import IllegalActionError
from spades_env.record import record_for_seat
from table.claims import certain_line
from table.course import ACT, AGENT, CLAIM, DEAL, MATCH, PERSON, STAND_IN, UNDO, Course, Event
from table.errors import Refusal
from table.seat import Seat, token_hash
from table.settings import OPEN, PACES, YOU, Pace, Settings
from table.snapshot import public_part, reason_part, seat_part, watcher_part

GRACE: Final = 15.0
"""Seconds after which an agent plays for a person whose connection is gone, while others wait."""
SHEET_SECONDS: Final = 30.0
"""Seconds after which the next deal begins although not every person has asked for it."""


class Journal(Protocol):
    """Where a room writes what a restart must find."""

    def write_event(self, code: str, n: int, event: Event, record: Mapping[str, Any] | None, deals: int) -> None:
        """Append event number `n`, with the record of the deal if it has ended; `deals` are those finished."""
        ...

    def write_room(self, room: Room) -> None:
        """Keep settings, seats and whether the room has begun or is closed."""
        ...


@dataclass(frozen=True, slots=True)
class Step:
    """What happens next by itself: at `at` seconds, for `seat`."""

    at: float
    what: Literal["think", "stand_in", "deal"]
    seat: int = 0


@dataclass
class Room:
    """One table. `secret` decides all its cards; it is never told."""

    code: str
    settings: Settings
    secret: bytes
    journal: Journal
    pace: Pace | None = None
    """Instead of the settings' own: for tests."""
    seats: list[Seat] = field(default_factory=list)
    begun: bool = False
    closed: bool = False
    paused: bool = False
    spectators: int = 0
    course: Course = field(init=False)
    _ready_at: float = 0.0
    """Earliest time of what happens by itself."""
    _turn_since: float = 0.0
    _steps: int = 0
    """Actions that may happen although the room is paused."""

    def __post_init__(self) -> None:
        self.course = Course(self.settings.rules, self.secret)
        if not self.seats:
            for name in self.settings.seats:
                free = name in (YOU, OPEN)
                self.seats.append(Seat(agent=self.settings.open_agent if free else name, free=free))

    # ------------------------------------------------------------ people

    @property
    def people(self) -> list[int]:
        """Seats that persons hold."""
        return [k for k, seat in enumerate(self.seats) if seat.person]

    @property
    def connected(self) -> list[int]:
        """Seats of persons who are there."""
        return [k for k in self.people if self.seats[k].connected]

    @property
    def host(self) -> int | None:
        """The seat that may begin: the first person's."""
        return next(iter(self.people), None)

    def sit(self, name: str, now: float, seat: int | None = None) -> tuple[int, str]:
        """Give a person a free seat; the seat and the token that opens it again."""
        free = [k for k, one in enumerate(self.seats) if one.free and not one.person]
        if not free or (seat is not None and seat not in free):
            raise Refusal("full")
        chosen = free[0] if seat is None else seat
        token = secrets.token_urlsafe(16)
        self.seats[chosen].sit(name, token)
        self._touch(now)
        self.journal.write_room(self)
        return chosen, token

    def sit_again(self, token: str, now: float) -> int:
        """The seat that a token opens; its person is back."""
        wanted = token_hash(token)
        for k, seat in enumerate(self.seats):
            if seat.token is not None and secrets.compare_digest(seat.token, wanted):
                seat.connected, seat.slow = True, False
                self._touch(now)
                return k
        raise Refusal("bad_token")

    def wake(self, now: float) -> None:
        """The room comes from the store: nobody is there yet, and everybody has time to come back."""
        for seat in self.seats:
            seat.connected, seat.gone_since = False, now
        self._ready_at = self._turn_since = now

    def gone(self, seat: int, now: float) -> None:
        """A person's connection is gone; she may come back."""
        self.seats[seat].connected, self.seats[seat].gone_since = False, now
        self.seats[seat].voice = False

    def stand_up(self, seat: int, now: float) -> None:
        """A person leaves for good: her seat is free again; the room is closed if nobody is left."""
        self.seats[seat].stand_up()
        self.closed = not self.people
        self._touch(now)
        self.journal.write_room(self)

    def begin(self, seat: int | None, now: float) -> None:
        """Start to play; until then people sit down. Later they take seats over from agents."""
        if self.begun:
            raise Refusal("not_allowed", "the room has begun")
        if seat is not None and seat != self.host:
            raise Refusal("not_allowed", "only the first person begins")
        self.begun = True
        self._happened(now)
        self.journal.write_room(self)

    # ------------------------------------------------------------ what people do

    def act(self, seat: int, n: int, action: int, now: float) -> None:
        """Take a person's action."""
        self._back(seat)
        self._check(n)
        if self.course.game.turn != seat:
            raise Refusal("not_your_turn")
        self._act(Event(ACT, action, PERSON), now)

    def claim(self, seat: int, n: int, now: float) -> None:
        """Play the rest of the deal out, all tricks hers: refused unless they are certain."""
        self._back(seat)
        self._check(n)
        if not self.settings.claims:
            raise Refusal("not_allowed", "this room takes no claims")
        if self.course.game.turn != seat:
            raise Refusal("not_your_turn")
        line = certain_line(self.course.game.view(seat))
        if line is None:
            raise Refusal("not_allowed", "the rest is not certain")
        for card in line:
            self._act(Event(ACT, card, CLAIM), now)
            while self.course.game.turn not in (None, seat):
                self._act(Event(ACT, self.course.game.legal_actions()[0], CLAIM), now)

    def undo(self, seat: int, now: float) -> None:
        """Take back a person's last decision of this deal, and all that followed; in practice alone."""
        if self.settings.mode != "practice":
            raise Refusal("not_allowed", "only in mode 'practice'")
        keep = self.course.last_decision(seat)
        if keep is None or not self.begun:
            raise Refusal("not_allowed", "there is nothing to take back in this deal")
        self._take(Event(UNDO, keep), now)

    def next_deal(self, seat: int | None, n: int, now: float) -> None:
        """A person, or who watches, wants the next deal; it comes when nobody is waited for."""
        self._check(n)
        if self.course.game.phase != "deal over":
            raise Refusal("not_allowed", "the deal is not over")
        if seat is not None:
            self._back(seat)
            self.seats[seat].ready = True
            if not all(self.seats[k].ready for k in self.connected):
                return
        self._take(Event(DEAL), now)

    def again(self, now: float) -> None:
        """A new match with the same seats."""
        if not self.course.game.match_over:
            raise Refusal("not_allowed", "the match is not over")
        self._take(Event(MATCH), now)

    def set_speed(self, speed: str, now: float) -> None:
        """Change the pace."""
        self.settings = replace(self.settings, speed=speed)
        self._ready_at = min(self._ready_at, now + self._pace.trick)
        self.journal.write_room(self)

    def pause(self, on: bool, now: float) -> None:
        """Stop what happens by itself, or let it go on; not where several people sit."""
        self._check_alone()
        self.paused, self._steps = on, 0
        self._touch(now)

    def step(self) -> None:
        """Let one thing happen although the room is paused."""
        self._check_alone()
        self.paused, self._steps = True, 1

    # ------------------------------------------------------------ what happens by itself

    def next_step(self, now: float) -> Step | None:
        """What happens next if nobody does anything; None: nothing."""
        game = self.course.game
        if not self.begun or self.closed or game.match_over or not (self.connected or self.spectators):
            return None
        if self.paused and self._steps == 0:
            return None
        at = now if self._steps else self._ready_at
        if game.turn is None:
            return self._next_at_sheet(at)
        seat = self.seats[game.turn]
        if not seat.person or self._stands_in(seat):
            return Step(at, "think", game.turn)
        waits: list[float] = []
        if self.others_than(game.turn):
            waits.append(self._turn_since + self.settings.patience)
            if not seat.connected:
                waits.append(seat.gone_since + GRACE)
        return Step(min(waits), "stand_in", game.turn) if waits else None

    def stand_in(self, seat: int, now: float) -> None:
        """An agent plays for a person who is gone or too slow, until she acts."""
        self.seats[seat].slow = True
        self._ready_at = now

    def agent_acts(self, seat: int, n: int, action: int, now: float) -> bool:
        """Take an agent's action, unless the table has moved on meanwhile."""
        if n != self.course.n or self.course.game.turn != seat:
            return False
        by = STAND_IN if self.seats[seat].person else AGENT
        self._act(Event(ACT, action, by), now)
        self._steps = max(0, self._steps - 1)
        return True

    def deal_by_itself(self, now: float) -> None:
        """The next deal, after the score sheet has been there long enough."""
        if self.course.game.phase == "deal over":
            self._take(Event(DEAL), now)
            self._steps = max(0, self._steps - 1)

    def others_than(self, seat: int) -> list[int]:
        """Persons on other seats who are there."""
        return [k for k in self.connected if k != seat]

    # ------------------------------------------------------------ what is told

    def state_for(self, seat: int | None, now: float) -> dict[str, Any]:
        """The whole state for a seat, or for a spectator (None)."""
        game = self.course.game
        view = None if seat is None else game.view(seat)
        told: dict[str, Any] = {
            "t": "state",
            "n": self.course.n,
            "code": self.code,
            "mode": self.settings.mode,
            "speed": self.settings.speed,
            "begun": self.begun,
            "closed": self.closed,
            "paused": self.paused,
            "you": seat,
            "host": self.host,
            "seats": [
                one.told(k % 2, agent_plays=not one.person or self._stands_in(one)) for k, one in enumerate(self.seats)
            ],
            "spectators": self.spectators,
            "history": self.course.history,
            "clock": self._clock(now),
        }
        if not self.begun:
            return told | {"phase": "waiting"}
        told |= public_part(game if view is None else view)
        if view is not None:
            told |= seat_part(view)
            told["claim"] = told["claim"] and self.settings.claims
            told["undo"] = self.settings.mode == "practice" and self.course.last_decision(view.seat) is not None
        elif self.settings.open_cards:
            told |= watcher_part(game)
        return told

    def seat_for_hint(self, seat: int | None) -> int:
        """The seat to act, if a hint may be asked for: by herself in practice, by who watches agents."""
        turn = self.course.game.turn
        if self.settings.mode not in ("practice", "watch"):
            raise Refusal("not_allowed", "hints are given in modes 'practice' and 'watch' alone")
        if turn is None or not self.begun:
            raise Refusal("not_allowed", "nobody is to act")
        if seat is not None and seat != turn:
            raise Refusal("not_your_turn")
        return turn

    def report(self, seat: int | None) -> dict[str, Any]:
        """The record of this deal: all of it once it is over or where all cards are open, else the seat's."""
        if not self.begun:
            raise Refusal("not_allowed", "the room has not begun")
        record = self.course.record(self.players(), self.code)
        if self.course.game.deal_over or self.settings.open_cards:
            return record
        if seat is None:
            raise Refusal("not_seated")
        return record_for_seat(record, seat)

    def players(self) -> list[str]:
        """Names for records, by seat: a person's, or the agent's."""
        return [(seat.name if seat.person else seat.agent) or "" for seat in self.seats]

    # ------------------------------------------------------------ inside

    @property
    def _pace(self) -> Pace:
        return self.pace or PACES[self.settings.speed]

    def _check(self, n: int) -> None:
        if not self.begun or self.closed:
            raise Refusal("not_allowed", "the room has not begun" if not self.closed else "the room is closed")
        if n != self.course.n:
            raise Refusal("stale", f"n is {n}; the state is {self.course.n}")

    def _check_alone(self) -> None:
        if self.settings.shared:
            raise Refusal("not_allowed", "several people sit here")

    def _back(self, seat: int) -> None:
        self.seats[seat].slow = False

    def _touch(self, now: float) -> None:
        """Somebody came, left or looked again: give her a moment."""
        self._ready_at = max(self._ready_at, now)
        self._turn_since = now

    def _act(self, event: Event, now: float) -> None:
        game = self.course.game
        if game.deal_over:
            raise Refusal("not_your_turn")
        if event.value not in game.legal_actions():
            why = reason_part(game.view(game.turn or 0), event.value)
            raise Refusal("illegal", why=why)
        self._take(event, now)

    def _take(self, event: Event, now: float) -> None:
        """Let an event happen, written down before anybody can be told."""
        before = self.course.n
        try:
            self.course.take(event)
        except IllegalActionError as error:
            raise Refusal("illegal", str(error)) from None
        over = event.kind == ACT and self.course.game.deal_over
        record = self.course.record(self.players(), self.code) if over else None
        self.journal.write_event(self.code, before, event, record, self.course.deals)
        self._happened(now)

    def _happened(self, now: float) -> None:
        game = self.course.game
        complete = bool(game.plays) and not game.trick
        self._ready_at = now + self._pace.think + (self._pace.trick if complete else 0.0)
        self._turn_since = now
        if game.turn is None:
            for seat in self.seats:
                seat.ready = False

    def _next_at_sheet(self, at: float) -> Step | None:
        """When the next deal comes by itself."""
        if self.settings.mode == "watch":
            return Step(at if self._steps else at + self._pace.sheet, "deal")
        if not self.settings.shared:
            return None
        return Step(self._turn_since + SHEET_SECONDS, "deal")

    def _stands_in(self, seat: Seat) -> bool:
        """Whether an agent plays for this person now: not when she is alone, then the table waits."""
        return seat.slow and bool(self.connected or self.spectators)

    def _clock(self, now: float) -> dict[str, Any] | None:
        """Seconds until something happens without the person it waits for."""
        step = self.next_step(now)
        if step is None or step.what == "think":
            return None
        return {"what": step.what, "seconds": max(0, round(step.at - now))}
