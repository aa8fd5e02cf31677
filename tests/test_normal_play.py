"""How `normal` plays: a readable position or two for each of her plans, and the options that change her mind."""

from __future__ import annotations

import numpy as np
import pytest
from search_positions import POINTS_NORMAL
from test_agents import move, position

from agents import objective
from agents.equity.grid import grid_of, table_shape
from agents.rules.normal.agent import NormalAgent
from spades_env.engine.state import StateArray
from spades_env.rules import PRESETS, Rules

CLASSIC = PRESETS["classic"]
HANDS = "/".join(
    (
        "AS 9S 2S KH 8H 5H AD QD 7D 3D TC 6C 2C",  # South
        "KS JS 3S QH 9H 4H KD JD 6D AC 9C 7C 3C",  # West
        "QS TS 4S AH TH 3H 2H TD 8D 2D KC JC 8C",  # North, South's partner
        "8S 7S 6S 5S JH 7H 6H 9D 5D 4D QC 5C 4C",  # East
    )
)
NO_CLUBS = "/".join(
    (
        "AS 9S 2S KH TH 8H 5H 3H 2H AD QD 7D 3D",
        "KS JS 3S QH 9H 4H KD JD 6D AC 9C 7C 3C",
        "QS TS 4S AH TD 8D 2D KC JC TC 8C 6C 2C",
        "8S 7S 6S 5S JH 7H 6H 9D 5D 4D QC 5C 4C",
    )
)
"""South is void in clubs."""
SOUTH, WEST, NORTH, EAST = 3, 0, 1, 2
"""Who leads, as the dealer before her: bids and plays are given from her on, clockwise."""


def after(
    leader: int,
    bids: str,
    plays: str = "",
    rules: Rules = CLASSIC,
    *,
    bags: tuple[int, int] = (0, 0),
    hands: str = HANDS,
) -> StateArray:
    """The position after bids ("3 4 nil 2") and plays ("QD KD"), with so many bags on the sheet."""
    calls = [bid if bid == "nil" else f"bid {bid}" for bid in bids.split()]
    states = position(rules, hands, leader, ",".join(calls + plays.split()))
    states["bags"] = bags
    return states


# --- For tricks ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("leader", "plays", "card"),
    [
        (SOUTH, "", "AD"),  # leads her master
        (WEST, "JD TD 9D", "QD"),  # last: as cheaply as she can
        (WEST, "KD TD 9D", "AD"),
        (WEST, "4H AH 7H", "5H"),  # last, partner's trick
        (NORTH, "AH 7H", "5H"),  # partner's ace will hold
        (NORTH, "2D 9D", "AD"),  # third hand, the king still out: her master
        (EAST, "7H", "5H"),  # second hand low, the ace still out
        (EAST, "4D", "AD"),  # second hand with the master
        (WEST, "AC KC QC", "2C"),  # cannot win
    ],
)
def test_for_tricks(leader: int, plays: str, card: str) -> None:
    assert move(POINTS_NORMAL, after(leader, "4 4 4 4", plays)) == card


@pytest.mark.parametrize(
    ("leader", "plays", "card"),
    [
        (WEST, "AC 2C 4C", "2S"),  # ruffs an opponent's ace, with her lowest spade
        (NORTH, "2C QC", "2S"),
        (WEST, "3C KC QC", "3D"),  # but not partner's trick
        (NORTH, "KC 4C", "2H"),  # nor partner's king, which may hold
    ],
)
def test_ruffs_what_is_not_partners(leader: int, plays: str, card: str) -> None:
    assert move(POINTS_NORMAL, after(leader, "4 4 4 4", plays, hands=NO_CLUBS)) == card


# --- Nil ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("leader", "bids", "plays", "card"),
    [
        (SOUTH, "nil 4 4 4", "", "2C"),  # leads what is likeliest to be beaten
        (WEST, "4 4 4 nil", "JD TD 9D", "7D"),  # the highest that loses
        (WEST, "4 4 4 nil", "AC 8C 4C", "TC"),
        (WEST, "4 4 4 nil", "3C KC 4C", "TC"),
    ],
)
def test_her_own_nil(leader: int, bids: str, plays: str, card: str) -> None:
    assert move(POINTS_NORMAL, after(leader, bids, plays)) == card


TWO_VOIDS = "/".join(
    (
        "AS 9S 2S KH TH 8H 5H 3H 2H QD 7D 3D 2D",
        "KS JS 3S QH 9H KD JD AC KC JC 9C 7C 3C",
        "QS TS 4S AH JH 7H 4H AD TD 9D 8D 6D 5D",
        "8S 7S 6S 5S 6H 4D QC TC 8C 6C 5C 4C 2C",
    )
)
"""South and North are void in clubs."""


