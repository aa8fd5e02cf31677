"""What the property tests draw: rules, a deal and the choices in it; and the loop that tries a property on many.

Hypothesis draws and shrinks: the first alternative of every choice is the simplest one. The same examples are drawn in
every run; under --run-slow many more.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from random_rules import rules_by

from spades_env.actions import NIL
from spades_env.engine import front, step
from spades_env.engine.batch import legal_action_list
from spades_env.engine.state import MAX_ACTIONS, PHASE_DEAL_OVER, STATE, StateArray, rules_to_record
from spades_env.rules import PRESETS, Rules

NIL_FROM = 176
"""Choices from here to 255 mean nil where it may be bid, so that nils are frequent."""


@dataclass(frozen=True)
class Plan:
    """A deal and what is done in it: choice k takes the (k-th byte modulo their number)-th of the legal actions."""

    rules: Rules
    seed: int
    dealer: int
    scores: tuple[int, int]
    bags: tuple[int, int]
    choices: bytes

    def start(self) -> StateArray:
        """The deal before its first decision, shape (1,)."""
        states = np.zeros(1, STATE)
        step.new_games(states, rules_to_record(self.rules), self.seed, 0)
        states["dealer"], states["scores"], states["bags"] = self.dealer, self.scores, self.bags
        front.begin_deal(states, 0)
        return states

    def action(self, states: StateArray) -> int:
        """What the seat to act does in the game in `states`, shape (1,)."""
        return self.choice(legal_action_list(states, 0), int(states["n_actions"][0]))

    def choice(self, legal: list[int], k: int) -> int:
        """The k-th action of the deal, one of `legal`."""
        byte = self.choices[k]
        return NIL if NIL in legal and byte >= NIL_FROM else legal[byte % len(legal)]

    def play(self, states: StateArray) -> Iterator[int]:
        """Play the deal in `states` to its end; each action comes before it is taken."""
        while not is_over(states):
            action = self.action(states)
            yield action
            step.apply(states, 0, action)


def is_over(states: StateArray) -> bool:
    """Whether the deal of the game in `states` has been scored."""
    return bool(states["phase"][0] >= PHASE_DEAL_OVER)


@st.composite
def rule_sets(draw: st.DrawFn) -> Rules:
    """A preset (one time in three), or any form with any option values that are not refused together."""
    preset = draw(st.sampled_from([*PRESETS.values(), *[None] * 8]))
    if preset is not None:
        return preset
    for _ in range(8):
        rules = rules_by(lambda n: draw(st.integers(0, n - 1)))
        if rules is not None:
            return rules
    assume(False)
    raise AssertionError("unreachable")


@st.composite
def plans(draw: st.DrawFn) -> Plan:
    """Any rules, any deal, scores from which a match may end, any bags below the limit, any choices."""
    rules = draw(rule_sets())
    most_bags = (rules.bag_limit or 12) - 1
    near = [0, rules.target - 40, rules.target - 120, (rules.mercy or -300) + 60]
    scores = [draw(st.sampled_from(near)) + draw(st.integers(-15, 15)) for _ in range(2)]
    return Plan(
        rules,
        seed=draw(st.integers(0, 2**32 - 1)),
        dealer=draw(st.integers(0, rules.players - 1)),
        scores=(scores[0], scores[1]),
        bags=(draw(st.integers(0, most_bags)), draw(st.integers(0, most_bags))),
        choices=draw(st.binary(min_size=MAX_ACTIONS, max_size=MAX_ACTIONS)),
    )


few_and_many = pytest.mark.parametrize(
    "examples", [60, pytest.param(1_000, marks=[pytest.mark.slow, pytest.mark.timeout(1800)])]
)
"""Numbers of examples of the fast and of the slow tests."""


def for_all(strategy: st.SearchStrategy[Any], check: Callable[[Any], Counter[str]], examples: int) -> Counter[str]:
    """Try `check` on so many drawn examples; the sum of the events it met, which are printed (`pytest -s`)."""
    events = Counter[str]()

    @settings(
        max_examples=examples,
        derandomize=True,
        database=None,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )
    @given(strategy)
    def holds(example: Any) -> None:
        events.update(check(example))
        events["examples"] += 1

    holds()
    print(dict(events))
    return events
