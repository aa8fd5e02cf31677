"""Positions for the tests of searches: kernels of the search for single games, and what a seat cannot see replaced."""

from __future__ import annotations

import numpy as np
from random_rules import random_rules
from test_agents import situations

from agents.base import Agent
from agents.rules.normal.agent import NormalAgent
from agents.search.sampler import new_plans, prepare_view, sample_worlds
from spades_env.engine import step
from spades_env.engine.state import HIDDEN, PHASE_DEAL_OVER, StateArray
from spades_env.rules import PRESETS, Rules
from spades_env.view import empty_views, views_to_act

POINTS_NORMAL = NormalAgent(objective="points")


def rules_of(case: str | int) -> Rules:
    """The preset of that name, or the random rules of that number."""
    return PRESETS[case] if isinstance(case, str) else random_rules(np.random.default_rng(case))


def scattered(rules: Rules, n: int, every: int, seed: int = 0) -> StateArray:
    """Positions of `n` deals of random play, before every so manieth decision, as one array."""
    return np.concatenate(situations(rules, n, seed)[seed % every :: every])


def acting(states: StateArray) -> StateArray:
    """The view of the seat to act in every game."""
    views = empty_views(len(states))
    views_to_act(states, views)
    return views


def played_by(agent: Agent, states: StateArray) -> list[StateArray]:
    """`states` before every decision of their deals as `agent` goes on with them on all seats, finished ones left out.

    For agents that need no keys.
    """
    found, states = [], states.copy()
    while len(states := states[states["phase"] < PHASE_DEAL_OVER]):
        found.append(states.copy())
        for i, action in enumerate(agent.act(acting(states), np.zeros(len(states), np.uint64))):
            step.apply(states, i, int(action))
    return found


def layouts_left(views: StateArray) -> list[float]:
    """How many layouts of the hidden cards fit each view; 0 where the sampler cannot tell."""
    plans = new_plans(1)
    return [float(prepare_view(views, i, plans)) for i in range(len(views))]


def hidden_seats(views: StateArray, i: int) -> list[int]:
    """Seats whose hands are not in view `i`: the others, and her own before she has looked (R10)."""
    seat, known = int(views["seat"][i]), views["known"][i]
    return [k for k in range(int(known["rules"]["players"])) if k != seat or not known["looked"][k]]


def in_another_world(states: StateArray, views: StateArray, seed: int) -> StateArray:
    """`states` with the hidden hands dealt anew as the views allow; drafts, which no sampler knows, as they are."""
    other, plans, worlds = states.copy(), new_plans(1), states[:1].copy()
    for i in range(len(states)):
        if sample_worlds(views, i, plans, np.uint64(seed + i), worlds) > 0.0:
            other["hands"][i] = worlds["hands"][0]
    return other


def stuffed(views: StateArray, states: StateArray) -> StateArray:
    """`views` with all of the records `states`, hidden fields too, put into them."""
    found = views.copy()
    found["known"] = states
    return found


def littered(views: StateArray, rng: np.random.Generator) -> StateArray:
    """`views` with random numbers wherever something is hidden: hands, pile, key, discards, cards exchanged."""
    found = views.copy()
    known = found["known"]
    n = len(found)
    known["key"] = rng.integers(0, 2**63, n)
    known["pile"] = rng.integers(0, 54, (n, 52))
    for i in range(n):
        for seat in hidden_seats(views, i):
            known["hands"][i, seat] = rng.integers(0, 1 << 54)
        if known["rules"]["draft"][i]:
            other = 1 - int(views["seat"][i])
            known["discards"][i] = rng.integers(0, 1 << 54)
            known["rejected"][i, other], known["thrown"][i, other] = rng.integers(0, 1 << 54, 2)
    covered = known["actions"] == HIDDEN
    known["actions"] = np.where(covered, rng.integers(0, 52, known["actions"].shape), known["actions"])
    return found
