"""Rooms of the table without a server: a journal that only counts, and ways to play them on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from spades_env.rules import Rules
from table.course import ACT, AGENT, Event
from table.protocol import SettingsFrame
from table.room import Room
from table.settings import Pace, Settings, checked_settings

AGENTS = ("easy", "normal", "hard")
PACE = Pace(think=1.0, trick=2.0, sheet=5.0)


class Notes:
    """A journal in memory."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.records: list[Mapping[str, Any]] = []
        self.rooms = 0

    def write_event(self, code: str, n: int, event: Event, record: Mapping[str, Any] | None, deals: int) -> None:
        assert n == len(self.events)
        self.events.append(event)
        if record is not None:
            self.records.append(record)

    def write_room(self, room: Room) -> None:
        self.rooms += 1


def settings_of(**fields: Any) -> Settings:
    return checked_settings(SettingsFrame(**fields), AGENTS)


def room_of(seed: int = 0, **fields: Any) -> Room:
    """A room that has not begun and in which nobody sits."""
    secret = seed.to_bytes(32, "big")
    return Room("TESTTEST", settings_of(**fields), secret, Notes(), pace=PACE)


def alone(seed: int = 0, **fields: Any) -> tuple[Room, int]:
    """A room with one person and agents, begun at time 0; and her seat."""
    room = room_of(seed, **fields)
    seat, _ = room.sit("Ann", 0.0, seat=room.settings.seats.index("you"))
    room.begin(None, 0.0)
    return room, seat


def random_event(room: Room, rng: np.random.Generator) -> Event:
    """A legal action of whoever is to act."""
    return Event(ACT, int(rng.choice(room.course.game.legal_actions())), AGENT)


def play_on(room: Room, rng: np.random.Generator, actions: int) -> None:
    """So many actions of random play, over the ends of deals and matches."""
    for _ in range(actions):
        game = room.course.game
        if game.match_over:
            room.again(0.0)
        elif game.deal_over:
            room.deal_by_itself(0.0)
        else:
            room._take(random_event(room, rng), 0.0)


def rules_dict(rules: Rules) -> dict[str, Any]:
    return dict(rules.to_dict())
