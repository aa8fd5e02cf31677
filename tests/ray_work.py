"""Functions that tests order from workers on Ray: some end their process. They are imported there by name."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

from agents.base import ActionArray, KeyArray
from agents.registry import load_agent
from spades_env.engine.state import StateArray


def begin(*_: object) -> None:
    """Begin a worker that needs nothing."""


def end_at_once() -> None:
    """Begin a worker that does not live to begin."""
    os.kill(os.getpid(), signal.SIGKILL)


def note(path: str, text: str) -> None:
    """Add a line to a file that all nodes, being on one machine, have in common."""
    with Path(path).open("a", encoding="utf-8") as file:
        file.write(f"{text}\n")


def number(k: int, notes: str, seconds: float = 0.0) -> int:
    """Return `k`, having noted that it was begun and, after so many seconds, that it was done."""
    note(notes, f"begun {k}")
    time.sleep(seconds)
    note(notes, f"done {k}")
    return k


def die_once(k: int, notes: str) -> int:
    """Do the work of `number`, but end before the answer goes out when it is done for the first time."""
    first = f"done {k}" not in (Path(notes).read_text(encoding="utf-8") if Path(notes).exists() else "")
    result = number(k, notes)
    if first:
        os.kill(os.getpid(), signal.SIGKILL)
    return result


def die(k: int, notes: str) -> int:
    """Note that it was begun, and end, always."""
    note(notes, f"begun {k}")
    os.kill(os.getpid(), signal.SIGKILL)
    return k


def fail(text: str) -> None:
    """Raise."""
    raise ZeroDivisionError(text)


def large(k: int, size: int, notes: str) -> bytes:
    """Return `size` bytes, having noted that they were made."""
    note(notes, f"made {k}")
    return bytes([k % 256]) * size


class Deadly:
    """An agent that ends her process at her first decision in a worker, and plays elsewhere."""

    name = "deadly"

    def __init__(self) -> None:
        self._inner = load_agent("lowest")

    def act(self, views: StateArray, keys: KeyArray) -> ActionArray:
        """As told."""
        if os.environ.get("RAY_RAYLET_PID"):
            os.kill(os.getpid(), signal.SIGKILL)
        return self._inner.act(views, keys)


class SlowEasy:
    """`easy`, who waits before she decides, however many decisions it is about, so that there is something to kill."""

    def __init__(self) -> None:
        self._inner = load_agent("easy")
        self.name = self._inner.name

    def act(self, views: StateArray, keys: KeyArray) -> ActionArray:
        """As `easy`."""
        time.sleep(0.004)
        return self._inner.act(views, keys)
