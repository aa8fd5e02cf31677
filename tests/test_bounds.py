"""Compiled kernels do not check indices; here they do (NUMBA_BOUNDSCHECK=1), in a process and a cache of their own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


def run(cache: Path, *parts: str, checked: bool = True) -> subprocess.CompletedProcess[str]:
    """The script in a process of its own; compiled code with checks must not come near the usual cache."""
    environment = {
        **os.environ,
        "NUMBA_BOUNDSCHECK": str(int(checked)),
        "NUMBA_DISABLE_JIT": "0",
        "NUMBA_CACHE_DIR": str(cache),
        "PYTHONPATH": str(ROOT),
    }
    command = [sys.executable, str(ROOT / "tests" / "bounds_games.py"), *parts]
    return subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True)


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("part", ["engine", "training", "agents"])
def test_no_index_is_outside_its_array(part: str, tmp_path: Path) -> None:
    done = run(tmp_path, part)
    assert done.returncode == 0, done.stderr[-2_000:]
    assert int(done.stdout.split()[1]) > 2_000
    print(done.stdout)


def test_the_check_itself(tmp_path: Path) -> None:
    """The script asks for the hand of a fifth seat, which must be noticed when bounds are checked, and only then."""
    done = run(tmp_path / "unchecked", checked=False)
    assert "bounds are not checked" in done.stderr
    assert run(tmp_path / "checked").returncode == 0
