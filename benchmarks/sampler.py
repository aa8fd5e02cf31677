"""Cost of sampling hidden hands: `python -m benchmarks.sampler` prints microseconds per plan and per world.

Positions come from random play, which shows more voids and so costs more than sensible play.
"""

from __future__ import annotations

import datetime
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np

from agents.search.sampler import FloatArray, marginals, new_plans, prepare, sample
from benchmarks.timing import Work, alternate, per_cpu_second
from evaluation.machine import machine, versions
from spades_env.engine import step
from spades_env.engine.batch import sample_actions
from spades_env.engine.kernel import kernel
from spades_env.engine.state import PHASE_BID, PHASE_PLAY, STATE, StateArray, rules_to_record
from spades_env.rules import PRESETS, Rules
from spades_env.view import empty_views, views_to_act

POSITIONS: Final = 256
WORLDS_PER_CALL: Final = 100
REPEATS: Final = 20
"""Times each position is prepared when the slowest is looked for."""


@dataclass(frozen=True)
class Case:
    """Positions of one kind: the seat to act after `cards` cards were played."""

    name: str
    rules: Rules
    cards: int


CASES: Final = (
    *(Case(f"classic, {cards} cards played", PRESETS["classic"], cards) for cards in (0, 8, 16, 24, 32, 40)),
    Case("low club, 16 cards played", PRESETS["classic"].replace(opening_lead="low_club"), 16),
    Case("low club, 28 cards played", PRESETS["classic"].replace(opening_lead="low_club"), 28),
    Case("hands of 12, 16 cards played", Rules(hand_size=12), 16),
    Case("hands of 12, 28 cards played", Rules(hand_size=12), 28),
    Case("two_player, 0 cards played", PRESETS["two_player"], 0),
    Case("two_player, 12 cards played", PRESETS["two_player"], 12),
)


def views_after(case: Case, seed: int) -> StateArray:
    """Views of the seats to act, shape (POSITIONS,), after random play to `case.cards` cards."""
    states, actions = np.zeros(POSITIONS, STATE), np.zeros(POSITIONS, np.int64)
    step.new_games(states, rules_to_record(case.rules), seed, 0)
    turn = 0
    while True:
        played = np.where(states["phase"] == PHASE_PLAY, states["n_actions"] - states["first_play"], -1)
        waiting = np.flatnonzero((played < case.cards) & ((case.cards > 0) | (states["phase"] != PHASE_BID)))
        if not len(waiting):
            break
        sample_actions(states, np.uint64(seed), turn, actions)
        for i in waiting:
            step.apply(states, int(i), int(actions[i]))
        turn += 1
    views = empty_views(POSITIONS)
    views_to_act(states, views)
    return views


@kernel
def prepare_all(views: StateArray, plans: StateArray, repeats: int) -> float:
    """Prepare `plans[i]` for `views[i]`, both of shape (n,), `repeats` times; the smallest number of layouts."""
    least = np.inf
    for _ in range(repeats):
        for i in range(views.shape[0]):
            least = min(least, prepare(views[i]["known"], int(views[i]["seat"]), plans[i]))
    return least


@kernel
def sample_all(plans: StateArray, worlds: StateArray, key: np.uint64) -> None:
    """Draw WORLDS_PER_CALL worlds for each of `plans`, shape (n,), into `worlds[0]`."""
    for i in range(plans.shape[0]):
        for n in range(WORLDS_PER_CALL):
            sample(plans[i], key, n, worlds[0])


@kernel
def marginals_all(plans: StateArray, out: FloatArray) -> None:
    """The marginals of each of `plans`, shape (n,), into `out`, shape (54, 4)."""
    for i in range(plans.shape[0]):
        marginals(plans[i], out)


def slowest(views: StateArray, plans: StateArray) -> float:
    """Microseconds that `prepare` takes in the position where it takes longest."""
    worst = 0.0
    for i in range(POSITIONS):
        best = np.inf
        for _ in range(3):
            start = time.perf_counter()
            prepare_all(views[i : i + 1], plans[i : i + 1], REPEATS)
            best = min(best, time.perf_counter() - start)
        worst = max(worst, best / REPEATS)
    return worst * 1e6


def works_of(views: StateArray, plans: StateArray) -> dict[str, Work]:
    """What is measured for one case; each call counts the plans or worlds that it made."""
    worlds, out = np.zeros(1, STATE), np.zeros((54, 4))

    def counted(run: Callable[[], object], number: int) -> Work:
        def work() -> int:
            run()
            return number

        return work

    return {
        "prepare": counted(lambda: prepare_all(views, plans, 1), POSITIONS),
        "sample": counted(lambda: sample_all(plans, worlds, np.uint64(1)), POSITIONS * WORLDS_PER_CALL),
        "marginals": counted(lambda: marginals_all(plans, out), POSITIONS),
    }


def main(rounds: int = 5, seconds: float = 0.2, seed: int = 0) -> None:
    """Print a table: microseconds of CPU time, median of `rounds` rounds of `seconds`."""
    started = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    print(f"{started}  {machine() | versions()}")
    print(f"{'positions':32}{'prepare us':>12}{'slowest us':>12}{'sample us':>12}{'marginals us':>14}")
    for case in CASES:
        views, plans = views_after(case, seed), new_plans(POSITIONS)
        assert prepare_all(views, plans, 1) >= 1
        works = works_of(views, plans)
        for work in works.values():
            work()  # compiles
        samples = alternate(works, rounds, seconds, lambda text: None)
        cost = {name: 1e6 / per_cpu_second(rows) for name, rows in samples.items()}
        row = f"{cost['prepare']:12.3f}{slowest(views, plans):12.2f}{cost['sample']:12.3f}{cost['marginals']:14.2f}"
        print(f"{case.name:32}{row}")


if __name__ == "__main__":
    main()
