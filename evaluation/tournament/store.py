"""Parts of contests in a folder, a file each: whatever happens, a tournament goes on from the games that are there.

A contest's folder is named after all that decides its games; another policy file or version is another contest.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

import numpy as np

from evaluation.ladder.store import code_hash
from evaluation.machine import machine, versions
from evaluation.play import DEAL_LOG, Tally
from evaluation.work.job import Job, Part
from spades_env import __version__
from spades_env.files import write_atomically

FORMAT: Final = "spades tournament part"
VERSION: Final = 1
"""Raised when the same definition would give other games or the files look different."""
GAMES_FOLDER: Final = "games"
SUFFIX: Final = ".part"
MAX_BYTES: Final = 256 * 2**20

Kept = tuple[Part, dict[str, Any]]
"""A part and its header: where and by what it was played."""


class StoreError(ValueError):
    """A file of games that cannot be used; the message says what to do."""


class Store:
    """The parts kept in a folder; each is written as soon as it has been played."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / GAMES_FOLDER
        self.code = code_hash()
        """Of the source of rules and agents as it is now."""

    def get(self, job: Job, first: int = 0) -> list[Kept]:
        """Return the parts of a job's games from `first` on, in order and without a gap; no game is in two of them."""
        definition = definition_of(job)
        place = self._place(definition)
        found: list[Kept] = []
        held = first
        for path in sorted(place.glob(f"*{SUFFIX}")):
            part, header = _read(path, definition)
            if part.first > held:
                break
            if part.first + part.count > held:
                log = part.log[part.log["game"] >= held]
                part = Part(held, part.first + part.count - held, log, part.tallies, part.seconds)
                found.append((part, header))
                held = part.first + part.count
        return found

    def put(self, job: Job, part: Part) -> Kept:
        """Keep a part, with where and by what it was played; returned as `get` does."""
        definition = definition_of(job)
        place = self._place(definition)
        place.mkdir(parents=True, exist_ok=True)
        data = part.log.tobytes()
        header = {
            "format": FORMAT,
            "version": VERSION,
            "definition": definition,
            "first": part.first,
            "count": part.count,
            "deals": len(part.log),
            "tallies": [asdict(tally) for tally in part.tallies],
            "seconds": part.seconds,
            "code": self.code,
            "versions": versions(),
            "machine": machine(),
        }
        header["digest"] = _digest(header, data)
        name = f"{part.first:010d}-{part.first + part.count:010d}{SUFFIX}"
        write_atomically(place / name, json.dumps(header).encode() + b"\n" + data)
        return part, header

    def _place(self, definition: Mapping[str, Any]) -> Path:
        return self.folder / _digest(definition, b"")[:16]


def definition_of(job: Job) -> dict[str, Any]:
    """Return, as plain values, everything that decides a job's games, contents of policy files included."""
    return {
        "agents": [[text, files_digest(text)] for text in map(str, job.agents)],
        "rules": job.rules.to_dict(),
        "rows": [list(row) for row in job.rows],
        "kind": job.kind,
        "seed": job.seed,
        "log": str(DEAL_LOG.descr),
        "spades_env": __version__,
    }


def files_digest(text: str) -> str | None:
    """Return a hash of the policy file, or of those in the folder, that an agent's text names; None: it names none."""
    path = Path(text)
    files = sorted(path.glob("*.safetensors")) if path.is_dir() else [path] if path.is_file() else []
    if not files:
        return None
    return hashlib.sha256(b"".join(hashlib.sha256(file.read_bytes()).digest() for file in files)).hexdigest()


def _digest(header: Mapping[str, Any], data: bytes) -> str:
    """Return a hash of plain values and bytes."""
    return hashlib.sha256(json.dumps(header, sort_keys=True).encode() + b"\n" + data).hexdigest()


def _read(path: Path, definition: Mapping[str, Any]) -> Kept:
    """Return the part in a file; one that is foreign or damaged is refused."""
    if path.stat().st_size > MAX_BYTES:
        raise _refusal(path, f"is larger than {MAX_BYTES} bytes")
    line, _, data = path.read_bytes().partition(b"\n")
    try:
        header = json.loads(line)
    except (ValueError, RecursionError):
        raise _refusal(path, "is no file of a tournament's games") from None
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise _refusal(path, "is no file of a tournament's games")
    if header.get("version") != VERSION:
        raise _refusal(path, f"has version {header.get('version')!r}, not {VERSION}")
    digest = header.pop("digest", None)
    if digest != _digest(header, data):
        raise _refusal(path, "is damaged: its games and their checksum differ")
    if header["definition"] != definition or len(data) != header["deals"] * DEAL_LOG.itemsize:
        raise _refusal(path, "holds the games of another contest")
    tallies = tuple(Tally(**values) for values in header["tallies"])
    log = np.frombuffer(data, DEAL_LOG)
    return Part(header["first"], header["count"], log, tallies, header["seconds"]), header


def _refusal(path: Path, problem: str) -> StoreError:
    return StoreError(f"{path} {problem}: move it away, or write elsewhere with --out")
