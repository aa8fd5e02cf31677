"""The settings of a room, checked: rules, who sits where, pace, and what the room offers."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import asdict, dataclass
from typing import Any, Final

from spades_env.rules import Rules, RulesError
from table.errors import Refusal
from table.protocol import SettingsFrame

YOU: Final = "you"
"""In `seats`: whoever makes the room."""
OPEN: Final = "open"
"""In `seats`: free for whoever comes; an agent holds it until then."""


@dataclass(frozen=True, slots=True)
class Pace:
    """Seconds that the server lets pass before it goes on."""

    think: float
    """Before an agent's action."""
    trick: float
    """After a complete trick."""
    sheet: float
    """At a deal's score sheet, where nobody is asked."""


PACES: Final = {
    "slow": Pace(1.6, 3.0, 15.0),
    "normal": Pace(0.8, 1.6, 10.0),
    "fast": Pace(0.25, 0.7, 5.0),
    "instant": Pace(0.0, 0.0, 0.0),
}
"""`instant` is for tests: a page cannot choose it."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What was chosen when the room was made; only `speed` changes later."""

    rules: Rules
    seats: tuple[str, ...]
    mode: str
    speed: str
    hint: str
    claims: bool
    spectators: bool
    patience: int
    """Seconds after which an agent decides for a person while others wait."""
    open_agent: str
    """Who holds a free seat."""

    @property
    def people(self) -> int:
        """Seats that people may take."""
        return sum(seat in (YOU, OPEN) for seat in self.seats)

    @property
    def shared(self) -> bool:
        """Whether several people may sit here: no hints, no taking back, no pause."""
        return self.people > 1

    @property
    def open_cards(self) -> bool:
        """Whether spectators see all hands: where only agents play."""
        return self.mode == "watch"

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for the page and the store."""
        plain = {**asdict(self), "rules": self.rules.to_dict(), "seats": list(self.seats)}
        return plain | {"preset": self.rules.preset_name}

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Settings:
        """What `to_dict` gave."""
        plain = {name: value for name, value in values.items() if name != "preset"}
        return cls(**plain | {"rules": Rules.from_dict(values["rules"]), "seats": tuple(values["seats"])})


def checked_settings(frame: SettingsFrame, agents: Collection[str]) -> Settings:
    """The settings that a client asks for, or Refusal; `agents` are the names she may choose."""
    try:
        rules = Rules.from_dict(frame.rules)
    except RulesError as error:
        raise Refusal("bad_settings", f"rules: {error}") from None
    seats = tuple(frame.seats or _default_seats(frame.mode, rules.players))
    if len(seats) != rules.players:
        raise Refusal("bad_settings", f"seats has {len(seats)} entries; allowed: {rules.players}")
    for field, name in (*((f"seats[{k}]", name) for k, name in enumerate(seats)), ("hint", frame.hint)):
        if name not in agents and not (field != "hint" and name in (YOU, OPEN)):
            raise Refusal("bad_settings", f"{field} is {name[:60]!r}; allowed: {', '.join(agents)}, you, open")
    if frame.open_agent not in agents:
        raise Refusal("bad_settings", f"open_agent is {frame.open_agent[:60]!r}; allowed: {', '.join(agents)}")
    _check_people(frame.mode, seats)
    return Settings(
        rules=rules,
        seats=seats,
        mode=frame.mode,
        speed=frame.speed,
        hint=frame.hint,
        claims=frame.claims,
        spectators=frame.spectators,
        patience=frame.patience or 60,
        open_agent=frame.open_agent,
    )


def _default_seats(mode: str, players: int) -> list[str]:
    return [YOU if mode != "watch" and seat == 0 else "normal" for seat in range(players)]


def _check_people(mode: str, seats: tuple[str, ...]) -> None:
    """Who may sit in which kind of room."""
    you, free = seats.count(YOU), seats.count(OPEN)
    if mode == "watch" and you + free > 0:
        raise Refusal("bad_settings", "seats: a person; allowed in mode 'watch': agents on all seats")
    if mode != "watch" and you != 1:
        raise Refusal("bad_settings", f"seats has 'you' {you} times; allowed in mode {mode!r}: once")
    if mode == "practice" and free > 0:
        raise Refusal("bad_settings", "seats: 'open'; allowed in mode 'practice': you and agents")
