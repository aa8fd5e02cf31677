"""Sections of `spades evaluate` and `spades ladder`: who won by how much, and what both sides did."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any, Final

from evaluation.report.model import Block, Code, Folded, Histogram, IntervalRow, Intervals, Section, Table, Text
from evaluation.report.nils import nils_made
from evaluation.report.read import Source
from evaluation.text import (
    NOTHING,
    POINTS,
    SHARE,
    Values,
    decimal,
    figure,
    interval_text,
    milliseconds,
    share,
)

BIDS: Final = ("nil", *map(str, range(1, 14)))
STATS_COLUMNS: Final = (
    "bid a seat",
    "bid of the table",
    "sets",
    "bags a deal",
    "nils",
    "nils made",
    "blind nils",
    "blind made",
)
MARGIN_NOTE: Final = (
    "Dots are means, bars 95 % intervals; the line is no difference. Bags at their own points and their share of the "
    "penalty. Every deal was played again with the same cards and the seats changed."
)


def names_of(data: Values) -> tuple[str, str]:
    """Return the names of the two sides of an evaluation; those of a line-up are its two teams."""
    if data.get("line_up"):
        line_up = data["line_up"]
        return " & ".join(line_up[0::2]), " & ".join(line_up[1::2])
    return data["agents"]["A"], data["agents"]["B"]


def evaluation_section(sources: Sequence[Source]) -> Section:
    """Return the section of all evaluations: margins beside each other, then each one's details."""
    found = [source.data for source in sources]
    rows = [row for data in found for row in _margin_rows(data)]
    blocks: list[Block] = [
        Intervals("Margin: A minus B", rows, POINTS, note=MARGIN_NOTE),
        Table(
            "All figures",
            ("A − B", "rules", "deals", "margin", "bags as scored", "matches", "matches won", "illegal"),
            [_evaluation_row(data) for data in found],
            words=(0, 1),
            note="Brackets: 95 % intervals. Illegal actions were replaced by the lowest legal one.",
        ),
    ]
    matches = [data for data in found if data["match_win_rate"]]
    if matches:
        rows = [IntervalRow(_title(d), d["match_win_rate"], f"{d['matches']:,} matches") for d in matches]
        blocks.append(Intervals("Matches won by A", rows, SHARE, line=0.5))
    blocks.append(_statistics([(_title(data), dict(zip("AB", names_of(data), strict=True)), data) for data in found]))
    blocks += [table for data in found for table in _seats(data)]
    nils = [(f"{name}, {_title(data)}", data["stats"][side]) for data in found for side, name in _sides(data)]
    blocks += nils_made(nils)
    blocks += [_bids(_title(data), _sides(data), data["stats"]) for data in found[:1]]
    more = [_bids(_title(data), _sides(data), data["stats"]) for data in found[1:]]
    blocks += [Folded("Bids in the other evaluations", more)] if more else []
    return Section("evaluations", "Evaluations", blocks)


def evaluation_command(data: Values) -> str:
    """Return the command of an evaluation: its own, or one made of its fields."""
    if data.get("command"):
        return str(data["command"])
    words = ["spades", "evaluate"]
    words += ["--lineup", ",".join(data["line_up"])] if data.get("line_up") else list(names_of(data))
    words += ["--rules", data["preset"] or "rules.yaml"]
    asked = data.get("half_width_asked")
    words += ["--deals", str(data["deals"])] if asked is None else ["--half-width", f"{asked:g}"]
    words += _controls(data.get("control") or {})
    words += ["--matches", str(data["matches"])] if data["matches"] else []
    return shlex.join([*words, "--seed", str(data["seed"])])


def _controls(control: Values) -> list[str]:
    """Return the options that asked for controls."""
    words = ["--luck", str(control["playouts"])] if control.get("playouts") else []
    used = control.get("reference")
    if used:
        words += [word for a, b in used["pairs"] for word in ("--reference", f"{a}~{b}")]
        words += ["--reference-plays", str(used["plays"]), "--reference-deals", str(used["deals"])]
    return words


def _sides(data: Values) -> list[tuple[str, str]]:
    return list(zip("AB", names_of(data), strict=True))


