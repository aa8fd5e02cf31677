"""The ladder as plain values and as a page in Markdown: one table a section, whether goals were met, and on what."""

from __future__ import annotations

import json
from itertools import groupby
from typing import Any, Final

from evaluation.ladder.config import Duel
from evaluation.ladder.play import Measured
from evaluation.ladder.store import RESULTS_FILE
from evaluation.text import NOTHING, POINTS, interval_text, markdown_table, milliseconds, places_text, share

MET, MISSED, MEASURED, NOT_AVAILABLE = "met", "missed", "measured", "not available"
"""How a duel stands: against its goal; without a goal; an agent could not be loaded."""

PLAYED: Final = ("rules", "kind", "games", "seed")
FOUND: Final = ("table bid", "nil A", "nil B", "sets A / B", "bags A / B", "ms A / B")
DUEL_COLUMNS: Final = ("A", "B", *PLAYED, "goal", "A − B [95 %]", "margin_raw", *FOUND, "goal met")
ALONE_COLUMNS: Final = ("agent", *PLAYED, "table bid", "nil", "sets", "bags", "deals a match", "ms")
Row = dict[str, Any]
"""A duel, how it stands and what it came to: an element of `duels` in ladder.json."""


def row_of(duel: Duel, measured: Measured | None, reason: str | None = None) -> Row:
    """Return a duel's row; without figures, `reason` says why it could not be played."""
    return {
        "section": duel.section,
        "label": duel.label,
        "rules_text": duel.rules_text,
        "goal": duel.goal,
        "status": NOT_AVAILABLE if measured is None else _status(duel, measured),
        "reason": reason,
        **duel.definition(),
        "measured": measured,
    }


def _status(duel: Duel, measured: Measured) -> str:
    """Return whether the lower end of the interval exceeds the goal."""
    if duel.goal is None:
        return MEASURED
    interval = measured["margin"] if duel.kind == "deals" else measured["win_rate"]
    return MET if interval["low"] > duel.goal else MISSED


def markdown(rows: list[Row], command: str) -> str:
    """Return the page: tables by section, what the columns mean, machine and versions, and the `command`."""
    parts = ["# The ladder", _count(rows)]
    for title, section in groupby(rows, key=lambda row: str(row["section"])):
        found = list(section)
        parts.append(f"## {title}")
        for columns, chosen, cells in (
            (DUEL_COLUMNS, [row for row in found if row["b"] is not None], _duel_cells),
            (ALONE_COLUMNS, [row for row in found if row["b"] is None], _alone_cells),
        ):
            if chosen:
                parts.append(markdown_table([columns, *map(cells, chosen)]))
    measured = [row["measured"] for row in rows if row["measured"] is not None]
    parts += [_legend(rows), *places_text(measured, "duels"), f"```\n{command}\n```"]
    return "\n\n".join(parts) + "\n"


def _count(rows: list[Row]) -> str:
    """Return how many duels stand how."""
    counts = {status: sum(row["status"] == status for row in rows) for status in (MET, MISSED, NOT_AVAILABLE)}
    goals = f"goals met {counts[MET]} of {counts[MET] + counts[MISSED]}"
    return f"{len(rows)} duels, {goals}, not available {counts[NOT_AVAILABLE]}."


def _legend(rows: list[Row]) -> str:
    """Return what the columns mean."""
    text = (
        "`deals`: duplicate deals, A − B in points per deal, bags at their own points and their share of the penalty, "
        "in `margin_raw` as scored. `matches`, `endings`: share of matches that A won; endings begin with scores near "
        "the target. Every game was played twice, the teams swapped; by one agent, once. A goal is met if the lower "
        "end of the interval exceeds it. Nils: share of seats that bid any nil, share made; sets: share of contracts; "
        "bags: per team and deal; ms: per decision."
    )
    if any(_is_old(row) for row in rows):
        text += f" **†**: played before the source last changed; without `{RESULTS_FILE}` it is played again."
    return text


def _duel_cells(row: Row) -> list[str]:
    """Return the cells of a duel between two agents."""
    start = [*_names(row, "a", "b"), *_played(row), _goal(row)]
    measured = row["measured"]
    if measured is None:
        return [*start, row["status"], *[NOTHING] * (len(DUEL_COLUMNS) - len(start) - 1)]
    a, b = measured["stats"]["A"], measured["stats"]["B"]
    return [
        *start,
        _interval(measured["margin"], measured["win_rate"]),
        _interval(measured["margin_raw"], None),
        f"{a['table_bid_mean']:.2f}",
        _nils(a),
        _nils(b),
        f"{share(a['set_rate'])} / {share(b['set_rate'])}",
        f"{a['bags_per_deal']:.2f} / {b['bags_per_deal']:.2f}",
        " / ".join(milliseconds(measured["ms_per_decision"][side]) for side in "AB"),
        ("" if row["goal"] is None else {MET: "yes", MISSED: "**no**"}[row["status"]]) + _marks(row),
    ]


def _alone_cells(row: Row) -> list[str]:
    """Return the cells of an agent that plays with herself."""
    start = [*_names(row, "a"), *_played(row)]
    measured = row["measured"]
    if measured is None:
        return [*start, row["status"], *[NOTHING] * (len(ALONE_COLUMNS) - len(start) - 1)]
    stats = measured["stats"]["A"]
    deals = stats.get("deals_per_match")
    return [
        *start,
        f"{stats['table_bid_mean']:.2f}",
        _nils(stats),
        share(stats["set_rate"]),
        f"{stats['bags_per_deal']:.2f}",
        NOTHING if deals is None else f"{deals:.2f}",
        milliseconds(measured["ms_per_decision"]["A"]) + _marks(row),
    ]


def _names(row: Row, *sides: str) -> list[str]:
    return [f"`{row[side]}`" for side in sides]


def _played(row: Row) -> list[str]:
    """Return the cells that say what is played."""
    kind = row["kind"] if row["scores"] is None else f"{row['kind']} {row['scores'][0]}–{row['scores'][1]}"
    return [row["rules_text"], kind, f"{row['games']:,}", str(row["seed"])]


def _goal(row: Row) -> str:
    if row["goal"] is None:
        return ""
    if row["goal"] == 0:
        return "> 0"
    return f"> {row['goal']:+g}" if row["kind"] == "deals" else f"> {100 * row['goal']:g} %"


def _interval(margin: dict[str, float] | None, wins: dict[str, float] | None) -> str:
    """Return points with a sign, or a share in percent, and the ends of the interval."""
    if wins is not None:
        return f"{100 * wins['mean']:.2f} % [{100 * wins['low']:.2f}, {100 * wins['high']:.2f}]"
    return interval_text(margin, POINTS)


def _nils(stats: dict[str, Any]) -> str:
    """Return share of seats, share made, and the share of blind ones if there were any."""
    if not stats["nil_attempts"]:
        return "none"
    text = f"{100 * stats['nil_rate']:.2f} %, made {share(stats['nil_success'])}"
    if stats["blind_nil_attempts"]:
        made = stats["blind_nil_made"] / stats["blind_nil_attempts"]
        text += f"; blind {100 * stats['blind_nil_rate']:.2f} %, made {share(made)}"
    return text


def _marks(row: Row) -> str:
    """Return what a reader must know of a result: other source, illegal actions."""
    illegal = row["measured"]["illegal_actions"]
    text = " †" if _is_old(row) else ""
    return text + (f" **illegal actions {json.dumps(illegal)}**" if any(illegal.values()) else "")


def _is_old(row: Row) -> bool:
    return row["measured"] is not None and not row["measured"]["same_code"]