@pytest.mark.parametrize(
    ("plays", "card"),
    [
        ("AC QS 2C", "9S"),  # a spade wins: the highest below it
        ("AC 8D 2C", "QD"),  # a spade would win: the queen, which only two cards can beat
    ],
)
def test_her_own_nil_throws_danger_away(plays: str, card: str) -> None:
    assert move(POINTS_NORMAL, after(WEST, "4 4 4 nil", plays, hands=TWO_VOIDS)) == card


@pytest.mark.parametrize(
    ("leader", "bids", "plays", "card"),
    [
        (WEST, "3 nil 4 5", "4H TH 6H", "KH"),  # takes the trick over
        (EAST, "4 5 3 nil", "6H", "KH"),  # plays high before her
        (SOUTH, "5 3 nil 4", "", "AD"),  # leads high
    ],
)
def test_covers_partners_nil(leader: int, bids: str, plays: str, card: str) -> None:
    """North's; if she bids three instead, South keeps her king."""
    assert move(POINTS_NORMAL, after(leader, bids, plays)) == card
    if card == "KH":
        assert move(POINTS_NORMAL, after(leader, bids.replace("nil", "3"), plays)) == "5H"


@pytest.mark.parametrize(
    ("plays", "under", "over"),
    [
        ("JD 8D 9D", "7D", "QD"),  # the highest that leaves her the trick
        ("KD 8D 9D", "QD", "AD"),
        ("6D 2D 4D", "3D", "7D"),
    ],
)
def test_ducks_under_an_opponents_nil(plays: str, under: str, over: str) -> None:
    """West's, who leads; if she bids four instead, South wins as cheaply as she can."""
    assert move(POINTS_NORMAL, after(WEST, "nil 4 4 4", plays)) == under
    assert move(POINTS_NORMAL, after(WEST, "4 4 4 4", plays)) == over


def test_leads_low_at_an_opponents_nil() -> None:
    assert move(POINTS_NORMAL, after(SOUTH, "4 nil 4 4")) == "2C"
    assert move(POINTS_NORMAL, after(SOUTH, "4 4 4 nil")) == "2C"
    assert move(POINTS_NORMAL, after(SOUTH, "4 4 4 4")) == "AD"


# --- Out of the way, or to set ------------------------------------------------------------------------------

MADE = "AD 6D 2D 4D 5H 4H AH 6H"
"""South and North bid one each and have two tricks; North leads the third."""


@pytest.mark.parametrize(
    ("option", "card"),
    [
        ({}, "7D"),  # the contract is made and bags cost: the dearest that does not win
        ({"bag_limit": 0}, "QD"),  # no penalty: a bag is a point
        ({"bag_penalty": 0}, "QD"),
        ({"bag_limit": 0, "bag_points": -9}, "7D"),
    ],
)
def test_a_contract_made_leaves_tricks_alone_if_bags_cost(option: dict[str, int], card: str) -> None:
    rules = CLASSIC.replace(**option)  # type: ignore[arg-type]
    assert move(POINTS_NORMAL, after(SOUTH, "1 4 1 4", MADE + " 8D 9D", rules)) == card


SMALL = Rules(ranks=4, hand_size=4)
SMALL_HANDS = "AD JC AH JH/KD KC AS KS/JD AC QH QS/QD QC KH JS"
LAST_TWO = "AD KD JD QD JC KC AC QC QH KH"
"""South and North have made their one each, West and East need both tricks that are left for theirs; South is third."""


@pytest.mark.parametrize(
    ("bags", "limit", "card"),
    [
        (0, 10, "AH"),  # 40 points for a set against a bag
        (9, 10, "JH"),  # the tenth bag costs more
        (0, 0, "AH"),
    ],
)
def test_fights_to_set_if_that_pays(bags: int, limit: int, card: str) -> None:
    states = after(SOUTH, "1 1 1 1", LAST_TWO, SMALL.replace(bag_limit=limit), bags=(bags, 0), hands=SMALL_HANDS)
    assert move(POINTS_NORMAL, states) == card


def test_the_match_may_be_worth_the_tenth_bag(monkeypatch: pytest.MonkeyPatch) -> None:
    """At 480 the opponents' contract would win them the match (R24)."""
    grid = grid_of(SMALL)
    even = np.full(table_shape(grid), 0.5, np.float32), grid
    monkeypatch.setattr(objective, "stakes_of", lambda rules: even)
    states = after(SOUTH, "1 1 1 1", LAST_TWO, SMALL, bags=(9, 0), hands=SMALL_HANDS)
    states["scores"] = (450, 480)
    assert move(NormalAgent("points"), states) == "JH"
    assert move(NormalAgent("match"), states) == move(NormalAgent("auto"), states) == "AH"


