"""Which stakes an agent plays for in each view of a batch: points, or the match by the equity table of its rules."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from agents.base import AgentError
from agents.stakes import POINTS, Stakes, is_near_end
from spades_env.engine.kernel import kernel
from spades_env.engine.state import StateArray, rules_from_record

Objective = Literal["auto", "points", "match"]
RowArray = npt.NDArray[np.int64]


def checked_objective(objective: str) -> None:
    """Refuse an objective that does not exist."""
    if objective not in get_args(Objective):
        raise AgentError(f"objective={objective!r} is not allowed: one of {', '.join(get_args(Objective))}")


@kernel
def rows_near_end(views: StateArray, out: RowArray) -> int:
    """Write the rows of `views` whose match is near its end first, then the others, to `out`; how many are near."""
    near = 0
    for row in range(views.shape[0]):
        if is_near_end(views[row]["known"]):
            out[near] = row
            near += 1
    place = near
    for row in range(views.shape[0]):
        if not is_near_end(views[row]["known"]):
            out[place] = row
            place += 1
    return near


def stakes_of(rules: np.void) -> Stakes:
    """The equity table of the rules in a RULES record; made when first asked for, which takes seconds."""
    # Imported late: the table is made from deals that an agent of this package plays.
    table = importlib.import_module("agents.equity.table").equity_table(rules_from_record(rules))
    return table.values, table.grid


def for_each_stakes(views: StateArray, objective: Objective) -> Iterator[tuple[RowArray, Stakes]]:
    """Yield (rows, stakes) so that every row of `views`, dtype VIEW, comes once."""
    rows = np.arange(views.shape[0], dtype=np.int64)
    near = 0
    if objective == "auto":
        near = rows_near_end(views, rows)
    elif objective == "match":
        near = rows.size
    if near < rows.size:
        yield rows[near:], POINTS
    if near == 0:
        return
    near_rows = rows[:near]
    rules = views["known"]["rules"][near_rows]
    _, first, group = np.unique(
        rules.view(np.dtype((np.void, rules.dtype.itemsize))), return_index=True, return_inverse=True
    )
    for k in range(first.size):
        yield near_rows[group == k], stakes_of(rules[first[k]])
