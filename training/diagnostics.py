"""What a collection of self-play deals looked like: numbers for the log that show a collapse early."""

from __future__ import annotations

import numpy as np

from spades_env.engine.state import StateArray

MOST_BID = 13


def deal_summary(states: StateArray) -> dict[str, float]:
    """Rates over finished deals, `states` of shape (n,) with one rule set: bids, nils, sets, bags.

    bid_N: share of seats that bid N (0 = any nil); table_bid: mean sum of a deal's bids; nil_rate of seats and
    nil_success of those (NaN without nils); set_rate: team-deals with a contract that was set; bags per team and deal.
    """
    players = int(states["rules"]["players"][0])
    bids, tricks = states["bids"][:, :players], states["tricks"][:, :players]
    nils = bids == 0
    contracts = np.stack([bids[:, team::2].sum(axis=1) for team in range(2)], axis=1)
    counted = np.stack([np.where(nils, 0, tricks)[:, team::2].sum(axis=1) for team in range(2)], axis=1)
    bid_at_all = contracts > 0
    summary = {
        "table_bid": float(bids.sum(axis=1).mean()),
        "nil_rate": float(nils.mean()),
        "nil_success": float((tricks[nils] == 0).mean()) if nils.any() else float("nan"),
        "set_rate": float((counted < contracts)[bid_at_all].mean()) if bid_at_all.any() else 0.0,
        "bags": float(states["result"]["bags"].mean()),
    }
    for bid in range(MOST_BID + 1):
        summary[f"bid_{bid}"] = float((bids == bid).mean())
    return summary
