"""What finished duels came to, in one file: an interrupted ladder goes on, a finished one is only shown.

A result belongs to the duel's whole definition; whatever decides the figures and changes, makes another duel.
"""

from __future__ import annotations

import hashlib
import importlib
import json
from pathlib import Path
from typing import Any, Final

from evaluation.ladder.config import Duel
from evaluation.ladder.play import Measured
from evaluation.machine import machine, versions
from spades_env import __version__
from spades_env.files import write_atomically

FORMAT: Final = "spades ladder results"
VERSION: Final = 1
"""Raised when the same definition would give other figures or the file looks different."""
RESULTS_FILE: Final = "results.json"
MAX_BYTES: Final = 64 * 2**20
PLAYING_ROOMS: Final = ("spades_env", "agents")


class StoreError(ValueError):
    """A file of results that cannot be used; the message says what to do."""


class Store:
    """The results in a folder's file; each is written as soon as it is there, the whole file at once."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / RESULTS_FILE
        self._entries = _read(self.path) if self.path.exists() else {}
        self._code = code_hash()

    def get(self, duel: Duel) -> Measured | None:
        """Return what the duel came to, or None where it has not been played.

        `same_code` in it says whether the program's source is still what it was then.
        """
        entry = self._entries.get(_digest(full_definition(duel)))
        if entry is None:
            return None
        measured: Measured = {**entry["measured"], "same_code": entry["measured"]["code"] == self._code}
        return measured

    def put(self, duel: Duel, measured: Measured) -> None:
        """Keep what a duel came to, with where and by what it was measured."""
        definition = full_definition(duel)
        whole = {**measured, "code": self._code, "versions": versions(), "machine": machine()}
        digest = _digest([definition, whole])
        # Another process may have written meanwhile: two cores can share a ladder by --only.
        self._entries |= _read(self.path) if self.path.exists() else {}
        self._entries[_digest(definition)] = {"definition": definition, "measured": whole, "digest": digest}
        data = {"format": FORMAT, "version": VERSION, "results": self._entries}
        write_atomically(self.path, json.dumps(data, indent=1) + "\n")


def full_definition(duel: Duel) -> dict[str, Any]:
    """Return everything that decides a duel's figures, the contents of policy files and the version included."""
    files = {text: digest for text in (duel.a, duel.b) if text and (digest := _file_digest(Path(text)))}
    return {**duel.definition(), "files": files, "spades_env": __version__, "version": VERSION}


def code_hash() -> str:
    """Return a short hash of the source of rules and agents."""
    digest = hashlib.sha256()
    for room in PLAYING_ROOMS:
        place = importlib.import_module(room).__file__
        assert place is not None
        root = Path(place).parent
        for path in sorted(root.rglob("*.py")):
            digest.update(f"{room}/{path.relative_to(root).as_posix()}\0".encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


def _file_digest(path: Path) -> str | None:
    """Return a hash of a policy file, or of those in a folder; None if the path is neither."""
    files = sorted(path.glob("*.safetensors")) if path.is_dir() else [path] if path.is_file() else []
    if not files:
        return None
    return hashlib.sha256(b"".join(hashlib.sha256(file.read_bytes()).digest() for file in files)).hexdigest()


def _digest(data: Any) -> str:
    """Return a hash of plain values."""
    return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()


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
    return key == _digest(definition) and entry["digest"] == _digest([definition, entry["measured"]])


def _refusal(path: Path, problem: str) -> StoreError:
    return StoreError(f"{path} {problem}: move it away, or write elsewhere with --out")
