"""`spades minari`: a dataset of `spades generate` as one of Minari's."""

from __future__ import annotations

import click

from evaluation.dataset.minari import DEFAULT_AUTHOR, export_minari
from evaluation.dataset.read import open_dataset
from spades_cli.progress import progress_bar


@click.command(name="minari", context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("folder", metavar="DIR")
@click.argument("dataset_id", metavar="ID")
@click.option("--author", default=DEFAULT_AUTHOR, show_default=True, help="For Minari's metadata.")
@click.option("--email", help="Of the author, likewise.")
def command(folder: str, dataset_id: str, author: str, email: str | None) -> int:
    """Export the dataset in DIR to Minari under ID, as spades/normal-v0: an episode for each seat of each deal.

    Minari keeps its datasets in ~/.minari, or where MINARI_DATASETS_PATH says. docs/datasets.md describes the episodes.

    \b
    Example:
      spades generate --agent normal --deals 1000 --out deals
      spades minari deals spades/normal-v0
    """
    dataset = open_dataset(folder)
    with progress_bar(counts=True) as bar:
        task = bar.add_task("episodes", total=None)

        def show(done: int, total: int) -> None:
            bar.update(task, completed=done, total=total)

        episodes = export_minari(dataset, dataset_id, author=author, email=email, progress=show)
    click.echo(f"{dataset_id}: {episodes:,} episodes, {dataset.rows:,} steps")
    return 0
