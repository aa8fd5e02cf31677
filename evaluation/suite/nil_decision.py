"""Task nil_decision: bids judged by what they come to over the possible worlds, nil and its chance above all."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from agents.base import AgentError, FloatArray, NilForecaster, decision_keys
from agents.rules.normal.bid import own_nil_chance
from agents.rules.normal.strength import expected_tricks
from agents.search.playout import deal_worth, play_on
from agents.search.sampler import new_plans
from agents.stakes import POINTS, Stakes
from evaluation.asking import asked
from evaluation.intervals import mean_interval
from evaluation.suite.choices import chosen
from evaluation.suite.positions import Columns, columns_of, load, states_from
from evaluation.suite.reference import Hands, bids_made, possible_worlds, scratch_states
from evaluation.suite.tables import dealer
from evaluation.suite.task import Outcome, Run, Task
from spades_env.actions import FIRST_BID
from spades_env.engine.kernel import kernel
from spades_env.engine.state import StateArray
from spades_env.engine.step import apply_action
from spades_env.rules import Rules
from spades_env.view import empty_views, views_to_act

FILE: Final = "nil_decision"
MADE_SEED: Final = 71_001
"""Of the deals that the file was made of."""
BIDS: Final = 14
PER_PLACE: Final = 150
WORLDS: Final = 600
FLOOR: Final = 0.3
"""Regret, in points, of whoever bids best by another 600 worlds: what luck of the worlds in the file comes to."""
MOST_DRAWS: Final = 200_000
QUESTION: Final = (0.2, 0.95)
"""A nil is a question if `normal`'s tables give it a chance between these."""
BINS: Final = 10
"""Of the calibration error: equal parts of 0..1."""


def nil_decision(run: Run) -> Outcome:
    """Regret of her bids, how she decides about nil, and how well she knows its chance."""
    columns = load(FILE)
    states = states_from(columns, run.games)
    values, made = columns["values"][: run.games] / 100.0, columns["nil_made"][: run.games] / WORLDS
    actions, illegal = chosen(run, states)
    bids = actions.astype(np.int64) - FIRST_BID
    regret = values.max(axis=1) - values[np.arange(len(bids)), bids]
    nil_is_best = values[:, 0] >= values[:, 1:].max(axis=1)
    place = columns["length"][: run.games]
    figures: dict[str, Any] = {
        "nil_decision": {
            "right_nil": int((nil_is_best & (bids == 0)).sum()),
            "missed_nil": int((nil_is_best & (bids != 0)).sum()),
            "wrong_nil": int((~nil_is_best & (bids == 0)).sum()),
            "right_other": int((~nil_is_best & (bids != 0)).sum()),
        },
        "regret_by_place": {str(k): float(regret[place == k].mean()) for k in range(4) if (place == k).any()},
        "calibration": calibration(run, states, made),
    }
    return Outcome(mean_interval(regret), run.games, illegal, figures)


def calibration(run: Run, states: StateArray, made: FloatArray) -> dict[str, Any]:
    """How well she knows the chance of nil: Brier score and calibration error against the share `made`, float64 (n,).

    Each position counts as all of its worlds. `brier_floor` is what the true shares themselves would score. Positions
    of which she says NaN are left out.
    """
    if not isinstance(run.agent, NilForecaster):
        return _no_calibration("the agent does not say (agents.base.NilForecaster)")
    views, keys = empty_views(len(states)), np.empty(len(states), np.uint64)
    views_to_act(states, views)
    decision_keys(states, keys)
    try:
        said = asked(run.agent.name, run.agent.nil_chances, views, keys)
    except AgentError as error:
        return _no_calibration(str(error))
    if said.shape != made.shape or not (np.isnan(said) | ((said >= 0.0) & (said <= 1.0))).all():
        return _no_calibration("what the agent says are not chances 0..1, one a position")
    known = ~np.isnan(said)
    if not known.any():
        return _no_calibration("the agent cannot say it of any position")
    said, made = said[known], made[known]
    return {
        "n": len(said),
        "brier": float(((said - made) ** 2 + made * (1.0 - made)).mean()),
        "brier_floor": float((made * (1.0 - made)).mean()),
        "ece": calibration_error(said, made),
        "bins": reliability(said, made),
        "mean_said": float(said.mean()),
        "mean_made": float(made.mean()),
    }


def reliability(said: FloatArray, made: FloatArray) -> list[dict[str, Any]]:
    """What was said against what came true in each of BINS equal bins of what was said; empty bins are left out."""
    bins = _bins(said)
    return [
        {"predicted": float(said[bins == k].mean()), "observed": float(made[bins == k].mean()), "n": int(count)}
        for k, count in enumerate(np.bincount(bins, minlength=BINS))
        if count
    ]


def _no_calibration(reason: str) -> dict[str, Any]:
    """No figures of calibration, and why."""
    return {"brier": None, "ece": None, "reason": reason}


