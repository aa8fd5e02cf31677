"""What each action is worth by a search: numbers to learn from, where an agent takes only the best one."""

from __future__ import annotations

import numpy as np

from agents.base import FloatArray, KeyArray
from agents.search.draft_worlds import is_drafting
from agents.search.effort import DRAFT_WORLDS, Desk, Effort
from agents.search.searcher import FIRST_ROUND, best_of, drop_losers, start, value_worlds
from agents.search.worlds import kept_worlds
from agents.stakes import Stakes
from spades_env.engine.kernel import kernel
from spades_env.engine.state import StateArray
from spades_env.view import write_view


@kernel
def mean_gap(values: FloatArray, rows: int, best: int, n: int) -> float:
    """How far candidate `n` lies behind `best` on average over the first `rows` worlds."""
    total = 0.0
    for k in range(rows):
        total += values[k, best] - values[k, n]
    return total / rows


@kernel
def write_values(known: np.void, count: int, effort: Effort, stakes: Stakes, points: Stakes, desk: Desk) -> None:
    """Fill `desk.totals` with the worth of each candidate, as rounds and elimination of `searcher.compare` find it.

    A candidate that was dropped early is placed by its distance from the best in the worlds that it saw.
    """
    worlds = effort.worlds * (DRAFT_WORLDS if is_drafting(known) else 1)
    seen = np.zeros(count, np.int64)
    done, left, best = 0, count, 0
    desk.totals[:] = 0.0
    while done < worlds and left > 1:
        upto = min(worlds, FIRST_ROUND if done == 0 else 2 * done)
        value_worlds(known, done, upto, count, effort, stakes, points, desk)
        for n in range(count):
            if desk.actions[n] >= 0:
                seen[n] = upto
                for k in range(done, upto):
                    desk.totals[n] += desk.values[k, n]
        done = upto
        best = best_of(desk.actions, desk.totals, count)
        left = drop_losers(desk.values, desk.actions, done, count, best, effort.margin)
    worth = desk.totals[best] / done
    for n in range(count):
        desk.totals[n] = worth - mean_gap(desk.values, seen[n], best, n)


@kernel
def search_values(
    views: StateArray,
    keys: KeyArray,
    effort: Effort,
    stakes: Stakes,
    points: Stakes,
    desk: Desk,
    out: FloatArray,
) -> None:
    """Fill out[row, action], float64 (n, 73), for every view; NaN for actions that are not compared.

    A row stays NaN where there is nothing to search: one candidate, a draft without a double nil, or no world found.
    """
    out[:] = np.nan
    for row in range(views.shape[0]):
        view = views[row]
        count = start(view, stakes, desk)
        if count < 2:
            continue
        write_view(view["known"], int(view["seat"]), desk.views[0])
        desk.views[0]["shown"] = view["shown"]
        known = desk.views[0]["known"]
        if not kept_worlds(known, keys[row], effort, desk):
            continue
        compared = desk.actions[:count].copy()
        write_values(known, count, effort, stakes, points, desk)
        for n in range(count):
            out[row, compared[n]] = desk.totals[n]