def _title(data: Values) -> str:
    a, b = names_of(data)
    return f"{a} − {b}, {data['preset'] or 'own rules'}"


def _margin_rows(data: Values) -> Iterator[IntervalRow]:
    """Yield the margin, and the one with what controls explain taken out where there are any."""
    yield IntervalRow(_title(data), data["margin"], f"{data['deals']:,} deals")
    if data.get("control"):
        what = "luck" if data["control"]["playouts"] else "what reference pairs explain"
        detail = f"{what} taken out, worth {data['control']['variance_ratio']:.1f} times as many deals"
        yield IntervalRow(_title(data), data["control"]["margin"], detail)


def _seats(data: Values) -> Iterator[Block]:
    """Yield what each seat of a line-up did."""
    if not data.get("line_up") or not data.get("seat_stats"):
        return
    times = data.get("ms_per_decision_by_seat") or [None] * len(data["line_up"])
    rows = [
        [
            f"{seat}: {agent}",
            decimal(stats["bid_mean"]),
            decimal(stats["tricks_mean"]),
            share(stats["short_rate"]),
            share(stats["nil_rate"]),
            share(stats["nil_success"]),
            milliseconds(ms),
        ]
        for seat, (agent, stats, ms) in enumerate(zip(data["line_up"], data["seat_stats"], times, strict=True))
    ]
    columns = ("seat", "bid", "tricks", "short of her bid", "nils", "nils made", "ms a decision")
    note = "Seats of the line-up, which was turned around the table. Of an agent on several seats the time is one."
    yield Table(f"By seat: {_title(data)}", columns, rows, note=note)


def _evaluation_row(data: Values) -> list[str]:
    a, b = names_of(data)
    return [
        f"{a} − {b}",
        data["preset"] or "own",
        f"{data['deals']:,}",
        interval_text(data["margin"], POINTS),
        interval_text(data["margin_raw"], POINTS),
        f"{data['matches']:,}",
        interval_text(data["match_win_rate"], SHARE),
        f"{data['illegal_actions']:,}",
    ]


def _statistics(found: Sequence[tuple[str, Values, Values]]) -> Table:
    """Return what both sides did: a line for each (title, names by side, values with `stats`)."""
    rows = []
    for title, names, data in found:
        for side, name in names.items():
            rows.append([title, name, *stats_cells(data["stats"][side]), _ms(data, side)])
    return Table(
        "What the agents did",
        ("game", "agent", *STATS_COLUMNS, "ms a decision"),
        rows,
        words=(0, 1),
        note="Sets: share of contracts. Nils: of any kind, share of seats; made: share of those. Times as measured.",
    )


def _ms(data: Values, side: str) -> str:
    times = data.get("ms_per_decision")
    return milliseconds(times.get(side)) if times else NOTHING


def stats_cells(stats: Values) -> list[str]:
    """Return the cells of STATS_COLUMNS."""
    blind = stats["blind_nil_attempts"]
    return [
        decimal(stats["bid_mean"]),
        decimal(stats["table_bid_mean"]),
        share(stats["set_rate"]),
        decimal(stats["bags_per_deal"]),
        share(stats["nil_rate"]),
        share(stats["nil_success"]),
        f"{blind:,}",
        share(stats["blind_nil_made"] / blind if blind else None),
    ]


def bid_shares(stats: Values) -> list[float]:
    """Return the share of seats that bid nil (of any kind), 1, ... 13."""
    counts = (list(stats["bid_histogram"]) + [0] * len(BIDS))[: len(BIDS)]
    total = sum(counts)
    return [count / total if total else 0.0 for count in counts]


def _bids(title: str, sides: Sequence[tuple[str, str]], stats: Values) -> Histogram:
    series = [(f"{side}: {name}", bid_shares(stats[side])) for side, name in sides if stats.get(side)]
    return Histogram(f"Bids: {title}", BIDS, series, "Share of seats.")


# ---------------------------------------------------------------- the ladder


