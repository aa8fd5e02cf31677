"""`python -m benchmarks.solver`: how long exact endings take, by tricks left, without and with a nil.

Positions: `classic` with bags at -5 and no bag penalty, random bids of 1 to 5 (and one nil, not failed in three of four
positions), random cards down to the lead of the trick. Times are of one thread; medians bear a busy machine best.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from agents.search.solver.api import NO_LIMIT, solve_at, solve_moves_at
from agents.search.solver.workspace import NODES, new_workspace
from agents.stakes import POINTS
from spades_env.actions import FIRST_BID
from spades_env.engine.batch import legal_action_list
from spades_env.engine.state import PHASE_BID, STATE, StateArray, rules_to_record
from spades_env.engine.step import apply, new_games
from spades_env.rules import Rules

RULES = Rules.preset("classic", bag_points=-5, bag_limit=0)
MOST_BID = 5


def position(left: int, nil: bool, rng: np.random.Generator) -> StateArray:
    """A random position at the lead of a trick with `left` tricks to go, shape (1,)."""
    while True:
        states = np.zeros(1, STATE)
        new_games(states, rules_to_record(RULES), int(rng.integers(2**40)), 0)
        game = states[0]
        nil_seat = int(rng.integers(4)) if nil else -1
        while int(game["phase"]) == PHASE_BID:
            bid = 0 if int(game["turn"]) == nil_seat else int(rng.integers(1, MOST_BID + 1))
            apply(states, 0, FIRST_BID + bid)
        while int(game["trick"]) < RULES.hand_size - left:
            legal = legal_action_list(states, 0)
            apply(states, 0, legal[rng.integers(len(legal))])
        # Random play fails most nils; a search meets the others.
        if nil_seat < 0 or int(game["tricks"][nil_seat]) == 0 or rng.integers(4) == 0:
            return states


def measure(
    positions: list[StateArray], solve_one: Callable[[StateArray, StateArray], object]
) -> tuple[npt.NDArray[np.float64], int, float]:
    """(milliseconds of every position, cards played by the search, seconds of CPU time)."""
    workspace = new_workspace()
    millis = np.zeros(len(positions))
    nodes, cpu = 0, 0.0
    for k, states in enumerate(positions):
        start, cpu_start = time.perf_counter(), time.process_time()
        solve_one(states, workspace)
        millis[k] = 1e3 * (time.perf_counter() - start)
        cpu += time.process_time() - cpu_start
        nodes += int(workspace["counters"][0][NODES])
    return millis, nodes, cpu


def value(states: StateArray, workspace: StateArray) -> object:
    """The value of a position."""
    return solve_at(states, 0, workspace, POINTS, NO_LIMIT)


def moves(states: StateArray, workspace: StateArray) -> object:
    """The value of every legal card."""
    return solve_moves_at(states, 0, workspace, POINTS, NO_LIMIT, np.empty(54))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tricks", type=int, nargs=2, default=(4, 9), metavar=("FROM", "TO"))
    parser.add_argument("--positions", type=int, default=400, help="positions of each kind (default 400)")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    warm_up = [position(3, False, np.random.default_rng(0))]
    print("what   nil  tricks  median ms     p95 ms    mean ms  nodes (mean)  M nodes/s")
    for name, solve_one in (("value", value), ("moves", moves)):
        measure(warm_up, solve_one)
        for nil in (False, True):
            for left in range(arguments.tricks[0], arguments.tricks[1] + 1):
                rng = np.random.default_rng([arguments.seed, left, nil])
                positions = [position(left, nil, rng) for _ in range(arguments.positions)]
                millis, nodes, cpu = measure(positions, solve_one)
                median, p95 = np.quantile(millis, (0.5, 0.95))
                print(
                    f"{name}  {'yes' if nil else ' no'}  {left:6d}  {median:9.4f}  {p95:9.4f}  {millis.mean():9.4f}"
                    f"  {nodes / len(positions):12,.0f}  {nodes / cpu / 1e6:9.1f}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
