"""Filling an equity table: the chance in every situation is the mean over the outcomes of the next deal.

Value iteration in place (Gauss-Seidel), from high scores down: play goes up, so most of what a situation leads to has
been reckoned before it.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from agents.equity.grid import STEP, grid_of, is_decided, table_shape
from agents.equity.landings import Landings, landings_of
from agents.equity.lookup import TableArray
from agents.equity.outcomes import FloatArray, IntArray, Outcomes, Progress
from spades_env.engine.kernel import inline_kernel, kernel
from spades_env.engine.state import StateArray
from spades_env.rules import Rules

TOLERANCE: Final = 1e-5
"""The table is done when a sweep finds no chance that is off by more."""
MOST_SWEEPS: Final = 300
BOLDNESS: Final = 1.05
"""Each change is made a little larger than reckoned (over-relaxation): a fifth fewer sweeps."""


@inline_kernel
def land(
    grid: np.void,
    gain: IntArray,
    rise: IntArray,
    bag_offset: IntArray,
    level: int,
    per_level: int,
    scores: IntArray,
    offsets: IntArray,
) -> bool:
    """Fill one team's `scores` and `offsets`, int64 (b,), from `level`; whether one of them may end the match."""
    points, top = int(grid["floor"]) + STEP * level, int(grid["levels"]) - 1
    target, mercy = int(grid["target"]), int(grid["mercy"])
    ends = False
    for b in range(scores.shape[0]):
        scores[b] = points + gain[b]
        offsets[b] = per_level * min(max(level + rise[b], 0), top) + bag_offset[b]
        ends |= (scores[b] >= target) | (scores[b] <= mercy)
    return ends


@inline_kernel
def add_far(flat: TableArray, offsets: IntArray, part: FloatArray, lost: FloatArray) -> None:
    """Add an outcome after which the match goes on to `lost`, float64 (b, b), chances of the team not dealing.

    `offsets`: int64 (2, b), what each team adds to the index into the flat table. Nearly all the time goes by here,
    where no branch keeps the processor from reckoning several nodes at once.
    """
    for a in range(lost.shape[0]):
        weight, offset = part[0, a], offsets[0, a]
        for b in range(lost.shape[1]):
            lost[a, b] += weight * part[1, b] * flat[offset + offsets[1, b]]


@inline_kernel
def add_near(
    grid: np.void, flat: TableArray, scores: IntArray, offsets: IntArray, part: FloatArray, lost: FloatArray
) -> None:
    """The same for an outcome that may end the match; `scores`: int64 (2, b), after the deal (R24, R25)."""
    for a in range(lost.shape[0]):
        for b in range(lost.shape[1]):
            chance = flat[offsets[0, a] + offsets[1, b]]
            if is_decided(grid, scores[0, a], scores[1, b]):
                chance = 1.0 if scores[1, b] > scores[0, a] else 0.0
            lost[a, b] += part[0, a] * part[1, b] * chance


@kernel
def sweep(table: TableArray, grid: StateArray, landings: Landings) -> float:
    """Reckon every situation anew from the table as it stands, from high scores down; the largest change."""
    place = grid[0]
    levels, nodes = table.shape[0], table.shape[2]
    flat = table.reshape(table.size)
    gain, rise, bags, part = landings
    square = nodes * nodes
    lost = np.empty((nodes, nodes))
    scores, offsets = np.empty((2, nodes), np.int64), np.empty((2, nodes), np.int64)
    change = 0.0
    for both in range(2 * levels - 2, -1, -1):
        for i in range(min(levels - 1, both), max(0, both - levels + 1) - 1, -1):
            j = both - i
            lost[:] = 0.0
            for k in range(part.shape[0]):
                ends = land(place, gain[k, 0], rise[k, 0], bags[k, 0], i, square, scores[0], offsets[0])
                ends |= land(place, gain[k, 1], rise[k, 1], bags[k, 1], j, levels * square, scores[1], offsets[1])
                if ends:
                    add_near(place, flat, scores, offsets, part[k], lost)
                else:
                    add_far(flat, offsets, part[k], lost)
            change = max(change, np.abs(1.0 - lost - table[i, j]).max())
            table[i, j] += BOLDNESS * (1.0 - lost - table[i, j])
    return change


def solve(rules: Rules, outcomes: Outcomes, progress: Progress | None = None) -> tuple[TableArray, int, float]:
    """(table on the grid of `rules`, sweeps over it, largest change of the last) if deals end as `outcomes` do."""
    grid = grid_of(rules)
    table = _first_guess(grid)
    landings = landings_of(rules, grid, outcomes)
    sweeps, change = 0, 1.0
    while change >= TOLERANCE and sweeps < MOST_SWEEPS:
        change = float(sweep(table, grid, landings))
        sweeps += 1
        if progress is not None:
            progress(f"sweep {sweeps} over {table.size:,} situations: largest change {change:.6f}")
    # Bold changes may pass 0 and 1 by less than the tolerance.
    return np.clip(table, 0.0, 1.0), sweeps, change


def _first_guess(grid: StateArray) -> TableArray:
    """A table to start from: a lead of 100 points wins three times in four, whatever else."""
    shape = table_shape(grid)
    levels = np.arange(shape[0])
    guess = 1.0 / (1.0 + 3.0 ** (STEP / 100.0 * (levels[None, :] - levels[:, None])))
    return np.repeat(guess.astype(np.float32), shape[2] * shape[3]).reshape(shape)
