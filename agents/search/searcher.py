"""The search: what each candidate action is worth on average over sampled worlds, by playouts or exactly.

A decision is decided by the view, the key and the effort, never by time: it comes out the same in any process.
"""

from __future__ import annotations

import math

import numpy as np

from agents.base import ActionArray, KeyArray
from agents.rules.normal.agent import normal_action
from agents.search.candidates import candidates
from agents.search.draft_worlds import is_drafting
from agents.search.effort import DRAFT_WORLDS, Desk, Effort, FloatArray, IntArray
from agents.search.playout import doubted_worth, play_on
from agents.search.solver.api import solve_moves
from agents.search.worlds import kept_worlds, lay_out
from agents.stakes import Stakes
from spades_env.engine.kernel import kernel
from spades_env.engine.rng import combine
from spades_env.engine.state import PHASE_PLAY, StateArray
from spades_env.engine.step import apply_action
from spades_env.view import write_view

FIRST_ROUND = 16
"""Worlds looked at before any candidate is dropped."""
TINY = 1e-9


@kernel
def value_worlds(
    known: np.void, first: int, last: int, count: int, effort: Effort, stakes: Stakes, points: Stakes, desk: Desk
) -> None:
    """Fill rows `first` to `last` - 1 of `desk.values`: worth of the `count` candidates to the mover's team.

    `points` are the stakes that the playouts' players have in mind.
    """
    states, actions = desk.states, desk.actions
    seat = int(known["turn"])
    sign = 1.0 if seat & 1 == 0 else -1.0
    left = int(known["rules"]["hand_size"]) - int(known["trick"])
    exactly = int(known["phase"]) == PHASE_PLAY and left <= effort.exact
    doubt = effort.doubt if int(known["phase"]) != PHASE_PLAY else 0.0
    states[0] = known
    for k in range(first, last):
        lay_out(known, k, desk)
        if exactly and solve_moves(states[0], desk.workspace[0], stakes, effort.nodes, desk.solved) != 0:
            for n in range(count):
                if actions[n] >= 0:
                    desk.values[k, n] = sign * desk.solved[actions[n]]
            continue
        for n in range(count):
            if actions[n] >= 0:
                states[1] = states[0]
                apply_action(states[1], actions[n])
                play_on(states[1], points)
                desk.values[k, n] = sign * doubted_worth(known, states[1], seat, doubt, stakes)


@kernel
def best_of(actions: IntArray, totals: FloatArray, count: int) -> int:
    """Index of the candidate with the highest total, the first among equals; dropped ones are passed over."""
    best = -1
    for n in range(count):
        if actions[n] >= 0 and (best < 0 or totals[n] > totals[best] + TINY * (1.0 + abs(totals[best]))):
            best = n
    return best


@kernel
def add_rows(values: FloatArray, first: int, last: int, count: int, totals: FloatArray) -> None:
    """Add rows `first` to `last` - 1 of `values` to `totals`."""
    for n in range(count):
        for k in range(first, last):
            totals[n] += values[k, n]


@kernel
def drop_losers(values: FloatArray, actions: IntArray, rows: int, count: int, best: int, margin: float) -> int:
    """Mark with -1 the candidates `margin` standard errors behind `best`, world by world; how many are left."""
    left = 0
    for n in range(count):
        if actions[n] < 0:
            continue
        total, squares = 0.0, 0.0
        for k in range(rows):
            gap = values[k, best] - values[k, n]
            total += gap
            squares += gap * gap
        mean = total / rows
        error = math.sqrt(max(0.0, squares / rows - mean * mean) / rows)
        if mean > margin * error + TINY:
            actions[n] = -1
        else:
            left += 1
    return left


@kernel
def compare(known: np.void, count: int, effort: Effort, stakes: Stakes, points: Stakes, desk: Desk) -> int:
    """Value the candidates in the chosen worlds and add up `desk.totals`; how many are still in the race.

    The worlds come in rounds of doubling size; after each, candidates that are clearly behind are dropped.
    """
    worlds = effort.worlds * (DRAFT_WORLDS if is_drafting(known) else 1)
    done, left = 0, count
    while done < worlds:
        upto = min(worlds, FIRST_ROUND if done == 0 else 2 * done)
        value_worlds(known, done, upto, count, effort, stakes, points, desk)
        add_rows(desk.values, done, upto, count, desk.totals)
        done = upto
        best = best_of(desk.actions, desk.totals, count)
        left = drop_losers(desk.values, desk.actions, done, count, best, effort.margin)
        if left == 1:
            break
    return left


@kernel
def start(view: np.void, stakes: Stakes, desk: Desk) -> int:
    """Write the candidates of the seat to act to `desk` and clear the totals; how many, 0: nothing to search here."""
    desk.totals[:] = 0.0
    return candidates(view["known"], int(view["known"]["turn"]), stakes, desk.actions)


@kernel
def search_batch(
    view: np.void, key: np.uint64, count: int, effort: Effort, stakes: Stakes, points: Stakes, desk: Desk
) -> int:
    """Compare the candidates in one batch of worlds of stream `key`; how many are left, 0 if no world can be drawn."""
    # Worlds and playouts take over the whole record: nothing hidden may be in it, whatever is in the caller's.
    write_view(view["known"], int(view["seat"]), desk.views[0])
    desk.views[0]["shown"] = view["shown"]
    known = desk.views[0]["known"]
    if not kept_worlds(known, key, effort, desk):
        return 0
    return compare(known, count, effort, stakes, points, desk)


@kernel
def search_action(view: np.void, key: np.uint64, effort: Effort, stakes: Stakes, points: Stakes, desk: Desk) -> int:
    """The action of the seat to act in `view`; where there is nothing to search, that of `normal`."""
    count = start(view, stakes, desk)
    if count == 1:
        return int(desk.actions[0])
    if count == 0 or search_batch(view, key, count, effort, stakes, points, desk) == 0:
        return normal_action(view["known"], int(view["shown"]), stakes)
    return int(desk.actions[best_of(desk.actions, desk.totals, count)])


@kernel
def search_moves(
    views: StateArray,
    rows: IntArray,
    keys: KeyArray,
    effort: Effort,
    stakes: Stakes,
    points: Stakes,
    desk: Desk,
    out: ActionArray,
) -> None:
    """`search_action` for the `rows` of `views`."""
    for row in rows:
        out[row] = search_action(views[row], keys[row], effort, stakes, points, desk)


# The steps of a search one by one, for the anytime search, which looks at the clock between batches.


@kernel
def start_row(views: StateArray, row: int, stakes: Stakes, desk: Desk) -> int:
    """`start` for one row of `views`."""
    return start(views[row], stakes, desk)


@kernel
def search_row(
    views: StateArray,
    row: int,
    key: np.uint64,
    batch: int,
    count: int,
    effort: Effort,
    stakes: Stakes,
    points: Stakes,
    desk: Desk,
) -> int:
    """`search_batch` for one row of `views`, in batch number `batch` of the worlds of `key`."""
    return search_batch(views[row], combine(key, batch), count, effort, stakes, points, desk)


@kernel
def fallback_row(views: StateArray, row: int, stakes: Stakes) -> int:
    """The action of `normal` for one row of `views`."""
    return normal_action(views[row]["known"], int(views[row]["shown"]), stakes)


@kernel
def best_row(count: int, desk: Desk) -> int:
    """The action with the highest total so far."""
    return int(desk.actions[best_of(desk.actions, desk.totals, count)])
