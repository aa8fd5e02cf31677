"""`spades table`: a web server with the table, and the export of the games played at it."""

from __future__ import annotations

import logging
import webbrowser
from pathlib import Path

import click

from agents.registry import load_agent
from spades_cli.output import announce_compilation, check_path
from spades_env.checks import finite_number, whole_number
from spades_env.files import write_atomically

DEFAULT_DATABASE = "spades_table.sqlite"
EXTRA = ("starlette", "uvicorn", "websockets", "pydantic", "babel", "pebble")


@click.command(name="table", context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on; 0.0.0.0 is all of them.")
@click.option("--port", type=int, default=8765, show_default=True, help="Port to listen on; 0 takes a free one.")
@click.option(
    "--database",
    metavar="FILE",
    default=DEFAULT_DATABASE,
    show_default=True,
    help="SQLite file of rooms and finished games; made if it is not there.",
)
@click.option("--no-open", is_flag=True, help="Do not open the page in a browser.")
@click.option(
    "--agent",
    "more_agents",
    metavar="AGENT",
    multiple=True,
    help="Another agent that may sit at the tables, as `spades agents` lists them, such as a run's folder. Repeatable.",
)
@click.option(
    "--time-limit",
    type=float,
    default=5.0,
    show_default=True,
    help="Seconds an agent has for a decision; then `easy` decides.",
)
@click.option("--workers", type=int, default=1, show_default=True, help="Processes in which searching agents think.")
@click.option(
    "--origin",
    "origins",
    metavar="URL",
    multiple=True,
    help="A web address under which the page is reached, as https://cards.example.org. Repeatable.",
)
@click.option(
    "--quick-wait",
    type=float,
    default=20.0,
    show_default=True,
    help="Seconds that strangers wait for each other before agents fill up.",
)
@click.option("--log", "log_path", metavar="FILE", help="Append warnings to FILE instead of stderr.")
@click.option("--export", "export_path", metavar="FILE", help="Write all finished games of --database to FILE and end.")
@click.option("--speed", type=click.Choice(["slow", "normal", "fast", "instant"]), help="For tests: all tables' pace.")
@click.option("--seed", type=int, help="For tests: all cards can be foretold.")
def command(
    host: str,
    port: int,
    database: str,
    no_open: bool,
    more_agents: tuple[str, ...],
    time_limit: float,
    workers: int,
    origins: tuple[str, ...],
    quick_wait: float,
    log_path: str | None,
    export_path: str | None,
    speed: str | None,
    seed: int | None,
) -> None:
    """Serve the table as a web page: play with agents or friends, or watch agents.

    Only this machine reaches it unless --host says otherwise. Rooms and games are kept in --database: the server may be
    stopped at any moment, and every table goes on when it is started again. Ctrl-C ends it.

    \b
    Examples:
      spades table
      spades table --host 0.0.0.0 --no-open
      spades table --agent runs/selfplay --agent hard:worlds=400
      spades table --export games.jsonl
    """
    check_path(database)
    if export_path is not None:
        _export(database, export_path)
        return
    whole_number("port", port, 0, 65_535)
    whole_number("workers", workers, 1, 64)
    if finite_number("time-limit", time_limit) <= 0:
        raise ValueError(f"time-limit is {time_limit:g}; allowed: more than 0")
    if finite_number("quick-wait", quick_wait) < 0:
        raise ValueError(f"quick-wait is {quick_wait:g}; allowed: 0 or more")
    _need_extra()
    from table.app import checked_origin
    from table.serve import Options, listening_socket, serve
    from table.thinking import LADDER

    for origin in origins:
        checked_origin(origin)
    for text in more_agents:
        agent = load_agent(text)
        if hasattr(agent, "close"):
            agent.close()
    if log_path is not None:
        check_path(log_path)
        logging.basicConfig(filename=log_path, level=logging.WARNING, format="%(asctime)s %(name)s %(message)s")
    announce_compilation()
    with listening_socket(host, port) as listening:
        shown = "127.0.0.1" if host in ("0.0.0.0", "::") else f"[{host}]" if ":" in host else host
        url = f"http://{shown}:{listening.getsockname()[1]}/"

        def started() -> None:
            click.echo(f"The table is at {url} (Ctrl-C ends it)")
            if not no_open:
                webbrowser.open(url)

        options = Options(
            agents={name: name for name in (*LADDER, *more_agents)},
            database=database,
            workers=workers,
            time_limit=time_limit,
            hosts=(host,),
            origins=origins,
            pace=speed,
            seed=seed,
            quick_wait=quick_wait,
        )
        serve(options, listening, started)


def _need_extra() -> None:
    """Say which extra to install if the server's libraries are not there."""
    try:
        for name in EXTRA:
            __import__(name)
    except ModuleNotFoundError as error:
        raise click.ClickException(
            f"the table needs {error.name!r}, which is not installed: pip install 'spades-env[table]'"
        ) from None


def _export(database: str, path: str) -> None:
    """Write the records of all finished deals, one a line."""
    _need_extra()
    from spades_env.record import record_text
    from table.store import Store

    check_path(path)
    if not Path(database).is_file():
        raise FileNotFoundError(2, "No such file or directory", database)
    store = Store(database)
    try:
        lines = [record_text(record) for record in store.records()]
    finally:
        store.close()
    write_atomically(path, "".join(line + "\n" for line in lines))
    click.echo(f"{path}: {len(lines):,} deals")
