"""`spades evaluate`: agents on duplicate deals and matches, as tables or as JSON.

Progress goes to stderr, so that `--json -` leaves stdout to the result.
"""

from __future__ import annotations

from typing import Any

import click
from rich.progress import TaskID, TextColumn

from agents.registry import load_agent, load_any
from evaluation.duplicate import (
    DEFAULT_DEALS,
    Amount,
    Way,
    check_bag_price,
    check_seed,
    evaluate,
    evaluate_line_up,
    line_up_job,
    pair_job,
)
from evaluation.intervals import Interval
from evaluation.line_up import split_line_up
from evaluation.records import records_text
from evaluation.result import Evaluation
from evaluation.sequential import DEFAULT_MAX_DEALS
from evaluation.variance.reference import FURTHER, References
from spades_cli.backend import backend_option
from spades_cli.evaluation_tables import print_evaluation
from spades_cli.output import (
    INTERRUPTED,
    announce_compilation,
    check_path,
    command_line,
    json_option,
    rules_option,
    write_json,
)
from spades_cli.progress import progress_bar
from spades_env.checks import whole_number
from spades_env.files import write_atomically
from spades_env.rules import Rules, as_rules

DEFAULT_RECORDS = 100
WAYS = ("batch_size", "resume", "record_path", "record_deals")
"""Parameters that change no figure."""


