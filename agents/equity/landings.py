"""Where the outcomes of a deal lead on the grid of an equity table, worked out once for all levels.

Penalties are taken here (R21), by the engine's own kernel.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from agents.equity.grid import STEP, bags_of_node, node_of
from agents.equity.outcomes import FloatArray, IntArray, Outcomes
from spades_env.engine.kernel import inline_kernel, kernel
from spades_env.engine.scoring import bag_penalty
from spades_env.engine.state import StateArray, rules_to_record
from spades_env.rules import Rules

AROUND = 4
"""Nodes around a team's end: a level and the next, each with a bag count and the next."""


class Landings(NamedTuple):
    """Where outcome k takes side 0 (the dealer's team) or 1 from bag node b, whatever its level.

    An outcome that ends between the nodes of the grid is spread over those around it, one entry k for each.
    """

    gain: IntArray
    """(k, 2, b): points of the score after the deal above those of the level before it."""
    rise: IntArray
    """(k, 2, b): levels gained."""
    bag_offset: IntArray
    """(k, 2, b): what the bag node after the deal adds to the index into the flat table."""
    part: FloatArray
    """(k, 2, b): share of the outcome that belongs to this node; the dealer's team's include how often it comes."""


def landings_of(rules: Rules, grid: StateArray, outcomes: Outcomes) -> Landings:
    """The landings of all outcomes under `rules`, without those that have no share in anything."""
    shape = (AROUND, *outcomes.points.shape, int(grid[0]["bag_nodes"]))
    integers = [np.zeros(shape, np.int64) for _ in range(3)]
    around = Landings(integers[0], integers[1], integers[2], np.zeros(shape))
    write_landings(rules_to_record(rules), grid, outcomes.points, outcomes.bags, around)
    around.part[:, :, 0] *= outcomes.share[:, None]
    some = np.any(around.part > 0.0, axis=3)
    # Every node of the one team goes with every node of the other.
    p, q, k = np.nonzero(some[:, None, :, 0] & some[None, :, :, 1])
    both = [np.stack([field[p, k, 0], field[q, k, 1]], axis=1) for field in around]
    return Landings(both[0], both[1], both[2], both[3])


@kernel
def write_landings(rules: StateArray, grid: StateArray, points: IntArray, bags: IntArray, around: Landings) -> None:
    """Fill `around`, of shape (AROUND, k, 2, b), from outcomes' points and bags, shape (k, 2)."""
    nodes = around.gain.shape[3]
    for k in range(points.shape[0]):
        for side in range(2):
            for b in range(nodes):
                won, up, left = team_gain(rules[0], grid[0], bags_of_node(grid[0], b), points[k, side], bags[k, side])
                rise, offset = around.rise[:, k, side, b], around.bag_offset[:, k, side, b]
                write_around(grid[0], up, left, side, rise, offset, around.part[:, k, side, b])
                around.gain[:, k, side, b] = won


@inline_kernel
def team_gain(rules: np.void, grid: np.void, before: int, points: int, bags: int) -> tuple[int, int, int]:
    """(score after a deal above the points of the level before, points above them of the level after, bags left)."""
    shift = int(grid["shift"])
    penalty, left = bag_penalty(rules, before + bags)
    won = points + int(rules["bag_points"]) * bags + penalty + shift * before
    return won, won - shift * left, left


@inline_kernel
def write_around(
    grid: np.void, up: int, left: int, side: int, rise: IntArray, bag_offset: IntArray, part: FloatArray
) -> None:
    """Spread an end `up` points above its level and with `left` bags over the AROUND nodes around it."""
    nodes = int(grid["bag_nodes"])
    level = up // STEP
    higher = (up - level * STEP) / STEP
    node, fuller = node_of(grid, left)
    for p in range(AROUND):
        rise[p] = level + p % 2
        # After the deal the other team deals: its bags come before this one's in the table.
        bag_offset[p] = min(node + p // 2, nodes - 1) * (1 if side == 0 else nodes)
        part[p] = (higher if p % 2 == 1 else 1.0 - higher) * (fuller if p // 2 == 1 else 1.0 - fuller)
