"""What a figure was measured on: versions and machine, and nothing that names a user, a host or a folder."""

from __future__ import annotations

import os
import platform
from importlib import metadata
from pathlib import Path
from typing import Any

from spades_env import __version__

PEERS = ("numpy", "numba", "torch")


def versions() -> dict[str, str | None]:
    """Return the versions of spades_env, Python and what decides results or speed; None: not installed."""
    found: dict[str, str | None] = {"spades_env": __version__, "python": platform.python_version()}
    for name in PEERS:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            found[name] = None
    return found


def machine() -> dict[str, Any]:
    """Return processor, cores that this process may use, and operating system."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return {"processor": _processor(), "cores": cores, "system": f"{platform.system()} {platform.machine()}"}


def _processor() -> str:
    """Return the processor's name, where the system tells it."""
    table = Path("/proc/cpuinfo")
    if table.is_file():
        for line in table.read_text(encoding="utf-8", errors="replace").splitlines():
            key, _, value = line.partition(":")
            if key.strip() == "model name":
                return value.strip()
    return platform.processor() or "unknown"
