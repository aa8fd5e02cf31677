"""`spades bench`: the environment's speed beside its peers on this machine, as tables or JSON.

The measuring is done by package `benchmarks`; here are the options, the progress on stderr and the tables.
"""

from __future__ import annotations

from typing import Any

import click
from rich.console import Console
from rich.table import Table

from spades_cli.output import json_option, write_json
from spades_cli.ranges import FiniteRange

# Those of benchmarks.report, written again so that --help need not import what is measured.
GROUPS = ("playout", "batch", "aec", "import", "compile")


@click.command(name="bench", context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--rounds", type=click.IntRange(min=1), default=5, show_default=True, help="Rounds; the median counts.")
@click.option(
    "--seconds",
    type=FiniteRange(min=0, min_open=True),
    default=1.0,
    show_default=True,
    help="Length of each measurement.",
)
@click.option("--seed", type=click.IntRange(0, 2**31 - 1), default=0, show_default=True, help="Seed of all chance.")
@click.option(
    "--only",
    type=click.Choice(GROUPS),
    multiple=True,
    help="Measure this group only. May be repeated.",
)
@json_option
def command(rounds: int, seconds: float, seed: int, only: tuple[str, ...], json_path: str | None) -> None:
    """Measure how fast this machine plays, beside OpenSpiel and PettingZoo where they are installed.

    \b
    playout  random playouts inside a kernel / OpenSpiel's C++ rollouts
    batch    batched observations, masks and steps / OpenSpiel's Python loop
    aec      the PettingZoo environment / PettingZoo's connect_four_v3
    import   seconds of a warm import
    compile  seconds of the first compilation, in a fresh process

    All loops are measured in turn, ours and the peers' in the same way, on one core. Rates are decisions per
    second of CPU time; leave the machine alone meanwhile.
    """
    from benchmarks.report import bench

    groups = tuple(group for group in GROUPS if not only or group in only)
    report = bench(groups, rounds=rounds, seconds=seconds, seed=seed, progress=_say)
    if write_json(report, json_path):
        return
    console = Console()
    for table in _tables(report):
        console.print(table)


def _say(text: str) -> None:
    """Progress, on stderr."""
    click.echo(text, err=True)


def _tables(report: dict[str, Any]) -> list[Table]:
    """The report as tables: rates, ratios, seconds."""
    from benchmarks.report import LOOPS

    machine = report["machine"]
    title = f"Decisions per second, one core: {machine['processor']}"
    rates = _table(title, "loop", "per second", "what it does")
    for loop in LOOPS:
        if loop.name in report["per_second"]:
            rates.add_row(loop.name, f"{report['per_second'][loop.name]:,.0f}", loop.meaning)
    ratios = _table("Ours / theirs", "ratio", "", "")
    for name, ratio in report["ratio"].items():
        ratios.add_row(name, "-" if ratio is None else f"{ratio:.1f}", report["reason"].get(name, ""))
    seconds = _table("Seconds", "what", "", "")
    for name, meaning in (("import_seconds", "warm import"), ("compile_seconds", _parts(report))):
        value = report[name]
        group = name.partition("_")[0]
        seconds.add_row(name, "-" if value is None else f"{value:.2f}", report["reason"].get(group, meaning))
    return [table for table in (rates, ratios, seconds) if table.row_count]


def _parts(report: dict[str, Any]) -> str:
    """What the first compilation is made of."""
    return ", ".join(f"{name} {seconds:.1f}" for name, seconds in report["compile_parts"].items())


def _table(title: str, first: str, number: str, last: str) -> Table:
    """A table of names, numbers and remarks."""
    table = Table(title=title, title_justify="left")
    table.add_column(first, no_wrap=True)
    table.add_column(number, justify="right", no_wrap=True)
    table.add_column(last)
    return table
