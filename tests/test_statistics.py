"""Statistics by team and by seat on hand-made logs: points, contracts, opponents' nils, matches told apart by row."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from evaluation.duplicate import evaluate
from evaluation.play import DEAL_LOG, LogArray
from evaluation.statistics import deal_statistics, match_statistics, seat_statistics

TEAM_0, TEAM_1 = np.zeros(4, np.int64), np.ones(4, np.int64)


@pytest.fixture
def log() -> LogArray:
    """Four deals: made by both; a nil of seat 1 set and a contract set; two nils of team 1, one set; a penalty."""
    rows: list[dict[str, Any]] = [
        {"bids": [4, 2, 3, 2], "tricks": [4, 2, 4, 3], "contract": [70, 40], "bags": [1, 1], "bag_points": [1, 1]},
        {"bids": [5, 0, 4, 4], "tricks": [4, 1, 3, 5], "contract": [-90, 40], "nil": [0, -100], "bags": [0, 2]},
        {"bids": [6, 0, 6, 0], "tricks": [6, 0, 6, 1], "contract": [120, 0], "nil": [0, 0], "blind": [0, 0, 0, 1]},
        {"bids": [1, 3, 1, 3], "tricks": [4, 3, 3, 3], "contract": [20, 60], "bags": [5, 0], "penalty": [-100, 0]},
    ]
    made = np.zeros(len(rows), DEAL_LOG)
    made["players"], made["hand_size"], made["boston"] = 4, 13, -1
    for k, row in enumerate(rows):
        for name, value in row.items():
            made[name][k] = value
    return made


def test_points_with_bags_priced_and_as_scored(log: LogArray) -> None:
    found = deal_statistics(log, TEAM_0, -9.0)
    assert found["points_per_deal"] == (70 - 90 + 120 + 20 - 9 * 6) / 4
    assert found["points_raw_per_deal"] == (70 - 90 + 120 + 20 + 1 - 100) / 4
    assert deal_statistics(log, TEAM_0)["points_per_deal"] is None
    other = deal_statistics(log, TEAM_1, 0.5)
    assert (other["points_per_deal"], other["points_raw_per_deal"]) == ((140 - 100 + 0.5 * 3) / 4, (140 - 100 + 1) / 4)


def test_contracts_made_and_set_are_shares_of_those_attempted(log: LogArray) -> None:
    found, other = deal_statistics(log, TEAM_0), deal_statistics(log, TEAM_1)
    assert (found["contract_rate"], found["set_rate"]) == (3 / 4, 1 / 4)
    assert (other["contract_rate"], other["set_rate"]) == (1.0, 0.0)  # of three: two nils are no contract
    assert deal_statistics(log[2:3], TEAM_1[:1])["contract_rate"] is None


def test_nils_of_the_opponents_that_were_set(log: LogArray) -> None:
    found, other = deal_statistics(log, TEAM_0), deal_statistics(log, TEAM_1)
    names = ("opponent_nil_attempts", "opponent_nils_set", "opponent_nil_set_rate")
    assert [found[name] for name in names] == [3, 2, 2 / 3]
    assert [other[name] for name in names] == [0, 0, None]
    assert (other["nil_attempts"], other["nil_made"]) == (3, 1)
    mixed = deal_statistics(log, np.array([1, 0, 1, 0]))
    assert [mixed[name] for name in names] == [1, 1, 1.0]


def test_over_bid_mean_is_tricks_minus_bid(log: LogArray) -> None:
    """Positive: she takes more than she bid."""
    assert deal_statistics(log[3:], TEAM_0[:1])["over_bid_mean"] == (3 + 2) / 2
    assert deal_statistics(log[1:2], TEAM_0[:1])["over_bid_mean"] == -1


def test_seats_one_by_one(log: LogArray) -> None:
    found = seat_statistics(log, np.full(4, 3))
    assert found == {
        "bid_mean": (2 + 4 + 0 + 3) / 4,
        "bid_histogram": [1, 0, 1, 1, 1, *[0] * 9],
        "tricks_mean": (3 + 5 + 1 + 3) / 4,
        "nil_attempts": 1,
        "nil_made": 0,
        "nil_rate": 1 / 4,
        "nil_success": 0.0,
        "blind_nil_attempts": 1,
        "blind_nil_made": 0,
        "blind_nil_rate": 1 / 4,
        "short_rate": 0.0,
        "over_bid_mean": (1 + 1 + 0) / 3,
        "seat_deals": 4,
    }
    turned = seat_statistics(log, np.array([0, 0, 1, 1]))  # the seat may change from deal to deal
    assert (turned["bid_mean"], turned["short_rate"], turned["nil_made"]) == ((4 + 5 + 0 + 3) / 4, 1 / 3, 1)
    assert seat_statistics(log[2:3], np.ones(1, np.int64))["over_bid_mean"] is None


def test_matches_are_told_apart_by_game_and_row(log: LogArray) -> None:
    log["game"], log["row"], log["team_of_a"] = [0, 0, 0, 1], [0, 2, 2, 0], 0
    found = match_statistics(log, TEAM_0, -9.0)
    assert (found["matches"], found["deals_per_match"], found["bags_per_match"]) == (3, 4 / 3, 6 / 3)
    assert found["points_per_deal"] == deal_statistics(log, TEAM_0, -9.0)["points_per_deal"]


@pytest.mark.parametrize("rules", ["modern", "two_player"])
def test_points_are_those_of_the_margins(rules: str) -> None:
    found = evaluate("easy", "suit_odds", rules, deals=50, seed=3)
    a, b = found.stats(0), found.stats(1)
    assert a["points_per_deal"] - b["points_per_deal"] == pytest.approx(found.margin.mean)
    assert a["points_raw_per_deal"] - b["points_raw_per_deal"] == pytest.approx(found.margin_raw.mean)
    assert a["opponent_nil_attempts"] == b["nil_attempts"]
    assert a["opponent_nils_set"] == b["nil_attempts"] - b["nil_made"]
