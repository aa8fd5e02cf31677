"""A tournament as a page in Markdown: ranking, what the agents did, cross-table, games, and what it was measured on."""

from __future__ import annotations

from typing import Any, Final

from evaluation.text import NOTHING, markdown_table, milliseconds, places_text
from evaluation.tournament.schedule import BUDGET, LIMITS, SEPARATED, SETTLED

Found = dict[str, Any]

STOPPED: Final = {
    SEPARATED: "the order of all neighbours was settled",
    BUDGET: "all games allowed were played",
    LIMITS: "the agents whose order is open had played their most against each other",
}


def markdown(found: Found, command: str) -> str:
    """Return the page of what `found_by` returned; `command` is shown at its end."""
    parts = [
        "# The tournament",
        _summary(found),
        "## Ranking",
        markdown_table(ranking_rows(found)),
        "## Cross-table",
        "Row minus column with the 95 % interval.",
        markdown_table(cross_rows(found)),
        "## Games of each pair",
        markdown_table(game_rows(found)),
        "## What the agents did",
        markdown_table(statistics_rows(found)),
        legend(found),
        *places_text([found], "tournaments"),
        f"```\n{command}\n```",
    ]
    return "\n\n".join(parts) + "\n"


def _summary(found: Found) -> str:
    """Return how much was played, why no more, and which orders are open."""
    kind = {"deals": "duplicate deals", "matches": "duplicate matches"}[found["kind"]]
    text = (
        f"{len(found['agents'])} agents, rules {found['rules_text']}, seed {found['seed']}: {found['games']:,} of "
        f"{found['games_allowed']:,} {kind}; {STOPPED[found['stopped']]}."
    )
    if found["seat_games"]:
        text += f" {found['seat_games']:,} games of mixed teams."
    still_open = [f"{n['upper']} – {n['lower']} ({_why(n)})" for n in found["neighbours"] if not n["settled"]]
    return text + (f" Order open, with the chance that it is wrong: {', '.join(still_open)}." if still_open else "")


def _why(neighbours: Found) -> str:
    """Return why an order is open: the chance that it is wrong, or, where that is small, that games are too few."""
    return f"{neighbours['doubt']:.0%}" if neighbours["doubt"] > SETTLED else "too few games"


def ranking_rows(found: Found, *, brief: bool = False) -> list[list[str]]:
    """Return the ranking, heading first: strengths and ratings by pairs and by single seats.

    `brief` leaves out what is not needed at first sight, for narrow terminals.
    """
    has_raw, has_seats = found["kind"] == "deals" and not brief, found["seat_games"] > 0
    heading = ["", "agent", "strength", *(["as scored"] if has_raw else []), "rating"]
    heading += ["seat strength", *([] if brief else ["seat rating"])] if has_seats else []
    rows = [[*heading, "games", *([] if brief else ["ms", "illegal"])]]
    for agent in found["agents"]:
        cells = [str(agent["rank"]), agent["label"], interval(agent["strength"], found)]
        cells += [interval(agent["strength_raw"], found)] if has_raw else []
        cells += [_rating(agent["rating"])]
        cells += [interval(agent["seat_strength"], found)] if has_seats else []
        cells += [_rating(agent["seat_rating"])] if has_seats and not brief else []
        last = [milliseconds(agent["ms_per_decision"]), str(agent["illegal_actions"])]
        rows.append([*cells, f"{agent['games']:,}", *([] if brief else last)])
    return rows


def cross_rows(found: Found, *, brief: bool = False) -> list[list[str]]:
    """Return the cross-table, heading first: row minus column, in the order of the ranking; `brief`: means alone."""
    if brief:
        return _square(found, lambda pair, sign: f"{_factor(found) * sign * pair['margin']['mean']:+.0f}")
    return _square(found, lambda pair, sign: interval(pair["margin"], found, sign))


def game_rows(found: Found) -> list[list[str]]:
    """Return how many duplicate games each pair played, heading first."""
    return _square(found, lambda pair, _: f"{pair['games']:,}")


def _square(found: Found, cell: Any) -> list[list[str]]:
    """Return a table of agents by agents; `cell(pair, sign)` makes the text, sign -1 where the row is the pair's b."""
    labels = [agent["label"] for agent in found["agents"]]
    cells = {(pair["a"], pair["b"]): cell(pair, 1) for pair in found["pairs"]}
    cells |= {(pair["b"], pair["a"]): cell(pair, -1) for pair in found["pairs"]}
    rows = [["", "agent", *(str(k) for k in range(1, len(labels) + 1))]]
    for k, row in enumerate(labels, 1):
        rows.append([str(k), row, *(cells.get((row, column), "") for column in labels)])
    return rows


def statistics_rows(found: Found) -> list[list[str]]:
    """Return bids, nils, sets and bags of every agent's teams, heading first."""
    rows = [["", "agent", "bid", "nil", "nil made", "blind nil", "set", "bags"]]
    for agent in found["agents"]:
        stats = agent["stats"]
        shares = (stats["nil_rate"], stats["nil_success"], stats["blind_nil_rate"], stats["set_rate"])
        cells = [NOTHING if share is None else f"{share:.1%}" for share in shares]
        start = [str(agent["rank"]), agent["label"], f"{stats['bid_mean']:.2f}"]
        rows.append([*start, *cells, f"{stats['bags_per_deal']:.2f}"])
    return rows


def interval(value: Found, found: Found, sign: int = 1) -> str:
    """Return points per deal as mean ± half the interval, or percentage points of matches as mean [low, high]."""
    low, high = sorted((sign * value["low"], sign * value["high"]))
    mean = sign * value["mean"] or 0.0
    if found["kind"] == "deals":
        return f"{mean:+.1f} ± {(high - low) / 2:.1f}"
    return f"{100 * mean:+.1f} % [{100 * low:+.0f}, {100 * high:+.0f}]"


def _factor(found: Found) -> float:
    return 1.0 if found["kind"] == "deals" else 100.0


def _rating(rating: Found) -> str:
    return f"{rating['mu']:.1f} ± {2 * rating['sigma']:.1f}"


def legend(found: Found) -> str:
    """Return what the columns mean."""
    zero = f"{found['reference']} is 0" if found["reference"] else "the mean of all is 0"
    return (
        f"Strength: least squares over all games of pairs, {_unit(found)}; {zero}. Intervals are 95 %, by a "
        f"bootstrap over deals. The strengths miss the mean margins of pairs by {_misfit(found)} (root mean square, "
        "chance included). "
        "Rating: OpenSkill, from wins and losses of duplicate games, ± two of its sigmas, mean of shuffled orders "
        f"(which differ by {max(agent['rating']['order_spread'] for agent in found['agents']):.2f} at most, one "
        "standard deviation). Seat: the same by games in which partners are different agents. Bid: of a seat, nil as "
        "0; nil: share of seats; set: share of contracts; bags: per team and deal; ms: per decision."
    )


def _unit(found: Found) -> str:
    if found["kind"] == "matches":
        return "share of duplicate matches won less share lost"
    return f"points per deal, bags at {found['bag_price']:+g}, beside it bags as scored"


def _misfit(found: Found) -> str:
    return f"{found['misfit']:.1f} points" if found["kind"] == "deals" else f"{found['misfit']:.1%}"
