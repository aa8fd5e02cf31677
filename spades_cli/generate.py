"""`spades generate`: decisions of agents as a dataset of Parquet files.

Progress goes to stderr, one line about what was made to stdout.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from evaluation.dataset.counts import Counts
from evaluation.dataset.generate import generate
from evaluation.dataset.spec import DEFAULT_LICENCE, DEFAULT_PART_DEALS, ENCODER_NAMES, DatasetSpec, dataset_spec
from evaluation.dataset.store import CARD_FILE, DATA_FOLDER
from evaluation.line_up import split_line_up
from evaluation.work.backend import Backend
from spades_cli.backend import backend_option
from spades_cli.output import INTERRUPTED, announce_compilation, command_line, rules_option
from spades_cli.progress import progress_bar

DEFAULT_DEALS = 10_000
WAYS = ("out",)
"""Parameters that change no byte."""


@click.command(name="generate", context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--agent", help="The agent on all seats, as for `spades evaluate`. Default: normal.")
@click.option("--lineup", metavar="A,B,C,D", help="Instead of --agent: an agent for each seat, in turn.")
@rules_option
@click.option("--deals", default=DEFAULT_DEALS, show_default=True, help="Single deals from 0:0.")
@click.option("--seed", default=0, show_default=True, help="Seed of the cards and of the agents' chances.")
@click.option(
    "--encoder",
    default="flat",
    show_default=True,
    metavar="NAME",
    help=f"Of the observations: {', '.join(ENCODER_NAMES)}.",
)
@click.option("--epsilon", default=0.0, show_default=True, help="Share of decisions drawn among the legal actions.")
@click.option("--bag-price", type=float, help="Points of a bag in `margin`. Default: as for `spades evaluate`.")
@click.option(
    "--part-deals",
    default=DEFAULT_PART_DEALS,
    show_default=True,
    help="Deals in a file; an interruption loses unfinished files. Fewer for slow agents.",
)
@click.option("--licence", default=DEFAULT_LICENCE, show_default=True, help="Licence of the data, for its card.")
@click.option("--workers", default=1, show_default=True, help="Processes that play: speed, never the bytes.")
@backend_option
@click.option("--out", required=True, metavar="DIR", help="Folder of the dataset; an unfinished one is gone on with.")
def command(
    agent: str | None,
    lineup: str | None,
    rules_spec: str,
    out: str,
    workers: int,
    backend: Backend,
    **fields: Any,
) -> int:
    """Let agents play, and write down every decision: observation, legal actions, action, and what the deal came to.

    DIR/data gets Parquet files, DIR/README.md is the data card, DIR/dataset.json says exactly what was made. After an
    interruption the same command goes on; the bytes are those of an uninterrupted run. docs/datasets.md describes the
    columns and how to read them.

    \b
    Examples:
      spades generate --deals 100000 --workers 2 --out deals
      spades generate --lineup hard,normal,hard,normal --deals 2000 --part-deals 100 --out hard-normal
      spades generate --agent normal --epsilon 0.05 --encoder none --rules modern --out explored
    """
    spec = dataset_spec(_line_up(agent, lineup), rules=rules_spec, **fields)
    announce_compilation()
    try:
        counts = _generate(spec, out, workers, backend)
    except KeyboardInterrupt:
        click.echo(f"spades: interrupted; finished files are in {out}, the same command goes on", err=True)
        return INTERRUPTED
    size = sum(path.stat().st_size for path in (Path(out) / DATA_FOLDER).glob("*.parquet"))
    click.echo(
        f"{out}: {counts.rows:,} decisions of {counts.deals:,} deals, {size:,} bytes; {out}/{CARD_FILE} says more"
    )
    return 0


def _line_up(agent: str | None, lineup: str | None) -> tuple[str, ...]:
    """Return the agents' texts."""
    if lineup is None:
        return ("normal" if agent is None else agent,)
    if agent is not None:
        raise click.UsageError("--lineup stands instead of --agent: give one or the other")
    return split_line_up(lineup)


def _generate(spec: DatasetSpec, out: str, workers: int, backend: Backend) -> Counts:
    """Make the dataset with a progress bar on stderr."""
    with progress_bar(counts=True) as bar:
        task = bar.add_task("decisions", total=None)

        def show(done: int, total: int) -> None:
            bar.update(task, completed=done, total=total)

        return generate(spec, out, command=command_line(WAYS), workers=workers, backend=backend, progress=show)
