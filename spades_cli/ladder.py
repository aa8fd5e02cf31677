"""`spades ladder`: the strength table. Duels of a file are played one after another and kept; what is there is shown.

Progress and duels that cannot be played go to stderr, the page or the JSON to stdout.
"""

from __future__ import annotations

from pathlib import Path

import click
from rich.progress import Progress

from agents.base import AgentError
from evaluation.ladder.config import Duel, load_ladder
from evaluation.ladder.page import markdown, row_of
from evaluation.ladder.play import Costs, job_of, play_duel
from evaluation.ladder.store import Store
from evaluation.machine import machine, versions
from evaluation.patterns import pattern
from evaluation.work.backend import check_workers
from evaluation.work.crew import Crew, Desk, open_crew
from spades_cli.output import INTERRUPTED, announce_compilation, command_line, json_option, write_json
from spades_cli.progress import progress_bar
from spades_cli.ranges import FiniteRange
from spades_env.files import write_atomically

DEFAULT_CONFIG, DEFAULT_OUT = "ladder", "ladder"
PAGE_FILE, JSON_FILE = "ladder.md", "ladder.json"


@click.command(name="ladder", context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--config",
    default=DEFAULT_CONFIG,
    show_default=True,
    metavar="NAME|FILE",
    help="A shipped list of duels (configs/eval), or a .yaml file.",
)
@click.option("--only", metavar="PATTERN", help="Only duels whose line has a match of this regular expression.")
@click.option(
    "--scale",
    type=FiniteRange(min=0, min_open=True, max=1000),
    default=1.0,
    show_default=True,
    help="Play this many times as many games of each duel.",
)
@click.option("--out", default=DEFAULT_OUT, show_default=True, metavar="DIR", help="Folder for results and tables.")
@click.option("--workers", default=1, show_default=True, help="Processes that play: speed, never the figures.")
@json_option
def command(config: str, only: str | None, scale: float, out: str, workers: int, json_path: str | None) -> int:
    """Play the duels of a list and show them as one table with intervals, goals, and what the agents did.

    Each finished duel is kept in DIR/results.json at once: the same command goes on after an interruption, only
    shows what is finished, and plays again what was changed in the list. DIR/ladder.md and DIR/ladder.json hold
    the table. A duel's line reads as "normal v easy, classic, deals".

    \b
    Examples:
      spades ladder
      spades ladder --only "^normal v" --scale 0.1 --workers 2
      spades ladder --config mine.yaml --out mine --json -
    """
    check_workers(workers)
    duels = _chosen([duel.scaled(scale) for duel in load_ladder(config)], only, config)
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    store = Store(folder)
    try:
        reasons = _play(duels, store, workers)
    except KeyboardInterrupt:
        click.echo(f"spades: interrupted; finished duels are in {store.path}, the same command goes on", err=True)
        return INTERRUPTED
    rows = [row_of(duel, store.get(duel), reasons.get(duel)) for duel in duels]
    line = command_line(("out",))
    page, found = markdown(rows, line), {"command": line, "duels": rows, "versions": versions(), "machine": machine()}
    write_atomically(folder / PAGE_FILE, page)
    write_json(found, str(folder / JSON_FILE))
    if not write_json(found, json_path):
        click.echo(page, nl=False)
    return 0


def _chosen(duels: list[Duel], only: str | None, config: str) -> list[Duel]:
    """Return the duels whose line has a match of the pattern `only`."""
    if only is None:
        return duels
    try:
        wanted = pattern(only)
    except ValueError as error:
        raise click.UsageError(f"--only {error}") from None
    chosen = [duel for duel in duels if wanted.search(duel.label)]
    if not chosen:
        raise click.UsageError(f"--only {only!r} is in none of the {len(duels)} duels of {config}")
    return chosen


def _play(duels: list[Duel], store: Store, workers: int) -> dict[Duel, str]:
    """Play what has not been played; why the others cannot be."""
    waiting = [duel for duel in duels if store.get(duel) is None]
    desk = Desk([job_of(duel) for duel in waiting])
    reasons = _not_available(waiting, desk)
    for duel, reason in reasons.items():
        click.echo(f"{duel.label}: not available: {reason}", err=True)
    jobs = {duel: job for job, duel in enumerate(waiting) if duel not in reasons}
    if jobs:
        announce_compilation()
        with open_crew(desk, workers) as crew, progress_bar() as bar:
            _play_all(jobs, crew, store, bar)
    return reasons


def _not_available(duels: list[Duel], desk: Desk) -> dict[Duel, str]:
    """Load the agents of each duel, number k of the desk; why some could not be loaded."""
    reasons: dict[Duel, str] = {}
    for job, duel in enumerate(duels):
        try:
            desk.agents(job)
        except AgentError as error:
            reasons[duel] = str(error)
    return reasons


def _play_all(jobs: dict[Duel, int], crew: Crew, store: Store, bar: Progress) -> None:
    """Play the duels in their order and keep each result; the bar counts expected seconds, not duels."""
    task = bar.add_task("trying the agents out", total=None)
    costs = Costs()
    seconds = {duel: costs.seconds_per_game(duel) for duel in jobs}
    bar.update(task, total=sum(duel.games * seconds[duel] for duel in jobs))
    done = 0.0
    for k, (duel, job) in enumerate(jobs.items(), 1):
        bar.update(task, description=f"{k} of {len(jobs)}: {duel.label}")

        def show(_: str, finished: int, __: int, base: float = done, each: float = seconds[duel]) -> None:
            bar.update(task, completed=base + finished * each)

        measured = play_duel(duel, crew, job, show)
        store.put(duel, measured)
        bar.console.print(f"{duel.label}: {measured['seconds']:.1f} s", highlight=False, soft_wrap=True)
        done += duel.games * seconds[duel]