@click.command(name="evaluate", context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("agents", metavar="[A B]", nargs=-1)
@click.option("--lineup", metavar="A,B,C,D", help="Instead of A and B: an agent for each seat, in turn.")
@rules_option
@click.option(
    "--deals", type=int, help=f"Duplicate deals (each is played again, seats changed). Default: {DEFAULT_DEALS}."
)
@click.option(
    "--half-width",
    type=float,
    metavar="POINTS",
    help="Instead of --deals: play until the 95 % interval of the margin is as narrow as this on both sides.",
)
@click.option("--max-deals", type=int, help=f"With --half-width: the most deals. Default: {DEFAULT_MAX_DEALS}.")
@click.option(
    "--luck",
    "luck_playouts",
    default=0,
    metavar="PLAYOUTS",
    help="Take out the luck of agents whose chances are known (random, conservative, easy, ...), measured by so many "
    "playouts for each of their choices; 16 is a good start. Default: 0, no.",
)
@click.option(
    "--reference",
    multiple=True,
    metavar="A~B",
    help="A pair of cheaper agents that plays the same deals and many further ones; what the margin has in common with "
    "theirs is taken out. May be given again.",
)
@click.option(
    "--reference-plays",
    default=1,
    show_default=True,
    metavar="N",
    help="How often a pair plays each deal, each time with other keys: for agents that draw chances.",
)
@click.option(
    "--reference-deals", type=int, metavar="N", help=f"Further deals of a pair. Default: {FURTHER} for each deal."
)
@click.option("--matches", default=0, show_default=True, help="Duplicate matches.")
@click.option("--seed", default=0, show_default=True, help="Seed of the cards and of the agents' chances.")
@click.option(
    "--bag-price",
    type=float,
    help="Points of a bag in the margin. Default: its own and its share of the penalty, -9 in the presets.",
)
@click.option("--workers", default=1, show_default=True, help="Processes that play: speed, never the result.")
@backend_option
@click.option(
    "--batch-size",
    type=int,
    help="Duplicate deals in a part of the work: never the result. Default: as many as take two seconds.",
)
@click.option("--resume", metavar="DIR", help="Keep finished parts in DIR, and go on from those that are there.")
@click.option("--record", "record_path", metavar="FILE", help="Write the first deals as game records, JSON Lines.")
@click.option(
    "--record-deals", type=int, help=f"With --record: how many duplicate deals. Default: {DEFAULT_RECORDS}, or all."
)
@click.option("--oracles", is_flag=True, help="Let agents in that see all hands, such as cheating: a ceiling.")
@json_option
def command(
    agents: tuple[str, ...],
    lineup: str | None,
    rules_spec: str,
    seed: int,
    bag_price: float | None,
    oracles: bool,
    record_path: str | None,
    record_deals: int | None,
    resume: str | None,
    json_path: str | None,
    **numbers: Any,
) -> int:
    """Compare agent A with agent B: points per deal with a 95 % interval, and match wins if asked for.

    A and B are names (normal, hard, easy, ...; docs/agents.md), with options as in hard:worlds=50; policy files
    (.safetensors or a folder); module:attribute; or process:COMMAND. Every deal is played twice with the same
    cards, dealer and random numbers and the teams swapped, so that an agent against itself comes to exactly 0.

    With --lineup the team of the first and the third agent is compared with the other; every deal is played in all
    rotations around the table.

    \b
    Examples:
      spades evaluate normal easy
      spades evaluate normal easy --half-width 0.25 --workers 2
      spades evaluate --lineup hard:worlds=20,exact=3,easy,normal,easy --deals 200
      spades evaluate easy random --rules modern --deals 10000 --matches 500
      spades evaluate hard conservative --deals 400 --luck 16 --reference normal~conservative --reference-plays 4
      spades evaluate hard normal --half-width 0.5 --resume runs/hard-normal --json result.json
      spades evaluate hard normal --half-width 0.1 --workers 64 --backend ray:10.0.0.1:6379
    """
    rules = as_rules(rules_spec)
    specs = _agents(agents, lineup)
    for spec in specs:
        (load_any if oracles else load_agent)(spec)
    for pair in _check(seed, bag_price, numbers).pairs:
        for agent in pair:
            load_any(agent)
    record_games = _record_games(record_path, record_deals, numbers)
    announce_compilation()
    options = dict(numbers, seed=seed, bag_price=bag_price, oracles=oracles, store=resume)
    try:
        found = _evaluate(specs, lineup is not None, rules, options)
    except KeyboardInterrupt:
        if resume is None:
            raise
        click.echo(f"spades: interrupted; finished parts are in {resume}, the same command goes on", err=True)
        return INTERRUPTED
    if record_path is not None:
        make_job = pair_job if lineup is None else line_up_job
        job = make_job(specs, rules, seed, oracles)
        write_atomically(record_path, records_text(job, found.log, min(record_games, len(found.margins))))
    values = {"command": command_line(WAYS), **found.to_dict()}
    if not write_json(values, json_path):
        print_evaluation(values)
    return 0


def _agents(agents: tuple[str, ...], lineup: str | None) -> tuple[str, ...]:
    """Return the agents' texts: A and B, or one for each seat."""
    if lineup is not None:
        if agents:
            raise click.UsageError("--lineup stands instead of A and B: give one or the other")
        return split_line_up(lineup)
    if len(agents) != 2:
        missing = "'A' and 'B'" if not agents else "'B'"
        raise click.UsageError(
            f"Missing argument {missing}" if len(agents) < 2 else f"got {len(agents)} agents; allowed: A and B"
        )
    return agents


def _check(seed: int, bag_price: float | None, numbers: dict[str, Any]) -> References:
    """Refuse numbers out of range before anything is compiled; the reference pairs."""
    check_seed(seed)
    if bag_price is not None:
        check_bag_price(bag_price)
    Amount.of(*(numbers[name] for name in ("deals", "half_width", "max_deals", "matches", "luck_playouts")))
    Way(numbers["batch_size"], numbers["workers"], backend=numbers["backend"])
    return References.of(*(numbers[name] for name in ("reference", "reference_plays", "reference_deals")))


def _record_games(path: str | None, games: int | None, numbers: dict[str, Any]) -> int:
    """Return how many deals to record at most; the file's place is checked now."""
    if path is None:
        if games is not None:
            raise click.UsageError("--record-deals says how many deals --record writes: give both")
        return 0
    check_path(path)
    most = numbers["deals"] or DEFAULT_DEALS if numbers["half_width"] is None else 2**30
    return DEFAULT_RECORDS if games is None else whole_number("record_deals", games, 1, most)


def _evaluate(specs: tuple[str, ...], line_up: bool, rules: Rules, options: dict[str, Any]) -> Evaluation:
    """Evaluate with a progress bar on stderr."""
    with progress_bar(TextColumn("{task.fields[note]}"), counts=True) as bar:
        tasks: dict[str, TaskID] = {}
        margin = ""

        def show(what: str, finished: int, total: int) -> None:
            if what not in tasks:
                tasks[what] = bar.add_task(what, total=total, note="")
            bar.update(tasks[what], completed=finished, total=total, note=margin if what == "deals" else "")

        def watch(interval: Interval) -> None:
            nonlocal margin
            margin = f"{interval.mean:+.2f} ± {interval.high - interval.mean:.2f}"

        if line_up:
            return evaluate_line_up(specs, rules, progress=show, watch=watch, **options)
        return evaluate(specs[0], specs[1], rules, progress=show, watch=watch, **options)
