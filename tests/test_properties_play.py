"""Properties of play and scoring under any rules: cards are conserved; points depend on bids and tricks alone."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from property_games import Plan, few_and_many, for_all, plans
from referee_rules import deck, winning_card

from spades_env.cards import cards_of
from spades_env.engine.kernel import kernel
from spades_env.engine.play import beats
from spades_env.engine.scoring import finish_deal
from spades_env.engine.state import NO_BID, PHASE_DRAFT, STATE, StateArray, rules_to_record
from spades_env.rules import Rules


def piles_of_cards(states: StateArray) -> list[list[int]]:
    """Every place a card can lie in, as lists of cards: hands, cards played, discards, given up, the rest of a pile."""
    state = states[0]
    masks = [*state["hands"], *state["played"]]
    if int(state["rules"]["draft"]) == 0:
        return [cards_of(int(mask)) for mask in masks]
    masks += [state["discards"], *state["thrown"]]
    return [*(cards_of(int(mask)) for mask in masks), [int(card) for card in state["pile"][int(state["pile_pos"]) :]]]


def check_cards_are_conserved(plan: Plan) -> Counter[str]:
    """R1, R6, R12, R27, R28: no card is ever in two places, none appears, none is lost."""
    states, events = plan.start(), Counter[str]()
    state, rules = states[0], plan.rules
    pack = deck(rules.to_dict())
    size = len(pack)
    assert set(state["pile"][:size].tolist()) == pack
    there = pack if rules.deal == "draft" else {card for pile in piles_of_cards(states) for card in pile}
    assert there <= pack
    assert len(there) == (52 if rules.deal == "draft" else rules.players * rules.hand_size)
    for action in plan.play(states):
        cards = [card for pile in piles_of_cards(states) for card in pile]
        assert len(cards) == len(there)
        assert set(cards) == there
        events["exchanged"] += int(state["phase"]) > PHASE_DRAFT and action < 54
    assert [int(mask) for mask in state["hands"]] == [0] * 4
    assert [int(mask).bit_count() for mask in state["played"]] == [rules.hand_size] * rules.players + [0] * (
        4 - rules.players
    )
    assert int(state["tricks"].sum()) == int(state["trick"]) == rules.hand_size
    events["drafts"] += rules.deal == "draft"
    events["small decks"] += size < 52
    return events


@few_and_many
def test_cards_are_conserved(examples: int) -> None:
    events = for_all(plans(), check_cards_are_conserved, examples)
    assert min(events["drafts"], events["small decks"], events["exchanged"]) >= examples // 30, events


@kernel
def finish(states: StateArray, i: int) -> None:
    finish_deal(states[i])


def bare(
    plan: Plan, bids: list[int], blind: list[int], tricks: list[int], seats: list[int], teams: list[int]
) -> np.void:
    """A scored deal of which nothing is known but bids and tricks; seat k is given what belongs to `seats[k]`."""
    states = np.zeros(1, STATE)
    states["rules"], states["winner"], states["bids"] = rules_to_record(plan.rules), -1, NO_BID
    for seat, other in enumerate(seats):
        states["bids"][0, seat] = bids[other]
        states["blind"][0, seat] = blind[other]
        states["tricks"][0, seat] = tricks[other]
    states["scores"] = [plan.scores[team] for team in teams]
    states["bags"] = [plan.bags[team] for team in teams]
    finish(states, 0)
    return states[0]


RESULT_LISTS = ("contract", "nil", "bag_points", "penalty", "bags")


def check_points_depend_on_bids_and_tricks(plan: Plan) -> Counter[str]:
    """R17-R26: which cards were played, when and by whom of two partners makes no difference to a team's points."""
    states = plan.start()
    for _ in plan.play(states):
        pass
    played = states[0]
    facts = [played[name].tolist() for name in ("bids", "blind", "tricks")]
    own, other, four = [0, 1], [1, 0], plan.rules.players == 4
    seatings = [([0, 1, 2, 3] if four else own, own), ([1, 2, 3, 0] if four else other, other)]
    if four:
        seatings += [([2, 1, 0, 3], own), ([0, 3, 2, 1], own), ([3, 2, 1, 0], other)]
    for seats, teams in seatings:
        state = bare(plan, *facts, seats, teams)
        for name in RESULT_LISTS:
            assert state["result"][name].tolist() == played["result"][name][teams].tolist(), name
        for name in ("scores", "bags"):
            assert state[name].tolist() == played[name][teams].tolist(), name
        for found, wanted in (
            (int(state["winner"]), int(played["winner"])),
            (int(state["result"]["boston"]), int(played["result"]["boston"])),
        ):
            assert found == (wanted if wanted < 0 else teams[wanted])
        assert state["truncated"] == played["truncated"]
        assert state["phase"] == played["phase"]
    result = played["result"]
    return Counter(
        {
            "set": int((result["contract"] < 0).any()),
            "nils": int((result["nil"] != 0).any()),
            "penalties": int((result["penalty"] != 0).any()),
            "won": int(played["winner"] >= 0),
        }
    )


@few_and_many
def test_points_depend_on_bids_and_tricks_alone(examples: int) -> None:
    events = for_all(plans(), check_points_depend_on_bids_and_tricks, examples)
    assert min(events[name] for name in ("set", "nils", "penalties", "won")) >= examples // 30, events


@pytest.mark.parametrize("jokers", [False, True])
def test_a_card_beats_the_best_so_far_exactly_if_it_wins(jokers: bool) -> None:
    """R2, R12: every card of the pack on every other, which may be a lead or the ruff of another lead."""
    rules = Rules(jokers=jokers).to_dict()
    for best in deck(rules):
        for card in deck(rules) - {best}:
            assert beats(card, best) == (winning_card(rules, [best, card], first_trick=False) == card)
