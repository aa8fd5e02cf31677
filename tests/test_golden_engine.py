"""The engine against the golden expectations that were worked out by hand from the rule text, R23 included.

The same data hold the referee to account in test_referee.py; neither learns from the other.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from data.golden import POSITIONS, SCORING, Position, ScoringCase, action_id, card_id, cards, expected, full_rules

from spades_env.cards import cards_of, mask_of
from spades_env.engine import front, step
from spades_env.engine.batch import legal_action_list
from spades_env.engine.kernel import kernel
from spades_env.engine.scoring import finish_deal
from spades_env.engine.state import NO_BID, PHASE_EXCHANGE, PHASE_MATCH_OVER, PHASE_NAMES, STATE, StateArray
from spades_env.engine.state import rules_to_record as record_of
from spades_env.rules import Rules
from spades_env.view import empty_views, view_of

CASES = json.loads((Path(__file__).parent / "data" / "cases.json").read_text(encoding="utf-8"))


@kernel
def finish(states: StateArray, i: int) -> None:
    finish_deal(states[i])


def scored(rules: Rules, bids: Any, blind: Any, tricks: Any, scores: Any, bags: Any, deals_played: int = 0) -> Any:
    """The state after scoring a deal of which only bids and tricks are given."""
    states = np.zeros(1, STATE)
    states["rules"] = record_of(rules)
    state = states[0]
    state["deal"], state["winner"] = deals_played, -1
    for seat in range(rules.players):
        state["bids"][seat], state["blind"][seat], state["tricks"][seat] = bids[seat], blind[seat], tricks[seat]
    state["scores"], state["bags"] = scores, bags
    finish(states, 0)
    return states[0]


@pytest.mark.parametrize("case", SCORING, ids=lambda case: case.id)
def test_golden_scoring(case: ScoringCase) -> None:
    rules = Rules.from_dict(full_rules(case.preset, case.rules))
    blind = [int(seat in case.blind) for seat in range(rules.players)]
    state = scored(rules, case.bids, blind, case.tricks, case.scores_before, case.bags_before, case.deals_played)
    result = state["result"]
    for team in range(2):
        names = ("contract", "bag_points", "nil", "penalty", "bags")
        assert tuple(int(result[name][team]) for name in names) == case.items[team]
    assert tuple(state["scores"]) == case.scores
    assert tuple(state["bags"]) == case.bags
    assert int(state["winner"]) == (-1 if case.winner is None else case.winner)
    assert int(result["boston"]) == (-1 if case.boston is None else case.boston)
    assert bool(state["truncated"]) == case.truncated


@pytest.mark.parametrize("case", [c for c in CASES if c["kind"] == "scoring"], ids=lambda case: case["id"])
def test_handed_scoring_case(case: dict[str, Any]) -> None:
    rules = Rules.preset("classic", **case["rules"])
    bids = [0 if bid in ("N", "B") else bid for bid in case["bids"]]
    blind = [int(bid == "B") for bid in case["bids"]]
    state = scored(rules, bids, blind, case["tricks"], case["scores_before"], case["bags_before"])
    assert [int(x) for x in state["scores"]] == case["expect"]["scores"]
    assert [int(x) for x in state["bags"]] == case["expect"]["bags"]
    winner = {-1: "goes on", 0: "team 0 wins", 1: "team 1 wins"}[int(state["winner"])]
    assert winner == case["expect"]["match"]


@pytest.mark.parametrize(
    "case", [c for c in CASES if c["kind"] == "legality" and "expect_legal" in c], ids=lambda case: case["id"]
)
def test_handed_legality_case(case: dict[str, Any]) -> None:
    """L01-L05: a hand and a trick put into a state in the middle of a deal."""
    states = np.zeros(1, STATE)
    states["rules"] = record_of(Rules.preset("classic", **case["rules"]))
    state = states[0]
    state["phase"] = PHASE_NAMES.index("play")
    state["trick"] = 0 if case["first_trick"] else 5
    played = [card_id(text) for text in case["trick"]]
    state["first_play"] = 4
    for k, card in enumerate(played):
        state["actions"][4 + 4 * int(state["trick"]) + k] = card
    state["trick_len"] = state["turn"] = len(played)
    state["broken"] = case["spades_broken"]
    state["hands"][len(played)] = mask_of([card_id(text) for text in case["hand"]])
    assert set(legal_action_list(states, 0)) == {card_id(text) for text in case["expect_legal"]}


def play_to(position: Position) -> tuple[Rules, StateArray, int]:
    """The state after the actions of a golden position, and the winner of the last trick (-1: none)."""
    rules = Rules.from_dict(full_rules(position.preset, position.rules))
    states = np.zeros(1, STATE)
    state = states[0]
    states["rules"] = record_of(rules)
    state["dealer"], state["deal"], state["winner"] = position.dealer, position.deals_played, -1
    state["scores"], state["bags"] = position.scores_before, position.bags_before
    state["pile"] = -1
    state["n_actions"] = 80
    if position.pile:
        state["pile"] = cards(position.pile)
    front.begin_unknown_deal(states, 0)
    for seat, hand in enumerate(position.hands):
        state["hands"][seat] = mask_of(cards(hand))
    drawn = [cards(text) for text in position.drawn]
    last_winner = -1
    for word in position.actions.split():
        action, seat, phase, before = action_id(word), int(state["turn"]), int(state["phase"]), state.copy()
        assert action in legal_action_list(states, 0), (position.id, word)
        step.apply(states, 0, action)
        if phase == PHASE_EXCHANGE and int(state["discards"]) != int(before["discards"]):
            put_drawn(state, before, seat, mask_of(drawn.pop(0)))
        taken = np.flatnonzero(state["tricks"] != before["tricks"])
        last_winner = int(taken[0]) if len(taken) else last_winner
    return rules, states, last_winner


def put_drawn(state: np.void, before: np.void, seat: int, wanted: int) -> None:
    """Replace what the engine drew by chance with what the golden position says was drawn."""
    drawn = int(before["discards"]) & ~int(state["discards"])
    assert wanted.bit_count() == drawn.bit_count()
    assert wanted & ~int(before["discards"]) == 0
    state["hands"][seat] = (int(state["hands"][seat]) & ~drawn) | wanted
    state["discards"] = int(before["discards"]) & ~wanted


def actual(rules: Rules, states: StateArray, last_winner: int, key: str) -> Any:
    """What the engine's state says about one key of a position's expectations."""
    state, seats = states[0], range(rules.players)
    over = int(state["phase"]) >= PHASE_NAMES.index("deal over")
    views = empty_views(rules.players)
    for seat in seats:
        view_of(states, 0, seat, views, seat)
    known = views["known"]
    played = int(state["n_actions"]) - int(state["trick_len"])
    plain: dict[str, Any] = {
        "phase": "over" if over else PHASE_NAMES[int(state["phase"])],
        "to_act": None if over else int(state["turn"]),
        "broken": bool(state["broken"]),
        "boston": None if int(state["result"]["boston"]) < 0 else int(state["result"]["boston"]),
        "winner": None if int(state["winner"]) < 0 else int(state["winner"]),
        "truncated": bool(state["truncated"]),
        "match_over": int(state["phase"]) == PHASE_MATCH_OVER,
        "discards_left": int(state["discards"]).bit_count(),
        "discards": set(cards_of(int(state["discards"]))),
        "last_winner": None if last_winner < 0 else last_winner,
        "legal": set(legal_action_list(states, 0)),
        "tricks": tuple(int(state["tricks"][seat]) for seat in seats),
        "bids": tuple(None if int(b) == NO_BID else int(b) for b in state["bids"][: rules.players]),
        "blind": tuple(bool(b) for b in state["blind"][: rules.players]),
        "hands": tuple(set(cards_of(int(state["hands"][seat]))) for seat in seats),
        "sees": tuple(bool(state["looked"][seat]) for seat in seats),
        "trick": [int(a) for a in state["actions"][played : int(state["n_actions"])]],
        "scores": tuple(int(x) for x in state["scores"]),
        "bags": tuple(int(x) for x in state["bags"]),
    }
    if key == "shown":
        return tuple(None if int(view["shown"]) < 0 else int(view["shown"]) for view in views)
    if key in ("rejected", "thrown"):
        return tuple(set(cards_of(int(known[seat][key][seat]))) if seat < 2 else set() for seat in seats)
    if key == "items":
        names = ("contract", "bag_points", "nil", "penalty", "bags")
        return tuple(tuple(int(state["result"][name][team]) for name in names) for team in range(2))
    if key == "next_dealer":
        step.advance(states, 0)
        return int(states[0]["dealer"])
    return plain[key]


@pytest.mark.parametrize("position", POSITIONS, ids=lambda position: position.id)
def test_golden_position(position: Position) -> None:
    rules, states, last_winner = play_to(position)
    # next_dealer moves the game on, so it is looked at last.
    keys = sorted(position.expect, key=lambda key: key == "next_dealer")
    found = {key: actual(rules, states, last_winner, key) for key in keys}
    assert found == {key: expected(key, value) for key, value in position.expect.items()}
