"""The baselines `lowest`, `highest` and `suit_odds`: each does exactly what its description says."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from random_rules import random_rules
from test_agents import move, position, situations, views_of

from agents.registry import load_agent
from agents.rules.suit_odds import expected_tricks, hold_chance, nil_hand, spade_odds
from evaluation.duplicate import evaluate
from spades_env.actions import DONE, FIRST_BID, KEEP, LOOK, NIL, TAKE_NEXT
from spades_env.cards import RANKS, SPADES, SUIT_MASKS, card_text, cards_of, parse_hand, suit_of
from spades_env.engine import step
from spades_env.engine.batch import legal_action_list
from spades_env.engine.kernel import kernel
from spades_env.engine.state import (
    PHASE_BID,
    PHASE_BLIND,
    PHASE_DRAFT,
    PHASE_EXCHANGE,
    PHASE_PLAY,
    STATE,
    StateArray,
    rules_to_record,
)
from spades_env.rules import PRESETS, Rules
from spades_env.view import empty_views, view_of


def rank(card: int) -> int:
    """0 for a two to 12 for an ace, 13 and 14 for the jokers; from the card's text."""
    text = card_text(card)
    return {"LJ": 13, "BJ": 14}.get(text) or RANKS.index(text[0])


def rule_sets() -> list[Rules]:
    """The presets, and some random rules."""
    return [*PRESETS.values(), *(random_rules(np.random.default_rng(case)) for case in range(12))]


def ordinary_bids(states: StateArray, i: int) -> list[int]:
    """Legal bids above nil."""
    return [action - FIRST_BID for action in legal_action_list(states, i) if action > NIL]


# --- lowest and highest -------------------------------------------------------------------------------------


def described_extreme(name: str, states: StateArray, i: int, shown: int) -> int:
    """The action of `lowest` or `highest` by the table in its docstring."""
    phase, low = int(states["phase"][i]), name == "lowest"
    if phase == PHASE_BLIND:
        return LOOK
    if phase == PHASE_EXCHANGE:
        return DONE
    if phase == PHASE_DRAFT:
        keeps = rank(shown) <= RANKS.index("8") if low else rank(shown) >= RANKS.index("8")
        return KEEP if keeps else TAKE_NEXT
    if phase == PHASE_BID:
        legal = ordinary_bids(states, i)
        if low:
            return FIRST_BID + min(legal)
        hand = cards_of(int(states["hands"][i, states["turn"][i]]))
        wish = sum(rank(card) >= RANKS.index("K") for card in hand)
        wish = max(1, wish + max(0, sum(suit_of(card) == SPADES for card in hand) - 3))
        return FIRST_BID + min(legal, key=lambda bid: (abs(bid - wish), bid))
    legal = legal_action_list(states, i)
    return min(legal, key=lambda card: (rank(card) if low else -rank(card), card))


@pytest.mark.parametrize("name", ["lowest", "highest"])
def test_the_extremes_do_what_their_table_says(name: str) -> None:
    agent, phases = load_agent(name), dict.fromkeys(range(PHASE_EXCHANGE + 1), 0)
    for rules in rule_sets():
        for states in situations(rules, 16):
            views, keys = views_of(states)
            actions = agent.act(views, keys)
            for i in range(len(states)):
                assert actions[i] == described_extreme(name, states, i, int(views["shown"][i]))
                phases[int(states["phase"][i])] += 1
    assert min(phases.values()) > 50


def test_higher_play_is_better_than_lower_and_both_than_random_bids() -> None:
    assert evaluate("highest", "lowest", deals=300).margin.low > 20
    assert evaluate("lowest", "random", deals=300).margin.low > 80


# --- suit_odds: the chance that a high card lives -----------------------------------------------------------


@pytest.mark.parametrize(
    ("need", "exact", "published"),
    [(1, 0.983, 0.983), (2, 0.856, 0.855), (3, 0.495, 0.489)],
)
def test_odds_of_a_three_card_suit(need: int, exact: float, published: float) -> None:
    """The exact chances to three digits; the published ones were sampled and are met within 0.006."""
    chance = hold_chance(10, 39, 13, 2, need)
    assert round(chance, 3) == exact
    assert abs(chance - published) < 0.006


def test_odds_of_an_ace_in_a_seven_card_suit() -> None:
    assert abs(hold_chance(6, 39, 13, 2, 1) - 0.857) < 0.006


@pytest.mark.parametrize(("suit", "unseen", "hand"), [(3, 8, 3), (4, 9, 3), (5, 7, 2), (2, 9, 4), (0, 6, 2), (7, 7, 3)])
def test_odds_are_those_of_all_hands_counted_one_by_one(suit: int, unseen: int, hand: int) -> None:
    """`suit` of the cards 0..unseen-1, the first ones, are of the suit."""
    for need in range(4):
        one, both, pairs, singles = 0, 0, 0, 0
        for first in combinations(range(unseen), hand):
            singles += 1
            first_has = sum(card < suit for card in first) >= need
            one += first_has
            for second in combinations([card for card in range(unseen) if card not in first], hand):
                pairs += 1
                both += first_has and sum(card < suit for card in second) >= need
        assert hold_chance(suit, unseen, hand, 1, need) == pytest.approx(one / singles, abs=1e-12)
        assert hold_chance(suit, unseen, hand, 2, need) == pytest.approx(both / pairs, abs=1e-12)


