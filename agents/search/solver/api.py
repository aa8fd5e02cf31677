"""The solver's entry points, for other kernels and for Python."""

from __future__ import annotations

from typing import Final

import numpy as np

from agents.search.payoff import FloatArray
from agents.search.solver.first_trick import first_trick_value, is_bound
from agents.search.solver.solve import plain_moves, plain_value
from agents.search.solver.workspace import NODES
from agents.stakes import Stakes
from spades_env.engine.kernel import kernel, lowest_bit
from spades_env.engine.play import legal_cards
from spades_env.engine.state import StateArray

NO_LIMIT: Final = 1 << 60


@kernel
def solve(game: np.void, ws: np.void, stakes: Stakes, node_limit: int) -> float:
    """Value to team 0 of a STATE record in play, all hands known, if everybody plays perfectly.

    `ws` is a WORKSPACE record. NaN if the search would play more than `node_limit` cards in all.
    """
    ws["counters"][NODES] = 0
    if is_bound(game):
        return first_trick_value(game, legal_cards(game), ws, stakes, node_limit)
    return plain_value(game, ws, stakes, node_limit)


@kernel
def solve_moves(game: np.void, ws: np.void, stakes: Stakes, node_limit: int, out: FloatArray) -> int:
    """Write to `out`, float64 (54,), the value to team 0 of every legal card; the mask of these cards.

    The mask is 0, and `out` is of no use, if the search would play more than `node_limit` cards in all.
    """
    ws["counters"][NODES] = 0
    if not is_bound(game):
        return plain_moves(game, ws, stakes, node_limit, out)
    legal = legal_cards(game)
    cards = legal
    while cards:
        card = lowest_bit(cards)
        cards &= cards - 1
        out[card] = first_trick_value(game, 1 << card, ws, stakes, node_limit)
        if np.isnan(out[card]):
            return 0
    return legal


@kernel
def solve_at(states: StateArray, i: int, workspace: StateArray, stakes: Stakes, node_limit: int) -> float:
    """`solve` of game `i` in a `new_workspace()`."""
    return solve(states[i], workspace[0], stakes, node_limit)


@kernel
def solve_moves_at(
    states: StateArray, i: int, workspace: StateArray, stakes: Stakes, node_limit: int, out: FloatArray
) -> int:
    """`solve_moves` of game `i` in a `new_workspace()`."""
    return solve_moves(states[i], workspace[0], stakes, node_limit, out)
