"""Parts kept in a folder, a file each, so that an interrupted evaluation goes on, and more games can be added later.

A folder belongs to the whole definition of its jobs, one of each kind; anything else in its place is refused.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Mapping
from dataclasses import astuple, dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Final

import numpy as np
from filelock import FileLock, Timeout

from evaluation.play import DEAL_LOG, Tally
from evaluation.work.definition import definition_of, digest_of
from evaluation.work.job import Job, Part
from spades_env.checks import shown
from spades_env.files import FileError, read_file, write_atomically

FORMAT: Final = "spades evaluation"
VERSION: Final = 1
MAX_BYTES: Final = 2**30
"""Largest file of a part."""
MAX_DESCRIPTION: Final = 2**20
"""Largest description of kept games."""


class StoreError(ValueError):
    """A folder of kept games that cannot be used; the message says what to do."""


@dataclass(frozen=True)
class Kept:
    """A part in a file: games `first` to `first + count - 1`."""

    first: int
    count: int
    path: Path


class PartStore:
    """The kept parts of one job. A context: nobody else may use the folder for a job of that kind meanwhile.

    Attributes:
        kept: the parts that were there when it was opened; all files have been checked.
    """

    def __init__(self, folder: Path, job: Job, files: Mapping[str, str]) -> None:
        """`files`: of the desk that plays, see `Desk.files`."""
        folder.mkdir(parents=True, exist_ok=True)
        self._folder, self._job = folder, job
        self._definition = definition_of(job, files)
        self._digest = digest_of(self._definition)
        self._lock = FileLock(folder / f"{job.kind}.lock")
        self.kept: tuple[Kept, ...] = ()

    def __enter__(self) -> PartStore:
        try:
            self._lock.acquire(timeout=0)
        except Timeout:
            raise StoreError(
                f"{self._folder} is in use by another process: wait for it, or give another folder"
            ) from None
        try:
            self._check_definition()
            paths = sorted(self._folder.glob(f"{self._job.kind}-*.part"))
            self.kept = tuple(Kept(part.first, part.count, path) for path in paths for part in [self._read(path)])
        except BaseException:
            self._lock.release()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._lock.release()

    def load(self, kept: Kept) -> Part:
        """Return a kept part."""
        return self._read(kept.path)

    def save(self, part: Part) -> None:
        """Keep a part: the whole file is there, or nothing of it."""
        name = f"{self._job.kind}-{part.first:010d}-{part.count:010d}.part"
        write_atomically(self._folder / name, _to_bytes(part, self._digest))

    def _check_definition(self) -> None:
        """Write down what the folder belongs to, or refuse one that belongs to something else."""
        path = self._folder / f"{self._job.kind}.json"
        if not path.exists():
            if any(self._folder.glob(f"{self._job.kind}-*.part")):
                raise _refusal(path, "is missing beside its parts")
            described = {"format": FORMAT, "version": VERSION, "definition": self._definition}
            write_atomically(path, json.dumps(described, indent=1) + "\n")
            return
        try:
            data: Any = json.loads(read_file(path, MAX_DESCRIPTION))
        except FileError as error:
            raise _refusal(path, f"cannot be used ({error})") from None
        except (ValueError, RecursionError):
            raise _refusal(path, "is no JSON text") from None
        if not isinstance(data, dict) or data.get("format") != FORMAT or data.get("version") != VERSION:
            raise _refusal(path, "is no description of kept games")
        found = data.get("definition")
        if found != self._definition:
            raise _refusal(path, f"belongs to other games: {_difference(found, self._definition)}")

    def _read(self, path: Path) -> Part:
        """Return the part in a file; one that is foreign or damaged is refused."""
        try:
            part = _from_bytes(read_file(path, MAX_BYTES), self._digest)
        except FileError as error:
            raise _refusal(path, f"cannot be used ({error})") from None
        except (ValueError, KeyError, TypeError, RecursionError, zlib.error):
            part = None
        rows = len(self._job.rows)
        if part is None or not _is_complete(part, rows) or len(part.tallies) != len(self._job.agents):
            raise _refusal(path, "is damaged, or no part of these games")
        return part


def _to_bytes(part: Part, definition: str) -> bytes:
    """A line of JSON, then the compressed log; a hash of both stands in the line."""
    body = zlib.compress(part.log.tobytes(), 1)
    head: dict[str, Any] = {
        "format": f"{FORMAT} part",
        "version": VERSION,
        "definition": definition,
        "first": part.first,
        "count": part.count,
        "deals": len(part.log),
        "tallies": [list(astuple(tally)) for tally in part.tallies],
        "seconds": part.seconds,
    }
    head["sha256"] = _hash(head, body)
    return json.dumps(head).encode() + b"\n" + body


def _from_bytes(data: bytes, definition: str) -> Part | None:
    """Return the part that `_to_bytes` made, None if it is not whole or belongs elsewhere; may raise on garbage."""
    line, _, body = data.partition(b"\n")
    head = json.loads(line)
    if not isinstance(head, dict):
        return None
    claimed = head.pop("sha256")
    if head["version"] != VERSION or head["definition"] != definition or claimed != _hash(head, body):
        return None
    if not _is_plain(head):
        return None
    size = head["deals"] * DEAL_LOG.itemsize
    raw = zlib.decompressobj().decompress(body, size + 1)
    if len(raw) != size:
        return None
    tallies = tuple(Tally(*numbers) for numbers in head["tallies"])
    return Part(head["first"], head["count"], np.frombuffer(raw, DEAL_LOG), tallies, head["seconds"])


def _is_plain(head: dict[str, Any]) -> bool:
    """Whether the numbers in a head are numbers, in bounds: a hash says that it is whole, not who wrote it."""
    counts = [head["first"], head["count"], head["deals"]]
    times = [head["seconds"], *(number for numbers in head["tallies"] for number in numbers)]
    return (
        all(type(count) is int and 0 <= count < 2**31 for count in counts)
        and 0 < head["deals"] <= MAX_BYTES // DEAL_LOG.itemsize
        and 0 < head["count"] <= head["deals"]
        and all(type(number) in (int, float) and 0 <= number < 2**53 for number in times)
    )


def _hash(head: dict[str, Any], body: bytes) -> str:
    return hashlib.sha256(digest_of(head).encode() + body).hexdigest()


def _is_complete(part: Part, rows: int) -> bool:
    """Whether the log has the first deal of every game in every row."""
    games = part.log[part.log["deal"] == 0]
    expected = np.tile(np.arange(part.first, part.first + part.count), rows)
    return bool(np.array_equal(games["game"], expected))


def _difference(found: Any, wanted: dict[str, Any]) -> str:
    """Name the first field that differs, with both values where they are short."""
    if not isinstance(found, dict):
        return "it has no definition"
    name = next((name for name in wanted if found.get(name) != wanted[name]), "more fields")
    said = {"code": "played by other source code", "files": "agents' files have changed", "log": "other log fields"}
    return said.get(name) or f"{name} is {shown(found.get(name))} there and {shown(wanted.get(name))} here"


def _refusal(path: Path, problem: str) -> StoreError:
    return StoreError(f"{path} {problem}: move it away, or give another folder")
