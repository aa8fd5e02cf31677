"""What workers elsewhere must have in common with whoever gives the orders, and agents' files that are brought to them.

Equal results need equal code: a worker with other sources or versions refuses to begin. Files behind agents' texts are
sent if they lie below the current folder; all others must be on every node.
"""

from __future__ import annotations

import hashlib
import importlib
import os
import platform
import stat
import sys
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from evaluation.machine import versions
from evaluation.work.backend import BackendError
from evaluation.work.definition import hash_of_sources
from evaluation.work.files import files_behind, files_of
from spades_env.files import write_atomically

SOURCES: Final = (
    ("spades_env", "**/*.py"),
    ("agents", "**/*.py"),
    ("agents", "learned/champion/*.safetensors"),
    ("evaluation", "**/*.py"),
    ("training", "**/*.py"),
)
"""All code that work in a worker may run, and the champion's weights."""


def identity() -> dict[str, str]:
    """Return what must be the same in a worker: versions that decide results or speed, and a hash of our sources."""
    found = {name: str(version) for name, version in versions().items()}
    return found | {"source code of hash": hash_of_sources(SOURCES)}


def check_identity(expected: Mapping[str, str]) -> None:
    """In a worker: refuse to begin, with the first difference, unless everything is as where the orders come from."""
    here = identity()
    for name, value in expected.items():
        if here.get(name) != value:
            raise BackendError(
                f"node {platform.node()} has {name} {here.get(name)} where {value} is at work; "
                "allowed: the same on all nodes (Python, packages and checkout)"
            )


@dataclass(frozen=True)
class Parcel:
    """The files behind agents' texts, for workers that may not have them.

    Attributes:
        folder: the current folder of whoever gives the orders.
        expected: hash of the files behind each text that has any (`files.files_of`).
        files: of those below `folder`, by their path from there: permissions and contents.
    """

    folder: str
    expected: Mapping[str, str]
    files: Mapping[str, tuple[int, bytes]]

    @classmethod
    def of(cls, texts: Iterable[str]) -> Parcel:
        """Pack the files behind agents' `texts`."""
        folder = Path.cwd()
        texts = sorted(texts)
        paths = {path.absolute() for text in texts for path in files_behind(text)}
        files = {
            path.relative_to(folder).as_posix(): (stat.S_IMODE(path.stat().st_mode), path.read_bytes())
            for path in sorted(paths)
            if path.is_relative_to(folder)
        }
        return cls(str(folder), files_of(texts), files)

    def open(self) -> None:
        """In a worker: go to the folder of the orders if it has the same files, else to one that is made with them.

        BackendError names an agent whose files cannot be had so.
        """
        if os.path.isdir(self.folder):
            os.chdir(self.folder)
            if files_of(self.expected) == self.expected:
                return
        if self.files:
            os.chdir(self._unpacked())
            # Ray has put the folder of the orders there; what lies in it on this node are other files.
            sys.path[:] = [path for path in sys.path if path != self.folder]
            importlib.invalidate_caches()
        found = files_of(self.expected)
        for text, digest in self.expected.items():
            if found.get(text) != digest:
                raise BackendError(
                    f"agent {text!r}: its files on node {platform.node()} are not those here; allowed: a path from the "
                    "current folder to files below it, which are sent, or the same files on all nodes"
                )

    def _unpacked(self) -> Path:
        """Return a folder with the files; workers with the same files share it, and later ones find it again."""
        digest = hashlib.sha256(repr(sorted(self.files.items())).encode()).hexdigest()[:16]
        folder = _private_folder() / digest
        for name, (mode, content) in self.files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if not path.is_file() or path.read_bytes() != content:
                write_atomically(path, content)
            path.chmod(mode)
        return folder


def _private_folder() -> Path:
    """Return a folder of this user's that nobody else can write: code is run from there."""
    uid = os.getuid() if hasattr(os, "getuid") else 0
    folder = Path(tempfile.gettempdir()) / f"spades_env-agents-{uid}"
    folder.mkdir(mode=0o700, exist_ok=True)
    if hasattr(os, "getuid") and (folder.is_symlink() or folder.stat().st_uid != uid or folder.stat().st_mode & 0o022):
        return Path(tempfile.mkdtemp(prefix="spades_env-agents-"))
    return folder
