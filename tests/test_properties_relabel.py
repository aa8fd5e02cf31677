"""Properties of symmetry: a game whose seats or side suits go by other names is the same game by other names.

Whole deals under any rules, the record compared byte for byte after every action: seats turned around the table, the
table seen in a mirror (which turns the direction of play), side suits renamed. test_symmetry.py has the encoders.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import strategies as st
from property_games import Plan, few_and_many, for_all, plans

from spades_env.cards import cards_of
from spades_env.engine import step
from spades_env.engine.batch import legal_action_list
from spades_env.engine.state import PHASE_DEAL_OVER, PHASE_EXCHANGE, StateArray
from spades_env.game import Game
from spades_env.observation import SUIT_PERMUTATIONS, symmetries

BY_SEAT = ("hands", "played", "bids", "blind", "looked", "tricks", "voids")
BY_TEAM = ("scores", "bags", "rejected", "thrown", "asked", "exchanged")
"""By team, or by seat of the two in a draft."""
RESULT_BY_TEAM = ("contract", "nil", "bag_points", "penalty", "bags")
SAME_SUITS = (0, 1, 2, 3)
MASKS = ("hands", "played", "rejected", "thrown")


@dataclass(frozen=True)
class Relabelling:
    """Other names: seat s becomes `seats[s]`, suit u becomes `suits[u]`; a mirror turns the direction of play."""

    seats: tuple[int, ...] = (0, 1, 2, 3)
    suits: tuple[int, int, int, int] = SAME_SUITS
    mirrored: bool = False

    def team(self, team: int) -> int:
        """The new name of a team."""
        return self.seats[team] % 2

    def action(self, action: int) -> int:
        """The new name of an action (or of HIDDEN)."""
        return 13 * self.suits[action // 13] + action % 13 if 0 <= action < 52 else action

    def mask(self, mask: int) -> int:
        """The new name of a set of cards."""
        return sum(1 << self.action(card) for card in cards_of(mask))

    def voids(self, bits: int) -> int:
        """The new name of a set of suits."""
        return sum(1 << self.suits[suit] for suit in range(4) if bits >> suit & 1)

    def state(self, states: StateArray) -> StateArray:
        """The game in `states`, shape (1,), by its new names."""
        renamed = states.copy()
        old, new = states[0], renamed[0]
        if self.mirrored:
            new["rules"]["step"] = int(old["rules"]["players"]) - int(old["rules"]["step"])
        if self.suits != SAME_SUITS:
            self._rename_cards(old, new)
        cards_done = new.copy()
        for name in BY_SEAT:
            for seat, other in enumerate(self.seats):
                new[name][other] = cards_done[name][seat]
        for team in range(2):
            for name in BY_TEAM:
                new[name][self.team(team)] = cards_done[name][team]
            for name in RESULT_BY_TEAM:
                new["result"][name][self.team(team)] = old["result"][name][team]
        for name in ("dealer", "first", "turn"):
            new[name] = self.seats[int(old[name])]
        for trick in range(int(old["trick"]) + 1):
            new["leaders"][trick] = self.seats[int(old["leaders"][trick])] if int(old["first_play"]) else 0
        if int(old["trick"]) == int(old["rules"]["hand_size"]):
            new["leaders"][int(old["trick"])] = 0
        for holder, name in ((new, "winner"), (new["result"], "boston")):
            if int(holder[name]) >= 0 and int(old["result"]["scored"]):
                holder[name] = self.team(int(holder[name]))
        return renamed

    def _rename_cards(self, old: np.void, new: np.void) -> None:
        for name in MASKS:
            new[name] = [self.mask(int(mask)) for mask in old[name]]
        new["discards"] = self.mask(int(old["discards"]))
        new["pile"] = [self.action(int(card)) for card in old["pile"]]
        done = int(old["n_actions"])
        new["actions"][:done] = [self.action(int(action)) for action in old["actions"][:done]]
        new["voids"] = [self.voids(int(bits)) for bits in old["voids"]]


def put_drawn(states: StateArray, before: StateArray, as_in: StateArray) -> None:
    """After an exchange: let the cards drawn be those of `as_in`; chance goes by seat and by id, not by name (R28)."""
    if int(before["phase"][0]) == PHASE_EXCHANGE and before["discards"][0] != states["discards"][0]:
        states["hands"], states["discards"] = as_in["hands"], as_in["discards"]


def check_renamed_deal(plan: Plan, names: Relabelling) -> Counter[str]:
    """Play the deal and its renamed twin side by side: legal actions and records are each other's by the new names."""
    states, events = plan.start(), Counter[str]()
    twin = names.state(states)
    for action in plan.play(states):
        legal = {names.action(one) for one in legal_action_list(states, 0)}
        assert set(legal_action_list(twin, 0)) == legal
        after, before = states.copy(), twin.copy()
        step.apply(after, 0, action)
        step.apply(twin, 0, names.action(action))
        wanted = names.state(after)
        put_drawn(twin, before, wanted)
        assert_same(twin, wanted)
    if int(states["phase"][0]) == PHASE_DEAL_OVER and names.suits == SAME_SUITS:
        step.advance(states, 0)
        step.advance(twin, 0)
        assert_same(twin, names.state(states))  # R5, R6: the next deal, too
        events["next deals"] += 1
    events[plan.rules.deal] += 1
    events["broken"] += int(twin["broken"][0])
    return events