@pytest.mark.parametrize(
    ("own", "tricks"),
    [
        ("AS", 1),
        ("KS", 0),  # the ace beats it
        ("KS 2S", 0),  # ace and another higher spade
        ("KS QS", 1),  # one of them goes to the ace
        ("KS QS JS TS 9S", 4),  # only the ace is higher
        ("AS KS QS 5S 4S 3S 2S", 7),  # three masters, four beyond the third
        ("AS 5S 4S 3S 2S", 3),  # a master, two beyond the third
        ("7S 5S 4S 3S 2S", 2),
        ("AS KS QS JS TS 9S 8S 7S 6S 5S 4S 3S 2S", 13),
        ("", 0),
    ],
)
def test_spade_tricks(own: str, tricks: int) -> None:
    hand = parse_hand(own)
    assert spade_odds(hand, (1 << 52) - 1 & SUIT_MASKS[SPADES] & ~hand) == tricks


def test_jokers_are_spades_above_the_ace() -> None:
    pack = SUIT_MASKS[SPADES]
    for own, tricks in (("AS", 0), ("BJ", 1), ("LJ AS", 1), ("BJ LJ AS", 3)):
        assert spade_odds(parse_hand(own), pack & ~parse_hand(own)) == tricks


@kernel
def tricks_of(views: StateArray, i: int) -> float:
    """`expected_tricks` of the seat of view `i`."""
    return expected_tricks(views[i]["known"], int(views[i]["seat"]))


def promised(hand: str, rules: Rules) -> float:
    """`expected_tricks` of a hand before any bid."""
    states = np.zeros(1, STATE)
    step.new_games(states, rules_to_record(rules), 0, 0)
    states["hands"] = 0
    states["hands"][0, states["turn"][0]] = parse_hand(hand)
    views = empty_views(1)
    view_of(states, 0, int(states["turn"][0]), views, 0)
    return tricks_of(views, 0)


@pytest.mark.parametrize(
    ("hand", "chances"),
    [
        # An ace needs one card with both opponents, a guarded king two, a twice guarded queen three.
        ("AH 4H 3H 9D 8D 7D 2D 9C 8C 7C 4S 3S 2S", [(10, 1)]),
        ("KH 4H 3H 9D 8D 7D 2D 9C 8C 7C 4S 3S 2S", [(10, 2)]),
        ("QH 4H 3H 9D 8D 7D 2D 9C 8C 7C 4S 3S 2S", [(10, 3)]),
        ("AH KH QH 9D 8D 7D 2D 9C 8C 7C 4S 3S 2S", [(10, 1), (10, 2), (10, 3)]),
        ("KH QD 2D 9D 8D 9C 8C 7C 6C 5C 4S 3S 2S", [(9, 3)]),  # a bare king counts for nothing
        ("KH QD 2D 9C 8C 7C 6C 5C 4C 3C 4S 3S 2S", []),  # nor does a queen with one guard
        ("JH TH 9H 8H JD TD 9D 8D JC TC 4S 3S 2S", []),
    ],
)
def test_side_suits_count_what_lives(hand: str, chances: list[tuple[int, int]]) -> None:
    four = sum(hold_chance(suit, 39, 13, 2, need) for suit, need in chances)
    assert promised(hand, PRESETS["classic"]) == pytest.approx(four, abs=1e-12)
    two = sum(hold_chance(suit, 39, 13, 1, need) for suit, need in chances)
    assert promised(hand, PRESETS["two_player"]) == pytest.approx(two, abs=1e-12)


# --- suit_odds: bids ----------------------------------------------------------------------------------------


LOW_HAND = "4S 2S 8H 5H 3H 2H 9D 6D 3D 2D 7C 4C 2C"


@pytest.mark.parametrize(
    ("hand", "bid"),
    [
        ("AS KS QS JS TS 9S 8S 7S 6S 5S 4S 3S 2S", 13),
        ("AS KS QS JS AH 4H 3H AD 6D 2D AC 5C 3C", 7),  # 4 and three aces at 0.983
        (LOW_HAND, 0),
        ("AS 2S 8H 5H 3H 2H 9D 6D 3D 2D 7C 4C 2C", 1),  # the ace of spades
        ("KS 2S 8H 5H 3H 2H 9D 6D 3D 2D 7C 4C 2C", 1),  # the king of spades
        ("5S 4S 3S 2S 5H 3H 2H 6D 3D 2D 7C 4C 2C", 1),  # four spades
        ("4S 2S 8H 5H 3H 2H 9D 8D 7D 6D 9C 8C 7C", 0),  # a six and a seven as lowest cards
        ("4S 2S 8H 5H 3H 2H 9D 6D 3D 2D TC 9C 8C", 1),  # no club below an eight
        ("4S 2S AH 5H 3H 2H 9D 6D 3D 2D 7C 4C 2C", 1),  # an ace
    ],
)
def test_suit_odds_bids(hand: str, bid: int) -> None:
    states = position(PRESETS["classic"], "/".join([hand] * 4), 3, "bid 3")
    assert load_agent("suit_odds").act(*views_of(states))[0] == FIRST_BID + bid


