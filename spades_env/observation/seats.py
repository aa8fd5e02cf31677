"""Views for the agents and observations for the learner of games in lock-step (engine/lockstep.py)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from spades_env.engine.front import write_mask
from spades_env.engine.kernel import kernel
from spades_env.engine.lockstep import IndexArray, OutcomeArray, is_done
from spades_env.engine.state import StateArray
from spades_env.engine.write import Bytes
from spades_env.observation.blocks import FLAT_SCALES, FLAT_SIZE
from spades_env.observation.flat import Floats, check_rows, encode_flat, scale_row
from spades_env.view import VIEW, view_of, write_view


@kernel
def views_of_games(states: StateArray, games: IndexArray, views: StateArray) -> None:
    """Fill `views[k]`, dtype VIEW, for the seat to act of `states[games[k]]`."""
    for k in range(games.shape[0]):
        view_of(states, games[k], int(states[games[k]]["turn"]), views, k)


@kernel
def views_of_learner(states: StateArray, outcomes: OutcomeArray, games: IndexArray, views: StateArray) -> None:
    """Fill `views[k]`, dtype VIEW, for the outcome's seat in game `games[k]`, whoever is to act."""
    for k in range(games.shape[0]):
        view_of(states, games[k], int(outcomes[games[k]]["seat"]), views, k)


@kernel
def learner_masks(states: StateArray, outcomes: OutcomeArray, games: IndexArray, masks: npt.NDArray[np.int8]) -> None:
    """Masks of the learner in game `games[k]`, int8 (m, 73): 1 = legal; all ones once the episode is over."""
    for k in range(games.shape[0]):
        if is_done(outcomes, games[k]):
            masks[k, :] = 1
        else:
            write_mask(states, games[k], masks[k])


@kernel
def observe_learner(states: StateArray, outcomes: OutcomeArray, games: IndexArray, out: Bytes) -> None:
    """Observation of the outcome's seat in game `games[k]`, uint8 (m, FLAT_SIZE)."""
    check_rows(out.shape[0], out.shape[1], games.shape[0], FLAT_SIZE)
    view = np.empty(1, VIEW)[0]
    for k in range(games.shape[0]):
        write_view(states[games[k]], int(outcomes[games[k]]["seat"]), view)
        encode_flat(view, out[k])


@kernel
def observe_learner_float32(states: StateArray, outcomes: OutcomeArray, games: IndexArray, out: Floats) -> None:
    """Like `observe_learner`, into float32 of shape (m, FLAT_SIZE)."""
    check_rows(out.shape[0], out.shape[1], games.shape[0], FLAT_SIZE)
    view = np.empty(1, VIEW)[0]
    row = np.empty(FLAT_SIZE, np.uint8)
    for k in range(games.shape[0]):
        write_view(states[games[k]], int(outcomes[games[k]]["seat"]), view)
        encode_flat(view, row)
        scale_row(row, FLAT_SCALES, out[k])
