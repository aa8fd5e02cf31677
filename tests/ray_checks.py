"""What tests on a Ray cluster have in common: workers, what they have noted, and figures without times."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import ray_work

from evaluation.work.backend import Backend, Workers, open_workers

RAY = Backend("ray")
"""A process that is connected by the fixture `nodes` stays where it is."""
TIMES = ("seconds", "ms_per_decision", "deal_seconds")


@contextmanager
def workers(count: int, begin: Callable[..., None] = ray_work.begin, *arguments: Any) -> Iterator[Workers]:
    """Workers on the cluster."""
    with open_workers(RAY, count, begin, arguments) as found:
        yield found


def lines(notes: Path) -> list[str]:
    """What workers have noted."""
    return notes.read_text(encoding="utf-8").splitlines() if notes.exists() else []


def timeless(values: Any) -> Any:
    """JSON values without what depends on the clock."""
    if isinstance(values, dict):
        return {name: timeless(value) for name, value in values.items() if name not in TIMES}
    return [timeless(value) for value in values] if isinstance(values, list) else values
