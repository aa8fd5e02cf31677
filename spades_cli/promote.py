"""`spades promote`: whether a candidate takes the incumbent's place."""

from __future__ import annotations

import click

from spades_cli.output import announce_compilation, json_option, rules_option, write_json


@click.command(name="promote", context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("candidate", metavar="CANDIDATE")
@click.option("--over", "incumbent", default="champion", show_default=True, metavar="AGENT", help="The incumbent.")
@click.option(
    "--pool",
    multiple=True,
    metavar="AGENT",
    default=("conservative", "normal"),
    show_default=True,
    help="Agents against whom she must not be weaker. May be repeated.",
)
@rules_option
@click.option("--deals", type=int, default=4096, show_default=True, help="Duplicate deals that decide, 512 or more.")
@click.option("--workers", type=int, default=1, show_default=True, help="Processes; they change no figure.")
@json_option
def command(
    candidate: str,
    incumbent: str,
    pool: tuple[str, ...],
    rules_spec: str,
    deals: int,
    workers: int,
    json_path: str | None,
) -> int:
    """Decide whether CANDIDATE takes the incumbent's place, on frozen duplicate deals.

    She must win against the incumbent, and against none of the pool may she be a point weaker than the incumbent is,
    both with 95 % confidence. 512 deals end what is clearly worse. Exit status: 0 promoted, 1 not.

    \b
    Examples:
      spades promote runs/selfplay --over champion
      spades promote runs/new --over runs/old --pool normal --pool hard:worlds=20
    """
    from rich.console import Console

    from evaluation.promotion import promotion
    from spades_cli.progress import progress_bar

    announce_compilation()
    with progress_bar(counts=True) as bar:
        task = bar.add_task("deals", total=None)

        def show(what: str, done: int, total: int) -> None:
            bar.update(task, completed=done, total=total)

        verdict = promotion(candidate, incumbent, pool, rules_spec, deals=deals, workers=workers, progress=show)
    if not write_json(verdict.to_dict(), json_path):
        console = Console()
        margin = verdict.margin
        console.print(f"{candidate} v {incumbent}: {margin.mean:+.2f} [{margin.low:+.2f}, {margin.high:+.2f}]")
        for name, gain in verdict.gains.items():
            console.print(f"  gain against {name}: {gain.mean:+.2f} [{gain.low:+.2f}, {gain.high:+.2f}]")
        console.print(f"{'Promoted' if verdict.promoted else 'Not promoted'}: {verdict.reason}.", soft_wrap=True)
    return 0 if verdict.promoted else 1
