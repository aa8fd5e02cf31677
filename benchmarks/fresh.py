"""What a new process pays: seconds of a warm import, and of compiling with an empty Numba cache."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile

IMPORT_RUNS = 3
# Exports are lazy, so that the bare import would say little: the environment must be at hand.
IMPORT_CODE = """
import time
start = time.perf_counter()
import spades_env
spades_env.env
print(time.perf_counter() - start)
"""
TIMEOUT = 900


def import_seconds() -> float:
    """Median seconds of `import spades_env` until `spades_env.env` is there, files and caches being warm."""
    seconds = [float(_run("-c", IMPORT_CODE)) for _ in range(1 + IMPORT_RUNS)]
    return statistics.median(seconds[1:])


def compile_seconds() -> dict[str, float]:
    """Seconds of each first use in a process whose Numba cache is empty (see first_use.py)."""
    with tempfile.TemporaryDirectory(prefix="spades-bench-") as cache:
        parts = json.loads(_run("-m", "benchmarks.first_use", NUMBA_CACHE_DIR=cache))
    return {str(name): float(value) for name, value in parts.items()}


def _run(*arguments: str, **environment: str) -> str:
    """Stdout of a new interpreter that finds the same modules as this one."""
    path = os.pathsep.join(entry or os.getcwd() for entry in sys.path)
    done = subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        env={**os.environ, "PYTHONPATH": path, **environment},
    )
    if done.returncode != 0:
        last = done.stderr.strip().rpartition("\n")[2]
        raise ChildProcessError(f"a fresh Python process ended with status {done.returncode}: {last}")
    return done.stdout
