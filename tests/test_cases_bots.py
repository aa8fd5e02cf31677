"""The handed bidding and play cases for bots, each under its id, and the siblings of the play cases by theme.

A bot passes a case unless its choice is one that the case rejects: a choice in neither list carries no verdict. Of the
siblings of a theme, other cards and the same idea, it must pass 95 %.
"""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import numpy as np
import pytest
from case_positions import (
    BIDDING_IDS,
    CASES,
    DATA,
    PLAY_IDS,
    Case,
    bid_verdict,
    bidding_view,
    card_verdict,
    choices,
    play_game,
    play_view,
)
from sibling_themes import THEMES

from agents.registry import AGENTS, load_agent
from evaluation.play import Players
from spades_env.actions import FIRST_BID, NIL, action_text
from spades_env.cards import card_text, hand_text, parse_hand
from spades_env.engine.state import STATE, StateArray, rules_to_record
from spades_env.engine.step import new_games
from spades_env.rules import PRESETS
from spades_env.view import empty_views

BOTS = ("normal", "hard", "expert")
"""Who must pass every bidding and play case."""
RULE_BOTS = ("suit_odds", "normal")
"""Rule bots that bid nil, for case A13."""
SLOW_BOTS = ("expert",)
"""Bots whose 2,000 sibling decisions take long."""
SHARE = 0.95
"""Part of the siblings of a theme that a bot must pass."""


def bot(name: str, *marks: pytest.MarkDecorator) -> Any:
    """A parameter for an agent's name, skipped while there is no such agent."""
    missing = pytest.mark.skipif(name not in AGENTS, reason=f"there is no agent {name!r}")
    return pytest.param(name, marks=[missing, *marks])


EVERY_BOT = [bot(name) for name in BOTS]
EVERY_BOT_AT_LENGTH = [bot(name, *([pytest.mark.slow] if name in SLOW_BOTS else [])) for name in BOTS]


# --- The cases as positions ---------------------------------------------------------------------------------


def test_the_cases_are_those_we_know() -> None:
    assert tuple(f"B{number:02}" for number in range(1, 7)) == BIDDING_IDS
    assert PLAY_IDS == tuple(f"P{number:02}" for number in range(1, 11)) == tuple(THEMES)


@pytest.mark.parametrize("name", PLAY_IDS)
def test_play_cases_reach_the_state_they_describe(name: str) -> None:
    case, game = CASES[name], play_game(CASES[name])
    expected = case["state_reached"]
    assert game.tricks == expected["tricks_taken"]
    table = [card_text(card) for card in game.actions[4:]][-(sum(len(hand) for hand in game.hands) * -1 % 4) :]
    assert " ".join(table) == expected["trick_on_table"]
    view = play_view(case)
    assert view.hand_text == hand_text(parse_hand(expected["hand"]))
    assert (list(view.scores), list(view.bags), view.turn) == (case["scores"], case["bags"], view.seat)
    assert set(case["accept"]) | set(case["reject"]) <= set(view.legal_texts())
    assert not view.views["known"]["hands"][0, [seat for seat in range(4) if seat != view.seat]].any()


def test_bids_before_are_those_of_the_seats_named() -> None:
    for seat in range(4):
        left, partner, right = ((seat + k) % 4 for k in (1, 2, 3))
        view = bidding_view(CASES["B04"], {}, seat)
        assert {k: view.bids[k] for k in range(4)} == {seat: None, left: None, partner: 0, right: 4}
        view = bidding_view(CASES["B05"], {}, seat)
        assert {k: view.bids[k] for k in range(4)} == {seat: None, left: 3, partner: 3, right: 2}
        assert (view.scores[seat % 2], view.scores[1 - seat % 2]) == (430, 455)
        assert bidding_view(CASES["B01"], {}, seat).first == seat


def test_verdicts_are_read_off_the_lists() -> None:
    assert [bid_verdict(CASES["B03"], FIRST_BID + bid) for bid in (0, 1, 2, 3)] == [
        "reject",
        "accept",
        "accept",
        "none",
    ]
    assert [card_verdict(CASES["P02"], int(card)) for card in (10, 1, 0)] == ["accept", "reject", "none"]


