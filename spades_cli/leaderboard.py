"""`spades leaderboard`: docs/leaderboard.md from the committed results, or a part of a result played again."""

from __future__ import annotations

import json
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

import click

from evaluation.again import Difference, Item, chosen, differences, items_of
from evaluation.leaderboard import FOLDER, PAGE, LeaderboardError, leaderboard, result_files
from evaluation.report.build import places_of
from evaluation.report.forms import BENCHMARK
from evaluation.report.read import Source, read_sources
from evaluation.results import Values
from evaluation.suite.tasks import TASKS
from evaluation.work.definition import code_hash
from spades_cli.output import announce_compilation, check_path
from spades_cli.progress import progress_bar
from spades_cli.ranges import FiniteRange
from spades_env.files import write_atomically

DEFAULT_SECONDS = 60.0
COMPARED = ("headline", "n", "figures", "illegal_actions")
"""What of a task's result is compared."""


@click.command(name="leaderboard", context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--results", default=str(FOLDER), show_default=True, metavar="DIR", help="Folder of the result files.")
@click.option("--out", default=str(PAGE), show_default=True, metavar="PATH", help="The page.")
@click.option("--check", "checked", metavar="FILE", help="Play a part of FILE again and compare the figures exactly.")
@click.option(
    "--seconds",
    type=FiniteRange(min=0, max=1e9),
    default=DEFAULT_SECONDS,
    show_default=True,
    help="With --check: about how long, by the times in the file; the quickest parts, one at least.",
)
def command(results: str, out: str, checked: str | None, seconds: float) -> int:
    """Write the leaderboard from the result files in DIR, or check one of them.

    DIR holds the JSON of `spades tournament`, `ladder`, `benchmark` and `evaluate`, as they wrote it. The page is made
    of these files alone. --check ends with status 1 if a figure comes out otherwise.

    \b
    Examples:
      spades leaderboard
      spades leaderboard --check docs/leaderboard/levels.json --seconds 600
    """
    if checked is not None:
        return _check(checked, seconds)
    folder = Path(results)
    if not folder.is_dir():
        raise LeaderboardError(f"results is {results!r}; allowed: a folder of result files")
    check_path(out)
    paths = result_files(folder)
    write_atomically(out, leaderboard(paths))
    click.echo(f"{out}: {len(paths)} results", err=True)
    return 0


def _check(path: str, seconds: float) -> int:
    """Play a part of a file again; status 1 if figures differ."""
    source = read_sources([path], 0)[0]
    items = _tasks_of(source) if source.kind == BENCHMARK else items_of(source)
    if not items:
        raise LeaderboardError(f"{path} has nothing that could be played again by itself ({source.kind})")
    announce_compilation()
    played = chosen(items, seconds)
    found = _play(played)
    click.echo(f"{path}: {len(played)} of {len(items)} parts played again, {len(found)} figures differ")
    for difference in found:
        click.echo(f"{difference.label}: {difference.name} is {difference.told} in the file, {difference.found} now")
    if found:
        codes = [code for code, _, _ in places_of(source)]
        click.echo(f"source of rules and agents: {', '.join(codes)} in the file, {code_hash()} now")
    return 1 if found else 0


def _play(items: list[Item]) -> list[Difference]:
    """Play with a progress bar on stderr; the figures that differ."""
    found: list[Difference] = []
    with progress_bar() as bar:
        task = bar.add_task("", total=len(items))
        for item in items:
            bar.update(task, description=item.label)
            found += differences(item, item.play())
            bar.advance(task)
    return found


def _tasks_of(source: Source) -> list[Item]:
    """Return the tasks of a benchmark, each played by the command that made them.

    A task in which the agents of a command play with each other is one part for all of them.
    """
    data, results = source.data, source.data["results"]
    mixed = {task.id for task in TASKS if task.uses_pool}
    parts = [[result] for result in results if result["task"] not in mixed]
    parts += [[result for result in results if result["task"] == task] for task in sorted(mixed)]
    return [_item(data, part) for part in parts if part]


def _item(data: Values, results: list[Values]) -> Item:
    """Return the results of one task, which one command comes to, as a part to be played again."""
    task, agents = results[0]["task"], [result["agent"] for result in results]
    words = ["--suite", data["suite"], "--only", f"^{task}$", "--scale", repr(data["scale"]), "--", *agents]
    seconds = sum(result["seconds"] for result in results)
    return Item(f"{task}, {', '.join(agents)}", seconds, _compared(results), partial(_run_benchmark, words))


def _compared(results: list[Values]) -> dict[str, Any]:
    """Return what is compared; of several agents, with her name at each figure."""
    alone = len(results) == 1
    return {
        name if alone else f"{name} of {result['agent']}": result.get(name) for result in results for name in COMPARED
    }


def _run_benchmark(words: list[str]) -> dict[str, Any]:
    """Return what `spades benchmark` with these words comes to."""
    from spades_cli.main import cli

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "again.json"
        cli.main(args=["benchmark", "--out", folder, "--json", str(path), *words], standalone_mode=False)
        return _compared(json.loads(path.read_bytes())["results"])
