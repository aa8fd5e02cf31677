"""What a run that learned bid values found, on the decisions held out: figures, and their part of the report."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, TypeVar

import numpy as np
import numpy.typing as npt

from spades_env.actions import FIRST_BID, NIL
from training.bid_labels import BidLabels

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]
Number = TypeVar("Number", bound=np.generic)
CRITICAL: Final = 1.96
"""Half a 95 % interval, in standard errors."""


def findings(labels: BidLabels, held: Ints, values: Floats, logits: Floats) -> dict[str, float]:
    """Figures of the decisions `held` of `labels`: learned `values` (points) and the policy's `logits`, (n, 14) each.

    Gains are points of the tried bids themselves, of deals that were not learned from: what a bid brought there less
    what the old policy's brought. Where the new policy's bid was not tried, nothing is known and the decision left out.
    """
    tried, points, old = labels.tried[held], labels.values[held], labels.logits[held]
    known = centred(points, tried)
    before, after = old.argmax(1), logits.argmax(1)
    best = np.where(tried, values, -np.inf).argmax(1)
    met = taken(tried, after)
    own, spread = taken(values, before), np.square(known).sum()
    gain, bound = _mean(taken(known, after)[met] - taken(known, before)[met])
    best_gain, best_bound = _mean(taken(known, best) - taken(known, before))
    moved = before != after
    nil = NIL - FIRST_BID
    return {
        "decisions": float(len(labels)),
        "held_out": float(len(held)),
        "bids_tried": float(labels.tried.sum() / len(labels)),
        "explained": float(1 - np.square(known - centred(values, tried)).sum() / spread) if spread > 0 else 0.0,
        "regret_before": float((taken(values, best) - own).mean()),
        "regret_after": float((taken(values, best) - taken(values, after))[met].mean()) if met.any() else 0.0,
        "gain": gain,
        "gain_bound": bound,
        "best_gain": best_gain,
        "best_gain_bound": best_bound,
        "changed": float(moved.mean()),
        "higher": float((moved & (before != nil) & (after > before)).mean()),
        "lower": float((moved & (after != nil) & (after < before)).mean()),
        "nils_before": float((before == nil).mean()),
        "nils_after": float((after == nil).mean()),
        "not_tried": float(1 - met.mean()),
    }


def centred(values: Floats, tried: npt.NDArray[np.bool_]) -> Floats:
    """`values`, (n, 14), less their mean over the bids tried in the row; 0 elsewhere."""
    given = np.where(tried, values, 0)
    mean = given.sum(1, keepdims=True) / tried.sum(1, keepdims=True)
    return np.where(tried, given - mean, 0).astype(np.float32)


def taken(values: npt.NDArray[Number], bids: Ints) -> npt.NDArray[Number]:
    """Entry `bids[k]` of row k."""
    return np.take_along_axis(values, bids[:, None], axis=1)[:, 0]


def _mean(points: Floats) -> tuple[float, float]:
    """Mean and half the width of its 95 % interval; 0 and 0 of nothing."""
    n = len(points)
    return (float(points.mean()), CRITICAL * float(points.std()) / max(1, n - 1) ** 0.5) if n else (0.0, 0.0)


def section(found: Mapping[str, float]) -> str:
    """The part of a report, Markdown."""
    return "\n".join(
        [
            f"{found['decisions']:,.0f} decisions with {found['bids_tried']:.1f} bids tried in each. Figures are of "
            f"the {found['held_out']:,.0f} that were not learned from: points of a decision with 95 % intervals.",
            "",
            "| | |",
            "|---|---|",
            f"| variance of the differences between bids explained | {found['explained']:.1%} |",
            f"| regret of the bids by the values, before and after | {found['regret_before']:.2f}, "
            f"{found['regret_after']:.2f} |",
            f"| the new bids brought more than the old | {found['gain']:+.2f} ± {found['gain_bound']:.2f} |",
            f"| those of the best value would have | {found['best_gain']:+.2f} ± {found['best_gain_bound']:.2f} |",
            f"| bids changed (to higher, to lower ones) | {found['changed']:.1%} ({found['higher']:.1%}, "
            f"{found['lower']:.1%}) |",
            f"| nils before and after | {found['nils_before']:.1%}, {found['nils_after']:.1%} |",
            f"| bids that were not tried | {found['not_tried']:.2%} |",
        ]
    )