# --- Bidding ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seat", range(4))
@pytest.mark.parametrize("name", [name for name in BIDDING_IDS if name != "B06"])
@pytest.mark.parametrize("agent", EVERY_BOT)
def test_bidding_case(agent: str, name: str, seat: int) -> None:
    case = CASES[name]
    bid = choices(load_agent(agent), [bidding_view(case, case["rules"], seat)])[0]
    assert bid_verdict(case, bid) != "reject", f"{name} {case['title']}: {action_text(bid)}. {case['why']}"


@pytest.mark.parametrize("seat", range(4))
@pytest.mark.parametrize("agent", EVERY_BOT)
def test_b06_the_opening_rule_changes_the_nil(agent: str, seat: int) -> None:
    """A pair: nil or 1 where any card may be led, no nil where the lowest club must be."""
    case = CASES["B06"]
    views = [bidding_view(case, case[rules], seat) for rules in ("rule_a", "rule_b")]
    any_lead, low_club = (action_text(bid) for bid in choices(load_agent(agent), views))
    assert any_lead in ("nil", "bid 1")
    assert low_club != "nil"


@pytest.mark.parametrize("agent", [bot(name) for name in RULE_BOTS])
def test_a13_nils_are_worth_bidding(agent: str) -> None:
    """2,000 hands of four equal bots: at least 40 nils, 65 % of them made, none with the ace of spades."""
    states = np.zeros(2000, STATE)
    new_games(states, rules_to_record(PRESETS["classic"]), 0, 0)
    aces = states["hands"] & parse_hand("AS") != 0
    Players([load_agent(agent)], len(states)).play_deals(states, np.zeros((len(states), 4), np.int8))
    nils = states["bids"] == NIL - FIRST_BID
    assert nils.sum() >= 40
    assert (states["tricks"][nils] == 0).mean() >= 0.65
    assert not (nils & aces).any()


# --- Play ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", PLAY_IDS)
@pytest.mark.parametrize("agent", EVERY_BOT)
def test_play_case(agent: str, name: str) -> None:
    case = CASES[name]
    card = choices(load_agent(agent), [play_view(case)])[0]
    assert card_verdict(case, card) != "reject", f"{name} {case['title']}: {card_text(card)}. {case['why']}"


# --- Siblings -----------------------------------------------------------------------------------------------


@cache
def siblings_of(theme: str) -> list[Case]:
    """The sibling positions of a play case."""
    cases = json.loads((DATA / "siblings.json").read_text(encoding="utf-8"))
    return [case for case in cases if case["theme"] == theme]


@cache
def sibling_views(theme: str) -> StateArray:
    """The views of all siblings of a play case, VIEW of shape (n,)."""
    cases = siblings_of(theme)
    views = empty_views(len(cases))
    for k, case in enumerate(cases):
        views[k] = play_view(case).views[0]
    return views


def failed_siblings(agent: str, theme: str) -> list[str]:
    """Ids of the siblings in which `agent` plays a card that they reject, each with the card."""
    views = sibling_views(theme).copy()
    cards = load_agent(agent).act(views, np.arange(len(views), dtype=np.uint64))
    pairs = zip(siblings_of(theme), cards, strict=True)
    return [f"{case['id']} {card_text(int(card))}" for case, card in pairs if card_verdict(case, int(card)) == "reject"]


@pytest.mark.parametrize("theme", PLAY_IDS)
@pytest.mark.parametrize("agent", EVERY_BOT_AT_LENGTH)
def test_siblings(agent: str, theme: str, record_property: Any) -> None:
    failed, total = failed_siblings(agent, theme), len(siblings_of(theme))
    passed = 1 - len(failed) / total
    record_property("passed", passed)
    assert passed >= SHARE, f"{passed:.1%} of {total} passed ({THEMES[theme]}); failed: {', '.join(failed)}"


@pytest.mark.parametrize("theme", PLAY_IDS)
def test_random_cards_fail_the_siblings(theme: str) -> None:
    """The siblings tell players apart: any legal card is wrong in a good part of each theme."""
    assert 0.25 < len(failed_siblings("random", theme)) / len(siblings_of(theme)) < 0.75
