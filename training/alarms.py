"""Alarms: bands that the figures of a run's evaluations must stay in.

The defaults are wide: what four-handed play under the shipped rules is known for (a table bid of 9.8 to 11.6, 3 to
15 % of contracts set, nil on 2.5 to 9 % of seats) and what past runs of the shipped configurations went through.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final, Literal

import numpy as np
from pydantic import Field, model_validator

from evaluation.report.shape import NUMBER, Maybe
from training.section import Section

Entry = Mapping[str, Any]
"""Of a run's history: one evaluation (docs/training.md)."""


class AlarmsConfig(Section):
    """What is an alarm, and what then happens; a band that is none is not watched.

    Sets, bids and nils are those of the greedy policy in an evaluation, against each opponent; the table bid is that of
    the last collection of deals before it.
    """

    on_alarm: Literal["warn", "stop", "roll_back"] = Field(
        "warn", description="note it; end the run; or go back to the best evaluation's weights with half the rate"
    )
    after: float = Field(0.1, ge=0, le=1, description="share of training before which nothing comes of an alarm")
    roll_backs: int = Field(3, ge=1, le=100, description="how often a run goes back; then it is stopped")
    own_sets: float | None = Field(0.3, ge=0, le=1, description="most of the policy's contracts that are set")
    opponent_sets: float | None = Field(0.02, ge=0, le=1, description="fewest of the opponents' contracts that are set")
    bid_entropy: float | None = Field(0.75, ge=0, le=3, description="least entropy of the spread of bids, in nats")
    common_bid: float | None = Field(0.6, ge=0, le=1, description="largest share that a single bid has of all bids")
    nils: float | None = Field(0.005, ge=0, le=1, description="fewest seats that bid nil")
    table_bid_low: float | None = Field(9.0, ge=0, le=52, description="least mean sum of a deal's bids")
    table_bid_high: float | None = Field(12.0, ge=0, le=52, description="largest mean sum of a deal's bids")
    margin_drop: float | None = Field(
        10.0, ge=0, description="most points that the mean margin over the opponents falls below the best before"
    )

    @model_validator(mode="after")
    def _band(self) -> AlarmsConfig:
        low, high = self.table_bid_low, self.table_bid_high
        if low is not None and high is not None and low > high:
            raise ValueError(f"alarms.table_bid_low is {low}; allowed: up to alarms.table_bid_high, {high}")
        return self


@dataclass(frozen=True)
class Alarm:
    """A figure outside its band; `against` is the opponent of the evaluation, None for a figure of the run's deals."""

    measure: str
    against: str | None
    value: float
    low: float | None = None
    high: float | None = None


ALARM_FORM: Final[Mapping[str, Any]] = {
    "measure": str,
    "against": Maybe(str),
    "value": NUMBER,
    "low": Maybe(NUMBER),
    "high": Maybe(NUMBER),
}
"""An alarm in a history."""

MEASURES: Mapping[str, tuple[str, str]] = {
    "own_sets": ("contracts of its own that are set", "{:.1%}"),
    "opponent_sets": ("contracts of the opponents that are set", "{:.1%}"),
    "bid_entropy": ("entropy of bids", "{:.2f}"),
    "common_bid": ("share of the most common bid", "{:.1%}"),
    "nils": ("seats that bid nil", "{:.2%}"),
    "table_bid": ("table bid", "{:.2f}"),
    "margin_drop": ("points below the best evaluation", "{:.1f}"),
}
"""For people: the name of each measure, and how its values are written."""


def alarms_of(entry: Entry, bands: AlarmsConfig, best: Entry | None) -> list[dict[str, Any]]:
    """The alarms of an evaluation as plain values; `best`: the best one before it, if any can be compared."""
    found = [alarm for name, result in entry["opponents"].items() for alarm in _of_evaluation(name, result, bands)]
    table_bid = (entry.get("deals_log") or {}).get("table_bid")
    found += _outside("table_bid", None, table_bid, bands.table_bid_low, bands.table_bid_high)
    if best is not None:
        found += _outside("margin_drop", None, mean_margin(best) - mean_margin(entry), None, bands.margin_drop)
    return [asdict(alarm) for alarm in found]


def alarm_text(alarm: Mapping[str, Any]) -> str:
    """An alarm for people."""
    label, form = MEASURES[alarm["measure"]]
    against = "" if alarm["against"] is None else f" against {alarm['against']}"
    low, high = (None if alarm[end] is None else form.format(alarm[end]) for end in ("low", "high"))
    allowed = f"up to {high}" if low is None else f"from {low} on" if high is None else f"{low} to {high}"
    return f"{label}{against}: {form.format(alarm['value'])} (allowed: {allowed})"


def mean_margin(entry: Entry) -> float:
    """Points per deal, the mean over the opponents of an evaluation."""
    return float(np.mean([found["margin"]["mean"] for found in entry["opponents"].values()]))


def best_of(entries: Sequence[Entry], like: Entry) -> Entry | None:
    """The evaluation without alarms of the highest mean margin against the opponents of `like`; the first of equals."""
    fit = [
        entry for entry in entries if not entry.get("alarms") and entry["opponents"].keys() == like["opponents"].keys()
    ]
    return max(fit, key=mean_margin, default=None)


def _of_evaluation(name: str, result: Mapping[str, Any], bands: AlarmsConfig) -> Iterator[Alarm]:
    """The alarms of one opponent's evaluation."""
    stats = result["stats"]
    shares = np.array(stats["bid_histogram"]) / sum(stats["bid_histogram"])
    bid = shares[shares > 0]
    yield from _outside("own_sets", name, stats["set_rate"], None, bands.own_sets)
    yield from _outside("opponent_sets", name, result.get("opponent_set_rate"), bands.opponent_sets, None)
    yield from _outside("bid_entropy", name, float(-(bid * np.log(bid)).sum()), bands.bid_entropy, None)
    yield from _outside("common_bid", name, float(shares.max()), None, bands.common_bid)
    yield from _outside("nils", name, stats["nil_rate"], bands.nils, None)


def _outside(
    measure: str, against: str | None, value: float | None, low: float | None, high: float | None
) -> Iterator[Alarm]:
    """An alarm if there is a value, and it lies outside the band."""
    if value is not None and ((low is not None and value < low) or (high is not None and value > high)):
        yield Alarm(measure, against, value, low, high)
