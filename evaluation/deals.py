"""The single deals of an evaluation, with their controls, to the number asked for or until an interval is narrow."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evaluation.amount import Amount, Way
from evaluation.intervals import mean_interval
from evaluation.line_up import shares_of
from evaluation.result import margins_of
from evaluation.sequential import Stopped, expected_deals, next_look, verdict
from evaluation.variance.fit import Controls, FloatArray, controlled, controls_of
from evaluation.variance.tracks import Tracks
from evaluation.work.crew import Crew
from evaluation.work.job import Job, Part, Played, put_together
from evaluation.work.run import run
from evaluation.work.store import PartStore


@dataclass(frozen=True)
class Deals:
    """Single deals played, their controls if any were asked for, and why there are no more of them."""

    played: Played
    controls: Controls | None
    stopped: Stopped


class _SoFar:
    """Margins and luck of the deals so far."""

    def __init__(self, job: Job, price: float) -> None:
        self._job, self._price = job, price
        self.margins: FloatArray = np.zeros(0)
        self._luck: FloatArray = np.zeros((0, len(job.agents)))

    def add(self, part: Part) -> None:
        """Count the next part."""
        rows = self._job.rows
        self.margins = np.concatenate([self.margins, margins_of(part.log, len(rows), self._price)])
        self._luck = np.concatenate([self._luck, controls_of(part.log, rows, len(self._job.agents))])

    @property
    def luck(self) -> FloatArray:
        """By agent, float64 (deals, agents); (deals, 0) where it was not measured."""
        return self._luck if self._job.playouts else self._luck[:, :0]


def alike(job: Job) -> bool:
    """Tell whether one agent, the same text or object, sits on all seats."""
    return len(set(shares_of(job.agents))) == 1


def play_deals(crew: Crew, amount: Amount, price: float, way: Way, store: PartStore | None, tracks: Tracks) -> Deals:
    """Play the single deals, job 0 of the crew; `price`: points of a bag."""
    job = crew.desk.jobs[0]
    so_far, parts = _SoFar(job, price), []
    controls, stopped = None, None
    for part in run(crew, 0, amount.deals, batch_size=way.batch_size, store=store):
        parts.append(part)
        so_far.add(part)
        values = so_far.margins
        if amount.has_controls:
            controls = Controls(so_far.luck, *tracks.controls(len(values)))
            values = controlled(values, controls)
        stopped, total = _look(values, amount, alike(job))
        _tell(way, values, total)
        if stopped is not None:
            break
    assert stopped is not None
    return Deals(put_together(parts, len(job.rows)), controls, stopped)


def _look(values: FloatArray, amount: Amount, same: bool) -> tuple[Stopped | None, int]:
    """Say whether to stop after `values`, float64 (n,), and about how many deals there will be."""
    n = len(values)
    if amount.half_width is None:
        return ("deals" if n == amount.deals else None), amount.deals
    at_look = n in (amount.deals, next_look(n - 1))
    stopped = verdict(values, amount.half_width, amount.deals, same) if at_look else None
    if stopped is not None or n < 2:
        return stopped, n
    return None, expected_deals(values, amount.half_width, amount.deals, same)


def _tell(way: Way, values: FloatArray, total: int) -> None:
    """Report how far it is, and the margin."""
    if way.progress is not None:
        way.progress("deals", len(values), total)
    if way.watch is not None and len(values) > 1:
        way.watch(mean_interval(values))
