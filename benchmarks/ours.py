"""Our loops: playouts inside a kernel, the batched environment as training uses it, the AEC environment."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from benchmarks.aec import play_episodes
from benchmarks.timing import Work
from spades_env.cards import NUM_CARDS
from spades_env.engine.batch import DEFAULT_MAX_DEALS, SpadesBatch
from spades_env.engine.kernel import kernel, nth_bit, popcount
from spades_env.engine.rng import below, combine
from spades_env.engine.state import STATE, rules_to_record
from spades_env.engine.step import NUM_ACTIONS, new_games, play_out
from spades_env.envs.aec import env
from spades_env.observation.blocks import FLAT_SIZE
from spades_env.observation.flat import observe_to_act
from spades_env.rules import Rules

RULES = Rules.preset("classic", max_deals=DEFAULT_MAX_DEALS)
DEALS_PER_CALL = 1_000
BATCH_GAMES = 1_024
STEPS_PER_CALL = 16


def playout(seed: int) -> Work:
    """Random play inside one kernel: shuffling, dealing, bidding, playing, scoring, new matches."""
    states = np.zeros(1, STATE)
    new_games(states, rules_to_record(RULES), seed, 0)
    calls = 0

    def work() -> int:
        nonlocal calls
        calls += 1
        return play_out(states, 0, np.uint64(seed + calls), DEALS_PER_CALL)

    return work


@kernel
def sample_from_masks(masks: npt.NDArray[np.int8], key: np.uint64, n: int, out: npt.NDArray[np.int64]) -> None:
    """A uniformly random legal action for every row of `masks`, shape (n_games, 73), into `out`.

    Packing a row into bits first is twice as fast as walking along it: the loops become vector code.
    """
    for i in range(masks.shape[0]):
        row = masks[i]
        cards, calls = 0, 0
        for action in range(NUM_CARDS):
            cards |= int(row[action]) << action
        for call in range(NUM_ACTIONS - NUM_CARDS):
            calls |= int(row[NUM_CARDS + call]) << call
        number_of_cards = popcount(cards)
        pick = below(combine(key, i), n, number_of_cards + popcount(calls))
        if pick < number_of_cards:
            out[i] = nth_bit(cards, pick)
        else:
            out[i] = NUM_CARDS + nth_bit(calls, pick - number_of_cards)


def batch_observation(seed: int) -> Work:
    """1,024 games from Python: observations (uint8), masks, random legal actions, checked steps."""
    batch = SpadesBatch(BATCH_GAMES, RULES, seed=seed)
    observations = np.empty((BATCH_GAMES, FLAT_SIZE), np.uint8)
    masks = np.empty((BATCH_GAMES, NUM_ACTIONS), np.int8)
    actions = np.empty(BATCH_GAMES, np.int64)
    key = np.uint64(seed)
    steps = 0

    def work() -> int:
        nonlocal steps
        for _ in range(STEPS_PER_CALL):
            observe_to_act(batch.states, observations)
            batch.action_masks(masks)
            sample_from_masks(masks, key, steps, actions)
            batch.step(actions)
            steps += 1
        return STEPS_PER_CALL * BATCH_GAMES

    return work


def aec(seed: int) -> Work:
    """`spades_env.env()` with its defaults."""
    return play_episodes(env(RULES), seed)
