"""The section of `spades tournament`: ranking, strengths, cross-table and what the agents did."""

from __future__ import annotations

from collections.abc import Sequence

from evaluation.report.duels import BIDS, STATS_COLUMNS, bid_shares, stats_cells
from evaluation.report.model import Block, HeatMap, IntervalRow, Intervals, Section, Table, Text
from evaluation.report.nils import nils_made
from evaluation.report.read import Source
from evaluation.text import NOTHING, POINTS, SHARE, Values, interval_text, milliseconds, share

DIFFERENCE = "won minus lost"
"""Unit of tournaments of matches: share won minus share lost."""


def tournament_section(sources: Sequence[Source]) -> Section:
    """Return the section of all tournaments."""
    blocks: list[Block] = []
    for source in sources:
        blocks += _blocks(source.data)
    return Section("tournament", "Tournament", blocks)


def unit_of(data: Values) -> str:
    """Return the unit of a tournament's strengths and margins."""
    return POINTS if data["kind"] == "deals" else DIFFERENCE


def _blocks(data: Values) -> list[Block]:
    unit, agents = unit_of(data), sorted(data["agents"], key=lambda agent: agent["rank"])
    zero = f"the strength of {data['reference']}" if data.get("reference") else "the mean strength"
    rows = [IntervalRow(agent["label"], agent["strength"], f"{agent['games']:,} games") for agent in agents]
    return [
        Text(
            f"{len(agents)} agents, rules {data['rules_text']}, {data['games']:,} duplicate {data['kind']}, "
            f"seed {data['seed']}. The line is {zero}."
        ),
        Intervals("Strength", rows, unit, note="Least squares over all games, 95 % intervals by a bootstrap of deals."),
        Table(
            "Ranking",
            (
                "rank",
                "agent",
                "strength",
                "as scored",
                "rating",
                "seat strength",
                "seat rating",
                "games",
                "ms",
                "illegal",
            ),
            [_ranking_row(agent, unit) for agent in agents],
            words=(1,),
            note="Rating: OpenSkill's mu ± two of its sigmas. Seat: from games of mixed teams. ms: per decision.",
        ),
        cross_table(data),
        Table(
            "Neighbours",
            ("upper", "lower", "difference", "chance that the order is wrong", "settled"),
            [_neighbours(found) for found in data["neighbours"]],
            words=(0, 1, 4),
        ),
        Table(
            "What the agents did",
            ("agent", *STATS_COLUMNS),
            [[agent["label"], *stats_cells(agent["stats"])] for agent in agents],
        ),
        *nils_made([(agent["label"], agent["stats"]) for agent in agents]),
        HeatMap(
            "Bids",
            [agent["label"] for agent in agents],
            BIDS,
            [bid_shares(agent["stats"]) for agent in agents],
            SHARE,
            corner="agent",
            diverging=False,
            note="Share of the agent's seats that bid so; nil of any kind.",
        ),
    ]


def cross_table(data: Values) -> HeatMap:
    """Return row minus column of every pair that played."""
    labels = [agent["label"] for agent in sorted(data["agents"], key=lambda agent: agent["rank"])]
    place = {label: k for k, label in enumerate(labels)}
    values: list[list[float | None]] = [[None] * len(labels) for _ in labels]
    details = [[""] * len(labels) for _ in labels]
    for pair in data["pairs"]:
        a, b, margin = place[pair["a"]], place[pair["b"]], pair["margin"]
        half = f"± {(margin['high'] - margin['low']) / 2:.2f}, {pair['games']:,} games"
        values[a][b], values[b][a] = margin["mean"], -margin["mean"]
        details[a][b] = details[b][a] = half
    note = "Row minus column; below it half the 95 % interval."
    return HeatMap("Cross-table", labels, labels, values, unit_of(data), "row − column", details, note=note)


def _ranking_row(agent: Values, unit: str) -> list[str]:
    return [
        str(agent["rank"]),
        agent["label"],
        interval_text(agent["strength"], unit),
        interval_text(agent.get("strength_raw"), unit),
        rating_text(agent["rating"]),
        interval_text(agent.get("seat_strength"), unit),
        rating_text(agent.get("seat_rating")),
        f"{agent['games']:,}",
        milliseconds(agent.get("ms_per_decision")),
        f"{agent['illegal_actions']:,}",
    ]


def rating_text(rating: Values | None) -> str:
    """Return a rating ± two of its sigmas."""
    return NOTHING if rating is None else f"{rating['mu']:.1f} ± {2 * rating['sigma']:.1f}"


def _neighbours(found: Values) -> list[str]:
    difference = f"{found['difference']:+.2f}"
    return [found["upper"], found["lower"], difference, share(found["doubt"]), "yes" if found["settled"] else "no"]
