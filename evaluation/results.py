"""Results kept in one file: an interrupted command goes on, a finished one is only shown.

A result belongs to a definition, plain values that hold everything which decides the figures; what of it changes makes
another result. The source of rules and agents is marked beside a result and does not throw hours of play away.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

from filelock import FileLock

from evaluation.machine import machine, versions
from evaluation.work.definition import code_hash, digest_of
from spades_env.files import FileError, read_file, write_atomically

MAX_BYTES: Final = 64 * 2**20

Values = dict[str, Any]
"""Plain values, as JSON holds them."""


class ResultsError(ValueError):
    """A file of results that cannot be used; the message says what to do."""


class ResultsFile:
    """Results by definition in the file `path`; each is written as soon as it is there, the whole file at once.

    `form` names what the file holds; `version` is raised when the same definition would give other figures; `field` is
    the name of the result in an entry.
    """

    def __init__(self, path: Path, form: str, version: int, field: str = "result") -> None:
        self.path = path
        self._form, self._version, self._field = form, version, field
        self._entries = self._read() if path.exists() else {}
        self._code = code_hash()
        self._lock = FileLock(path.with_suffix(".lock"))

    def get(self, definition: Values) -> Values | None:
        """Return what was kept for `definition`, or None.

        `same_code` in it says whether the source of rules and agents is still what it was then.
        """
        entry = self._entries.get(digest_of(definition))
        if entry is None:
            return None
        result: Values = entry[self._field]
        return {**result, "same_code": result["code"] == self._code}

    def put(self, definition: Values, result: Values) -> None:
        """Keep `result`, with where and by what it was measured."""
        whole = {**result, "code": self._code, "versions": versions(), "machine": machine()}
        entry = {"definition": definition, self._field: whole, "digest": digest_of([definition, whole])}
        # Other processes may write, too: a folder can be shared by --only.
        with self._lock:
            self._entries |= self._read() if self.path.exists() else {}
            self._entries[digest_of(definition)] = entry
            data = {"format": self._form, "version": self._version, "results": self._entries}
            write_atomically(self.path, json.dumps(data, indent=1) + "\n")

    def _read(self) -> dict[str, Values]:
        """Return the entries of the file; one that is foreign or damaged is refused."""
        try:
            data = json.loads(read_file(self.path, MAX_BYTES))
        except FileError as error:
            raise ResultsError(f"{error}: move it away, or write elsewhere with --out") from None
        except (ValueError, RecursionError):  # bytes that are no text, text that is no JSON
            raise self._refusal("is no JSON text") from None
        if not isinstance(data, dict) or data.get("format") != self._form:
            raise self._refusal(f"is no file of {self._form}")
        if data.get("version") != self._version:
            raise self._refusal(f"has version {data.get('version')!r}, not {self._version}")
        entries = data.get("results")
        if not isinstance(entries, dict) or not all(self._is_whole(*item) for item in entries.items()):
            raise self._refusal("is damaged: its results and their checksums differ")
        return entries

    def _is_whole(self, key: str, entry: Any) -> bool:
        """Tell whether an entry is what was written: the key is its definition's hash, and all of it has its own."""
        if not isinstance(entry, dict) or set(entry) != {"definition", self._field, "digest"}:
            return False
        definition, result = entry["definition"], entry[self._field]
        if not isinstance(result, dict) or "code" not in result:
            return False
        return key == digest_of(definition) and entry["digest"] == digest_of([definition, result])

    def _refusal(self, problem: str) -> ResultsError:
        return ResultsError(f"{self.path} {problem}: move it away, or write elsewhere with --out")
