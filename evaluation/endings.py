"""Matches played from the middle: both teams near the target, every start played twice, the teams swapped.

Where single deals cannot tell whether an agent plays for the match, these can.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evaluation.intervals import Interval, mean_interval
from evaluation.play import LogArray, Tally
from evaluation.result import results_of_matches
from evaluation.work.crew import Desk, open_crew
from evaluation.work.job import DUPLICATE, AgentSpec, Job
from evaluation.work.run import Progress, play_all
from spades_env.rules import Rules


@dataclass(frozen=True)
class Endings:
    """What `play_endings` found.

    Attributes:
        results: float64 (starts,), mean result of A in the two matches of a start: 1 won, 1/2 tied, 0 lost.
        log: DEAL_LOG, every deal, first of the matches with A as team 0.
    """

    results: npt.NDArray[np.float64]
    log: LogArray
    tallies: tuple[Tally, ...]
    seconds: float

    @property
    def win_rate(self) -> Interval:
        """Share of matches that A won, a start's two matches being one observation."""
        return mean_interval(self.results)


def play_endings(
    a: AgentSpec,
    b: AgentSpec,
    rules: Rules,
    *,
    starts: int,
    scores: tuple[int, int],
    seed: int = 0,
    batch_size: int | None = None,
    progress: Progress | None = None,
    workers: int = 1,
) -> Endings:
    """Let `a` and `b` play `starts` matches to their end, from `scores` on, each twice with the same cards.

    Each team begins with a multiple of 10 from `scores` (lowest, highest) plus 0 to 9 bags, uniform and
    independent. A start is the same whatever the number of starts, the batch size and the number of workers.
    """
    begun = time.perf_counter()
    desk = Desk([Job((a, b), rules, DUPLICATE, "endings", seed, scores=scores)])
    with open_crew(desk, workers) as crew:
        played = play_all(crew, 0, starts, batch_size=batch_size, progress=progress)
    return Endings(results_of_matches(played.log, starts), played.log, played.tallies, time.perf_counter() - begun)