ONE_TRICK = "AD 6D 2D 4D 5H QH 2H 7H JD TD 9D"
"""South has a trick, West has one and leads the third."""


@pytest.mark.parametrize(
    ("bids", "option", "card"),
    [
        ("nil 4 1 4", {"failed_nil": "bags_only"}, "7D"),  # R20: her trick would be a bag and not help partner's one
        ("nil 5 1 5", {"failed_nil": "bags_only"}, "QD"),  # two bags may set ten
        ("nil 4 1 4", {"failed_nil": "ignored"}, "QD"),  # her trick costs nothing and the eight are still open
        ("nil 4 1 4", {"failed_nil": "help_partner"}, "7D"),  # her trick has made it
        ("1 4 4 4", {"contract": "team"}, "QD"),  # partner's four are still open
        ("1 4 4 4", {"contract": "individual"}, "7D"),  # her own bid is made
        ("1 12 4 4", {"contract": "individual"}, "QD"),  # West, who is winning, needs every trick that is left
        ("1 4 4 11", {"contract": "individual"}, "7D"),  # so does East, but the trick is lost to her
        ("nil 4 1 4", {"contract": "individual"}, "7D"),
    ],
)
def test_what_counts_for_the_contract(bids: str, option: dict[str, str], card: str) -> None:
    rules = CLASSIC.replace(**option)  # type: ignore[arg-type]
    assert move(POINTS_NORMAL, after(SOUTH, bids, ONE_TRICK, rules)) == card


def test_the_tenth_bag_is_too_dear_for_a_failed_nil() -> None:
    """R21: beside `nil 5 1 5` above; eight on the sheet and the nil's own trick make nine."""
    assert move(POINTS_NORMAL, after(SOUTH, "nil 5 1 5", ONE_TRICK, bags=(8, 0))) == "7D"


@pytest.mark.parametrize(("failed_nil", "card"), [("bags_only", "3D"), ("ignored", "3D"), ("help_partner", "QD")])
def test_a_failed_nil_leaves_partner_the_tricks_she_needs(failed_nil: str, card: str) -> None:
    """R20: South's nil has failed, North needs two more and is winning; West and East can spare one trick."""
    rules = CLASSIC.replace(failed_nil=failed_nil)
    assert move(POINTS_NORMAL, after(SOUTH, "nil 5 3 5", "AD 6D 2D 4D 5H QH AH 7H TD 9D", rules)) == card


@pytest.mark.parametrize(("failed_nil", "card"), [("bags_only", "KH"), ("ignored", "KH"), ("help_partner", "8H")])
def test_a_trick_of_partners_failed_nil_is_taken_over_if_it_does_not_help(failed_nil: str, card: str) -> None:
    """R20: North's nil has failed and she wins the trick; South, last, needs four alone."""
    rules = CLASSIC.replace(failed_nil=failed_nil)
    states = after(SOUTH, "4 4 nil 4", "5H 4H AH 6H 2D 9D 3D KD 9H TH 7H", rules)
    assert move(POINTS_NORMAL, states) == card


def test_partners_nil_is_covered_with_individual_contracts_too() -> None:
    rules = CLASSIC.replace(contract="individual")
    assert move(POINTS_NORMAL, after(WEST, "3 nil 4 5", "4H TH 6H", rules)) == "KH"


# --- Two players --------------------------------------------------------------------------------------------

PAIR = Rules(players=2)
PAIR_HANDS = "AS 9S 2S KH 8H 5H AD QD 7D 3D TC 6C 2C/KS JS 3S QH 9H 4H KD JD 6D AC 9C 7C 3C"


@pytest.mark.parametrize(
    ("bids", "plays", "card"),
    [
        ("5 4", "", "AD"),
        ("1 nil", "", "2C"),  # attacks the nil once a trick will do
        ("1 4", "AD 6D", "2C"),  # her bid is reached: out of the way
        ("5 4", "6C 9C QH", "KH"),  # only two play: wins as cheaply as she can
        ("nil 4", "2C 3C QH", "8H"),  # the highest that loses
    ],
)
def test_two_players(bids: str, plays: str, card: str) -> None:
    states = after(1, bids, plays, PAIR, hands=PAIR_HANDS)
    assert states["turn"][0] == 0
    assert move(POINTS_NORMAL, states) == card
