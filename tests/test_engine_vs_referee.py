"""The compiled engine against the plain-Python referee, at every decision of random play under random rules."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from random_rules import CHOICES, FORMS, option_values, some_rules
from referee import Referee

from spades_env.actions import NIL, NUM_ACTIONS
from spades_env.cards import cards_of
from spades_env.engine import front, step
from spades_env.engine.batch import legal_action_list
from spades_env.engine.state import NO_BID, PHASE_NAMES, STATE, StateArray, rules_to_record
from spades_env.rules import Rules


def start(rules: Rules, rng: np.random.Generator) -> StateArray:
    """One game at the start of a deal with random scores (often near an end of the match), bags and dealer."""
    states = np.zeros(1, STATE)
    step.new_games(states, rules_to_record(rules), int(rng.integers(2**40)), 0)
    limit = rules.bag_limit or 20
    near = [0, rules.target - 40, rules.target - 120, (rules.mercy or -300) + 60]
    for team in range(2):
        states[0]["scores"][team] = int(rng.choice(near)) + int(rng.integers(-15, 15))
        states[0]["bags"][team] = int(rng.integers(limit))
    states[0]["dealer"] = int(rng.integers(rules.players))
    states[0]["deal"] = int(rng.integers(3)) if rules.max_deals else 0
    front.begin_deal(states, 0)
    return states


def referee_of(rules: Rules, state: np.void) -> Referee:
    """A referee at the start of the deal in `state`."""
    cards: dict[str, Any] = {"pile": [int(c) for c in state["pile"]]}
    if rules.deal == "dealt":
        cards = {"hands": [cards_of(int(state["hands"][seat])) for seat in range(rules.players)]}
    return Referee(
        rules.to_dict(),
        dealer=int(state["dealer"]),
        scores=[int(x) for x in state["scores"]],
        bags=[int(x) for x in state["bags"]],
        deals_played=int(state["deal"]),
        **cards,
    )


def choose(legal: list[int], rng: np.random.Generator) -> int:
    """Random, with nil made frequent so that nil scoring is met often."""
    if NIL in legal and rng.integers(4) == 0:
        return NIL
    return legal[rng.integers(len(legal))]


def brute_voids(rules: Rules, referee: Referee, card: int, suits: dict[int, list[int]]) -> set[int]:
    """Suits of which no card could be in the hand of the seat to act if she plays `card` now, by trying each."""
    seat = referee.seat_to_act()
    assert seat is not None
    hand, voids = referee.hands[seat], set()
    for suit, members in suits.items():
        others = [c for c in members if c != card]
        # The mildest case is what the rule allows: some second card of the suit beside `card`.
        possible = False
        for other in others:
            referee.hands[seat] = {card, other}
            possible = possible or card in referee.legal_actions()
        if others and not possible:
            voids.add(suit)
    referee.hands[seat] = hand
    return voids


def compare_before(rules: Rules, states: StateArray, referee: Referee) -> list[int]:
    """Assert that who acts, the phase, what is legal and everything on the table agree; the legal actions."""
    state = states[0]
    legal = legal_action_list(states, 0)
    assert PHASE_NAMES[int(state["phase"])] == referee.phase()
    assert int(state["turn"]) == referee.seat_to_act()
    assert set(legal) == referee.legal_actions()
    for seat in range(rules.players):
        assert set(cards_of(int(state["hands"][seat]))) == referee.hands[seat]
        bid = int(state["bids"][seat])
        assert (None if bid == NO_BID else bid) == referee.bids[seat]
        assert bool(state["blind"][seat]) == referee.blind[seat]
        assert int(state["tricks"][seat]) == referee.tricks[seat]
        known = referee.knows(seat)
        assert bool(state["looked"][seat]) == (known["hand"] is not None)
        if rules.deal == "draft":
            assert set(cards_of(int(state["rejected"][seat]))) == known["rejected"]
            assert set(cards_of(int(state["thrown"][seat]))) == known["thrown"]
    assert bool(state["broken"]) == referee.broken
    assert set(cards_of(int(state["discards"]))) == referee.draft_discards
    return legal


def compare_after(states: StateArray, referee: Referee) -> None:
    """Assert that the scored deal and the standing of the match agree."""
    state, result = states[0], states[0]["result"]
    assert referee.seat_to_act() is None
    for team in range(2):
        items = {
            "contract": int(result["contract"][team]),
            "bag_points": int(result["bag_points"][team]),
            "nil": int(result["nil"][team]),
            "penalty": int(result["penalty"][team]),
            "bags": int(result["bags"][team]),
        }
        assert items == dict(referee.items[team])
        assert int(state["scores"][team]) == referee.scores[team]
        assert int(state["bags"][team]) == referee.bags[team]
    assert int(result["boston"]) == (-1 if referee.boston is None else referee.boston)
    assert (PHASE_NAMES[int(state["phase"])] == "match over") == referee.match_over
    assert int(state["winner"]) == (-1 if referee.winner is None else referee.winner)
    assert bool(state["truncated"]) == referee.truncated


def act(rules: Rules, states: StateArray, referee: Referee, action: int) -> None:
    """Apply `action` to both; the referee is told what the engine drew in an exchange."""
    state = states[0]
    phase, seat = int(state["phase"]), int(state["turn"])
    hand_before = int(state["hands"][seat])
    step.apply(states, 0, action)
    drawn: list[int] = []
    if PHASE_NAMES[phase] == "exchange":
        drawn = cards_of(int(state["hands"][seat]) & ~hand_before)
    referee.apply(action, drawn)
    if PHASE_NAMES[phase] == "play" and sum(referee.tricks) and not referee.trick:
        assert referee.last_winner == int(state["turn"]) or PHASE_NAMES[int(state["phase"])] != "play"


def suits_of(bits: int) -> set[int]:
    return {suit for suit in range(4) if bits >> suit & 1}


def act_and_check_voids(
    rules: Rules, states: StateArray, referee: Referee, action: int, suits: dict[int, list[int]]
) -> None:
    """Apply a card and assert that the engine's `voids` gained exactly what the card proves."""
    shown = brute_voids(rules, referee, action, suits)
    if rules.opening_lead == "low_club" and sum(referee.tricks) == 0 and action < 13:
        shown.discard(0)  # a lowest club that is also the highest shows more than `voids` promises
    seat = int(states[0]["turn"])
    before = suits_of(int(states[0]["voids"][seat]))
    act(rules, states, referee, action)
    if not step.is_over(states, 0):
        # A suit without another card in this deal proves nothing worth a flag.
        there = {suit for suit, members in suits.items() if set(members) - {action}}
        assert suits_of(int(states[0]["voids"][seat])) & there == (shown | before) & there


