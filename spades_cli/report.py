"""`spades report`: result files, run folders and game records as one HTML page, as Markdown and as merged JSON."""

from __future__ import annotations

import click

from evaluation.report.build import DEFAULT_DEALS, DEFAULT_TITLE, MOST_DEALS, build_report
from evaluation.report.html import html
from evaluation.report.markdown import markdown
from spades_cli.output import announce_compilation, check_path, json_option, write_json
from spades_env.files import write_atomically

DEFAULT_OUT = "report.html"


@click.command(name="report", context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("paths", metavar="FILE|RUN...", nargs=-1, required=True)
@click.option("--out", default=DEFAULT_OUT, show_default=True, metavar="PATH", help="The page.")
@click.option("--markdown", "markdown_path", metavar="PATH", help="Write the report as Markdown, too.")
@click.option("--title", default=DEFAULT_TITLE, show_default=True, help="Heading of the page.")
@click.option(
    "--deals",
    type=click.IntRange(0, MOST_DEALS),
    default=DEFAULT_DEALS,
    show_default=True,
    help="Most sample deals from game records, some 15 kB each.",
)
@json_option
def command(
    paths: tuple[str, ...], out: str, markdown_path: str | None, title: str, deals: int, json_path: str | None
) -> None:
    """Make one self-contained HTML page of any results: tables, interval plots, curves, deals to step through.

    FILEs are the JSON of `spades evaluate --json` and `exploit --json`, ladder.json, tournament.json,
    benchmark.json, and game records (.jsonl); RUNs are folders of `spades train`. The page needs no network and no
    other file. With --json the files are merged into one.

    \b
    Examples:
      spades report result.json
      spades report tournament/tournament.json runs/first runs/second games.jsonl --out report.html
      spades report ladder/ladder.json --markdown report.md --json report.json --title "The levels"
    """
    check_path(out)
    if markdown_path is not None:
        check_path(markdown_path)
    if any(path.lower().endswith(".jsonl") for path in paths) and deals:
        announce_compilation()
    report = build_report(paths, title, deals)
    write_atomically(out, html(report))
    if markdown_path is not None:
        write_atomically(markdown_path, markdown(report))
    if not write_json(report.data, json_path):
        click.echo(f"{out}: {', '.join(section.title for section in report.sections)}", err=True)
