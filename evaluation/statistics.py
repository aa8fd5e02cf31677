"""What happened to one agent's teams in a log of deals. A failed nil is an attempt too."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from evaluation.play import LogArray

BIDS = 14
"""Bids run from 0 (any nil) to 13."""


def deal_statistics(log: LogArray, teams: npt.NDArray[np.integer], bag_price: float | None = None) -> dict[str, Any]:
    """Return the statistics of team `teams[k]` in deal `log[k]` (dtype DEAL_LOG), both of shape (n,), n >= 1.

    Rates are shares of what their name says and None where that never came up; counts are totals. Points with bags
    at `bag_price` are None without it.
    """
    rows = np.arange(log.shape[0])
    seats = np.stack([teams, teams + 2], axis=1).astype(np.int64)
    bids = np.take_along_axis(log["bids"], seats, axis=1).astype(np.int64)
    blind = np.take_along_axis(log["blind"], seats, axis=1) == 1
    tricks = np.take_along_axis(log["tricks"], seats, axis=1).astype(np.int64)
    seated = seats < log["players"][:, None]
    ordinary = seated & (bids > 0)
    contracts = np.where(ordinary, bids, 0).sum(axis=1)
    # Made contracts give +10 a trick bid, set ones -10, also where each seat's bid stands alone.
    was_set = log["contract"][rows, teams] < 10 * contracts
    attempted, failed = int((contracts > 0).sum()), int(was_set[contracts > 0].sum())
    bags = log["bags"][rows, teams]
    table = np.where(np.arange(4) < log["players"][:, None], log["bids"], 0).sum(axis=1)
    return {
        "bid_mean": float(bids[seated].mean()),
        "team_bid_mean": float(contracts.mean()),
        "table_bid_mean": float(table.mean()),
        "bid_histogram": np.bincount(bids[seated], minlength=BIDS).tolist(),
        **_nils(seated & (bids == 0), blind, tricks, int(seated.sum())),
        **_opponent_nils(log, teams),
        "set_rate": _share(failed, attempted),
        "contract_rate": _share(attempted - failed, attempted),
        **_points(log, teams, bag_price),
        "over_bid_mean": float((tricks - bids)[ordinary].mean()) if ordinary.any() else None,
        "bags_per_deal": float(bags.mean()),
        "bostons": int((log["boston"] == teams).sum()),
        "team_deals": int(log.shape[0]),
    }


def match_statistics(log: LogArray, teams: npt.NDArray[np.integer], bag_price: float | None = None) -> dict[str, Any]:
    """Return `deal_statistics` of whole matches and what counts per match, which is a (game, row, team_of_a)."""
    keys = (log["game"].tolist(), log["row"].tolist(), log["team_of_a"].tolist())
    matches = len(set(zip(*keys, strict=True)))
    bags = int(log["bags"][np.arange(log.shape[0]), teams].sum())
    return {
        **deal_statistics(log, teams, bag_price),
        "matches": matches,
        "deals_per_match": log.shape[0] / matches,
        "bags_per_match": bags / matches,
    }


def seat_statistics(log: LogArray, seats: npt.NDArray[np.integer]) -> dict[str, Any]:
    """Return the statistics of seat `seats[k]`, which is one that plays, in deal `log[k]`, both of shape (n,), n >= 1.

    Tricks and bids are those of the seat alone.
    """
    rows = np.arange(log.shape[0])
    bids = log["bids"][rows, seats].astype(np.int64)
    tricks = log["tricks"][rows, seats].astype(np.int64)
    blind = log["blind"][rows, seats] == 1
    ordinary = bids > 0
    return {
        "bid_mean": float(bids.mean()),
        "bid_histogram": np.bincount(bids, minlength=BIDS).tolist(),
        "tricks_mean": float(tricks.mean()),
        **_nils(bids == 0, blind, tricks, int(log.shape[0])),
        "short_rate": _share(int((tricks < bids)[ordinary].sum()), int(ordinary.sum())),
        "over_bid_mean": float((tricks - bids)[ordinary].mean()) if ordinary.any() else None,
        "seat_deals": int(log.shape[0]),
    }


def _opponent_nils(log: LogArray, teams: npt.NDArray[np.integer]) -> dict[str, Any]:
    """Return how often the other team bid nil of any kind, and how often that failed."""
    seats = np.stack([1 - teams, 3 - teams], axis=1).astype(np.int64)
    nils = (np.take_along_axis(log["bids"], seats, axis=1) == 0) & (seats < log["players"][:, None])
    was_set = nils & (np.take_along_axis(log["tricks"], seats, axis=1) > 0)
    attempts = int(nils.sum())
    return {
        "opponent_nil_attempts": attempts,
        "opponent_nils_set": int(was_set.sum()),
        "opponent_nil_set_rate": _share(int(was_set.sum()), attempts),
    }


def _points(log: LogArray, teams: npt.NDArray[np.integer], bag_price: float | None) -> dict[str, float | None]:
    """Return the team's points per deal, bags at the price and as scored, penalties included."""
    rows = np.arange(log.shape[0])
    fixed = int((log["contract"] + log["nil"])[rows, teams].sum())
    raw = fixed + int((log["bag_points"] + log["penalty"])[rows, teams].sum())
    bags = int(log["bags"][rows, teams].sum())
    return {
        "points_per_deal": None if bag_price is None else (fixed + bag_price * bags) / log.shape[0],
        "points_raw_per_deal": raw / log.shape[0],
    }


def _nils(
    nils: npt.NDArray[np.bool_], blind: npt.NDArray[np.bool_], tricks: npt.NDArray[np.int64], seats: int
) -> dict[str, Any]:
    """Return attempts, successes, rates of all nils and of the blind ones among them; arrays of one shape."""
    attempts, made = int(nils.sum()), int((nils & (tricks == 0)).sum())
    blind_attempts = int((nils & blind).sum())
    return {
        "nil_attempts": attempts,
        "nil_made": made,
        "nil_rate": attempts / seats,
        "nil_success": _share(made, attempts),
        "blind_nil_attempts": blind_attempts,
        "blind_nil_made": int((nils & blind & (tricks == 0)).sum()),
        "blind_nil_rate": blind_attempts / seats,
    }


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None
