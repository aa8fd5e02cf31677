"""`spades equity`: the chance to win a match by scores, and what a bag is worth, as tables, a file or a picture.

The reckoning is done by package `agents.equity`; here are the options, the progress on stderr and the output.
"""

from __future__ import annotations

import io
import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.table import Table

from agents.equity.files import save_table
from agents.equity.outcomes import Progress
from agents.equity.table import DEFAULT_AGENT, DEFAULT_DEALS, EquityTable, equity_table
from evaluation.machine import machine, versions
from spades_cli.output import announce_compilation, check_path, json_option, rules_option, write_json
from spades_env.files import write_atomically
from spades_env.rules import as_rules

PICTURES = (".svg", ".png")
SHOWN_SCORES = 5
"""Scores a table shows from 0 up to the target, which is not among them."""


def _writable(context: click.Context, parameter: click.Parameter, path: str | None) -> Path | None:
    """A path whose folder exists, or the system's error for it now rather than after the work."""
    if path is None:
        return None
    check_path(path)
    if parameter.name == "plot" and Path(path).suffix not in PICTURES:
        raise click.BadParameter(f"{path!r} must end in {' or '.join(PICTURES)}", context, parameter)
    return Path(path)


@click.command(name="equity", context_settings={"help_option_names": ["-h", "--help"]})
@rules_option
@click.option("--agent", default=DEFAULT_AGENT, show_default=True, help="Whose play says how deals end.")
@click.option("--deals", default=DEFAULT_DEALS, show_default=True, help="Deals she plays with herself.")
@click.option("--seed", default=0, show_default=True, help="Seed of the cards and of her chances.")
@click.option("--out", metavar="FILE", callback=_writable, help="Write the whole table to FILE, an .npz file.")
@click.option("--plot", metavar="FILE", callback=_writable, help="Draw the chances to FILE, .svg or .png.")
@json_option
def command(
    rules_spec: str,
    agent: str,
    deals: int,
    seed: int,
    out: Path | None,
    plot: Path | None,
    json_path: str | None,
) -> None:
    """Show the chance to win a match by the scores of both teams, and how many points a bag is worth.

    An agent plays deals with herself; from how they end, every situation's chance follows. The agent is a
    name, a policy file or module:attribute, as for `spades evaluate`.

    \b
    Examples:
      spades equity
      spades equity --rules modern --deals 10000 --plot modern.svg
      spades equity --rules table --out table.npz --json -
    """
    rules = as_rules(rules_spec)
    announce_compilation()
    start = time.perf_counter()
    with _progress() as show:
        table = equity_table(rules, agent, deals=deals, seed=seed, progress=show)
    found = _summary(table, rules.preset_name, time.perf_counter() - start)
    if out is not None:
        save_table(table, out)
    if plot is not None:
        _plot(table, found, plot)
    if not write_json(found, json_path):
        console = Console()
        console.print("Chance to win the match, no bags, either team to deal next", style="italic")
        console.print(_chances(found))
        console.print("Points that one more bag is worth, by own bags before it", style="italic")
        console.print(_prices(found))


@contextmanager
def _progress() -> Iterator[Progress]:
    """A line on stderr that says how far the work is, gone when it is done; a log file gets none."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda text: None
        return
    with console.status("") as status:
        yield status.update


def _summary(table: EquityTable, preset: str | None, seconds: float) -> dict[str, Any]:
    """What is shown, as plain values for JSON; docs/equity.md describes the fields."""
    target, limit = table.rules.target, table.rules.bag_limit
    scores = sorted({target * k // SHOWN_SCORES // 10 * 10 for k in range(SHOWN_SCORES)})
    counts = sorted({0, limit // 2, max(limit - 2, 0), max(limit - 1, 0)})
    pairs = [(score, score) for score in scores] + [(scores[-1], scores[0]), (scores[0], scores[-1])]
    prices = [[table.bag_price(pair, (count, 0)) for count in counts] for pair in dict.fromkeys(pairs)]
    return {
        "rules": table.rules.to_dict(),
        "preset": preset,
        "agent": table.agent,
        "deals": table.deals,
        "outcomes": table.outcomes,
        "seed": table.seed,
        "scores": scores,
        "win": [[table.fair_probability((own, other)) for other in scores] for own in scores],
        "win_dealing": [[table.probability((own, other), (0, 0), 0) for other in scores] for own in scores],
        "bag_counts": counts,
        "bag_price_scores": [list(pair) for pair in dict.fromkeys(pairs)],
        "bag_price": [[None if math.isnan(price) else price for price in row] for row in prices],
        "sweeps": table.sweeps,
        "largest_change": table.change,
        "seconds": seconds,
        "versions": versions(),
        "machine": machine(),
    }


def _chances(found: dict[str, Any]) -> Table:
    """The table of chances: own scores down, the others' across."""
    table = Table(
        caption=f"rules {found['preset'] or 'custom'}, {found['deals']:,} deals by {found['agent']}, "
        f"seed {found['seed']}, {found['seconds']:.1f} s",
        caption_justify="left",
    )
    table.add_column("own score \\ theirs", no_wrap=True)
    for score in found["scores"]:
        table.add_column(str(score), justify="right", no_wrap=True)
    for score, row in zip(found["scores"], found["win"], strict=True):
        table.add_row(str(score), *(f"{chance:.1%}" for chance in row))
    return table


def _prices(found: dict[str, Any]) -> Table:
    """The table of bag prices: scores down, own bags across."""
    table = Table()
    table.add_column("own score : theirs", no_wrap=True)
    for count in found["bag_counts"]:
        table.add_column(str(count), justify="right", no_wrap=True)
    for (own, other), row in zip(found["bag_price_scores"], found["bag_price"], strict=True):
        table.add_row(f"{own} : {other}", *("-" if price is None else f"{price:+.1f}" for price in row))
    return table


def _plot(table: EquityTable, found: dict[str, Any], path: Path) -> None:
    """Draw the chances by both scores, with lines of equal chance."""
    from matplotlib.figure import Figure

    target = table.rules.target
    lowest = max(int(table.grid[0]["floor"]), -target // 50 * 10) + 10
    scores = range(lowest // 10 * 10, target, 10)
    chances = [[100.0 * table.fair_probability((own, other)) for other in scores] for own in scores]
    figure = Figure(figsize=(6.5, 5.5), layout="constrained")
    axes = figure.subplots()
    picture = axes.pcolormesh(scores, scores, chances, cmap="RdBu", vmin=0, vmax=100, shading="nearest")
    lines = axes.contour(scores, scores, chances, levels=range(10, 100, 10), colors="black", linewidths=0.6)
    axes.clabel(lines, fmt="%d %%", fontsize=8)
    figure.colorbar(picture, label="chance to win, %")
    axes.set_xlabel("score of the other team")
    axes.set_ylabel("own score")
    axes.set_title(f"Match equity, rules {found['preset'] or 'custom'}, play of {table.agent}, no bags")
    axes.set_aspect("equal")
    drawn = io.BytesIO()
    figure.savefig(drawn, format=path.suffix[1:], dpi=110)
    write_atomically(path, drawn.getvalue())
