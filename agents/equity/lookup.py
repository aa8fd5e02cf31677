"""Reading an equity table: kernels that other kernels call about a million times a second.

A table is float32 of shape (levels, levels, bag nodes, bag nodes): the chance of the team that deals next, by level
of the dealing team, level of the other, bags of the dealing team, bags of the other (see `grid`).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from agents.equity.grid import is_decided, level_of, node_of
from spades_env.engine.kernel import kernel
from spades_env.engine.scoring import bag_penalty
from spades_env.engine.state import StateArray

TableArray = npt.NDArray[np.float32]


@kernel
def chance_to_win(table: TableArray, grid: np.void, score_a: int, score_b: int, bags_a: int, bags_b: int) -> float:
    """Chance of team a, which deals next, in a match that goes on; linear between the nodes of the table."""
    raised = max(int(grid["lift"]) - max(score_a, score_b), 0)
    shift = int(grid["shift"])
    level_a, up_a = level_of(grid, score_a + raised - shift * bags_a)
    level_b, up_b = level_of(grid, score_b + raised - shift * bags_b)
    node_a, more_a = node_of(grid, bags_a)
    node_b, more_b = node_of(grid, bags_b)
    if up_a == 0.0 and up_b == 0.0 and more_a == 0.0 and more_b == 0.0:
        return float(table[level_a, level_b, node_a, node_b])
    chance = 0.0
    for corner in range(16):
        i, j, a, b = corner & 1, (corner >> 1) & 1, (corner >> 2) & 1, corner >> 3
        share = (up_a if i == 1 else 1.0 - up_a) * (up_b if j == 1 else 1.0 - up_b)
        share *= (more_a if a == 1 else 1.0 - more_a) * (more_b if b == 1 else 1.0 - more_b)
        if share > 0.0:  # a corner beyond the table has none
            chance += share * table[level_a + i, level_b + j, node_a + a, node_b + b]
    return chance


@kernel
def match_equity(
    table: TableArray,
    grid: StateArray,
    score_0: int,
    score_1: int,
    bags_0: int,
    bags_1: int,
    dealer_team: int,
) -> float:
    """Chance that team 0 wins the match, after a deal has been scored, penalties and all (R21): 1 or 0 if it is won.

    `table` and `grid` are those of one `EquityTable`; `dealer_team` is the team of the next deal's dealer.
    """
    rules = grid[0]
    if is_decided(rules, score_0, score_1):
        return 1.0 if score_0 > score_1 else 0.0
    if dealer_team == 0:
        return chance_to_win(table, rules, score_0, score_1, bags_0, bags_1)
    return 1.0 - chance_to_win(table, rules, score_1, score_0, bags_1, bags_0)


@kernel
def one_more_bag(rules: StateArray, score: int, bags: int) -> tuple[int, int]:
    """(score, bags) of a team after one more bag, by the first of `rules` (R21)."""
    penalty, left = bag_penalty(rules[0], bags + 1)
    return score + int(rules[0]["bag_points"]) + penalty, left
