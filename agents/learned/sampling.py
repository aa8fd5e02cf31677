"""Sampling from a policy's probabilities with the engine's counter-based random numbers."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from agents.base import KeyArray, decision_key
from spades_env.engine.kernel import kernel
from spades_env.engine.rng import combine, unit
from spades_env.engine.state import StateArray


@kernel
def keys_of_games(states: StateArray, games: npt.NDArray[np.int64], keys: KeyArray, copies: int = 1) -> None:
    """Fill keys[k] with the decision key of states[games[k]].

    Where each deal is there in `copies` neighbouring games, a key of the copy's own.
    """
    for k in range(games.shape[0]):
        key = decision_key(states[games[k]])
        keys[k] = key if copies == 1 else combine(key, games[k] % copies)


@kernel
def uniforms(keys: KeyArray, n: int, out: npt.NDArray[np.float64]) -> None:
    """Fill out[k] with the `n`-th number of stream keys[k], uniform in [0, 1)."""
    for k in range(keys.shape[0]):
        out[k] = unit(keys[k], n)


@kernel
def sample_rows(probabilities: npt.NDArray[np.float32], keys: KeyArray, out: npt.NDArray[np.int64]) -> None:
    """Draw out[k] from row k of `probabilities`, (n, actions), with number 0 of stream keys[k].

    An action of probability 0 is never drawn, rounding errors of the sum included.
    """
    for k in range(probabilities.shape[0]):
        total = 0.0
        for action in range(probabilities.shape[1]):
            total += probabilities[k, action]
        left = unit(keys[k], 0) * total
        chosen = -1
        for action in range(probabilities.shape[1]):
            if probabilities[k, action] > 0.0:
                chosen = action
                left -= probabilities[k, action]
                if left < 0.0:
                    break
        out[k] = chosen
