"""How well a search knows the hidden cards: `python -m benchmarks.beliefs` prints log-losses of its beliefs.

One agent plays deals on all seats. The seat that leads to a trick says how likely every unseen card is with every other
seat, by three methods: all layouts alike, worlds weighted by the bids, and by bids and plays. The log-loss is what the
truth costs, in nats a card, less is better; `z` is the gain of a method over the one before in standard errors.
"""

from __future__ import annotations

import argparse
import datetime
from typing import Final

import numpy as np

from agents.base import Agent, decision_keys
from agents.registry import load_agent
from agents.search.beliefs import bids_and_plays
from agents.search.calibration import Calibration, Method, UniformLayouts, Weigh, WeightedWorlds, calibrate
from evaluation.machine import machine, versions
from spades_env.engine import step
from spades_env.engine.state import PHASE_PLAY, STATE, StateArray, rules_to_record
from spades_env.rules import PRESETS, Rules
from spades_env.view import empty_views, views_to_act

PLAYERS: Final = ("normal:objective=points", "hard:worlds=30,exact=4,objective=points")
TRICKS: Final = (0, 4, 8)
TRUST: Final = 0.7
"""What a surprising play costs a world in log-likelihood; the default of the searches."""


bids_only: Weigh = bids_and_plays(0.0)


def views_at(agent: Agent, rules: Rules, trick: int, deals: int, seed: int) -> tuple[StateArray, StateArray]:
    """(views of the seat that leads to trick number `trick`, the states) in deals that `agent` plays on all seats.

    Both have shape (deals,).
    """
    states, views, keys = np.zeros(deals, STATE), empty_views(deals), np.empty(deals, np.uint64)
    step.new_games(states, rules_to_record(rules), seed, 0)
    while True:
        waiting = np.flatnonzero((states["phase"] != PHASE_PLAY) | (states["trick"] < trick))
        views_to_act(states, views)
        if not len(waiting):
            return views, states
        decision_keys(states, keys)
        for i, action in zip(waiting, agent.act(views[waiting], keys[waiting]), strict=True):
            step.apply(states, int(i), int(action))


def methods(worlds: int) -> dict[str, Method]:
    """What is compared, each with more evidence than the one before."""
    return {
        "uniform": UniformLayouts(),
        "bids": WeightedWorlds(bids_only, worlds),
        "bids + plays": WeightedWorlds(bids_and_plays(TRUST), worlds),
    }


def gain(before: Calibration, after: Calibration) -> float:
    """How many standard errors over positions the log-loss has gone down by."""
    saved = before.losses - after.losses
    error = float(saved.std(ddof=1)) / len(saved) ** 0.5
    return float(saved.mean()) / error if error > 0.0 else 0.0


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.beliefs", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--deals", type=int, default=400, help="deals for each player and trick")
    parser.add_argument("--worlds", type=int, default=10_000, help="worlds drawn for each position")
    parser.add_argument("--rules", choices=tuple(PRESETS), default="classic")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    started = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    print(f"{started}  {machine() | versions()}")
    print(f"{options.rules}, {options.deals} deals, {options.worlds} worlds, seed {options.seed}; nats per unseen card")
    for spec in PLAYERS:
        agent = load_agent(spec)
        for trick in TRICKS:
            views, states = views_at(agent, PRESETS[options.rules], trick, options.deals, options.seed)
            row, last = f"{spec}, trick {trick}:", None
            for name, method in methods(options.worlds).items():
                found = calibrate(views, states, method)
                row += f"  {name} {found.log_loss:.4f}" + (f" (z {gain(last, found):.1f})" if last else "")
                last = found
            print(row, flush=True)


if __name__ == "__main__":
    main()