@pytest.mark.parametrize(
    ("rules", "bid"),
    [
        (Rules(), 0),
        (Rules(nil_allowed=False), 1),
        (Rules(nil_value=10), 1),  # no more than a bid of one
        (Rules(nil_allowed=False, min_bid=4), 4),
        (Rules(max_team_bid=2), 0),  # R8: nil is never blocked
    ],
)
def test_nil_only_where_it_is_legal_and_pays(rules: Rules, bid: int) -> None:
    first = "bid 4" if rules.min_bid == 4 else "bid 1"
    states = position(rules, "/".join([LOW_HAND] * 4), 3, first)
    assert load_agent("suit_odds").act(*views_of(states))[0] == FIRST_BID + bid


@pytest.mark.parametrize(
    ("hand", "low"),
    [
        ("8H 5H 3H 2H 9D 6D 3D 2D 7C 4C 2C", True),  # a void is no bar
        ("QS 3S 2S 8H 5H 3H 2H 9D 6D 3D 2D 7C 4C", True),
        ("KS 3S 2S 8H 5H 3H 2H 9D 6D 3D 2D 7C 4C", False),
        ("5S 4S 3S 2S 8H 5H 3H 2H 9D 6D 3D 2D 7C", False),  # four spades
        ("QS JS TS 8H 5H 3H 2H 9D 6D 3D 2D 7C 4C", False),  # the lowest spade is a ten
        ("3S 2S AH KH 7H 9D 6D 3D 2D 7C 4C 3C 2C", True),  # a seven covers what is above it
        ("3S 2S AH KH 8H 9D 6D 3D 2D 7C 4C 3C 2C", False),
    ],
)
def test_hands_low_enough_for_nil(hand: str, low: bool) -> None:
    assert nil_hand(parse_hand(hand)) == low


def test_every_bid_is_the_nearest_to_the_rounded_count() -> None:
    agent, seen = load_agent("suit_odds"), 0
    for rules in rule_sets():
        for states in situations(rules, 24):
            views, keys = views_of(states)
            actions = agent.act(views, keys)
            for i in np.flatnonzero(states["phase"] == PHASE_BID):
                tricks = tricks_of(views, i)
                wish = max(1, int(tricks + 0.5))
                nearest = min(ordinary_bids(states, int(i)), key=lambda bid: (abs(bid - wish), bid))
                nil = actions[i] == NIL
                assert actions[i] == FIRST_BID + nearest or (nil and tricks < 0.5 and rules.nil_value > 10)
                seen += 1
    assert seen > 500


# --- suit_odds: play ----------------------------------------------------------------------------------------

DEAL = "/".join(
    (
        "AS 9S 3S KH 8H 5H AD QD 7D 3D TC 6C 2C",
        "KS JS TS QH 9H 4H KD JD 6D AC 9C 7C 3C",
        "4S 2S TH 7H 3H 2H 9D 8D 5D 2D 8C 5C 4C",
        "QS 8S 7S 6S 5S AH JH 6H TD 4D KC QC JC",
    )
)


@pytest.mark.parametrize(
    ("plays", "card"),
    [
        ("AD,KD", "9D"),  # the highest of those below the king
        ("7D,6D", "5D"),  # not the eight or the nine, which would win so far
        ("5H,9H", "7H"),
        ("2C,3C", "4C"),  # cannot get below the three: as low as she may
    ],
)
def test_a_nil_plays_the_highest_card_that_loses(plays: str, card: str) -> None:
    states = position(PRESETS["classic"], DEAL, 3, f"bid 4,bid 4,nil,bid 4,{plays}")
    assert move(load_agent("suit_odds"), states) == card


def test_she_plays_like_an_easy_that_never_slips_and_drafts_like_her() -> None:
    agent, faultless = load_agent("suit_odds"), load_agent("easy:error=0")
    for rules in rule_sets():
        for states in situations(rules, 12):
            views, keys = views_of(states)
            same = np.isin(states["phase"], (PHASE_BLIND, PHASE_PLAY, PHASE_DRAFT, PHASE_EXCHANGE))
            assert (agent.act(views, keys) == faultless.act(views, keys))[same].all()


def test_suit_odds_beats_conservative() -> None:
    assert evaluate("suit_odds", "conservative", deals=1500).margin.low > 10
