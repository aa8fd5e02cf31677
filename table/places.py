"""Who is connected to which room: connections as the house sees them, their places, and the rooms in memory."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from table.room import Room


class Peer(Protocol):
    """A connection, as the house sees it."""

    address: str

    def send(self, message: Mapping[str, Any]) -> None:
        """Send a message, or drop the connection if it does not read."""
        ...


@dataclass(eq=False)
class Place:
    """Where a connection is: a seat of a room, or among its spectators (`seat` None)."""

    peer: Peer
    hosted: Hosted
    seat: int | None


@dataclass(eq=False)
class Hosted:
    """A room in memory: its places, and the task that drives it."""

    room: Room
    places: list[Place] = field(default_factory=list)
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    task: asyncio.Task[None] | None = None
