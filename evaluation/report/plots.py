"""Where the marks of a plot lie, in percent of its area: the templates draw them, the page's style colours them.

Drawn by hand as SVG instead of by a plotting library: it follows light and dark and the width of the screen, its
text is text, and the same figures are the same bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from evaluation.report.model import Curves, HeatMap, Histogram, Intervals, Reliability
from evaluation.text import SHARE, figure, range_text, ticks

ROOM: Final = 0.04
"""Of the range of values, kept free at either end."""
STRONGEST: Final = 62
"""Percent of colour in the strongest cell of a heat map: text on it must stay readable."""
SMALL_DOT, LARGE_DOT = 3.0, 9.0
"""Radii in pixels of dots that stand for few and for many."""

Drawn = dict[str, Any]


@dataclass(frozen=True)
class Scale:
    """Values from `low` to `high` on 0 to 100 percent."""

    low: float
    high: float

    @classmethod
    def over(cls, values: Sequence[float]) -> Scale:
        """Return the scale of `values` with some room; of a single value 1 on either side."""
        low, high = min(values), max(values)
        room = ROOM * (high - low) or 1.0
        return cls(low - room, high + room)

    def at(self, value: float) -> float:
        """Return the place of a value, in percent to two decimals."""
        return round(100.0 * (value - self.low) / (self.high - self.low), 2)

    def ticks(self, unit: str, most: int = 6) -> list[tuple[float, str]]:
        """Return places and texts of round values."""
        return [(self.at(value), tick_text(value, unit)) for value in ticks(self.low, self.high, most)]


def tick_text(value: float, unit: str) -> str:
    """Return a round value, without the decimals that it has not."""
    if unit == SHARE:
        return f"{100 * value:.6g} %"
    return f"{0.0 if abs(value) < 1e-12 else value:.6g}"


def draw_intervals(block: Intervals) -> Drawn:
    """Return rows with the places of mean, low and high, the line and the ticks."""
    ends = [row.interval[name] for row in block.rows for name in ("low", "mean", "high")]
    scale = Scale.over([*ends, block.line])
    rows = [
        {
            "label": row.label,
            "detail": row.detail,
            **{name: scale.at(row.interval[name]) for name in ("low", "mean", "high")},
            "side": _side(row.interval, block.line),
            "mean_text": figure(row.interval["mean"], block.unit),
            "range_text": range_text(row.interval, block.unit),
        }
        for row in block.rows
    ]
    return {"rows": rows, "line": scale.at(block.line), "ticks": scale.ticks(block.unit, 5)}


def _side(interval: Any, line: float) -> str:
    """Return on which side of the line the whole interval lies."""
    if interval["low"] > line:
        return "above"
    return "below" if interval["high"] < line else "around"


def draw_curves(block: Curves) -> Drawn:
    """Return for each series its line, its band and its dots, as points of an area of 100 by 100."""
    points = [point for series in block.series for point in series.points]
    x_scale = Scale.over([point[0] for point in points])
    values = [value for point in points for value in point[1:] if value is not None]
    values += [] if block.line is None else [block.line]
    y_scale = Scale.over(values if block.floor is None else [max(value, block.floor) for value in values])
    series = [
        {
            "label": one.label,
            "line": _path([(x, mean) for x, mean, _, _ in one.points], x_scale, y_scale),
            "band": _band(one.points, x_scale, y_scale),
            "dots": [(x_scale.at(x), _down(y_scale, mean)) for x, mean, _, _ in one.points if mean >= y_scale.low],
        }
        for one in block.series
    ]
    return {
        "series": series,
        "x_ticks": x_scale.ticks("", 6),
        "y_ticks": [(100.0 - place, text) for place, text in y_scale.ticks(block.unit, 6)],
        "line": None if block.line is None else _down(y_scale, block.line),
    }


def _down(scale: Scale, value: float) -> float:
    """Return the place of a value from the top."""
    return round(100.0 - scale.at(value), 2)


def _path(points: Sequence[tuple[float, float]], x_scale: Scale, y_scale: Scale) -> str:
    return " ".join(f"{x_scale.at(x):g},{_down(y_scale, y):g}" for x, y in points)


def _band(points: Sequence[tuple[float, float, Any, Any]], x_scale: Scale, y_scale: Scale) -> str:
    """Return the outline of the intervals, or nothing where there are none."""
    known = [(x, low, high) for x, _, low, high in points if low is not None and high is not None]
    there = [(x, high) for x, _, high in known]
    back = [(x, low) for x, low, _ in reversed(known)]
    return _path([*there, *back], x_scale, y_scale)


def draw_histogram(block: Histogram) -> Drawn:
    """Return bars from below: place, width and height by category and series."""
    highest = max((value for _, shares in block.series for value in shares), default=0.0) or 1.0
    scale = Scale(0.0, highest * (1 + ROOM))
    slot, n = 100.0 / len(block.categories), len(block.series)
    bars = []
    for k, (label, shares) in enumerate(block.series):
        for j, value in enumerate(shares):
            height = scale.at(value)
            bars.append(
                {
                    "series": k,
                    "x": round(slot * (j + 0.1 + 0.8 * k / n), 2),
                    "width": round(0.8 * slot / n, 2),
                    "y": round(100.0 - height, 2),
                    "height": height,
                    "text": f"{label}, {block.categories[j]}: {figure(value, SHARE)}",
                }
            )
    return {
        "bars": bars,
        "x_ticks": [(round(slot * (j + 0.5), 2), name) for j, name in enumerate(block.categories)],
        "y_ticks": [(100.0 - place, text) for place, text in scale.ticks(SHARE, 5)],
    }


def draw_heat_map(block: HeatMap) -> list[list[Drawn]]:
    """Return the cells: text, detail, how strongly coloured (percent) and on which side of 0."""
    known = [abs(value) for row in block.values for value in row if value is not None]
    strongest = max(known, default=0.0) or 1.0
    details = block.details or [[""] * len(block.columns)] * len(block.rows)
    return [
        [
            {
                "text": "" if value is None else _cell_text(value, block.unit),
                "detail": detail,
                "weight": 0 if value is None else round(STRONGEST * abs(value) / strongest),
                "side": "below" if value is not None and value < 0 else "above",
            }
            for value, detail in zip(values, found, strict=True)
        ]
        for values, found in zip(block.values, details, strict=True)
    ]


def _cell_text(value: float, unit: str) -> str:
    return f"{100 * value:.1f}" if unit == SHARE else figure(value, unit)


def draw_reliability(block: Reliability) -> Drawn:
    """Return dots (what was said, what came true), larger where there were more."""
    most = max(found.n for _, bins in block.series for found in bins)
    scale = Scale(-0.02, 1.02)
    series = [
        {
            "label": label,
            "line": _path([(found.predicted, found.observed) for found in bins], scale, scale),
            "dots": [
                {
                    "x": scale.at(found.predicted),
                    "y": _down(scale, found.observed),
                    "r": round(SMALL_DOT + (LARGE_DOT - SMALL_DOT) * (found.n / most) ** 0.5, 1),
                    "text": f"{label}: said {found.predicted:.1%}, came true {found.observed:.1%}, n {found.n:,}",
                }
                for found in bins
            ],
        }
        for label, bins in block.series
    ]
    tenths = [(scale.at(k / 5), f"{20 * k} %") for k in range(6)]
    diagonal = _path([(0.0, 0.0), (1.0, 1.0)], scale, scale)
    y_ticks = [(round(100.0 - place, 2), text) for place, text in tenths]
    return {"series": series, "diagonal": diagonal, "x_ticks": tenths, "y_ticks": y_ticks}
