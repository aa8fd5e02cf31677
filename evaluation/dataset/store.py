"""The folder of a dataset: its description, its parts, and the list of them, a line for each.

A part counts once its line stands in the list, with the hash of its file; so whatever a crash leaves behind is made
again, and what has been damaged is found. One writer at a time.
"""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Final

from filelock import FileLock, Timeout

from evaluation.dataset.counts import Counts
from evaluation.dataset.spec import DatasetError
from evaluation.work.definition import digest_of
from spades_env.checks import shown
from spades_env.files import FileError, read_file, write_atomically

FORMAT: Final = "spades dataset"
VERSION: Final = 1
DESCRIPTION_FILE: Final = "dataset.json"
LIST_FILE: Final = "parts.jsonl"
CARD_FILE: Final = "README.md"
DATA_FOLDER: Final = "data"
LOCK_FILE: Final = "writer.lock"
MAX_BYTES: Final = 2**28
"""Largest description or list read."""


@dataclass(frozen=True)
class Entry:
    """A part that is there: its number, its file's size and hash, and what is in it (`Counts.to_dict`)."""

    part: int
    size: int
    sha256: str
    counts: dict[str, Any]

    @property
    def file(self) -> str:
        """Its file in the folder."""
        return part_file(self.part)

    @classmethod
    def of(cls, part: int, data: bytes, counts: Counts) -> Entry:
        """The entry of a file with the bytes `data`."""
        return cls(part, len(data), hashlib.sha256(data).hexdigest(), counts.to_dict())

    @classmethod
    def from_dict(cls, data: Any) -> Entry:
        """Return what `asdict` was made of; TypeError, KeyError or ValueError for anything else."""
        entry = cls(**data)
        numbers = type(entry.part) is int and type(entry.size) is int and entry.part >= 0
        if not numbers or not isinstance(entry.sha256, str):
            raise ValueError("no entry")
        Counts.from_dict(entry.counts)
        return entry


def part_file(part: int) -> str:
    """Name of the file of a part, from the dataset's folder."""
    return f"{DATA_FOLDER}/part-{part:06d}.parquet"


def write_part(folder: Path, data: bytes, entry: Entry) -> None:
    """Write the file of a part: all of it is there, or nothing."""
    write_atomically(folder / entry.file, data)


def is_whole(folder: Path, entry: Entry) -> bool:
    """Whether the file of a part is there to the last bit."""
    path = folder / entry.file
    if not path.is_file() or path.stat().st_size != entry.size:
        return False
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest() == entry.sha256


def read_description(folder: Path) -> dict[str, Any]:
    """Return what DESCRIPTION_FILE of a dataset says; anything else in its place is refused."""
    path = folder / DESCRIPTION_FILE
    try:
        data: Any = json.loads(read_file(path, MAX_BYTES))
    except FileNotFoundError:
        raise DatasetError(f"{folder} is no dataset: it has no {DESCRIPTION_FILE}") from None
    except FileError as error:
        raise _refusal(path, f"cannot be used ({error})") from None
    except (ValueError, RecursionError):
        raise _refusal(path, "is no JSON text") from None
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise _refusal(path, "does not describe a dataset")
    if data.get("version") != VERSION:
        raise _refusal(path, f"has version {shown(data.get('version'))} where {VERSION} is read")
    if not isinstance(data.get("definition"), dict) or type(data.get("complete")) is not bool:
        raise _refusal(path, "does not describe a dataset")
    return data


def read_entries(folder: Path) -> tuple[list[Entry], bool]:
    """Return the entries of the list of parts, and whether its last line was broken off."""
    path = folder / LIST_FILE
    if not path.exists():
        return [], False
    try:
        *lines, torn = read_file(path, MAX_BYTES).split(b"\n")
    except FileError as error:
        raise _refusal(path, f"cannot be used ({error})") from None
    entries = []
    for number, line in enumerate(lines, 1):
        try:
            found = json.loads(line)
            if found["digest"] != digest_of(found["entry"]):
                raise ValueError("another digest")
            entries.append(Entry.from_dict(found["entry"]))
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            raise _refusal(path, f"is damaged in line {number}") from None
    return entries, bool(torn)


def complete_entries(folder: Path) -> tuple[Entry, ...]:
    """Return the parts of a complete dataset, in order."""
    entries, torn = read_entries(folder)
    if torn or not entries or [entry.part for entry in entries] != list(range(len(entries))):
        raise _refusal(folder / LIST_FILE, "is damaged: parts are missing")
    return tuple(entries)


