"""`spades evaluate`: two agents on duplicate deals and matches, as a table or as JSON.

Progress goes to stderr, so that `--json -` leaves stdout to the result.
"""

from __future__ import annotations

from typing import Any

import click
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
)
from rich.table import Table
from rich.text import Text

from agents.base import Agent, OracleAgent
from agents.registry import load_agent, load_any
from evaluation.duplicate import DEFAULT_BATCH, DEFAULT_DEALS, check_numbers, evaluate
from spades_cli.output import announce_compilation, json_option, write_json
from spades_env.rules import as_rules

STATS_ROWS = (
    ("bid_mean", "bid per seat", "{:.2f}"),
    ("team_bid_mean", "bid per team", "{:.2f}"),
    ("table_bid_mean", "bid of the table", "{:.2f}"),
    ("over_bid_mean", "tricks over bid, per bidder", "{:+.2f}"),
    ("set_rate", "contracts set", "{:.1%}"),
    ("bags_per_deal", "bags per team and deal", "{:.2f}"),
    ("nil_rate", "seats that bid nil", "{:.2%}"),
    ("nil_success", "nils made", "{:.1%}"),
)


@click.command(name="evaluate", context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("agent_a", metavar="A")
@click.argument("agent_b", metavar="B")
@click.option(
    "--rules",
    "rules_spec",
    metavar="NAME|FILE",
    default="classic",
    show_default=True,
    help="A preset or a .yaml file of rules.",
)
@click.option("--deals", default=DEFAULT_DEALS, show_default=True, help="Duplicate deals (each is played twice).")
@click.option("--matches", default=0, show_default=True, help="Duplicate matches (each is played twice).")
@click.option("--seed", default=0, show_default=True, help="Seed of the cards and of the agents' chances.")
@click.option(
    "--bag-price",
    type=float,
    help="Points of a bag in the margin. Default: its own and its share of the penalty, -9 in the presets.",
)
@click.option(
    "--batch-size",
    default=DEFAULT_BATCH,
    show_default=True,
    help="Duplicate deals played at a time: speed and memory, never the result.",
)
@click.option("--oracles", is_flag=True, help="Let agents in that see all hands, such as cheating: a ceiling.")
@json_option
def command(
    agent_a: str,
    agent_b: str,
    rules_spec: str,
    deals: int,
    matches: int,
    seed: int,
    bag_price: float | None,
    batch_size: int,
    oracles: bool,
    json_path: str | None,
) -> None:
    """Compare agent A with agent B: points per deal with a 95 % interval, and match wins if asked for.

    A and B are names (normal, hard, easy, ...; docs/agents.md), with options as in hard:worlds=50; policy files
    (.safetensors or a folder); or module:attribute. Every deal is played twice with the same cards, dealer
    and random numbers and the teams swapped, so that an agent against itself comes to exactly 0.

    \b
    Examples:
      spades evaluate normal easy
      spades evaluate easy random --rules modern --deals 10000 --matches 500
      spades evaluate runs/first/policy.safetensors conservative --json result.json
    """
    rules = as_rules(rules_spec)
    load = load_any if oracles else load_agent
    agents = load(agent_a), load(agent_b)
    check_numbers(deals, matches, seed, batch_size, bag_price)
    announce_compilation()
    found = _evaluate(
        *agents,
        rules=rules,
        deals=deals,
        matches=matches,
        seed=seed,
        bag_price=bag_price,
        batch_size=batch_size,
        oracles=oracles,
    )
    if not write_json(found, json_path):
        _print(found)


def _evaluate(agent_a: Agent | OracleAgent, agent_b: Agent | OracleAgent, **options: Any) -> dict[str, Any]:
    """Evaluate with a progress bar on stderr and return the JSON contract."""
    with _progress() as bar:
        tasks: dict[str, TaskID] = {}

        def show(what: str, finished: int, total: int) -> None:
            if what not in tasks:
                tasks[what] = bar.add_task(what, total=total)
            bar.update(tasks[what], completed=finished)

        return evaluate(agent_a, agent_b, progress=show, **options).to_dict()


def _print(found: dict[str, Any]) -> None:
    """Print the result as two tables, and a warning if an agent broke the rules."""
    console = Console()
    console.print(_results(found))
    console.print(_statistics(found))
    if found["illegal_actions"]:
        each = ", ".join(f"{name} {count}" for name, count in found["illegal_actions_by_agent"].items())
        console.print(f"Illegal actions, replaced by the lowest legal one: {each}", style="bold red")


class _Rate(ProgressColumn):
    """Games per second."""

    def render(self, task: Task) -> Text:
        """Return the rate of `task`, once it is known."""
        speed = task.finished_speed or task.speed
        return Text("" if speed is None else f"{speed:,.0f}/s")


def _progress() -> Progress:
    """Return a progress bar on stderr, gone when its work is done; a log file gets none."""
    console = Console(stderr=True)
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        _Rate(),
        TimeRemainingColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )


def _results(found: dict[str, Any]) -> Table:
    """Return the table of what was measured, with its intervals."""
    agents = found["agents"]
    table = Table(
        title=f"A = {agents['A']} against B = {agents['B']}",
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
    wins = found["match_win_rate"]
    if wins is not None:
        table.add_row("matches won by A", f"{wins['mean']:.1%}", f"{wins['low']:.1%} to {wins['high']:.1%}")
    return table


def _statistics(found: dict[str, Any]) -> Table:
    """Return the table of what both agents' teams did in the duplicate deals."""
    table = Table(title="In the duplicate deals", title_justify="left")
    for heading in ("", "A", "B"):
        table.add_column(heading, no_wrap=True)
    for name, label, form in STATS_ROWS:
        values = (found["stats"][agent][name] for agent in "AB")
        table.add_row(label, *("-" if value is None else form.format(value) for value in values))
    times = (1000 * found["ms_per_decision"][agent] for agent in "AB")
    table.add_row("microseconds per decision", *(f"{time:.2f}" for time in times))
    return table
