"""How much a stranger may ask for, and the token bucket that counts it. Time always comes in as an argument."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

NAME_LENGTH: Final = 24
"""Most characters of a person's name."""
TEXT_LENGTH: Final = 200
"""Most characters of a chat line."""
FRAME_BYTES: Final = 4_096
"""Most bytes of a frame, voice descriptions aside."""
VOICE_BYTES: Final = 16_384
"""Most bytes of a frame of type `rtc`: a session description of WebRTC takes a few thousand."""
CODE_LENGTH: Final = 8
CODE_ALPHABET: Final = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ"
"""32 symbols without 0/O and 1/I: a code has 40 bits."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What one server, address and connection may have."""

    frames_per_second: float = 20.0
    frames_burst: int = 40
    lines_per_second: float = 1.0
    lines_burst: int = 5
    """Chat lines of one connection."""
    wrong_codes_per_second: float = 1 / 6
    wrong_codes_burst: int = 10
    """Codes and tokens that were not right, by address."""
    rooms_per_second: float = 1 / 60
    rooms_burst: int = 30
    """New rooms, by address; the machine's own addresses are free."""
    rooms: int = 5_000
    """Rooms in memory, all addresses together."""
    connections: int = 2_000
    connections_per_address: int = 64
    """The machine's own addresses are free."""
    spectators: int = 20
    """Of one room."""
    waiting_messages: int = 256
    """Messages that a slow connection may leave unread before it is closed."""


class Bucket:
    """Tokens that fill up with time: `take` is False when there is none left."""

    __slots__ = ("_burst", "_left", "_rate", "_then")

    def __init__(self, per_second: float, burst: int, now: float) -> None:
        self._rate, self._burst = per_second, burst
        self._left, self._then = float(burst), now

    def take(self, now: float) -> bool:
        """Take a token at time `now` (seconds), if there is one."""
        self._fill(now)
        if self._left < 1.0:
            return False
        self._left -= 1.0
        return True

    def is_empty(self, now: float) -> bool:
        """Whether there is no token at time `now`."""
        self._fill(now)
        return self._left < 1.0

    def is_full(self, now: float) -> bool:
        """Whether nothing has been taken for so long that the bucket may be forgotten."""
        self._fill(now)
        return self._left >= self._burst

    def _fill(self, now: float) -> None:
        self._left = min(self._burst, self._left + (now - self._then) * self._rate)
        self._then = now


class Buckets:
    """A bucket for each key, such as an address; full ones are forgotten, so that they take no memory."""

    def __init__(self, per_second: float, burst: int, most: int = 10_000) -> None:
        self._rate, self._burst, self._most = per_second, burst, most
        self._buckets: dict[str, Bucket] = {}

    def of(self, key: str, now: float) -> Bucket:
        """The bucket of a key."""
        if key not in self._buckets:
            if len(self._buckets) >= self._most:
                self._buckets = {k: bucket for k, bucket in self._buckets.items() if not bucket.is_full(now)}
            self._buckets[key] = Bucket(self._rate, self._burst, now)
        return self._buckets[key]
