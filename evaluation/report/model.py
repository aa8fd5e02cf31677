"""What a report is made of: sections of blocks, plain values that know nothing of HTML or Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from evaluation.text import Values


@dataclass(frozen=True)
class Text:
    """A paragraph."""

    text: str


@dataclass(frozen=True)
class Code:
    """Text to be shown as it is: a command, a configuration."""

    text: str
    title: str = ""


@dataclass(frozen=True)
class Table:
    """Cells by row; columns whose number is in `words` hold words, all others numbers, which stand at the right."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    words: tuple[int, ...] = (0,)
    note: str = ""


@dataclass(frozen=True)
class IntervalRow:
    """An estimate: its label, what stands beside it, and {"mean", "low", "high"}."""

    label: str
    interval: Values
    detail: str = ""


@dataclass(frozen=True)
class Intervals:
    """Estimates of one unit with their 95 % intervals, and the line that they are compared with: 0, or one half."""

    title: str
    rows: Sequence[IntervalRow]
    unit: str
    line: float = 0.0
    note: str = ""


@dataclass(frozen=True)
class Series:
    """A curve: points (x, mean, low, high); low and high are None where there is no interval."""

    label: str
    points: Sequence[tuple[float, float, float | None, float | None]]


@dataclass(frozen=True)
class Curves:
    """Curves over the same x. `floor`: y below it is not drawn, so that one early point does not flatten the rest."""

    title: str
    x_label: str
    unit: str
    series: Sequence[Series]
    line: float | None = None
    floor: float | None = None
    note: str = ""


@dataclass(frozen=True)
class Histogram:
    """Shares by category, a bar for each of a few series: (label, shares)."""

    title: str
    categories: Sequence[str]
    series: Sequence[tuple[str, Sequence[float]]]
    note: str = ""


@dataclass(frozen=True)
class HeatMap:
    """Values by row and column, None where there is none. `diverging`: coloured by sign, else from 0 upwards."""

    title: str
    rows: Sequence[str]
    columns: Sequence[str]
    values: Sequence[Sequence[float | None]]
    unit: str
    corner: str = ""
    details: Sequence[Sequence[str]] = ()
    diverging: bool = True
    note: str = ""


@dataclass(frozen=True)
class Bin:
    """Of chances that were told alike: their mean, the share that came true, and how many."""

    predicted: float
    observed: float
    n: int


@dataclass(frozen=True)
class Reliability:
    """A reliability diagram: what was said against what came true, by series (label, bins)."""

    title: str
    series: Sequence[tuple[str, Sequence[Bin]]]
    note: str = ""


@dataclass(frozen=True)
class Deals:
    """Deals to step through, as `evaluation.report.deals.deal_values` gives them."""

    deals: Sequence[Values]
    note: str = ""


@dataclass(frozen=True)
class Folded:
    """Blocks under a heading that is closed at first."""

    title: str
    blocks: Sequence[Block]


Block = Text | Code | Table | Intervals | Curves | Histogram | HeatMap | Reliability | Deals | Folded


@dataclass(frozen=True)
class Section:
    """A part of the report; `id` is its anchor."""

    id: str
    title: str
    blocks: Sequence[Block]


@dataclass(frozen=True)
class Report:
    """All of it; `data` is the merged JSON."""

    title: str
    sections: Sequence[Section]
    data: dict[str, Any] = field(repr=False)
