"""Which pair plays next: every pair its first games, then always the neighbours whose order is most in doubt.

Doubt is the chance that the lower-ranked of two neighbours is in truth the stronger by more than `indifference`, by
the normal distribution of their difference. Games between the two lower it, so they play them. Bechhofer (1954), "A
single-sample multiple decision procedure for ranking means", has the zone of indifference, without which two agents
of one strength would use up everything. However small the doubt, an order counts as settled only when the two have
played enough games for what is rare to have happened. The schedule asks for results and sees nothing else: no clock,
no workers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import NormalDist
from typing import Final

import numpy as np

from evaluation.sequential import SWING, UNSEEN
from evaluation.tournament.config import Pair
from evaluation.tournament.strength import FloatArray, covariance, games_of_pairs, strengths

SETTLED: Final = 0.025
"""Doubt up to which an order counts as settled: one side of a 95 % interval."""
GROWTH: Final = 4
"""A pair in doubt plays a part of 1 / GROWTH of what it has played, but no fewer than its first games."""
ROUNDING: Final = 1e-9
"""What is smaller is 0 but for rounding: agents that always play alike."""
LEAST_GAMES: Final = 30
"""Of two neighbours, before their order can be settled: the normal distribution needs about so many."""
RAREST: Final = 1 / 1000
"""Chance of an event, in a game, below which it is not waited for."""
SWINGS: Final[Mapping[str, float]] = {"deals": SWING, "matches": 1.0}
"""By kind of game: what one rare event may still plausibly do to a margin."""
SEPARATED, BUDGET, LIMITS = "separated", "budget", "limits"
"""Why a tournament ended: all orders settled; all games played; the agents in doubt have played their most."""

Play = Callable[[int, int], FloatArray]
"""Called with (pair, games): the margins of the pair's first so many games, float64 (games,)."""


@dataclass(frozen=True)
class Neighbours:
    """Two agents next to each other in the ranking, `upper` first, and how sure that is.

    Attributes:
        difference, error: of their strengths, and its standard error.
        games, needed: what the two have played against each other, and what they must have before it can be settled.
    """

    upper: int
    lower: int
    difference: float
    error: float
    doubt: float
    games: int
    needed: int

    @property
    def settled(self) -> bool:
        """Whether their order, or that they are as good as equal, is known."""
        return self.doubt <= SETTLED and self.games >= self.needed


def play_schedule(
    pairs: Sequence[Pair], agents: int, games: int, indifference: float, play: Play, swing: float = SWING
) -> tuple[list[FloatArray], str]:
    """Return the margins of every pair and why no more were played; `games` is the most in all, `swing` of SWINGS."""
    margins = [play(p, pair.least) for p, pair in enumerate(pairs)]
    left = games - sum(map(len, margins))
    number = _numbers(pairs)
    while True:
        doubtful = [n for n in ranking_doubts(pairs, agents, margins, indifference, swing) if not n.settled]
        if not doubtful:
            return margins, SEPARATED
        if left == 0:
            return margins, BUDGET
        for neighbours in sorted(doubtful, key=lambda n: -n.doubt):
            p = number[neighbours.upper, neighbours.lower]
            more = _batch(pairs[p], margins[p], neighbours.needed, left)
            if more:
                margins[p] = play(p, len(margins[p]) + more)
                left -= more
                break
        else:
            return margins, LIMITS


def ranking_doubts(
    pairs: Sequence[Pair], agents: int, margins: Sequence[FloatArray], indifference: float, swing: float = SWING
) -> list[Neighbours]:
    """Return the neighbours in the ranking by strength, from the top; equal strengths keep the agents' order."""
    games = games_of_pairs([(pair.a, pair.b) for pair in pairs], agents, margins)
    strength, spread = strengths(games), covariance(games)
    order, number = ranking(strength), _numbers(pairs)
    found = []
    for upper, lower in pairwise(order):
        difference = float(strength[upper] - strength[lower])
        variance = spread[upper, upper] + spread[lower, lower] - 2.0 * spread[upper, lower]
        error = float(np.sqrt(max(variance, 0.0)))
        doubt = _doubt(difference, error, indifference)
        played, needed = len(margins[number[upper, lower]]), needed_games(difference + indifference, swing)
        found.append(Neighbours(upper, lower, difference, error, doubt, played, needed))
    return found


def needed_games(distance: float, swing: float) -> int:
    """Return how many games two neighbours need before their order can be settled.

    The order would be wrong if something not seen yet moved their margins by `distance` on average: at `swing` for
    each time, something of chance distance / swing, which in 3 swing / distance games is seen at 95 %.
    """
    return max(LEAST_GAMES, math.ceil(UNSEEN / max(distance / swing, RAREST)))


def _numbers(pairs: Sequence[Pair]) -> dict[tuple[int, int], int]:
    """Return the number of the pair of two agents, in either order."""
    return {key: p for p, pair in enumerate(pairs) for key in ((pair.a, pair.b), (pair.b, pair.a))}


def ranking(strength: FloatArray) -> list[int]:
    """Return the agents' numbers from the strongest on; strengths equal but for rounding keep their order."""
    return [int(k) for k in np.argsort(-np.round(strength / ROUNDING), kind="stable")]


def _doubt(difference: float, error: float, indifference: float) -> float:
    """Return the chance that the truth is below -indifference, where `difference` >= 0 was found."""
    distance = difference + indifference
    if error < ROUNDING:
        return 0.5 if distance < ROUNDING else 0.0
    return NormalDist().cdf(-distance / error)


def _batch(pair: Pair, played: FloatArray, needed: int, left: int) -> int:
    """Return how many more games the pair is to play: none beyond its most, nor if the two always play alike."""
    if len(played) >= needed and not played.any():
        return 0
    return min(max(pair.least, len(played) // GROWTH), pair.most - len(played), left)