def assert_same(found: StateArray, wanted: StateArray) -> None:
    """Equal records; the fields that differ are named."""
    if found.tobytes() != wanted.tobytes():
        differ = [name for name in found.dtype.names or () if found[name].tobytes() != wanted[name].tobytes()]
        raise AssertionError({name: (found[name].tolist(), wanted[name].tolist()) for name in differ})


def check_turned_table(example: tuple[Plan, int]) -> Counter[str]:
    """R4: every seat is as good as any other."""
    plan, turns = example
    players = plan.rules.players
    seats = [(seat + turns) % players if seat < players else seat for seat in range(4)]
    events = check_renamed_deal(plan, Relabelling(seats=tuple(seats)))
    events["teams swapped"] += turns % 2
    return events


def mirrored(plan: Plan) -> bool:
    """Whether the table has a mirror image: two seats have none, `dealers_left` names a side of the dealer (R4)."""
    return plan.rules.players == 4 and plan.rules.first_seat == "next"


def check_mirrored_table(plan: Plan) -> Counter[str]:
    """R4: a direction is a mirror image of the whole table."""
    return check_renamed_deal(plan, Relabelling(seats=(0, 3, 2, 1), mirrored=True))


def check_renamed_suits(example: tuple[Plan, int]) -> Counter[str]:
    """R1, R3: the side suits differ in name only, as far as the pack and the low club allow (`symmetries`)."""
    plan, k = example
    allowed = symmetries(plan.rules)
    suits = SUIT_PERMUTATIONS[allowed[k % len(allowed)]]
    events = check_renamed_deal(plan, Relabelling(suits=suits))
    events["renamed"] += suits != SAME_SUITS
    return events


@few_and_many
def test_a_table_turned_around_plays_alike(examples: int) -> None:
    events = for_all(st.tuples(plans(), st.integers(1, 3)), check_turned_table, examples)
    assert min(events[name] for name in ("teams swapped", "draft", "dealt", "broken", "next deals")) >= examples // 15


@few_and_many
def test_a_mirrored_table_plays_alike(examples: int) -> None:
    events = for_all(plans().filter(mirrored), check_mirrored_table, examples)
    assert min(events["broken"], events["next deals"]) >= examples // 15


@few_and_many
def test_side_suits_by_other_names_play_alike(examples: int) -> None:
    events = for_all(st.tuples(plans(), st.integers(0, 5)), check_renamed_suits, examples)
    assert min(events["renamed"], events["draft"], events["dealt"]) >= examples // 15


@pytest.mark.parametrize("field", ["hands", "tricks", "dealer", "voids", "leaders", "scores"])
def test_a_twin_that_differs_is_noticed(field: str) -> None:
    """The comparison itself can fail."""
    states = Game("classic", seed=1).states
    other = states.copy()
    other[field].reshape(-1)[0] += 1
    with pytest.raises(AssertionError, match=field):
        assert_same(other, states)
