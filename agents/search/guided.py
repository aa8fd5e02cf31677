"""A search that a policy network guides: its opinion is a prior for every candidate.

What a candidate is worth is its mean over worlds, as in searcher.py, plus `prior` points times the policy's log
probability. That is the mean to choose by where the means are uncertain (KL-regularised search; Grill et al. 2020), and
it keeps a search of few worlds from preferring by chance what the policy knows to be wrong.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from agents.base import ActionArray, KeyArray
from agents.learned.forward import Net, Scratch, ask, new_scratch
from agents.search.effort import Desk, Effort
from agents.search.searcher import FIRST_ROUND, best_of, drop_losers, start, value_worlds
from agents.search.worlds import kept_worlds
from agents.stakes import Stakes
from spades_env.actions import NUM_ACTIONS
from spades_env.cards import NUM_CARDS
from spades_env.engine.kernel import inline_kernel, kernel
from spades_env.engine.state import PHASE_BLIND, StateArray
from spades_env.engine.step import legal_parts
from spades_env.view import empty_views, write_view

LEAST_LOG_CHANCE = -8.0
"""No candidate is held against more than this, in nats."""


class Guide(NamedTuple):
    """The policy and what it works on.

    `views`: one view. `bonus`: float64, points for each candidate.
    """

    net: Net
    views: StateArray
    scratch: Scratch
    bonus: npt.NDArray[np.float64]


def new_guide(net: Net) -> Guide:
    """Memory for one search at a time."""
    return Guide(net, empty_views(1), new_scratch(net), np.zeros(NUM_ACTIONS))


@inline_kernel
def allows(cards: int, calls: int, action: int) -> bool:
    """Whether `action` is among the legal cards and calls."""
    return (cards >> action if action < NUM_CARDS else calls >> (action - NUM_CARDS)) & 1 == 1


@kernel
def policy_action(view: np.void, guide: Guide) -> int:
    """What the policy does in `view`: its likeliest legal action, the first among equals."""
    cards, calls = legal_parts(view["known"])
    guide.views[0] = view
    ask(guide.net, guide.views[0], guide.scratch)
    logits = guide.scratch.outputs
    best, highest = -1, -math.inf
    for action in range(NUM_ACTIONS):
        if allows(cards, calls, action) and logits[action] > highest:
            best, highest = action, logits[action]
    return best


@kernel
def write_bonus(view: np.void, desk: Desk, count: int, prior: float, guide: Guide) -> None:
    """Fill `guide.bonus` for the `count` candidates in `desk.actions`: `prior` times their log chance under the policy.

    A candidate card stands for the equal cards above it (candidates.py), and takes the best chance among them. Of a
    blind nil the policy has no opinion.
    """
    guide.bonus[:count] = 0.0
    if int(view["known"]["phase"]) == PHASE_BLIND:
        return
    cards, calls = legal_parts(view["known"])
    guide.views[0] = view
    ask(guide.net, guide.views[0], guide.scratch)
    logits = guide.scratch.outputs
    highest, total = -math.inf, 0.0
    for action in range(NUM_ACTIONS):
        if allows(cards, calls, action):
            highest = max(highest, logits[action])
    for action in range(NUM_ACTIONS):
        if allows(cards, calls, action):
            total += math.exp(logits[action] - highest)
    for n in range(count):
        action = int(desk.actions[n])
        best = logits[action]
        if action < NUM_CARDS:
            following = int(desk.actions[n + 1]) if n + 1 < count else NUM_CARDS
            for card in range(action + 1, min(following, 13 * (action // 13) + 13)):
                if (cards >> card) & 1:
                    best = max(best, logits[card])
        guide.bonus[n] = prior * max(LEAST_LOG_CHANCE, best - highest - math.log(total))


@kernel
def add_bonus(first: int, last: int, count: int, desk: Desk, guide: Guide) -> None:
    """Add each candidate's bonus to rows `first` to `last` - 1 of `desk.values`, and the rows to `desk.totals`."""
    for n in range(count):
        for k in range(first, last):
            if desk.actions[n] >= 0:
                desk.values[k, n] += guide.bonus[n]
            desk.totals[n] += desk.values[k, n]


@kernel
def guided_action(
    view: np.void,
    key: np.uint64,
    effort: Effort,
    prior: float,
    stakes: Stakes,
    points: Stakes,
    desk: Desk,
    guide: Guide,
) -> int:
    """The action of the seat to act in `view`; where there is nothing to search, the policy's."""
    desk.totals[:] = 0.0
    write_view(view["known"], int(view["seat"]), desk.views[0])
    desk.views[0]["shown"] = view["shown"]
    known = desk.views[0]["known"]
    count = start(desk.views[0], stakes, desk)
    if count == 1:
        return int(desk.actions[0])
    if count == 0 or not kept_worlds(known, key, effort, desk):
        return policy_action(desk.views[0], guide)
    write_bonus(desk.views[0], desk, count, prior, guide)
    done, left = 0, count
    while done < effort.worlds and left > 1:
        upto = min(effort.worlds, FIRST_ROUND if done == 0 else 2 * done)
        value_worlds(known, done, upto, count, effort, stakes, points, desk)
        add_bonus(done, upto, count, desk, guide)
        done = upto
        best = best_of(desk.actions, desk.totals, count)
        left = drop_losers(desk.values, desk.actions, done, count, best, effort.margin)
    return int(desk.actions[best_of(desk.actions, desk.totals, count)])


@kernel
def guided_moves(
    views: StateArray,
    rows: npt.NDArray[np.int64],
    keys: KeyArray,
    effort: Effort,
    prior: float,
    stakes: Stakes,
    points: Stakes,
    desk: Desk,
    guide: Guide,
    out: ActionArray,
) -> None:
    """`guided_action` for the `rows` of `views`."""
    for row in rows:
        out[row] = guided_action(views[row], keys[row], effort, prior, stakes, points, desk, guide)
