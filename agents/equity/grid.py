"""The grid of an equity table: which scores and bag counts it has, and where between them a situation lies.

The level of a score is counted in steps of ten from the floor, after `shift` points for every bag have been taken
off it. Under the presets a bag is worth a point, so that the score less the bags is always a multiple of ten: every
situation that play can reach lies exactly on the grid, and nothing is interpolated.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from spades_env.engine.kernel import inline_kernel, kernel
from spades_env.engine.state import NONE, Field, StateArray
from spades_env.rules import Rules

STEP: Final = 10
"""Points from one level to the next."""
LOWEST: Final = -300
"""Scores below are taken as this score, where no mercy ends the match before."""
WINDOW: Final = 1500
"""Most points below the target that a table reaches."""
LONGEST: Final = 1000
"""Points that the leader still needs at most where the window cuts scores off: both teams are lifted alike."""
ROOM: Final = 50
"""Points beyond target and mercy that a table has for tied teams, whose match goes on (R24)."""
MOST_BAG_NODES: Final = 10
MOST_SHIFT: Final = 100
"""Points of a full bag count up to which bags are taken off the score; above they would stretch the grid."""

GRID_FIELDS: Final[tuple[Field, ...]] = (
    ("floor", "<i8", "points of level 0"),
    ("levels", "<i8", "number of levels, STEP points apart"),
    ("shift", "<i8", "points taken off a score for every bag before its level is found"),
    ("bag_nodes", "<i8", "number of bag counts in the table"),
    ("bag_width", "<i8", "bags from one of them to the next; the last may be nearer"),
    ("last_bag", "<i8", "the highest bag count, one below the limit; 0 if bags do not count"),
    ("lift", "<i8", "score to which the leader is raised at least, and the other by as much"),
    ("target", "<i8", "score that ends the match (R24)"),
    ("mercy", "<i8", "score at or below which a team loses (R25); NONE: no mercy"),
)
GRID: Final = np.dtype([(name, form) for name, form, _ in GRID_FIELDS])


def grid_of(rules: Rules) -> StateArray:
    """The grid for `rules`, one GRID record, shape (1,)."""
    last_bag = max(rules.bag_limit - 1, 0)
    width = max(-(-last_bag // (MOST_BAG_NODES - 1)), 1)
    shift = rules.bag_points if abs(rules.bag_points) * last_bag <= MOST_SHIFT and last_bag > 0 else 0
    lowest = LOWEST if rules.mercy is None else max(LOWEST, rules.mercy - ROOM)
    cut = rules.target - WINDOW > lowest
    bottom = (rules.target - WINDOW if cut else lowest) - max(shift, 0) * last_bag
    top = rules.target + ROOM - min(shift, 0) * last_bag
    grid = np.zeros(1, GRID)
    grid["floor"] = floor = bottom // STEP * STEP
    grid["levels"] = -(-(top - floor) // STEP) + 1
    grid["shift"] = shift
    grid["bag_nodes"] = -(-last_bag // width) + 1
    grid["bag_width"] = width
    grid["last_bag"] = last_bag
    grid["lift"] = rules.target - LONGEST if cut else floor
    grid["target"] = rules.target
    grid["mercy"] = NONE if rules.mercy is None else rules.mercy
    return grid


def table_shape(grid: StateArray) -> tuple[int, int, int, int]:
    """Shape of a table on `grid`: levels of the dealing team and the other, bag counts of both."""
    levels, bag_nodes = int(grid[0]["levels"]), int(grid[0]["bag_nodes"])
    return levels, levels, bag_nodes, bag_nodes


@inline_kernel
def is_decided(grid: np.void, score_a: int, score_b: int) -> bool:
    """Whether a match with these scores after a deal is won, by the team with more points (R24, R25)."""
    target, mercy = int(grid["target"]), int(grid["mercy"])
    if score_a == score_b:
        return False
    return score_a >= target or score_b >= target or score_a <= mercy or score_b <= mercy


@inline_kernel
def bags_of_node(grid: np.void, node: int) -> int:
    """Bags that entry `node` of the table's bag counts stands for."""
    return min(node * int(grid["bag_width"]), int(grid["last_bag"]))


@kernel
def level_of(grid: np.void, points: int) -> tuple[int, float]:
    """(level at or below a score less its shift, part of the way to the next level); ends of the grid hold beyond."""
    above = points - int(grid["floor"])
    level = above // STEP
    if level < 0:
        return 0, 0.0
    if level >= int(grid["levels"]) - 1:
        return int(grid["levels"]) - 1, 0.0
    return level, (above - STEP * level) / STEP


@kernel
def node_of(grid: np.void, bags: int) -> tuple[int, float]:
    """(bag count of the table at or below `bags`, part of the way to the next)."""
    if bags >= int(grid["last_bag"]):
        return int(grid["bag_nodes"]) - 1, 0.0
    node = bags // int(grid["bag_width"])
    low = node * int(grid["bag_width"])
    return node, (bags - low) / (bags_of_node(grid, node + 1) - low)
