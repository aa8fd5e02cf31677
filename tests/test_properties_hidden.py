"""Properties of what is hidden (R30): a view is the state without what the referee says its seat does not know.

test_leak.py asks the same of observations and environments by permuting what is hidden; this is exact and quick.
"""

from __future__ import annotations

import random
from collections import Counter

import numpy as np
import pytest
from property_games import Plan, few_and_many, for_all, plans
from referee import Referee
from test_engine_vs_referee import act, referee_of

import spades_env
from spades_env.cards import mask_of
from spades_env.engine.state import HIDDEN, StateArray
from spades_env.rules import PRESETS
from spades_env.view import VIEW, empty_views, view_of, write_view_masks

EXCHANGES = list[tuple[int, int]]
"""(place in the history, who did it) of every card given up in an exchange."""


def known_to(seat: int, states: StateArray, referee: Referee, exchanges: EXCHANGES) -> StateArray:
    """The view of `seat` as R10 and R27-R30 describe it: all public facts, and what the referee says she knows."""
    view = empty_views(1)
    view["seat"], view["known"] = seat, states
    known, knows = view["known"][0], referee.knows(seat)
    known["key"], known["hands"], known["pile"], known["discards"] = 0, 0, HIDDEN, 0
    known["rejected"], known["thrown"] = 0, 0
    known["hands"][seat] = mask_of(knows["hand"] or ())
    if referee.rules["deal"] == "draft":
        known["rejected"][seat], known["thrown"][seat] = mask_of(knows["rejected"]), mask_of(knows["thrown"])
    for place, who in exchanges:
        if who != seat:
            known["actions"][place] = HIDDEN
    view["shown"] = HIDDEN if knows["shown"] is None else knows["shown"]
    return view


def check_views(plan: Plan) -> Counter[str]:
    """R10, R27-R31: at every decision every seat's view is what she knows, and only the seat to act has a mask."""
    states = plan.start()
    referee, events = referee_of(plan.rules, states[0]), Counter[str]()
    exchanges: EXCHANGES = []
    views, masks = empty_views(plan.rules.players), np.empty((plan.rules.players, 73), np.int8)
    while referee.seat_to_act() is not None:
        for seat in range(plan.rules.players):
            view_of(states, 0, seat, views, seat)
            assert_same_view(views[seat : seat + 1], known_to(seat, states, referee, exchanges))
            events["blind"] += referee.knows(seat)["hand"] is None
            events["shown"] += referee.knows(seat)["shown"] is not None
        write_view_masks(views, masks)
        for seat, mask in enumerate(masks):
            legal = referee.legal_actions() if seat == referee.seat_to_act() else set()
            assert set(np.flatnonzero(mask).tolist()) == legal
        action = plan.action(states)
        if referee.phase() == "exchange" and action < 54:
            exchanges.append((int(states["n_actions"][0]), int(states["turn"][0])))
        act(plan.rules, states, referee, action)
    events["exchanged"] += len(exchanges)
    return events


def assert_same_view(found: StateArray, wanted: StateArray) -> None:
    """Equal views; the fields that differ are named."""
    if found.tobytes() != wanted.tobytes():
        pairs = [(found, wanted, name) for name in VIEW.names or ()]
        pairs += [(found["known"], wanted["known"], name) for name in VIEW["known"].names or ()]
        raise AssertionError(
            {name: (a[name], b[name]) for a, b, name in pairs if a[name].tobytes() != b[name].tobytes()}
        )


@few_and_many
def test_a_view_is_what_the_seat_knows(examples: int) -> None:
    events = for_all(plans(), check_views, examples)
    assert min(events["blind"], events["shown"], events["exchanged"]) >= examples // 30, events


@pytest.mark.parametrize("preset", PRESETS)
def test_only_the_agent_to_act_has_a_mask(preset: str) -> None:
    """R30: in the environment the mask of the others is empty and their info says nothing else, off turn, too."""
    env, rng = spades_env.env(preset), random.Random(preset)
    env.reset(seed=3, options={"scores": (0, 150)})
    decisions = 0
    while env.unwrapped.game.deal == 0 and not any(env.terminations.values()):
        acting = env.agent_selection
        for agent in env.agents:
            mask = env.observe(agent)["action_mask"]
            assert mask.any() == (agent == acting)
            assert list(env.infos[agent]) == ["action_mask"]
            assert (env.infos[agent]["action_mask"] == mask).all()
        env.step(rng.choice(np.flatnonzero(env.infos[acting]["action_mask"]).tolist()))
        decisions += 1
    assert decisions >= 55
