"""Figures and tables as text, the same on every page: ladder, tournament, benchmark, report, leaderboard."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

Values = Mapping[str, Any]
"""Plain values, as JSON holds them."""

NOTHING: Final = "–"
POINTS: Final = "points per deal"
SHARE: Final = "share"


def figure(value: float | None, unit: str) -> str:
    """Return a value in its unit: shares in percent, nats to four places, all else with a sign."""
    if value is None:
        return NOTHING
    if unit == SHARE:
        return f"{100 * value:.1f} %"
    if unit.startswith("nats"):
        return f"{value:.4f}"
    return f"{value:+.2f}"


def range_text(interval: Values, unit: str) -> str:
    """Return the ends of an interval, [low, high]."""
    if unit == SHARE:
        return f"[{100 * interval['low']:.1f}, {100 * interval['high']:.1f}]"
    return f"[{figure(interval['low'], unit)}, {figure(interval['high'], unit)}]"


def interval_text(interval: Values | None, unit: str) -> str:
    """Return an estimate and the ends of its interval."""
    return NOTHING if interval is None else f"{figure(interval['mean'], unit)} {range_text(interval, unit)}"


def share(value: float | None) -> str:
    """Return a share in percent."""
    return figure(value, SHARE)


def decimal(value: float | None, places: int = 2) -> str:
    """Return a plain number."""
    return NOTHING if value is None else f"{value:.{places}f}"


def milliseconds(value: float | None) -> str:
    """Return two figures that count, without an exponent: agents differ by a factor of a million."""
    if not value:
        return NOTHING
    return f"{value:.{max(0, 1 - math.floor(math.log10(value)))}f}"


def versions_text(versions: Values) -> str:
    """Return the versions of what was installed."""
    return ", ".join(f"{name} {version}" for name, version in versions.items() if version)


def machine_text(machine: Values) -> str:
    """Return processor, cores and system."""
    return f"{machine['processor']}, {machine['cores']} cores, {machine['system']}"


def places_text(found: Iterable[Values], what: str) -> list[str]:
    """Return "Measured on ..." for each machine, versions and hash of the source in `found`, results, and how many."""
    places: dict[str, int] = {}
    for one in found:
        text = f"{machine_text(one['machine'])}; {versions_text(one['versions'])}; code {one['code']}"
        places[text] = places.get(text, 0) + 1
    return [f"Measured on {text}{f' ({n} {what})' if len(places) > 1 else ''}." for text, n in places.items()]


def markdown_table(lines: Sequence[Sequence[str]], words: Sequence[int] | None = None) -> str:
    """Return a Markdown table, heading first, with cells padded to equal width, so that it reads well as text, too.

    Cells stand at the left in columns whose number is in `words`, by default in all, else at the right.
    """
    columns = range(len(lines[0]))
    texts = [[cell.replace("|", "\\|") for cell in line] for line in lines]
    widths = [max(3, *(len(line[k]) for line in texts)) for k in columns]
    left = [words is None or k in words for k in columns]
    padded = [[f"{line[k]:{'<' if left[k] else '>'}{widths[k]}}" for k in columns] for line in texts]
    rule = ["-" * widths[k] if left[k] else "-" * (widths[k] - 1) + ":" for k in columns]
    return "\n".join(f"| {' | '.join(line)} |" for line in (padded[0], rule, *padded[1:]))


def unique(texts: Iterable[str]) -> list[str]:
    """Return each text once, in order."""
    return list(dict.fromkeys(texts))


def ticks(low: float, high: float, most: int = 6) -> list[float]:
    """Return round numbers from `low` to `high`, at most about `most`, steps of 1, 2 or 5 times a power of ten."""
    raw = (high - low) / most
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(factor * power for factor in (1.0, 2.0, 5.0, 10.0) if factor * power >= raw * (1 - 1e-9))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [k * step for k in range(first, last + 1)]