def ladder_section(sources: Sequence[Source]) -> Section:
    """Return the section of all ladders: plots and a table for each of its sections."""
    rows = [row for source in sources for row in source.data["duels"]]
    blocks: list[Block] = [Text(_ladder_count(rows))]
    for title, group in groupby(rows, key=lambda row: str(row["section"])):
        blocks += _ladder_group(title, list(group))
    histograms: list[Block] = [
        _bids(row["label"], [(side, row[side.lower()]) for side in "AB"], row["measured"]["stats"])
        for row in rows
        if row["measured"]
    ]
    blocks += [Folded(f"Bids in each duel ({len(histograms)})", histograms)] if histograms else []
    return Section("ladder", "Ladder", blocks)


def _ladder_count(rows: Sequence[Values]) -> str:
    counts = {status: sum(row["status"] == status for row in rows) for status in ("met", "missed", "not available")}
    goals = f"{counts['met']} of {counts['met'] + counts['missed']} goals met"
    return (
        f"{len(rows)} duels, {goals}, {counts['not available']} not available. A goal is met if the lower end of the "
        "95 % interval exceeds it."
    )


def _ladder_group(title: str, rows: Sequence[Values]) -> list[Block]:
    """Return the blocks of a section of the ladder."""
    played = [row for row in rows if row["measured"] and row["b"] is not None]
    margins = [_duel_row(row, "margin") for row in played if row["measured"]["margin"]]
    wins = [_duel_row(row, "win_rate") for row in played if row["measured"]["win_rate"]]
    blocks: list[Block] = []
    if margins:
        blocks.append(Intervals(f"{title}: margin, A minus B", margins, POINTS))
    if wins:
        blocks.append(Intervals(f"{title}: matches won by A", wins, SHARE, line=0.5))
    blocks.append(
        Table(
            title,
            ("A", "B", "rules", "kind", "games", "A − B", "as scored", "goal", "status", "ms A / B", "illegal"),
            [_duel_cells(row) for row in rows],
            words=(0, 1, 2, 3, 8),
        )
    )
    done = [row for row in rows if row["measured"]]
    names = [
        {side: row[side.lower()] for side in "AB" if row[side.lower()] and row["measured"]["stats"].get(side)}
        for row in done
    ]
    if done:
        found = [(row["label"], name, row["measured"]) for row, name in zip(done, names, strict=True)]
        blocks.append(Folded(f"{title}: what the agents did", [_statistics(found)]))
    return blocks


def _measured_sides(row: Values) -> dict[str, str]:
    """Return the agents of a duel whose statistics are there, by side."""
    return {side: row[side.lower()] for side in "AB" if row[side.lower()] and row["measured"]["stats"].get(side)}


def _duel_row(row: Values, name: str) -> IntervalRow:
    detail = f"{row['rules_text']}, {row['games']:,} {row['kind']}"
    return IntervalRow(f"{row['a']} − {row['b']}", row["measured"][name], detail)


def _duel_cells(row: Values) -> list[str]:
    measured: dict[str, Any] = row["measured"] or {}
    result = interval_text(measured.get("margin"), POINTS)
    if measured.get("win_rate"):
        result = interval_text(measured["win_rate"], SHARE)
    times = measured.get("ms_per_decision", {})
    illegal = measured.get("illegal_actions", {})
    scores = f" {row['scores'][0]}–{row['scores'][1]}" if row.get("scores") else ""
    return [
        row["a"],
        row["b"] or NOTHING,
        row["rules_text"],
        row["kind"] + scores,
        f"{row['games']:,}",
        result,
        interval_text(measured.get("margin_raw"), POINTS),
        figure(row["goal"], POINTS if row["kind"] == "deals" else SHARE),
        row["status"] + (f": {row['reason']}" if row.get("reason") else ""),
        " / ".join(milliseconds(times.get(side)) for side in "AB"),
        f"{sum(illegal.values()):,}",
    ]


def rules_block(data: Values) -> list[Block]:
    """Return rules that are no preset in full."""
    if data.get("preset"):
        return []
    lines = [
        f"{name}: {'null' if value is None else str(value).lower() if isinstance(value, bool) else value}"
        for name, value in data["rules"].items()
    ]
    return [Code("\n".join(lines), "rules.yaml")]
