"""Worlds for a search: drawn uniformly among the layouts that fit, then chosen in proportion to their likelihood."""

from __future__ import annotations

import math

import numpy as np

from agents.search.draft_worlds import deal_discards, deal_draft, is_drafting, is_exchanging
from agents.search.effort import Desk, Effort, FloatArray, IntArray
from agents.search.likelihood import bid_fit, rewind, surprises
from agents.search.sampler import prepare, sample
from spades_env.engine.kernel import kernel
from spades_env.engine.rng import combine, unit
from spades_env.engine.state import PHASE_PLAY

UNIFORM_SHARE = 8
"""One world in so many is kept whatever the bids and plays say: nobody's habits are known for certain."""
STREAM_WORLDS, STREAM_BIDS, STREAM_PLAYS, STREAM_PILE = 1, 2, 3, 4


@kernel
def draw_batch(known: np.void, stream: np.uint64, first: int, last: int, desk: Desk) -> None:
    """Draw worlds `first` to `last` - 1 into `desk.hands`, the log-likelihoods of the bids into `desk.weights`."""
    seat, world = int(known["turn"]), desk.states[0]
    for n in range(first, last):
        sample(desk.plans[0], stream, n, world)
        for other in range(4):
            desk.hands[n, other] = world["hands"][other]
        desk.weights[n] = bid_fit(known, world, seat)


@kernel
def effective_size(weights: FloatArray, count: int) -> float:
    """Worlds of equal weight that are worth as much as the first `count` of log-weights `weights` (Kish 1965)."""
    best = weights[:count].max()
    total, squares = 0.0, 0.0
    for n in range(count):
        weight = math.exp(weights[n] - best)
        total += weight
        squares += weight * weight
    return total * total / squares


@kernel
def draw_worlds(known: np.void, key: np.uint64, desk: Desk) -> int:
    """Draw worlds until they are worth `desk.picked.size` of equal weight or `desk.hands` is full; how many.

    0 if the sampler cannot (see sampler.py).
    """
    if prepare(known, int(known["turn"]), desk.plans[0]) == 0.0:
        return 0
    desk.states[0] = known
    stream = combine(key, STREAM_WORLDS)
    wanted, most = desk.picked.shape[0], desk.hands.shape[0]
    drawn = 0
    while drawn < most:
        upto = min(most, max(2 * drawn, wanted))
        draw_batch(known, stream, drawn, upto, desk)
        drawn = upto
        if effective_size(desk.weights, drawn) >= wanted:
            break
    return drawn


@kernel
def choose(weights: FloatArray, count: int, stream: np.uint64, chosen: IntArray) -> None:
    """Fill `chosen` with indices below `count` in proportion to exp(weights): systematic resampling.

    They are put in random order, so that the first few are as good a sample as all.
    """
    best = weights[:count].max()
    total = 0.0
    for n in range(count):
        weights[n] = math.exp(weights[n] - best)
        total += weights[n]
    size = chosen.shape[0]
    step = total / size
    mark = unit(stream, 0) * step
    passed, n = weights[0], 0
    for k in range(size):
        while passed < mark and n < count - 1:
            n += 1
            passed += weights[n]
        chosen[k] = n
        mark += step
    for k in range(size - 1, 0, -1):
        other = int(unit(stream, k) * (k + 1))
        chosen[k], chosen[other] = chosen[other], chosen[k]


@kernel
def weigh_plays(known: np.void, trust: float, desk: Desk) -> None:
    """Fill `desk.weights` with the log-likelihood of the plays so far in the worlds `desk.picked`."""
    seat = int(known["turn"])
    for k in range(desk.picked.shape[0]):
        for other in range(4):
            desk.states[0]["hands"][other] = desk.hands[desk.picked[k], other]
        desk.states[1] = known
        rewind(known, desk.states[0], desk.states[1])
        desk.weights[k] = -trust * surprises(known, desk.states[1], seat)


@kernel
def keep_uniform(drawn: int, chosen: IntArray) -> None:
    """Put the worlds drawn first, which are uniform, in place of every UNIFORM_SHARE-th chosen one."""
    for k in range(UNIFORM_SHARE - 1, chosen.shape[0], UNIFORM_SHARE):
        chosen[k] = (k // UNIFORM_SHARE) % drawn


@kernel
def kept_worlds(known: np.void, key: np.uint64, effort: Effort, desk: Desk) -> bool:
    """Choose the worlds of a search: `desk.chosen` are indices into `desk.hands`; False if none can be drawn."""
    desk.stream[0] = combine(key, STREAM_PILE)
    if is_drafting(known):
        return True  # drawn by `lay_out`, with what the draft tells
    drawn = draw_worlds(known, key, desk)
    if drawn == 0:
        return False
    played = int(known["phase"]) == PHASE_PLAY and int(known["n_actions"]) > int(known["first_play"])
    if effort.reads == 0 or not played:
        choose(desk.weights, drawn, combine(key, STREAM_BIDS), desk.chosen)
        keep_uniform(drawn, desk.chosen)
        return True
    choose(desk.weights, drawn, combine(key, STREAM_BIDS), desk.picked)
    weigh_plays(known, effort.trust, desk)
    choose(desk.weights, desk.picked.shape[0], combine(key, STREAM_PLAYS), desk.chosen)
    for k in range(desk.chosen.shape[0]):
        desk.chosen[k] = desk.picked[desk.chosen[k]]
    keep_uniform(drawn, desk.chosen)
    return True


@kernel
def lay_out(known: np.void, k: int, desk: Desk) -> None:
    """Make `desk.states[0]`, a copy of `known`, the `k`-th world of those kept."""
    world = desk.states[0]
    key = combine(desk.stream[0], k)
    if is_drafting(known):
        deal_draft(known, int(desk.views[0]["shown"]), key, world)
        return
    for other in range(4):
        world["hands"][other] = desk.hands[desk.chosen[k], other]
    if is_exchanging(known):
        deal_discards(known, key, world)