def calibration_error(said: FloatArray, made: FloatArray) -> float:
    """Expected calibration error: gap between chances and shares in each of BINS equal bins, by its weight."""
    gaps = np.bincount(_bins(said), weights=said - made, minlength=BINS)
    return float(np.abs(gaps).sum() / len(said))


def _bins(said: FloatArray) -> npt.NDArray[np.int64]:
    """The bin of each chance, 0 to BINS - 1, int64 (n,)."""
    return np.minimum((said * BINS).astype(np.int64), BINS - 1)


@kernel
def asks_about_nil(states: StateArray, i: int, low: float, high: float) -> bool:
    """Whether nil is a question for the seat to bid in `states[i]`."""
    game = states[i]
    mine = expected_tricks(int(game["hands"][int(game["turn"])]), 4, 0)
    return low <= own_nil_chance(game, mine) <= high


@kernel
def bid_values(
    states: StateArray, i: int, worlds: Hands, count: int, scratch: StateArray, stakes: Stakes, out: FloatArray
) -> int:
    """Fill `out`, float64 (BIDS,), with the mean worth of each bid to her team over `worlds`; worlds where nil is made.

    `normal` plays on in every seat. `worlds`, int64 (count, 4), are hands by seat.
    """
    seat = int(states[i]["turn"])
    sign = 1.0 if seat % 2 == 0 else -1.0
    made = 0
    for bid in range(BIDS):
        total = 0.0
        for k in range(count):
            scratch[0] = states[i]
            for other in range(4):
                scratch[0]["hands"][other] = worlds[k, other]
            apply_action(scratch[0], FIRST_BID + bid)
            play_on(scratch[0], stakes)
            total += sign * deal_worth(states[i], scratch[0], stakes)
            if bid == 0 and int(scratch[0]["tricks"][seat]) == 0:
                made += 1
        out[bid] = total / count
    return made


def make(per_place: int = PER_PLACE) -> Columns:
    """Return the task's file: `values`, int32 (n, 14), hundredths of points, and `nil_made`, int16 (n,), of WORLDS."""
    parts: list[Columns] = []
    for place in range(4):
        deal, found, number = dealer(Rules(), MADE_SEED + place), 0, 0
        while found < per_place:
            states = deal(number, 1)
            number += 1
            bids_made(states, place)
            if not asks_about_nil(states, 0, *QUESTION):
                continue
            judged = _judged(states, number)
            if judged is not None:
                parts.append(judged)
                found += 1
    columns = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    # Any first part of the file has all four places.
    order = np.arange(4 * per_place).reshape(4, per_place).T.reshape(-1)
    return {name: array[order] for name, array in columns.items()}


def _judged(states: StateArray, number: int) -> Columns | None:
    """Return a row of the file for the position in `states[0]`, None if too few worlds are found."""
    worlds: npt.NDArray[np.int64] = np.zeros((WORLDS, 4), np.int64)
    scratch, values = scratch_states(), np.zeros(BIDS)
    found, _ = possible_worlds(
        states, 0, new_plans(1), np.uint64(number), MOST_DRAWS, empty_views(1), scratch, POINTS, worlds
    )
    if found < WORLDS:
        return None
    made = bid_values(states, 0, worlds, WORLDS, scratch, POINTS, values)
    judged = columns_of(states)
    judged["values"] = np.round(100.0 * values).astype(np.int32)[None]
    judged["nil_made"] = np.array([made], np.int16)
    return judged


NIL_DECISION: Final = Task(
    id="nil_decision",
    version=1,
    title="To bid nil or not",
    definition=(
        f"Frozen positions at the bid, {PER_PLACE} in each of the four places of the bidding, in which `normal` has "
        f"made the bids before and her tables give a nil a chance from {QUESTION[0]} to {QUESTION[1]}. Each of the 14 "
        f"bids was valued over {WORLDS} worlds: drawn uniformly among the layouts of the unseen cards and kept if "
        "`normal` would have made the bids heard in them, so that they are the exact posterior under the frozen "
        "bidders; in each `normal` bid and played on in all seats. The regret is the mean worth of the best bid minus "
        "that of the agent's, in points of her team minus the other's, bags at −9. The best of finitely many "
        f"worlds is in part luck: who bids best by another {WORLDS} worlds has a regret of about {FLOOR} points, which "
        "is the floor (measured on 80 of the positions). `nil_decision` counts rightly and "
        "wrongly bid and missed nils. An agent that offers `nil_chances` is asked for her chance of nil, too: `brier` "
        "and `ece` (ten bins) are its Brier score and calibration error against the share of worlds in which nil was "
        "made; `brier_floor` is the score of the shares themselves. Positions of which she says NaN are left out of "
        "these, `n` says how many are left."
    ),
    metric="regret of the bid",
    unit="points per decision",
    higher_is_better=False,
    rules="classic",
    rule_set=Rules(),
    games=4 * PER_PLACE,
    of="positions",
    decisions=1,
    play=nil_decision,
)
