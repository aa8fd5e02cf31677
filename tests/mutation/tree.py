"""A copy of the source tree in which one rule at a time is broken."""

from __future__ import annotations

import compileall
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from py_compile import PycInvalidationMode
from typing import Final

from .mutant import Mutant

ROOT: Final = Path(__file__).resolve().parents[2]
COPIED: Final = ("spades_env", "agents", "tests", "configs", "docs", "pyproject.toml", "CHANGELOG.md")


def copy_tree(folder: Path) -> Path:
    """Copy what the rule tests need into `folder`, which must not exist, and return it."""
    folder.mkdir()
    skipped = shutil.ignore_patterns("__pycache__", ".*", "images")
    for name in COPIED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / name, ignore=skipped)
        else:
            shutil.copy2(ROOT / name, folder / name)
    # By hash: two versions of a file may have the same size and, within a second, the same time.
    compileall.compile_dir(folder, quiet=2, invalidation_mode=PycInvalidationMode.CHECKED_HASH)
    return folder


@contextmanager
def mutated(folder: Path, mutant: Mutant) -> Iterator[None]:
    """Let `mutant` be in the tree in `folder` for the time being."""
    path = folder / mutant.file
    original = path.read_text(encoding="utf-8")
    path.write_text(mutant.applied(original), encoding="utf-8")
    try:
        yield
    finally:
        path.write_text(original, encoding="utf-8")
