"""`python -m tests.mutation [ID...]`: break each rule in turn, see a test fail; exit status 1 if a mutant survives."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import click
from rich.console import Console
from rich.progress import Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from .report import table_of, write_report
from .table import chosen
from .tree import copy_tree
from .trial import Verdict, check_unbroken, try_mutant


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("ids", nargs=-1)
@click.option("--json", "json_path", type=click.Path(path_type=Path), help="Write the results to this file.")
@click.option("--list", "only_list", is_flag=True, help="Say what the mutants mean and run nothing.")
def main(ids: tuple[str, ...], json_path: Path | None, only_list: bool) -> None:
    """Break each rule in turn (or those whose id begins with an ID) and run the rule tests, which must fail."""
    try:
        mutants = chosen(ids)
        if only_list:
            for mutant in mutants:
                click.echo(f"{mutant.id}: {mutant.means} ({mutant.breaks})")
            return
        with tempfile.TemporaryDirectory() as temporary:
            folder = copy_tree(Path(temporary).resolve() / "tree")
            tests = check_unbroken(folder)
            click.echo(f"{tests} tests pass on the unbroken tree")
            verdicts: list[Verdict] = []
            columns = (*Progress.get_default_columns()[:-1], TimeElapsedColumn(), TimeRemainingColumn())
            with Progress(
                TextColumn("{task.completed} of {task.total}"), *columns, console=Console(stderr=True)
            ) as bar:
                for mutant in bar.track(mutants, description="mutants"):
                    verdicts.append(try_mutant(folder, mutant))
    except (ValueError, OSError) as error:
        raise click.ClickException(" ".join(str(error).split())) from None
    Console().print(table_of(verdicts))
    survivors = [verdict.mutant.id for verdict in verdicts if not verdict.killed]
    click.echo(
        f"{len(verdicts) - len(survivors)} of {len(verdicts)} mutants killed" + "".join(f"\n{id}" for id in survivors)
    )
    if json_path is not None:
        write_report(json_path, verdicts, tests)
    sys.exit(1 if survivors else 0)


if __name__ == "__main__":
    main()
