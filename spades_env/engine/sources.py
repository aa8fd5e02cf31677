"""Which source files a module is made of: its own and all of ours that it imports, directly or through others."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]
"""Folder of the project's packages; modules that import each other by bare names lie beside each other elsewhere."""

# A search for text instead of a parser: it runs at every import, and what it finds too much does no harm.
_IMPORT: Final = re.compile(
    r"^[ \t]*(?:from[ \t]+(\.*[\w.]*)[ \t]+import[ \t]+(\([^)]*\)|[^\n]*)|import[ \t]+([^\n]*))", re.MULTILINE
)
_NAME: Final = re.compile(r"[\w.]+")


@cache
def sources_hash(file: Path) -> str:
    """Hash of the names and contents of `file` and of all source files of ours that it depends on."""
    digest = hashlib.sha256()
    for path in sorted(source_files(file)):
        content = path.read_bytes()
        digest.update(f"{path.name}\0{len(content)}\0".encode())
        digest.update(content)
    return digest.hexdigest()


@cache
def source_files(file: Path) -> frozenset[Path]:
    """Return `file` and the source files that it imports, through however many others."""
    found: set[Path] = set()
    waiting = [file]
    while waiting:
        path = waiting.pop()
        if path not in found:
            found.add(path)
            waiting.extend(imported_files(path))
    return frozenset(found)


@cache
def imported_files(file: Path) -> frozenset[Path]:
    """Return the source files of ours that the import statements of `file` take values from."""
    found = (_found(name, file) for name in _named_in(file))
    return frozenset(path for path in found if path is not None)


def _named_in(file: Path) -> Iterator[str]:
    """Yield the dotted name of every module that `file` may import values from, and other names with them."""
    for match in _IMPORT.finditer(file.read_text(encoding="utf-8")):
        module, names, modules = match.groups()
        if modules is not None:
            yield from _NAME.findall(modules)
            continue
        module = _absolute(module, file) if module.startswith(".") else module
        # A name of a package is one of its modules, or else something that the package's own file holds.
        whole = [f"{module}.{name}" for name in _NAME.findall(names)]
        yield from whole
        if not all(_found(name, file) for name in whole):
            yield module


def _found(name: str, file: Path) -> Path | None:
    """Return the source file that `name` is for `file`: ours, or one beside it."""
    return _file_of(name, ROOT) or _file_of(name, file.parent)


@cache
def _file_of(name: str, folder: Path) -> Path | None:
    """Return the source file of a module or package below `folder`, None if there is none."""
    base = f"{folder}/{name.replace('.', '/')}"
    return next((Path(path) for path in (f"{base}.py", f"{base}/__init__.py") if os.path.isfile(path)), None)


def _absolute(module: str, file: Path) -> str:
    """Return the dotted name of a relative import in `file`, or "" outside the project's folder."""
    name = module.lstrip(".")
    folder = file.parents[len(module) - len(name) - 1]
    if not folder.is_relative_to(ROOT):
        return ""
    return ".".join(part for part in (*folder.relative_to(ROOT).parts, name) if part)
