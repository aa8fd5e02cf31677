"""Set up for all tests: a Numba cache that belongs to exactly these sources, and the option --run-slow."""

from __future__ import annotations

import hashlib
import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import settings

ROOT = Path(__file__).resolve().parent.parent

# What compiled code is made of. The constants of cards.py, rules.py and actions.py are frozen into kernels.
KERNEL_SOURCES = (
    "spades_env/cards.py",
    "spades_env/rules.py",
    "spades_env/actions.py",
    "spades_env/engine/**/*.py",
    "spades_env/view.py",
    "spades_env/observation/**/*.py",
    "agents/**/*.py",
    "evaluation/**/*.py",
    "tests/*.py",
)


def kernel_hash(root: Path) -> str:
    """Return a hash of the names and contents of all kernel sources below `root`."""
    digest = hashlib.sha256()
    for path in sorted({path for pattern in KERNEL_SOURCES for path in root.glob(pattern)}):
        digest.update(f"{path.relative_to(root)}\0{path.stat().st_size}\0".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _private_cache_root() -> Path:
    """Return a folder in the temporary directory that only this user can write: the cache holds pickles."""
    uid = os.getuid() if hasattr(os, "getuid") else 0
    root = Path(tempfile.gettempdir()) / f"spades_env-numba-{uid}"
    root.mkdir(mode=0o700, exist_ok=True)
    if root.stat().st_uid != uid:
        root = Path(tempfile.mkdtemp(prefix="spades_env-numba-"))
    return root


# Tests run in several processes; torch threads that wait for each other on busy cores are twenty times slower.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# A changed callee does not always invalidate the caches of its callers, so changed sources get a new folder.
# Numba reads the variable when it is first imported, which no test module has done yet.
os.environ["NUMBA_CACHE_DIR"] = str(_private_cache_root() / kernel_hash(ROOT))

# The first example may compile kernels, which takes longer than any deadline.
settings.register_profile("spades_env", deadline=None, print_blob=True)
settings.load_profile("spades_env")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add --run-slow."""
    parser.addoption("--run-slow", action="store_true", help="run the tests marked slow, too")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave tests marked slow out, unless --run-slow or a marker expression asks for them."""
    if config.getoption("--run-slow") or "slow" in config.getoption("-m"):
        return
    slow = [item for item in items if item.get_closest_marker("slow")]
    if slow:
        config.hook.pytest_deselected(items=slow)
        items[:] = [item for item in items if not item.get_closest_marker("slow")]
