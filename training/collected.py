"""collections.jsonl in a run's folder: of every collection played in shares, with which weights, and what it cost."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from spades_env.files import write_atomically

LOG_FILE = "collections.jsonl"


class CollectionLog:
    """One JSON object a line, in the order of the deals; docs/training.md says what stands in it."""

    def __init__(self, folder: Path, deals: int) -> None:
        """A run that goes on after so many `deals` says again what came after them."""
        self._path = folder / LOG_FILE
        if self._path.exists():
            kept = [
                line
                for line in self._path.read_text(encoding="utf-8", errors="replace").splitlines()
                if _end_of(line) <= deals
            ]
            write_atomically(self._path, "".join(f"{line}\n" for line in kept))

    def add(self, facts: Mapping[str, float]) -> None:
        """Append one collection."""
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(facts) + "\n")


def _end_of(line: str) -> float:
    """Deals learned from after the collection of a line; infinite for a line that was cut off or damaged."""
    try:
        return float(json.loads(line)["deals"])
    except (ValueError, TypeError, KeyError, RecursionError):
        return float("inf")
