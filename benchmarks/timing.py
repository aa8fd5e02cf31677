"""Measuring: every loop goes through `run_for`, in turn, in several rounds, CPU time beside wall time."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

Work = Callable[[], int]
"""A few milliseconds of work; returns the number of decisions made."""


@dataclass(frozen=True)
class Sample:
    """One measurement: decisions made, seconds of wall time, seconds of CPU time of the whole process."""

    decisions: int
    wall: float
    cpu: float


def run_for(work: Work, seconds: float) -> Sample:
    """Call `work` again and again until `seconds` of wall time have passed."""
    decisions = 0
    wall_start, cpu_start = time.perf_counter(), time.process_time()
    wall = cpu = 0.0
    # A coarse CPU clock may not have moved yet; a rate needs it to.
    while wall < seconds or cpu <= 0.0:
        decisions += work()
        wall = time.perf_counter() - wall_start
        cpu = time.process_time() - cpu_start
    return Sample(decisions, wall, cpu)


def alternate(
    works: Mapping[str, Work], rounds: int, seconds: float, progress: Callable[[str], None]
) -> dict[str, list[Sample]]:
    """Measure every work once a round, one after the other, so that a slow minute of the machine hits all."""
    samples: dict[str, list[Sample]] = {name: [] for name in works}
    for number in range(rounds):
        progress(f"round {number + 1} of {rounds}")
        for name, work in works.items():
            samples[name].append(run_for(work, seconds))
    return samples


def per_cpu_second(samples: list[Sample]) -> float:
    """Median decisions per second of CPU time: the figure of one core, whoever else is busy there."""
    return statistics.median(sample.decisions / sample.cpu for sample in samples)


def per_wall_second(samples: list[Sample]) -> float:
    """Median decisions per second of wall time."""
    return statistics.median(sample.decisions / sample.wall for sample in samples)
