"""Lock-step over games that wait for a real choice: forced actions are taken here, so a network never sees them.

For collecting training data and for evaluation with learned policies. Games whose deal is over stop and wait.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from spades_env.engine.bidding import ACTION_BID_0
from spades_env.engine.kernel import kernel, lowest_bit, popcount
from spades_env.engine.scoring import deal_value
from spades_env.engine.state import PHASE_DEAL_OVER, StateArray
from spades_env.engine.step import apply_action, legal_parts


@kernel
def only_action(game: np.void) -> int:
    """The legal action of the seat to act if there is just one, else -1."""
    cards, calls = legal_parts(game)
    if popcount(cards) + popcount(calls) != 1:
        return -1
    return lowest_bit(cards) if cards else ACTION_BID_0 + lowest_bit(calls)


@kernel
def to_next_choice(states: StateArray, waiting: npt.NDArray[np.int64]) -> int:
    """Take every forced action; fill `waiting` with the indices of games that have a choice and return their number."""
    count = 0
    for i in range(states.shape[0]):
        game = states[i]
        while int(game["phase"]) < PHASE_DEAL_OVER:
            action = only_action(game)
            if action < 0:
                waiting[count] = i
                count += 1
                break
            apply_action(game, action)
    return count


@kernel
def apply_choices(states: StateArray, games: npt.NDArray[np.int64], actions: npt.NDArray[np.int64]) -> None:
    """Apply legal `actions[k]` to game `games[k]`, both of shape (m,)."""
    for k in range(games.shape[0]):
        apply_action(states[games[k]], int(actions[k]))


@kernel
def team_values(states: StateArray, bag_price: float, out: npt.NDArray[np.float32]) -> None:
    """Points of both teams in the deal just scored, float32 (n, 2); bags at `bag_price`, as scored if that is NaN."""
    for i in range(states.shape[0]):
        out[i, 0] = deal_value(states[i], 0, bag_price)
        out[i, 1] = deal_value(states[i], 1, bag_price)
