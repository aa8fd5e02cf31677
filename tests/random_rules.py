"""Random but valid `Rules` for property and differential tests, every option value equally likely."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np

from spades_env.rules import PRESETS, Rules, RulesError

CHOICES: dict[str, tuple[Any, ...]] = {
    "target": (1, 60, 200, 500),
    "mercy": (None, -1, -200),
    "turn_direction": ("clockwise", "counter_clockwise"),
    "first_seat": ("next", "dealers_left"),
    "nil_allowed": (True, True, True, False),
    "nil_value": (0, 50, 100),
    "blind_nil": (False, True),
    "blind_nil_value": (150, 200),
    "blind_nil_deficit": (None, 0, 100),
    "blind_nil_exchange": (0, 1, 3, 13),
    "jokers": (False, True),
    "lead_spades": ("broken", "any", "only_spades_left"),
    "forced_lead_breaks": (False, True),
    "failed_nil": ("bags_only", "help_partner", "ignored"),
    "both_nil": ("independent", "unit"),
    "contract": ("team", "individual"),
    "bag_limit": (0, 1, 5, 10),
    "bag_penalty": (0, 50, 100),
    "bag_points": (-1, 0, 1),
    "bag_after": ("carry", "reset"),
    "min_bid": (1, 2, 4),
    "max_team_bid": (None, None, 8, 13),
    "opening_lead": ("any", "low_club"),
    "first_trick_spades": ("allow", "forbid"),
    "draft_second_card_seen": (False, True),
    "max_deals": (None, 1, 3),
}
FORMS: tuple[dict[str, Any], ...] = (
    {"players": 4, "deal": "dealt"},
    {"players": 4, "deal": "dealt"},
    {"players": 2, "deal": "draft"},
    {"players": 2, "deal": "dealt"},
    {"players": 4, "deal": "dealt", "suits": 4, "ranks": 4, "hand_size": 4, "jokers": False},
    {"players": 4, "deal": "dealt", "suits": 2, "ranks": 8, "hand_size": 3, "jokers": False},
    {"players": 2, "deal": "dealt", "suits": 3, "ranks": 6, "hand_size": 8, "jokers": False},
)


def rules_by(pick: Callable[[int], int]) -> Rules | None:
    """The form and option values that `pick(n)`, a number below n, chooses one by one; None if they are refused."""
    form = FORMS[pick(len(FORMS))]
    values = {name: choices[pick(len(choices))] for name, choices in CHOICES.items()}
    if form["deal"] == "dealt":
        values |= {"blind_nil_exchange": 0, "draft_second_card_seen": False}
    if form["players"] == 2:
        values |= {"turn_direction": "clockwise", "first_seat": "next", "both_nil": "independent"}
        values |= {"contract": "team", "max_team_bid": None}
        values["failed_nil"] = ("bags_only", "ignored")[pick(2)]
    if not values["nil_allowed"]:
        values["blind_nil"] = False
    try:
        return Rules(**(values | form))
    except RulesError:
        return None


def random_rules(rng: np.random.Generator) -> Rules:
    """A uniformly drawn form and option values, drawn again while the combination is refused."""
    while True:
        rules = rules_by(lambda n: int(rng.integers(n)))
        if rules is not None:
            return rules


def some_rules(rng: np.random.Generator) -> Rules:
    """A preset (one time in three) or random rules."""
    if rng.integers(3) == 0:
        return list(PRESETS.values())[rng.integers(len(PRESETS))]
    return random_rules(rng)


def option_values(rules: Rules) -> list[tuple[str, Any]]:
    """(field, value) of every field, for counting coverage."""
    return [(field.name, getattr(rules, field.name)) for field in dataclasses.fields(rules)]
