"""Strengths by least squares, and their intervals by a bootstrap over deals.

Every game of two teams is one equation, margin = strength of the one - strength of the other (Massey 1997,
"Statistical models applied to the rating of sports teams"), so pairs that played more weigh more and close agents
are told apart by their own games. Pairs play the same deals; a deal is therefore drawn with all its games.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from evaluation.intervals import Z_95

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

RESAMPLES: Final = 1000
PURPOSE_BOOTSTRAP: Final = 1
"""Distinguishes, of one seed, what is drawn here from what the other modules of this folder draw."""
_CHUNK_CELLS: Final = 1 << 22
"""Weights held at a time, 32 MB."""


@dataclass(frozen=True)
class Games:
    """Results of contests, game by game.

    Attributes:
        design: float64 (contests, agents), the share of each agent in the first team (positive, adding up to 1)
            and in the second (negative, adding up to -1).
        contest: int64 (n,), ascending, every contest at least once.
        deal: int64 (n,), which games are drawn together: those of the same cards, or of the same line-up.
        margin: float64 (n,), first team minus second.
    """

    design: FloatArray
    contest: IntArray
    deal: IntArray
    margin: FloatArray


def games_of_pairs(pairs: Sequence[tuple[int, int]], agents: int, margins: Sequence[FloatArray]) -> Games:
    """Return the games of pairs (a, b), `margins[p][k]` being a minus b in deal k."""
    design = np.zeros((len(pairs), agents))
    for row, (a, b) in zip(design, pairs, strict=True):
        row[a], row[b] = 1.0, -1.0
    lengths = [len(values) for values in margins]
    return Games(
        design=design,
        contest=np.repeat(np.arange(len(pairs)), lengths),
        deal=np.concatenate([np.arange(n) for n in lengths]),
        margin=np.concatenate(list(margins)),
    )


def games_of_teams(line_ups: npt.NDArray[np.integer], agents: int, margins: Sequence[FloatArray]) -> Games:
    """Return games of mixed teams: `line_ups`, int (contests, 4), chairs 0 and 2 against 1 and 3.

    `margins[c]` are those of line-up c's games, which are drawn together: they have in common how its agents get on.
    An agent's strength is what a team of two of her would have, as in games of pairs.
    """
    n = line_ups.shape[0]
    design = np.zeros((n, agents))
    for chair in range(4):
        np.add.at(design, (np.arange(n), line_ups[:, chair]), 0.5 if chair % 2 == 0 else -0.5)
    contest = np.repeat(np.arange(n), [len(values) for values in margins])
    return Games(design, contest, contest, np.concatenate(list(margins)))


def strengths(games: Games) -> FloatArray:
    """Return the least-squares strength of every agent, float64 (agents,), with mean 0."""
    return _solve(games, np.ones((1, len(games.margin))))[0]


def bootstrap(games: Games, seed: int, resamples: int = RESAMPLES) -> FloatArray:
    """Return the strengths in samples of the deals, drawn with replacement: float64 (resamples, agents)."""
    rng = np.random.default_rng([seed, PURPOSE_BOOTSTRAP])
    deals = int(games.deal.max()) + 1
    found: list[FloatArray] = []
    chunk = max(1, _CHUNK_CELLS // max(deals, len(games.margin)))
    for start in range(0, resamples, chunk):
        count = min(chunk, resamples - start)
        drawn = rng.integers(deals, size=(count, deals)) + deals * np.arange(count)[:, None]
        times = np.bincount(drawn.ravel(), minlength=count * deals).reshape(count, deals)
        found.append(_solve(games, times[:, games.deal].astype(np.float64)))
    return np.concatenate(found)


def half_widths(samples: FloatArray) -> FloatArray:
    """Return half the width of the 95 % interval of each column: 1.96 bootstrap standard errors."""
    return np.asarray(Z_95 * samples.std(axis=0, ddof=1), np.float64)


def covariance(games: Games) -> FloatArray:
    """Return the covariance of the strengths, float64 (agents, agents), deals being independent.

    The sandwich of least squares with the residuals summed deal by deal (Liang and Zeger 1986): what the
    bootstrap finds, in closed form, for the schedule to ask often. Residuals of a contest of n games are as much too
    small as a standard deviation about the mean is, hence the n / (n - 1).
    """
    agents = games.design.shape[1]
    counts = np.bincount(games.contest, minlength=games.design.shape[0]).astype(np.float64)
    bread = _inverse((games.design.T * counts) @ games.design)
    residual = games.margin - (games.design @ strengths(games))[games.contest]
    residual *= np.sqrt(counts / np.maximum(counts - 1.0, 1.0))[games.contest]
    pull = games.design @ bread
    sums = [np.bincount(games.deal, residual * pull[games.contest, k]) for k in range(agents)]
    influence: FloatArray = np.stack(sums, axis=1, dtype=np.float64)
    return influence.T @ influence


def _solve(games: Games, weights: FloatArray) -> FloatArray:
    """Return strengths with mean 0 for each row of `weights`, shape (samples, n): (samples, agents)."""
    agents = games.design.shape[1]
    starts: IntArray = np.searchsorted(games.contest, np.arange(games.design.shape[0])).astype(np.int64)
    counts = np.add.reduceat(weights, starts, axis=1)
    totals = np.add.reduceat(weights * games.margin, starts, axis=1)
    squares = (games.design[:, :, None] * games.design[:, None, :]).reshape(-1, agents * agents)
    normal = (counts @ squares).reshape(-1, agents, agents)
    solved: FloatArray = (_inverse(normal) @ (totals @ games.design)[:, :, None])[:, :, 0]
    return solved


def _inverse(normal: FloatArray) -> FloatArray:
    """Return the pseudo-inverse of normal equations, which leave the mean of the strengths open: it becomes 0."""
    return np.asarray(np.linalg.pinv(normal, rcond=1e-9, hermitian=True), np.float64)
