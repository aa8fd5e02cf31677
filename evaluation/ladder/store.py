"""What finished duels came to, in one file: an interrupted ladder goes on, a finished one is only shown.

A result belongs to the duel's whole definition; whatever decides the figures and changes, makes another duel.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

from filelock import FileLock

from evaluation.ladder.config import Duel
from evaluation.ladder.play import Measured
from evaluation.machine import machine, versions
from evaluation.work.definition import code_hash, digest_of, files_of
from spades_env import __version__
from spades_env.files import write_atomically

FORMAT: Final = "spades ladder results"
VERSION: Final = 1
"""Raised when the same definition would give other figures or the file looks different."""
RESULTS_FILE: Final = "results.json"
LOCK_FILE: Final = "results.lock"
MAX_BYTES: Final = 64 * 2**20


class StoreError(ValueError):
    """A file of results that cannot be used; the message says what to do."""


class Store:
    """The results in a folder's file; each is written as soon as it is there, the whole file at once."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / RESULTS_FILE
        self._entries = _read(self.path) if self.path.exists() else {}
        self._code = code_hash()
        self._lock = FileLock(folder / LOCK_FILE)

    def get(self, duel: Duel) -> Measured | None:
        """Return what the duel came to, or None where it has not been played.

        `same_code` in it says whether the program's source is still what it was then.
        """
        entry = self._entries.get(digest_of(full_definition(duel)))
        if entry is None:
            return None
        measured: Measured = {**entry["measured"], "same_code": entry["measured"]["code"] == self._code}
        return measured

    def put(self, duel: Duel, measured: Measured) -> None:
        """Keep what a duel came to, with where and by what it was measured."""
        definition = full_definition(duel)
        whole = {**measured, "code": self._code, "versions": versions(), "machine": machine()}
        digest = digest_of([definition, whole])
        # Other processes may write, too: a ladder can be shared by --only.
        with self._lock:
            self._entries |= _read(self.path) if self.path.exists() else {}
            self._entries[digest_of(definition)] = {"definition": definition, "measured": whole, "digest": digest}
            data = {"format": FORMAT, "version": VERSION, "results": self._entries}
            write_atomically(self.path, json.dumps(data, indent=1) + "\n")


def full_definition(duel: Duel) -> dict[str, Any]:
    """Return everything that decides a duel's figures, the contents of policy files and the version included."""
    files = files_of(text for text in (duel.a, duel.b) if text)
    return {**duel.definition(), "files": files, "spades_env": __version__, "version": VERSION}


def _read(path: Path) -> dict[str, dict[str, Any]]:
    """Return the entries of a file of results; one that is foreign or damaged is refused."""
    if path.stat().st_size > MAX_BYTES:
        raise _refusal(path, f"is larger than {MAX_BYTES} bytes")
    try:
        data = json.loads(path.read_bytes())
    except (ValueError, RecursionError):  # bytes that are no text, text that is no JSON
        raise _refusal(path, "is no JSON text") from None
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise _refusal(path, "is no file of ladder results")
    if data.get("version") != VERSION:
        raise _refusal(path, f"has version {data.get('version')!r}, not {VERSION}")
    entries = data.get("results")
    if not isinstance(entries, dict) or not all(_is_whole(key, entry) for key, entry in entries.items()):
        raise _refusal(path, "is damaged: its results and their checksums differ")
    return entries


def _is_whole(key: str, entry: Any) -> bool:
    """Tell whether an entry is what was written: the key is its definition's hash, and all of it has its own."""
    if not isinstance(entry, dict) or set(entry) != {"definition", "measured", "digest"}:
        return False
    definition = entry["definition"]
    return key == digest_of(definition) and entry["digest"] == digest_of([definition, entry["measured"]])


def _refusal(path: Path, problem: str) -> StoreError:
    return StoreError(f"{path} {problem}: move it away, or write elsewhere with --out")
