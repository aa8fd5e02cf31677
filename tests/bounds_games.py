"""A script for test_bounds.py: plays games through the compiled kernels and says what it did.

Run under NUMBA_BOUNDSCHECK=1, an index outside an array raises IndexError. `python bounds_games.py PART...`
"""

from __future__ import annotations

import sys
from collections.abc import Callable

import numpy as np
from random_rules import random_rules

from spades_env.engine import front
from spades_env.engine.batch import SpadesBatch
from spades_env.engine.kernel import kernel
from spades_env.engine.lockstep import decision_keys
from spades_env.engine.state import STATE, StateArray
from spades_env.game import Game
from spades_env.observation import ENCODERS, STATE_SIZE, encode_state
from spades_env.rules import PRESETS, Rules
from spades_env.view import empty_views, view_of, views_to_act, write_view_masks


@kernel
def held_by(states: StateArray, seat: int) -> int:
    """Cards of a seat that need not exist."""
    return int(states[0]["hands"][seat])


def check_that_bounds_are_checked() -> None:
    """A list of four inside a record, the form in which the engine holds nearly everything, has no fifth entry."""
    try:
        held_by(np.zeros(1, STATE), 4)
    except IndexError:
        return
    raise SystemExit("bounds are not checked")


def some_rules() -> list[Rules]:
    """The presets, and forms and options that random rules bring."""
    rng = np.random.default_rng(5)
    return [*PRESETS.values(), *(random_rules(rng) for _ in range(40))]


def play(rules: Rules, seen: Callable[[StateArray], None], games: int = 3, steps: int = 240) -> int:
    """Random play of whole matches, `seen` at every position; decisions made."""
    batch = SpadesBatch(games, rules, seed=8)
    batch.states["scores"] = (0, -150)
    for i in range(games):
        front.begin_deal(batch.states, i)
    for k in range(steps):
        seen(batch.states)
        batch.action_masks()
        batch.step(batch.sample_actions(3, k))
    return games * steps


def observe(states: StateArray) -> None:
    """Every seat's view, mask and rows of every encoder, and the critic's state."""
    n, players = len(states), int(states["rules"]["players"][0])
    views = empty_views(n)
    for seat in range(players):
        for i in range(n):
            view_of(states, i, seat, views, i)
        write_view_masks(views, np.empty((n, 73), np.int8))
        for encoder in ENCODERS.values():
            encoder.write(views, np.empty((n, encoder.layout.size), np.uint8))
        encode_state(states, 0, seat, np.empty(STATE_SIZE, np.uint8))


def engine() -> int:
    """Engine, views, observations; saving and reading games."""
    decisions = 0
    for rules in some_rules():
        decisions += play(rules, observe)
        Game.from_bytes(Game(rules, seed=3).to_bytes())
    return decisions


def training() -> int:
    """What training collects, and the vector environment."""
    from spades_env.envs.vector import SpadesVectorEnv
    from training.seats import SeatVecEnv

    decisions = 0
    rng = np.random.default_rng(2)
    for rules in PRESETS.values():
        seats = SeatVecEnv(rules, 8, seed=1)
        for first in (0, 8):
            seats.deal(first)
            while len(games := seats.waiting()):
                _, masks = seats.observe(games)
                seats.keys(games)
                seats.choose(games, np.array([rng.choice(np.flatnonzero(mask)) for mask in masks]))
                decisions += len(games)
            seats.rewards()
        vector = SpadesVectorEnv(rules, num_envs=4)
        vector.reset(seed=1)
        for _ in range(120):
            vector.step([rng.choice(np.flatnonzero(mask)) for mask in vector.action_masks()])
            decisions += 4
    return decisions


def agents() -> int:
    """The named agents, as light as tests can afford them, on views of random play."""
    from light_agents import SPECS, specs_for

    from agents.registry import load_agent

    decisions = 0
    for name, spec in SPECS.items():
        agent = load_agent(spec)

        def act(states: StateArray, agent: object = agent) -> None:
            views, keys = empty_views(len(states)), np.zeros(len(states), np.uint64)
            views_to_act(states, views)
            decision_keys(states, keys)
            agent.act(views, keys)  # type: ignore[attr-defined]

        for rules in (*PRESETS.values(), *some_rules()[4:8]):
            if name not in specs_for(rules):
                continue
            decisions += play(rules, act, games=1, steps=110)
    return decisions


PARTS = {"engine": engine, "training": training, "agents": agents}

if __name__ == "__main__":
    check_that_bounds_are_checked()
    for part in sys.argv[1:]:
        print(f"{part}: {PARTS[part]()} decisions")