def play_deal(rules: Rules, rng: np.random.Generator, *, check_voids: bool = False) -> tuple[int, Counter[str]]:
    """Play one deal in both, comparing at every decision; number of decisions and the events met."""
    states = start(rules, rng)
    referee = referee_of(rules, states[0])
    deck = {c for seat in range(rules.players) for c in referee.hands[seat]} | set(referee.pile)
    suits = {suit: [c for c in deck if min(c // 13, 3) == suit] for suit in range(4)}
    decisions, events = 0, Counter[str]()
    while referee.seat_to_act() is not None:
        legal = compare_before(rules, states, referee)
        action = choose(legal, rng)
        playing = referee.phase() == "play"
        events[referee.phase()] += 1
        if playing and check_voids:
            act_and_check_voids(rules, states, referee, action, suits)
        else:
            act(rules, states, referee, action)
        decisions += 1
    compare_after(states, referee)
    events["winner"] += referee.winner is not None
    events["truncated"] += referee.truncated
    events["boston"] += referee.boston is not None
    events["penalty"] += any(item["penalty"] for item in referee.items)
    step.advance(states, 0)
    if not referee.match_over:
        assert int(states[0]["dealer"]) == referee.next_dealer
        assert [int(x) for x in states[0]["scores"]] == referee.scores
    else:
        assert list(states[0]["scores"]) == [0, 0]
        assert list(states[0]["bags"]) == [0, 0]
    return decisions, events


def run(deals: int, seed: int, *, check_voids: bool = False) -> tuple[int, Counter[Any], Counter[Any], Counter[str]]:
    rng = np.random.default_rng(seed)
    decisions, values, pairs, events = 0, Counter[Any](), Counter[Any](), Counter[str]()
    for _ in range(deals):
        rules = some_rules(rng)
        made, met = play_deal(rules, rng, check_voids=check_voids)
        decisions += made
        events += met
        chosen = option_values(rules)
        values.update(chosen)
        pairs.update(combinations(chosen, 2))
    return decisions, values, pairs, events


def test_engine_equals_referee_on_random_rules(capsys: pytest.CaptureFixture[str]) -> None:
    decisions, values, pairs, events = run(2_500, seed=1)
    with capsys.disabled():
        print(f"\n{decisions} decisions, {len(values)} option values, {len(pairs)} pairs, {dict(events)}")
    assert min(events[name] for name in ("blind", "bid", "play", "draft", "exchange")) > 100
    assert min(events[name] for name in ("winner", "truncated", "penalty", "boston")) > 5
    for name, choices in CHOICES.items():
        for value in choices:
            assert values[name, value] >= 30, (name, value)
    assert len(pairs) > 3_000


def test_shown_voids_are_exactly_what_the_rules_prove() -> None:
    run(250, seed=2, check_voids=True)


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_engine_equals_referee_on_a_million_decisions() -> None:
    decisions, values, pairs, events = run(45_000, seed=3)
    for (name, value), count in sorted(values.items(), key=str):
        print(f"{name} = {value}: {count} deals")
    print(f"{decisions} decisions, {len(values)} option values, {len(pairs)} pairs of them, {dict(events)}")
    assert decisions >= 1_000_000
    forms = [(name, value) for form in FORMS for name, value in form.items()]
    for name, value in {*forms, *((name, value) for name, choices in CHOICES.items() for value in choices)}:
        assert values[name, value] >= 1_000, (name, value)
    assert not possible_pairs() - set(pairs)


def possible_pairs() -> set[Any]:
    """Pairs of option values that some accepted rules hold together, found by drawing many rules."""
    rng = np.random.default_rng(9)
    found: set[Any] = set()
    for _ in range(20_000):
        found.update(combinations(option_values(some_rules(rng)), 2))
    return found


def test_illegal_actions_are_refused_as_the_referee_refuses_them() -> None:
    rng = np.random.default_rng(5)
    for _ in range(20):
        rules = some_rules(rng)
        states = start(rules, rng)
        referee = referee_of(rules, states[0])
        while referee.seat_to_act() is not None:
            legal = referee.legal_actions()
            for action in range(-2, NUM_ACTIONS + 2):
                assert step.is_legal(states, 0, action) == (action in legal)
            act(rules, states, referee, choose(sorted(legal), rng))
