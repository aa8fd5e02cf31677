"""One seat of a table: the agent that plays there, the person who holds it, and the token that opens it again."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any


@dataclass
class Seat:
    """Who holds one seat."""

    agent: str
    """Who plays here when no person does."""
    free: bool = False
    """A person may take it."""
    name: str | None = None
    """The person's name, or None."""
    token: bytes | None = None
    """SHA-256 of the token that opens the seat to the person again."""
    connected: bool = False
    gone_since: float = 0.0
    slow: bool = False
    """An agent plays for the person until she acts."""
    ready: bool = False
    """The person wants the next deal."""
    voice: bool = False

    @property
    def person(self) -> bool:
        """Whether a person holds it, connected or not."""
        return self.token is not None

    def sit(self, name: str, token: str) -> None:
        """A person takes it."""
        self.name, self.token, self.connected = name, token_hash(token), True
        self.slow = self.ready = False

    def stand_up(self) -> None:
        """The person leaves it for good."""
        self.name = self.token = None
        self.connected = self.slow = self.ready = self.voice = False

    def told(self, team: int, *, agent_plays: bool) -> dict[str, Any]:
        """What everybody in the room is told of it."""
        return {
            "kind": "person" if self.person else "open" if self.free else "agent",
            "name": self.name,
            "agent": self.agent,
            "team": team,
            "connected": self.connected,
            "agent_plays": agent_plays,
            "ready": self.ready,
            "voice": self.voice,
        }


def token_hash(token: str) -> bytes:
    """What is kept of a token."""
    return hashlib.sha256(token.encode()).digest()
