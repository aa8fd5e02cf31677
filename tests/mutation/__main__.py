"""`python -m tests.mutation [ID...]`: break each rule in turn, see a test fail; exit status 1 if a mutant survives."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import click
from rich.console import Console
from rich.progress import MofNCompleteColumn, Progress, TimeElapsedColumn, TimeRemainingColumn

from .mutant import Mutant
from .report import table_of, write_report
from .table import chosen
from .tree import copy_tree
from .trial import Verdict, check_unbroken, try_mutant


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("ids", nargs=-1)
@click.option(
    "--json", "json_path", type=click.Path(path_type=Path), help="Write the results to this file as they come."
)
@click.option("--list", "only_list", is_flag=True, help="Say what the mutants mean and run nothing.")
def main(ids: tuple[str, ...], json_path: Path | None, only_list: bool) -> None:
    """Break each rule in turn (all, or those of the IDS, patterns as 'r14-*' too) and run the rule tests.

    Every mutant must be killed by a failing test; the exit status is 1 if one survives, 2 if the trial is no good.
    """
    try:
        mutants = chosen(ids)
        if only_list:
            for mutant in mutants:
                click.echo(f"{mutant.id}: {mutant.means} ({mutant.breaks})")
            return
        verdicts = try_all(mutants, json_path)
    except (ValueError, OSError) as error:
        click.echo("Error: " + " ".join(str(error).split()), err=True)
        sys.exit(2)
    # A pipe has no width; 80 columns would cut the names off.
    Console(width=None if sys.stdout.isatty() else 160).print(table_of(verdicts))
    survivors = [verdict.mutant.id for verdict in verdicts if not verdict.killed]
    click.echo(f"{len(verdicts) - len(survivors)} of {len(verdicts)} mutants killed")
    sys.exit(1 if survivors else 0)


def try_all(mutants: tuple[Mutant, ...], json_path: Path | None) -> list[Verdict]:
    """Try the mutants one after the other on one copy of the tree, with a progress bar."""
    verdicts: list[Verdict] = []
    columns = (*Progress.get_default_columns()[:-1], MofNCompleteColumn(), TimeElapsedColumn(), TimeRemainingColumn())
    with tempfile.TemporaryDirectory() as temporary, Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task("unbroken", total=len(mutants))
        folder = copy_tree(Path(temporary).resolve() / "tree")
        tests = check_unbroken(folder)
        for mutant in mutants:
            bar.update(task, description=mutant.id)
            verdicts.append(try_mutant(folder, mutant))
            bar.advance(task)
            if json_path is not None:
                write_report(json_path, verdicts, tests)
    return verdicts


if __name__ == "__main__":
    main()
