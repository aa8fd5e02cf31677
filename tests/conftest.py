"""Set up for all tests: a Numba cache of their own, the option --run-slow, and what slow tests counted."""

from __future__ import annotations

import importlib.util
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from _pytest.terminal import TerminalReporter
from hypothesis import settings
from ray_nodes import Nodes, ray_nodes


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

# Numba reads the variable when it is first imported, which no test module has done yet.
os.environ["NUMBA_CACHE_DIR"] = str(_private_cache_root())

# The first example may compile kernels, which takes longer than any deadline.
settings.register_profile("spades_env", deadline=None, print_blob=True)
settings.load_profile("spades_env")


@pytest.fixture(scope="session")
def nodes() -> Iterator[Nodes]:
    """A Ray cluster of three nodes with a processor each, to which this process is connected."""
    if importlib.util.find_spec("ray") is None:
        pytest.skip("needs the extra `ray`")
    with ray_nodes() as cluster:
        yield cluster


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


def pytest_terminal_summary(terminalreporter: TerminalReporter) -> None:
    """Show the last line that each slow test printed: how much it has tried. docs/reliability.md quotes them."""
    said = [
        (report.nodeid, report.capstdout.strip().splitlines()[-1])
        for report in terminalreporter.stats.get("passed", [])
        if report.when == "call" and "slow" in report.keywords and report.capstdout.strip()
    ]
    if said:
        terminalreporter.section("what slow tests counted")
        for name, line in said:
            terminalreporter.write_line(f"{name}: {line}")
