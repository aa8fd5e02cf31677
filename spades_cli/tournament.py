"""`spades tournament`: every pair of a list of agents plays duplicate games; ranking, ratings and cross-table.

Progress goes to stderr, the tables or the JSON to stdout.
"""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.measure import Measurement
from rich.table import Table

from evaluation.tournament.config import Tournament, load_tournament, tournament_from
from evaluation.tournament.page import cross_rows, legend, markdown, ranking_rows, statistics_rows
from evaluation.tournament.run import GAMES_FOLDER, Outcome, check_agents, run_tournament
from evaluation.tournament.table import found_by
from evaluation.work.backend import Backend
from spades_cli.backend import backend_option
from spades_cli.output import INTERRUPTED, announce_compilation, command_line, json_option, write_json
from spades_cli.progress import progress_bar
from spades_env.files import write_atomically

DEFAULT_CONFIG, DEFAULT_OUT = "tournament", "tournament"
PAGE_FILE, JSON_FILE = "tournament.md", "tournament.json"


@click.command(name="tournament", context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("agents", nargs=-1, metavar="[AGENT]...")
@click.option("--config", metavar="NAME|FILE", help="A shipped list (configs/eval) or a .yaml file, instead of AGENTs.")
@click.option("--rules", metavar="NAME|FILE", help="A preset or a .yaml file of rules. Default: classic.")
@click.option("--matches", is_flag=True, help="Play whole matches; numbers of games in a file mean matches, too.")
@click.option("--deals", "--games", "games", type=int, help="Duplicate games of all pairs together, at most.")
@click.option(
    "--min-deals", "--min-games", "min_games", type=int, help="Duplicate games that every pair plays at first."
)
@click.option(
    "--seat-games", type=int, help="Games of mixed teams, each in four rotations, for ratings of single seats."
)
@click.option("--indifference", type=float, help="Differences below this need not be told apart (points; 0.5).")
@click.option("--reference", metavar="LABEL", help="Agent whose strength is 0. Default: the mean is.")
@click.option("--seed", type=int, help="Seed of the cards and of the agents' chances.")
@click.option("--workers", default=1, show_default=True, help="Processes that play: speed, never the result.")
@backend_option
@click.option("--out", default=DEFAULT_OUT, show_default=True, metavar="DIR", help="Folder for games and tables.")
@json_option
def command(
    agents: tuple[str, ...],
    config: str | None,
    matches: bool,
    workers: int,
    backend: Backend,
    out: str,
    json_path: str | None,
    **fields: Any,
) -> int:
    """Let every pair of agents play duplicate games, and rank them.

    AGENTs are as for `spades evaluate`: names with options, policy files or module:attribute; without any, the
    shipped list plays. Every pair plays some games; the rest go to the pairs of neighbours in the ranking whose order
    is most in doubt, until all are settled or the games are used up. What has been played is kept in DIR/games: the
    same command goes on after an interruption, and agents or games can be added. DIR/tournament.md and
    DIR/tournament.json hold the tables.

    \b
    Examples:
      spades tournament normal easy suit_odds conservative random --deals 20000
      spades tournament normal runs/a/policy.safetensors runs/b/policy.safetensors --seat-games 2000
      spades tournament --config mine.yaml --workers 2 --out mine
    """
    tournament = _tournament(agents, config, matches, fields)
    check_agents(tournament)
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    announce_compilation()
    try:
        outcome = _run(tournament, folder, workers, backend)
        figures = _figures(outcome)
    except KeyboardInterrupt:
        click.echo(
            f"spades: interrupted; finished games are in {folder / GAMES_FOLDER}, the same command goes on", err=True
        )
        return INTERRUPTED
    line = command_line(("out",))
    found = {"command": line, **figures}
    write_atomically(folder / PAGE_FILE, markdown(found, line))
    write_json(found, str(folder / JSON_FILE))
    if not write_json(found, json_path):
        _print(found)
    return 0


def _tournament(agents: tuple[str, ...], config: str | None, matches: bool, fields: dict[str, Any]) -> Tournament:
    """Return what is asked for: options replace what a file says."""
    given = {name: value for name, value in fields.items() if value is not None}
    given |= {"kind": "matches"} if matches else {}
    if agents and config is not None:
        raise click.UsageError("agents are given and --config, too; allowed: one of them")
    if agents:
        return tournament_from({"agents": list(agents), **given})
    return load_tournament(config or DEFAULT_CONFIG, **given)


def _run(tournament: Tournament, folder: Path, workers: int, backend: Backend) -> Outcome:
    """Play with a progress bar on stderr."""
    with progress_bar(counts=True) as bar:
        task = bar.add_task("games", total=None)

        def show(what: str, finished: int, total: int) -> None:
            bar.update(task, description=what, completed=finished, total=total)

        return run_tournament(tournament, folder, workers=workers, backend=backend, progress=show)


def _figures(outcome: Outcome) -> dict[str, Any]:
    """Return what was found; ratings take a quarter of a second for a thousand games, so stderr says what goes on."""
    console = Console(stderr=True)
    with console.status("Ratings and intervals") if console.is_terminal else nullcontext():
        return found_by(outcome)


def _print(found: dict[str, Any]) -> None:
    """Print ranking, cross-table and statistics, in brief where they are too wide, and a warning of illegal actions."""
    console = Console()
    title = f"Ranking: {found['games']:,} duplicate {found['kind']}, rules {found['rules_text']}"
    _print_first_that_fits(console, _table(title, ranking_rows(found)), _table(title, ranking_rows(found, brief=True)))
    means = cross_rows(found, brief=True)
    _print_first_that_fits(
        console,
        _table("Row minus column, 95 % interval", cross_rows(found)),
        _table("Row minus column", means),
        _table("Row minus column, by rank", [[*row[:1], *row[2:]] for row in means]),
    )
    console.print(_table("In the games of pairs", statistics_rows(found)))
    console.print(legend(found), highlight=False)
    illegal = [f"{agent['label']} {agent['illegal_actions']}" for agent in found["agents"] if agent["illegal_actions"]]
    if illegal:
        console.print(f"Illegal actions, replaced by the lowest legal one: {', '.join(illegal)}", style="bold red")


def _table(title: str, rows: list[list[str]]) -> Table:
    """Return a table of texts, heading first; labels stand to the left."""
    table = Table(title=title, title_justify="left")
    for heading in rows[0]:
        table.add_column(heading, justify="left" if heading == "agent" else "right", no_wrap=True)
    for row in rows[1:]:
        table.add_row(*row)
    return table


def _print_first_that_fits(console: Console, *tables: Table) -> None:
    """Print the first table that is no wider than the console, else the last."""
    unbounded = console.options.update(max_width=10_000)
    fitting = [table for table in tables if Measurement.get(console, unbounded, table).maximum <= console.width]
    console.print((fitting or tables[-1:])[0])
