"""`normal` under options that change what tricks are worth: positions made by hand, one option changed at a time."""

from __future__ import annotations

import numpy as np
import pytest

from agents.rules.facts import unseen_cards
from agents.rules.normal.bid import bids_blind, team_outlook
from agents.rules.normal.situation import nil_alive, team_need, tricks_cost, wants_for_points
from agents.stakes import POINTS, Stakes
from spades_env.engine import front, step
from spades_env.engine.kernel import kernel
from spades_env.engine.state import PHASE_BLIND, PHASE_PLAY, STATE, StateArray, rules_to_record
from spades_env.rules import PRESETS, Rules


@kernel
def wants(states: StateArray, seat: int, players: int) -> bool:
    return wants_for_points(states[0], seat, players, team_need(states[0], seat, players))


@kernel
def alive(states: StateArray, seat: int) -> bool:
    return nil_alive(states[0], seat)


@kernel
def price(states: StateArray, seat: int) -> float:
    return tricks_cost(states[0], seat, 4, team_need(states[0], seat, 4), 1)


@kernel
def outlook(states: StateArray, seat: int, mine: float) -> float:
    return team_outlook(states[0], seat, mine)[0]


@kernel
def blind(states: StateArray, stakes: Stakes) -> bool:
    return bids_blind(states[0], stakes)


@kernel
def unseen(states: StateArray, seat: int) -> int:
    return unseen_cards(states[0], seat)


def game(rules: Rules, bids: tuple[int, ...] = (), tricks: tuple[int, ...] = ()) -> StateArray:
    """A deal, in play if bids and tricks taken are given."""
    states = np.zeros(1, STATE)
    step.new_games(states, rules_to_record(rules), 0, 0)
    front.begin_deal(states, 0)
    if bids:
        states["phase"] = PHASE_PLAY
        states["bids"][0, : len(bids)] = bids
        states["tricks"][0, : len(tricks)] = tricks
        states["trick"] = sum(tricks)
    return states


def test_the_dealer_has_heard_no_bid_when_asked_about_double_nil() -> None:
    """R28: both seats are asked before any bid, so the same hand promises them the same."""
    states = game(PRESETS["two_player"])
    assert states["phase"][0] == PHASE_BLIND
    dealer = int(states["dealer"][0])
    assert outlook(states, dealer, 6.5) == outlook(states, 1 - dealer, 6.5) == pytest.approx(6.5, abs=0.6)
    # With the other's bid on the table the outlook goes down with it.
    states["bids"][0, 1 - dealer] = 4
    low = outlook(states, dealer, 6.5)
    states["bids"][0, 1 - dealer] = 9
    assert outlook(states, dealer, 6.5) < low - 1


def test_two_nils_of_a_unit_are_lost_together() -> None:
    independent = game(PRESETS["classic"], (0, 3, 0, 4), (1, 2, 0, 1))
    unit = game(PRESETS["classic"].replace(both_nil="unit"), (0, 3, 0, 4), (1, 2, 0, 1))
    assert (alive(independent, 0), alive(independent, 2)) == (False, True)
    assert (alive(unit, 0), alive(unit, 2)) == (False, False)
    assert alive(game(PRESETS["classic"].replace(both_nil="unit"), (0, 3, 4, 4), (0, 2, 1, 1)), 0)


def test_a_lost_nil_takes_every_trick_where_they_cost_nothing() -> None:
    """R22 against R20: ignored tricks may set the opponent for nothing, bags may not be worth it."""
    rules = PRESETS["two_player"]
    assert wants(game(rules, (0, 3), (1, 3)), 0, 2)
    assert not wants(game(rules.replace(failed_nil="bags_only"), (0, 3), (1, 3)), 0, 2)


def test_individual_contracts_are_each_her_own() -> None:
    rules = PRESETS["classic"].replace(contract="individual")
    states = game(rules, (3, 3, 5, 2), (3, 1, 0, 1))
    assert not wants(states, 0, 4)
    assert wants(states, 2, 4)
    assert wants(game(PRESETS["classic"], (3, 3, 5, 2), (3, 1, 0, 1)), 0, 4)


def test_an_individual_contract_is_fought_if_a_set_is_worth_the_bags() -> None:
    """West needs six of the eight tricks left and East can make hers easily."""
    rules = PRESETS["classic"].replace(contract="individual")
    states = game(rules, (3, 7, 5, 2), (3, 1, 0, 1))
    assert wants(states, 0, 4)
    states["bags"] = 9
    assert not wants(states, 0, 4)
    assert not wants(game(rules, (3, 2, 5, 2), (3, 1, 0, 1)), 0, 4)


def test_two_nils_lost_as_a_unit_take_tricks_for_nothing() -> None:
    """Their tricks give neither points nor bags, and may set the others."""
    rules = PRESETS["classic"].replace(both_nil="unit")
    assert wants(game(rules, (0, 3, 0, 4), (1, 2, 0, 1)), 0, 4)
    assert not wants(game(PRESETS["classic"], (0, 3, 0, 4), (1, 2, 0, 1)), 0, 4)


def test_a_failed_nils_tricks_are_bags_already() -> None:
    """R20, R21: five bags on the sheet and the nil's four make partner's next surplus trick the tenth."""
    states = game(PRESETS["classic"], (0, 4, 3, 4), (4, 1, 3, 1))
    states["bags"][0, 0] = 4
    assert price(states, 2) == pytest.approx(9.0)
    states["bags"][0, 0] = 5
    assert price(states, 2) == pytest.approx(99.0)


def test_what_was_rejected_may_have_come_back_to_an_opponent_who_exchanged() -> None:
    """R28: she draws from the draft discards, mine included."""
    states = game(PRESETS["two_player"])
    states["rejected"][0, 0] = 1 << 50
    assert unseen(states, 0) & (1 << 50) == 0
    states["exchanged"][0, 1] = 3
    assert unseen(states, 0) & (1 << 50) != 0


def test_without_tables_for_the_deck_nobody_bids_blind() -> None:
    rules = Rules(hand_size=8, blind_nil=True, blind_nil_deficit=None)
    assert not blind(game(rules), POINTS)