def _line(entry: Entry) -> bytes:
    """The line of a part in the list."""
    values = asdict(entry)
    return json.dumps({"digest": digest_of(values), "entry": values}).encode() + b"\n"


class DatasetStore:
    """The folder while a dataset is being made. A context: no other process may make one there meanwhile.

    Attributes:
        entries: the parts that are there, by number; all files have been checked.
    """

    def __init__(self, folder: Path, definition: dict[str, Any], command: str) -> None:
        self.folder, self.entries = folder, dict[int, Entry]()
        self._described = {"format": FORMAT, "version": VERSION, "command": command, "definition": definition}
        # Values as JSON gives them back, so that they compare.
        self._definition = json.loads(json.dumps(definition))
        folder.mkdir(parents=True, exist_ok=True)
        self._lock = FileLock(folder / LOCK_FILE)

    def __enter__(self) -> DatasetStore:
        try:
            self._lock.acquire(timeout=0)
        except Timeout:
            raise DatasetError(
                f"{self.folder} is in use by another process: wait for it, or give another folder"
            ) from None
        try:
            self._open()
        except BaseException:
            self._lock.release()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._lock.release()

    @property
    def command(self) -> str:
        """The command that made the first part; the others say the same."""
        return str(self._described["command"])

    def note(self, entry: Entry) -> None:
        """Write down that a part is there."""
        with (self.folder / LIST_FILE).open("ab") as file:
            file.write(_line(entry))
            file.flush()
            os.fsync(file.fileno())
        self.entries[entry.part] = entry

    def finish(self, card: str) -> None:
        """Put the list in order, write the card, and say that this is all."""
        self._write_list()
        write_atomically(self.folder / CARD_FILE, card)
        self._describe(complete=True)

    def _open(self) -> None:
        """Find out what is there, or begin."""
        data = self.folder / DATA_FOLDER
        if not (self.folder / DESCRIPTION_FILE).exists():
            self._remove_torn_files()
            others = sorted(path.name for path in self.folder.iterdir() if path.name != LOCK_FILE)
            if others:
                raise DatasetError(f"{self.folder} is no dataset and holds {others[0]!r}: give another folder")
            self._describe(complete=False)
            data.mkdir()
            return
        found = read_description(self.folder)
        if found["definition"] != self._definition:
            problem = f"belongs to another dataset: {_difference(found['definition'], self._definition)}"
            raise _refusal(self.folder / DESCRIPTION_FILE, problem)
        self._described["command"] = found["command"]
        self._remove_torn_files()
        data.mkdir(exist_ok=True)
        entries, torn = read_entries(self.folder)
        self.entries = {entry.part: entry for entry in entries if self._is_there(entry)}
        if torn:
            self._write_list()

    def _is_there(self, entry: Entry) -> bool:
        """Whether the part has its file; a file that is not what was written is refused."""
        if not (self.folder / entry.file).exists():
            return False
        if not is_whole(self.folder, entry):
            raise _refusal(self.folder / entry.file, "is damaged")
        return True

    def _write_list(self) -> None:
        """Write the list of the parts that are there, in order."""
        lines = (_line(self.entries[part]) for part in sorted(self.entries))
        write_atomically(self.folder / LIST_FILE, b"".join(lines))

    def _remove_torn_files(self) -> None:
        """Take away what a crash left of files that were being written; the lock says that nobody writes now."""
        for folder in (self.folder, self.folder / DATA_FOLDER):
            for name in (DESCRIPTION_FILE, CARD_FILE, LIST_FILE, "part-"):
                for path in folder.glob(f".{name}*.tmp"):
                    path.unlink()

    def _describe(self, *, complete: bool) -> None:
        """Write the description."""
        text = json.dumps(self._described | {"complete": complete}, indent=1) + "\n"
        write_atomically(self.folder / DESCRIPTION_FILE, text)


def _difference(found: dict[str, Any], wanted: dict[str, Any]) -> str:
    """Name the first field that differs, with both values where they are short."""
    name = next((name for name in wanted if found.get(name) != wanted[name]), "more fields")
    said = {"code": "made by other source code", "files": "agents' files have changed"}
    return said.get(name) or f"{name} is {found.get(name)!r} there and {wanted.get(name)!r} here"


def _refusal(path: Path, problem: str) -> DatasetError:
    return DatasetError(f"{path} {problem}: move it away, or give another folder")
