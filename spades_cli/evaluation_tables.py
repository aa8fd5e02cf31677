"""The result of an evaluation as tables, made from its JSON."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.table import Table

STATS_ROWS = (
    ("points_per_deal", "points per deal, bags priced", "{:+.2f}"),
    ("bid_mean", "bid per seat", "{:.2f}"),
    ("team_bid_mean", "bid per team", "{:.2f}"),
    ("table_bid_mean", "bid of the table", "{:.2f}"),
    ("over_bid_mean", "tricks over bid, per bidder", "{:+.2f}"),
    ("set_rate", "contracts set", "{:.1%}"),
    ("bags_per_deal", "bags per team and deal", "{:.2f}"),
    ("nil_rate", "seats that bid nil", "{:.2%}"),
    ("nil_success", "nils made", "{:.1%}"),
    ("opponent_nil_set_rate", "opponents' nils set", "{:.1%}"),
)
SEAT_ROWS = (
    ("bid_mean", "bid", "{:.2f}"),
    ("tricks_mean", "tricks", "{:.2f}"),
    ("over_bid_mean", "tricks over bid", "{:+.2f}"),
    ("nil_rate", "nils bid", "{:.2%}"),
    ("nil_success", "nils made", "{:.1%}"),
)


def print_evaluation(found: dict[str, Any]) -> None:
    """Print the result as tables, and warn of what a reader must not miss."""
    console = Console()
    console.print(_results(found))
    console.print(_statistics(found))
    if "line_up" in found:
        console.print(_seats(found))
    if found["stopped"] == "max_deals":
        console.print(f"The half-width asked for, {found['half_width_asked']:g}, was not reached.", style="bold red")
    if found["illegal_actions"]:
        counts = found.get("illegal_actions_by_agent") or dict(enumerate(found["illegal_actions_by_seat"]))
        each = ", ".join(f"{name} {count}" for name, count in counts.items())
        console.print(f"Illegal actions, replaced by the lowest legal one: {each}", style="bold red")


def _title(found: dict[str, Any]) -> str:
    if "line_up" not in found:
        return f"A = {found['agents']['A']} against B = {found['agents']['B']}"
    names = found["line_up"]
    return f"A = {' and '.join(names[::2])} against B = {' and '.join(names[1::2])}"


def _results(found: dict[str, Any]) -> Table:
    """Return the table of what was measured, with its intervals."""
    table = Table(
        title=_title(found),
        caption=f"rules {found['preset'] or 'custom'}, {found['deals']:,} duplicate deals, "
        f"{found['matches']:,} duplicate matches, seed {found['seed']}, {found['seconds']:.1f} s",
        title_justify="left",
        caption_justify="left",
    )
    for heading in ("A minus B", "mean", "95 % interval"):
        table.add_column(heading, no_wrap=True)
    for name, interval in (
        (f"points per deal, bags at {found['bag_price']:+g}", found["margin"]),
        ("points per deal, bags as scored", found["margin_raw"]),
    ):
        table.add_row(name, f"{interval['mean']:+.2f}", f"{interval['low']:+.2f} to {interval['high']:+.2f}")
    control = found["control"]
    if control is not None:
        mean, low, high = (control["margin"][name] for name in ("mean", "low", "high"))
        table.add_row(f"the first, {_taken_out(control)}", f"{mean:+.2f}", f"{low:+.2f} to {high:+.2f}")
    wins = found["match_win_rate"]
    if wins is not None:
        table.add_row("matches won by A", f"{wins['mean']:.1%}", f"{wins['low']:.1%} to {wins['high']:.1%}")
    return table


def _taken_out(control: dict[str, Any]) -> str:
    """Say what was taken out of the margin."""
    kinds = ("luck", control["playouts"]), ("reference", control["reference"])
    return f"{' and '.join(name for name, used in kinds if used)} taken out"


def _statistics(found: dict[str, Any]) -> Table:
    """Return the table of what both teams did in the duplicate deals."""
    table = Table(title="In the duplicate deals", title_justify="left")
    for heading in ("", "A", "B"):
        table.add_column(heading, no_wrap=True)
    for name, label, form in STATS_ROWS:
        table.add_row(label, *(_cell(found["stats"][side][name], form) for side in "AB"))
    if "ms_per_decision" in found:
        table.add_row("microseconds per decision", *(_micro(found["ms_per_decision"][side]) for side in "AB"))
    return table


def _seats(found: dict[str, Any]) -> Table:
    """Return the table of what each seat of the line-up did."""
    table = Table(title="Seat by seat", title_justify="left")
    table.add_column("", no_wrap=True)
    for seat, name in enumerate(found["line_up"]):
        table.add_column(f"{'AB'[seat % 2]}: {name}")
    for name, label, form in SEAT_ROWS:
        table.add_row(label, *(_cell(stats[name], form) for stats in found["seat_stats"]))
    table.add_row("microseconds per decision", *(_micro(time) for time in found["ms_per_decision_by_seat"]))
    return table


def _cell(value: float | None, form: str) -> str:
    return "-" if value is None else form.format(value)


def _micro(milliseconds: float | None) -> str:
    return _cell(None if milliseconds is None else 1000 * milliseconds, "{:.2f}")
