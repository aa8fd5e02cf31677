"""Which pair plays next: every pair its first games, then always the neighbours whose order is most in doubt.

Doubt is the chance that the lower-ranked of two neighbours is in truth the stronger by more than `indifference`, by
the normal distribution of their difference. Games between the two lower it, so they play them. Bechhofer (1954), "A
single-sample multiple decision procedure for ranking means", has the zone of indifference, without which two agents
of one strength would use up everything. The schedule asks for results and sees nothing else: no clock, no workers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import NormalDist
from typing import Final

import numpy as np

from evaluation.tournament.config import Pair
from evaluation.tournament.strength import FloatArray, covariance, games_of_pairs, strengths

SETTLED: Final = 0.025
"""Doubt up to which an order counts as settled: one side of a 95 % interval."""
GROWTH: Final = 4
"""A pair in doubt plays a part of 1 / GROWTH of what it has played, but no fewer than its first games."""
ROUNDING: Final = 1e-9
"""What is smaller is 0 but for rounding: agents that always play alike."""
SEPARATED, BUDGET, LIMITS = "separated", "budget", "limits"
"""Why a tournament ended: all orders settled; all games played; the agents in doubt have played their most."""

Play = Callable[[int, int], FloatArray]
"""Called with (pair, games): the margins of the pair's first so many games, float64 (games,)."""


@dataclass(frozen=True)
class Neighbours:
    """Two agents next to each other in the ranking, `upper` first, and how sure that is."""

    upper: int
    lower: int
    difference: float
    error: float
    doubt: float

    @property
    def settled(self) -> bool:
        """Whether their order, or that they are as good as equal, is known."""
        return self.doubt <= SETTLED


def play_schedule(
    pairs: Sequence[Pair], agents: int, games: int, indifference: float, play: Play
) -> tuple[list[FloatArray], str]:
    """Return the margins of every pair and why no more were played; `games` is the most in all."""
    margins = [play(p, pair.least) for p, pair in enumerate(pairs)]
    left = games - sum(map(len, margins))
    number = {(pair.a, pair.b): p for p, pair in enumerate(pairs)}
    while True:
        doubtful = [n for n in ranking_doubts(pairs, agents, margins, indifference) if not n.settled]
        if not doubtful:
            return margins, SEPARATED
        if left == 0:
            return margins, BUDGET
        for neighbours in sorted(doubtful, key=lambda n: -n.doubt):
            p = number[min(neighbours.upper, neighbours.lower), max(neighbours.upper, neighbours.lower)]
            more = _batch(pairs[p], margins[p], left)
            if more:
                margins[p] = play(p, len(margins[p]) + more)
                left -= more
                break
        else:
            return margins, LIMITS


def ranking_doubts(
    pairs: Sequence[Pair], agents: int, margins: Sequence[FloatArray], indifference: float
) -> list[Neighbours]:
    """Return the neighbours in the ranking by strength, from the top; equal strengths keep the agents' order."""
    games = games_of_pairs([(pair.a, pair.b) for pair in pairs], agents, margins)
    strength, spread = strengths(games), covariance(games)
    order = ranking(strength)
    found = []
    for upper, lower in pairwise(order):
        difference = float(strength[upper] - strength[lower])
        variance = spread[upper, upper] + spread[lower, lower] - 2.0 * spread[upper, lower]
        error = float(np.sqrt(max(variance, 0.0)))
        found.append(Neighbours(upper, lower, difference, error, _doubt(difference, error, indifference)))
    return found


def ranking(strength: FloatArray) -> list[int]:
    """Return the agents' numbers from the strongest on; strengths equal but for rounding keep their order."""
    return [int(k) for k in np.argsort(-np.round(strength / ROUNDING), kind="stable")]


def _doubt(difference: float, error: float, indifference: float) -> float:
    """Return the chance that the truth is below -indifference, where `difference` >= 0 was found."""
    distance = difference + indifference
    if error < ROUNDING:
        return 0.5 if distance < ROUNDING else 0.0
    return NormalDist().cdf(-distance / error)


def _batch(pair: Pair, played: FloatArray, left: int) -> int:
    """Return how many more games the pair is to play: none beyond its most, nor if the two always played alike."""
    if not played.any():
        return 0
    return min(max(pair.least, len(played) // GROWTH), pair.most - len(played), left)
