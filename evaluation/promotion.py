"""Whether a candidate takes the incumbent's place: paired duplicate deals against her, and against a pool beside her.

The deals are frozen: number and seed are constants. A first look at few of them ends what is clearly worse; no decision
in favour rests on it, because candidates that lead on 512 deals have been behind on 2,048.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from evaluation.duplicate import evaluate
from evaluation.intervals import Interval, mean_interval
from evaluation.work.job import AgentSpec
from evaluation.work.run import Progress
from spades_env.rules import Rules, as_rules

SEED = 7_001_000
"""Of the deals that decide; no training and no other evaluation uses it."""
SCREEN_DEALS, DEALS = 512, 4096
TOLERANCE = 1.0
"""Points per deal that a candidate may lose against a member of the pool, compared with the incumbent."""


@dataclass(frozen=True)
class Verdict:
    """What was found. `gains`: the candidate's margin against each of the pool less the incumbent's, deal by deal."""

    promoted: bool
    reason: str
    deals: int
    margin: Interval
    gains: dict[str, Interval]

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {
            "promoted": self.promoted,
            "reason": self.reason,
            "deals": self.deals,
            "seed": SEED,
            "margin": self.margin.to_dict(),
            "gains": {name: gain.to_dict() for name, gain in self.gains.items()},
        }


def promotion(
    candidate: AgentSpec,
    incumbent: AgentSpec,
    pool: Sequence[AgentSpec],
    rules: Rules | str = "classic",
    *,
    deals: int = DEALS,
    workers: int = 1,
    progress: Progress | None = None,
) -> Verdict:
    """Compare `candidate` with `incumbent` head to head and against each of `pool`, on the same deals.

    She is promoted if the 95 % interval of her margin lies above 0 and none of her gains can be below -TOLERANCE.
    """
    if deals < SCREEN_DEALS:
        raise ValueError(f"deals is {deals}; allowed: {SCREEN_DEALS} or more, fewer decide nothing")
    table = as_rules(rules)
    screen = _look(candidate, incumbent, pool, table, SCREEN_DEALS, workers, progress)
    behind = _behind(*screen)
    if behind:
        return Verdict(False, f"after {SCREEN_DEALS} deals {behind}", SCREEN_DEALS, *screen)
    margin, gains = _look(candidate, incumbent, pool, table, deals, workers, progress)
    reason = _objection(margin, gains)
    return Verdict(not reason, reason or "ahead of the incumbent, and no weaker against the pool", deals, margin, gains)


def _look(
    candidate: AgentSpec,
    incumbent: AgentSpec,
    pool: Sequence[AgentSpec],
    rules: Rules,
    deals: int,
    workers: int,
    progress: Progress | None,
) -> tuple[Interval, dict[str, Interval]]:
    def margins(a: AgentSpec, b: AgentSpec) -> np.ndarray:
        return evaluate(a, b, rules, deals=deals, seed=SEED, workers=workers, progress=progress).margins

    gains = {str(other): mean_interval(margins(candidate, other) - margins(incumbent, other)) for other in pool}
    return mean_interval(margins(candidate, incumbent)), gains


def _behind(margin: Interval, gains: dict[str, Interval]) -> str:
    """What is already clear against a candidate, or ""."""
    if margin.high < 0:
        return "she is behind the incumbent"
    return next((f"she is weaker against {name}" for name, gain in gains.items() if gain.high < -TOLERANCE), "")


def _objection(margin: Interval, gains: dict[str, Interval]) -> str:
    """Why a candidate is not promoted, or ""."""
    if margin.low <= 0:
        return "her margin over the incumbent may be 0 or less"
    for name, gain in gains.items():
        if gain.low < -TOLERANCE:
            return f"against {name} she may be more than {TOLERANCE:g} points weaker than the incumbent"
    return ""
