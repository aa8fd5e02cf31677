"""Observations and masks of chosen games of an array, for lock-step play where only some games wait for a choice."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from spades_env.engine.kernel import kernel
from spades_env.engine.state import StateArray
from spades_env.engine.step import legal_parts, write_action_mask
from spades_env.engine.write import Bytes
from spades_env.observation.flat import encode_flat
from spades_env.view import VIEW, write_view


@kernel
def observe_games(states: StateArray, games: npt.NDArray[np.int64], out: Bytes, masks: npt.NDArray[np.int8]) -> None:
    """Flat observation, uint8 (m, FLAT_SIZE), and mask, int8 (m, 73), of the seat to act of games[k], k < m."""
    view = np.zeros(1, VIEW)
    for k in range(games.shape[0]):
        game = states[games[k]]
        write_view(game, int(game["turn"]), view[0])
        encode_flat(view[0], out[k])
        cards, calls = legal_parts(game)
        write_action_mask(cards, calls, masks[k])
