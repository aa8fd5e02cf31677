"""How often nils were made, with an interval."""

from __future__ import annotations

import math
from collections.abc import Sequence

from evaluation.intervals import Z_95
from evaluation.report.model import Block, IntervalRow, Intervals
from evaluation.text import SHARE, Values


def nils_made(found: Sequence[tuple[str, Values]]) -> list[Block]:
    """Return the plot of the share of nils made by each of (label, stats) that bid any; nothing if none did."""
    rows = [
        IntervalRow(label, wilson(stats["nil_made"], stats["nil_attempts"]), f"{stats['nil_attempts']:,} nils")
        for label, stats in found
        if stats["nil_attempts"]
    ]
    if not rows:
        return []
    note = (
        "Share of nils that were made; the line is one half. Wilson's 95 % interval, which takes nils for "
        "independent: those of the same cards in both orientations are not quite, so it is somewhat too narrow."
    )
    return [Intervals("Nils made", rows, SHARE, line=0.5, note=note)]


def wilson(made: int, attempts: int) -> dict[str, float]:
    """Return Wilson's 95 % interval of a share (Wilson 1927, "Probable inference")."""
    p, z2 = made / attempts, Z_95 * Z_95
    centre = (p + z2 / (2 * attempts)) / (1 + z2 / attempts)
    half = Z_95 / (1 + z2 / attempts) * math.sqrt(p * (1 - p) / attempts + z2 / (4 * attempts * attempts))
    return {"mean": p, "low": max(0.0, centre - half), "high": min(1.0, centre + half)}
