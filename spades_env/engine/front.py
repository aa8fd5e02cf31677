"""Kernels for front ends that hold one game: start a deal from given facts; check and take one action.

The caller fills in the fields that the docstrings name, checked where a user can be told (game/position.py).
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from spades_env.engine.deal import clear_deal, deck_mask, hand_out, open_deal, start_deal, start_match
from spades_env.engine.kernel import kernel
from spades_env.engine.scoring import deal_value, match_winner
from spades_env.engine.state import PHASE_DEAL_OVER, StateArray
from spades_env.engine.step import apply_action, is_legal_action, legal_parts, write_action_mask

ILLEGAL: Final = -1
DEAL_IS_OVER: Final = 4
"""Answers of `take_action` that are no seat."""


@kernel
def begin_match(states: StateArray, i: int) -> None:
    """Start match number `match` of game `i`: a drawn dealer, 0:0, the first deal (R26)."""
    start_match(states[i])


@kernel
def begin_deal(states: StateArray, i: int) -> None:
    """Shuffle and start deal number `deal` of game `i` with the dealer, scores and bags in place (R5, R6)."""
    start_deal(states[i])


@kernel
def begin_given_deal(states: StateArray, i: int) -> None:
    """Like `begin_deal` with the pack in place too, in the order of `pile`."""
    game = states[i]
    clear_deal(game)
    if int(game["rules"]["draft"]) == 0:
        hand_out(game)
    open_deal(game)


@kernel
def begin_unknown_deal(states: StateArray, i: int) -> None:
    """Like `begin_given_deal` with no card handed out: for a position of which one seat's part is known."""
    game = states[i]
    clear_deal(game)
    open_deal(game)


@kernel
def pack_mask(states: StateArray, i: int) -> int:
    """The cards of the pack of game `i` as a mask (R1, R2)."""
    return deck_mask(states[i]["rules"])


@kernel
def winner_by_scores(states: StateArray, i: int) -> int:
    """Team that has won game `i` if its scores stand after a deal, else -1 (R24, R25)."""
    return match_winner(states[i])


@kernel
def deal_values(states: StateArray, i: int, bag_price: float, values: npt.NDArray[np.float64]) -> None:
    """Points of both teams in the deal scored last, as `deal_value` counts them; `values` has shape (2,)."""
    values[0] = deal_value(states[i], 0, bag_price)
    values[1] = deal_value(states[i], 1, bag_price)


@kernel
def write_mask(states: StateArray, i: int, mask: npt.NDArray[np.int8]) -> None:
    """Write the legal actions of the seat to act into `mask`, int8 of shape (73,)."""
    cards, calls = legal_parts(states[i])
    write_action_mask(cards, calls, mask)


@kernel
def take_action(states: StateArray, i: int, action: int, mask: npt.NDArray[np.int8]) -> int:
    """Take `action` in game `i` if it is legal and write the next seat's `mask`, int8 of shape (73,).

    Returns the seat to act next, DEAL_IS_OVER once the deal is scored, or ILLEGAL with nothing changed.
    """
    game = states[i]
    if not is_legal_action(game, action):
        return ILLEGAL
    apply_action(game, action)
    if int(game["phase"]) >= PHASE_DEAL_OVER:
        return DEAL_IS_OVER
    cards, calls = legal_parts(game)
    write_action_mask(cards, calls, mask)
    return int(game["turn"])
