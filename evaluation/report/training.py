"""The section of training runs: learning curves of all runs beside each other, and the trained policies."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Final

import yaml

from evaluation.report.duels import STATS_COLUMNS, stats_cells
from evaluation.report.model import Block, Code, Curves, Folded, IntervalRow, Intervals, Section, Series, Table
from evaluation.report.nils import nils_made
from evaluation.report.read import Source
from evaluation.text import POINTS, SHARE, Values, interval_text, unique

RATES: Final = (("nil_rate", "Seats that bid nil"), ("nil_success", "Nils made"), ("set_rate", "Contracts set"))
X_LABEL: Final = "thousand deals learned from"


def training_section(sources: Sequence[Source]) -> Section:
    """Return the section of all runs."""
    runs: dict[str, Values] = {label: source.data for label, source in zip(_labels(sources), sources, strict=True)}
    blocks: list[Block] = [_curves(runs, opponent) for opponent in _opponents(runs, "history")]
    blocks += [plot for name, title in RATES if (plot := _rates(runs, name, title)).series]
    finals = [(f"{run} against {name}", found) for run, data in runs.items() for name, found in _final(data)]
    blocks += [
        Intervals("The trained policies", [IntervalRow(label, found["margin"]) for label, found in finals], POINTS),
        Table(
            "The trained policies",
            ("policy", "margin", "bags as scored", *STATS_COLUMNS),
            [
                [
                    label,
                    interval_text(found["margin"], POINTS),
                    interval_text(found.get("margin_raw"), POINTS),
                    *stats_cells(found["stats"]),
                ]
                for label, found in finals
            ],
        ),
        *nils_made([(label, found["stats"]) for label, found in finals]),
        Folded("Configurations", [_config(label, data) for label, data in runs.items()]),
    ]
    return Section("training", "Training", blocks)


def _labels(sources: Sequence[Source]) -> list[str]:
    """Return the runs' names, with the name of the folder where a name is there twice."""
    names = [source.data["config"]["name"] for source in sources]
    return [
        name if names.count(name) == 1 else f"{name} ({source.name} {source.digest[:4]})"
        for name, source in zip(names, sources, strict=True)
    ]


def _opponents(runs: dict[str, Values], part: str) -> list[str]:
    return unique(name for data in runs.values() for entry in data[part] for name in entry["opponents"])


def _final(data: Values) -> list[tuple[str, Any]]:
    return list(data["final"]["opponents"].items())


def _curves(runs: dict[str, Values], opponent: str) -> Curves:
    """Return the margin against one opponent over the training, a curve for each run."""
    series, later = [], []
    for label, data in runs.items():
        points = []
        for k, entry in enumerate(data["history"]):
            margin = entry["opponents"].get(opponent, {}).get("margin")
            if margin:
                points.append((entry["deals"] / 1000, margin["mean"], margin["low"], margin["high"]))
                later += [margin["low"]] if k else []
        series.append(Series(label, points))
    return Curves(
        f"Margin against {opponent}",
        X_LABEL,
        POINTS,
        [curve for curve in series if curve.points],
        line=0.0,
        floor=_floor(series, min(later)) if later else None,
        note="Greedy policy; bands are 95 % intervals. Points below the plot are not drawn, the table has them.",
    )


def _floor(series: Sequence[Series], low: float) -> float | None:
    """Return where the plot ends below: the first evaluation is of random weights and far below all others."""
    highest = max(point[1] for curve in series for point in curve.points)
    room = max(5.0, 0.1 * (highest - low))
    lowest = min(point[1] for curve in series for point in curve.points)
    return low - room if lowest < low - room else None


def _rates(runs: dict[str, Values], name: str, title: str) -> Curves:
    """Return a rate of the self-play deals over the training, a curve for each run."""
    series = []
    for label, data in runs.items():
        logs = [(entry["deals"] / 1000, (entry.get("deals_log") or {}).get(name)) for entry in data["history"]]
        points: list[tuple[float, float, float | None, float | None]] = []
        points += [(deals, value, None, None) for deals, value in logs if value is not None]
        if points and all(b[0] > a[0] for a, b in pairwise(points)):
            series.append(Series(label, points))
    return Curves(f"{title}, in self-play", X_LABEL, SHARE, series, line=0.0)


def _config(label: str, data: Values) -> Code:
    return Code(yaml.safe_dump(data["config"], sort_keys=False, allow_unicode=True).rstrip(), label)
