"""Task endgames: cards judged by exact values over the worlds that are possible."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from agents.base import FloatArray
from agents.search.candidates import distinct_cards
from agents.search.sampler import new_plans
from agents.search.solver.api import NO_LIMIT, solve_moves
from agents.search.solver.workspace import new_workspace
from agents.stakes import POINTS, Stakes
from evaluation.intervals import mean_interval
from evaluation.suite.choices import chosen
from evaluation.suite.positions import Columns, columns_of, load, states_from
from evaluation.suite.reference import Hands, cards_played, played_otherwise, possible_worlds, scratch_states
from evaluation.suite.tables import dealer
from evaluation.suite.task import Outcome, Run, Task
from spades_env.cards import NUM_CARDS
from spades_env.engine.kernel import kernel, lowest_bit, popcount
from spades_env.engine.play import legal_cards
from spades_env.engine.state import PHASE_PLAY, StateArray
from spades_env.rules import Rules
from spades_env.view import empty_views

FILE: Final = "endgames"
MADE_SEED: Final = 72_001
TRICKS_LEFT: Final = (3, 4, 5)
PER_SIZE: Final = 100
WORLDS: Final = 300
LEAST_WORLDS: Final = 200
MOST_DRAWS: Final = 60_000
LEAST_SPREAD: Final = 5.0
"""Points between the best and the worst card from which on a choice matters."""
NO_CARD: Final = np.iinfo(np.int32).min
"""In the file: no legal card."""


def endgames(run: Run) -> Outcome:
    """Regret of her cards."""
    columns = load(FILE)
    values = columns["values"][: run.games]
    states = states_from(columns, run.games)
    actions, illegal = chosen(run, states)
    taken = values[np.arange(len(actions)), actions]
    regret = (values.max(axis=1) - taken) / 100.0
    left = 13 - (columns["length"][: run.games].astype(np.int64) - 4) // 4
    figures = {
        "best_card_share": float((regret == 0.0).mean()),
        "regret_by_tricks_left": {str(k): float(regret[left == k].mean()) for k in TRICKS_LEFT if (left == k).any()},
        "played_otherwise": played_otherwise(states, scratch_states(), POINTS),
    }
    return Outcome(mean_interval(regret), run.games, illegal, figures)


@kernel
def has_choice(states: StateArray, i: int) -> bool:
    """Whether the seat to act has cards that are not equals."""
    game = states[i]
    return int(game["phase"]) == PHASE_PLAY and popcount(distinct_cards(game, int(game["turn"]))) > 1


@kernel
def mean_values(
    states: StateArray,
    i: int,
    worlds: Hands,
    count: int,
    scratch: StateArray,
    workspace: StateArray,
    stakes: Stakes,
    out: FloatArray,
) -> int:
    """Fill `out`, float64 (54,), with the mean exact value of every legal card to her team; the mask of these cards."""
    game = states[i]
    sign = 1.0 if int(game["turn"]) % 2 == 0 else -1.0
    legal = legal_cards(game)
    solved = np.zeros(NUM_CARDS)
    out[:] = 0.0
    for k in range(count):
        scratch[0] = game
        for other in range(4):
            scratch[0]["hands"][other] = worlds[k, other]
        solve_moves(scratch[0], workspace[0], stakes, NO_LIMIT, solved)
        cards = legal
        while cards:
            card = lowest_bit(cards)
            cards &= cards - 1
            out[card] += sign * solved[card] / count
    return legal


def make(per_size: int = PER_SIZE) -> Columns:
    """Return the task's file: `values`, int32 (n, 54), hundredths of points by card, NO_CARD where it is not legal."""
    parts: list[Columns] = []
    workspace, plans = new_workspace(), new_plans(1)
    for left in TRICKS_LEFT:
        deal, found, number = dealer(Rules(), MADE_SEED + left), 0, 0
        while found < per_size:
            states = deal(number, 1)
            # Her place in the trick goes round with the number of the deal.
            cards_played(states, 4 * (13 - left) + number % 4)
            number += 1
            judged = _judged(states, number, workspace, plans) if has_choice(states, 0) else None
            if judged is not None:
                parts.append(judged)
                found += 1
    columns = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    order = np.arange(len(TRICKS_LEFT) * per_size).reshape(len(TRICKS_LEFT), per_size).T.reshape(-1)
    return {name: array[order] for name, array in columns.items()}


def _judged(states: StateArray, number: int, workspace: StateArray, plans: StateArray) -> Columns | None:
    """Return a row of the file for the position in `states[0]`, None if worlds are few or the choice matters little."""
    worlds: npt.NDArray[np.int64] = np.zeros((WORLDS, 4), np.int64)
    scratch, values = scratch_states(), np.zeros(NUM_CARDS)
    views, key = empty_views(1), np.uint64(number)
    # A sixth of the draws shows whether it is worth going on.
    for most, least in ((MOST_DRAWS // 6, LEAST_WORLDS // 6), (MOST_DRAWS, LEAST_WORLDS)):
        found, _ = possible_worlds(states, 0, plans, key, most, views, scratch, POINTS, worlds)
        if found < least:
            return None
    legal = mean_values(states, 0, worlds, found, scratch, workspace, POINTS, values)
    is_legal = (legal >> np.arange(NUM_CARDS)) & 1 == 1
    if np.ptp(values[is_legal]) < LEAST_SPREAD:
        return None
    judged = columns_of(states)
    judged["values"] = np.where(is_legal, np.round(100.0 * values), NO_CARD).astype(np.int32)[None]
    return judged


ENDGAMES: Final = Task(
    id="endgames",
    version=1,
    title="Exact endgames",
    definition=(
        f"Frozen positions of deals that `normal` bid and played in all seats, {PER_SIZE} with each of "
        f"{', '.join(map(str, TRICKS_LEFT))} tricks left, in which the choice of a card matters ({LEAST_SPREAD:g} "
        "points or more between best and worst). Every legal card was valued by the exact solver, all four hands known "
        f"from then on, and averaged over {LEAST_WORLDS} to {WORLDS} worlds: drawn uniformly among the layouts of the "
        "unseen cards that fit, and kept if `normal` would have bid and played in them as the other seats did, so that "
        "they are the exact posterior under the frozen players; positions where such worlds are rarer than about "
        f"{LEAST_WORLDS} in {MOST_DRAWS:,} are left out. The regret is the value of the best card minus that of the "
        "agent's, in points of her team minus the other's, bags at −9. That all hands are known from then on is the "
        "measure's own bias: a card that keeps a guess open is not paid for it. That the best card is found "
        "by finitely many worlds hardly matters: on 58 of the positions the best card by another set of worlds was the "
        "same one each time, so that the floor of the regret is 0."
    ),
    metric="regret of the card",
    unit="points per decision",
    higher_is_better=False,
    rules="classic",
    rule_set=Rules(),
    games=len(TRICKS_LEFT) * PER_SIZE,
    of="positions",
    decisions=1,
    play=endgames,
)
