"""`spades benchmark`: agents in the tasks of the suite, one after another and kept; what is there is shown.

Progress goes to stderr, the table or the JSON to stdout.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

from agents.base import Agent
from agents.registry import load_agent
from evaluation.suite.exploit import EXPLOIT_SMALL, EXPLOIT_TRAINED
from evaluation.suite.orders import Order, Told, Values, run_order, run_orders
from evaluation.suite.page import Board, cell, markdown, reasons
from evaluation.suite.store import Store
from evaluation.suite.task import Task, seconds_per_decision
from evaluation.suite.tasks import SUITES, TASKS, choose_tasks
from evaluation.work.backend import Backend, check_workers
from spades_cli.backend import backend_option
from spades_cli.output import INTERRUPTED, announce_compilation, command_line, json_option, write_json
from spades_cli.progress import progress_bar
from spades_cli.ranges import FiniteRange
from spades_env.files import write_atomically

DEFAULT_OUT, DEFAULT_SUITE = "benchmark", "core"
PAGE_FILE, JSON_FILE = "benchmark.md", "benchmark.json"


@click.command(name="benchmark", context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("agents", metavar="AGENT...", nargs=-1)
@click.option("--suite", type=click.Choice(SUITES), default=DEFAULT_SUITE, show_default=True, help="Which tasks.")
@click.option("--only", metavar="PATTERN", help="Only tasks whose id has a match of this regular expression.")
@click.option(
    "--scale",
    type=FiniteRange(min=0, min_open=True, max=1000),
    default=1.0,
    show_default=True,
    help="Play this many times as many games of each task: a quick look, not comparable with results at 1.",
)
@click.option("--out", default=DEFAULT_OUT, show_default=True, metavar="DIR", help="Folder for results and tables.")
@click.option("--workers", default=1, show_default=True, help="Processes that run tasks: speed, never the figures.")
@backend_option
@click.option("--list", "list_only", is_flag=True, help="List the tasks and stop.")
@json_option
def command(
    agents: tuple[str, ...],
    suite: str,
    only: str | None,
    scale: float,
    out: str,
    workers: int,
    backend: Backend,
    list_only: bool,
    json_path: str | None,
) -> int:
    """Measure agents in the tasks of the benchmark suite: bids, cards, nils, endings, partners and more.

    Each finished task is kept in DIR/results.json at once: the same command goes on after an interruption and only
    shows what is finished. DIR/benchmark.md and DIR/benchmark.json hold tables, further figures and definitions.
    docs/benchmark.md explains the tasks.

    \b
    Examples:
      spades benchmark normal
      spades benchmark --suite full --out bench normal hard runs/first
      spades benchmark --only "nil|endgames" hard --json -
    """
    check_workers(workers, backend)
    tasks = choose_tasks(suite, only)
    if list_only:
        Console().print(_list(tasks))
        return 0
    texts = list(dict.fromkeys(agents))
    if not texts:
        raise click.UsageError("no AGENT is given: a name such as normal, a policy file, or module:attribute")
    loaded = {text: load_agent(text) for text in texts}
    tasks = _playable(tasks)
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    store = Store(folder)
    try:
        _run(tasks, loaded, scale, store, workers, backend)
    except KeyboardInterrupt:
        click.echo(f"spades: interrupted; finished tasks are in {store.path}, the same command goes on", err=True)
        return INTERRUPTED
    results = {}
    for text in texts:
        for task in tasks:
            result = store.get(task, text, scale, texts)
            assert result is not None
            results[text, task.id] = result
    board = Board(tasks, texts, results, suite, scale, command_line(("out",), agents=texts))
    write_atomically(folder / PAGE_FILE, markdown(board))
    write_json(board.to_dict(), str(folder / JSON_FILE))
    if not write_json(board.to_dict(), json_path):
        Console().print(_results(board))
        for line in reasons(board):
            click.echo(line)
        click.echo(f"Definitions, further figures and times: {folder / PAGE_FILE}", err=True)
    return 0


def _playable(tasks: list[Task]) -> list[Task]:
    """Give the task that trains its trainer; without the extra `train` it is left out with a word on stderr."""
    if EXPLOIT_TRAINED not in tasks:
        return tasks
    try:
        from training.suite_task import exploit_trained_task
    except ModuleNotFoundError as error:
        if tasks == [EXPLOIT_TRAINED]:
            raise
        click.echo(f"{EXPLOIT_TRAINED.id}: not available: {error.name!r} is not installed (extra train)", err=True)
        return [task for task in tasks if task is not EXPLOIT_TRAINED]
    return [exploit_trained_task() if task is EXPLOIT_TRAINED else task for task in tasks]


def find_task(name: str) -> Task:
    """Return the task of an id, ready to be played."""
    (task,) = _playable([task for task in TASKS if task.id == name])
    return task


def _run(
    tasks: list[Task], agents: dict[str, Agent], scale: float, store: Store, workers: int, backend: Backend
) -> None:
    """Run what has not been run and keep each result; the bar counts expected seconds, not tasks."""
    texts = list(agents)
    waiting = [(text, task) for text in texts for task in tasks if store.get(task, text, scale, texts) is None]
    if not waiting:
        return
    announce_compilation()
    with progress_bar() as bar:
        line = bar.add_task("trying the agents out", total=None)
        cost = {text: seconds_per_decision(agents[text]) for text in dict.fromkeys(text for text, _ in waiting)}
        orders = [_order(task, text, texts, scale, cost[text], store) for text, task in waiting]
        bar.update(line, total=sum(order.seconds for order in orders))
        shares = dict.fromkeys(range(len(orders)), 0.0)

        def told(k: int, share: float) -> None:
            shares[k] = share
            done = sum(orders[k].seconds * shares[k] for k in shares)
            bar.update(line, completed=done, description=f"{len(finished) + 1} of {len(orders)}: {_name(orders[k])}")

        finished: set[int] = set()
        for k, result in _results_of(orders, agents, workers, backend, told):
            text, task = waiting[k]
            store.put(task, text, scale, texts, result)
            bar.console.print(f"{_name(orders[k])}: {result['seconds']:.1f} s", highlight=False, soft_wrap=True)
            finished.add(k)
            shares[k] = 1.0


def _name(order: Order) -> str:
    return f"{order.task}, {order.agent}"


def _order(task: Task, text: str, texts: list[str], scale: float, cost: float, store: Store) -> Order:
    """Return what a process must know to run a task."""
    pool = tuple(other for other in texts if other != text)
    return Order(task.id, text, pool, store.files(texts), scale, cost, _expected_seconds(task, cost, scale))


def _results_of(
    orders: list[Order], agents: dict[str, Agent], workers: int, backend: Backend, told: Told
) -> Iterator[tuple[int, Values]]:
    """Yield (number of the order, its result), by this process in their order or by several as they are finished."""
    if workers > 1 or not backend.is_local:
        yield from run_orders(orders, workers, find_task, told, backend)
        return
    for k, order in enumerate(orders):
        told(k, 0.0)
        yield k, run_order(order, find_task, agents.__getitem__, partial(told, k))


def _expected_seconds(task: Task, seconds_a_decision: float, scale: float) -> float:
    """Return about how long a task takes: the agent's decisions, and half a second for everything else."""
    return 0.5 + task.games_at(scale) * (task.decisions * seconds_a_decision + task.overhead)


def _list(tasks: list[Task]) -> Table:
    """Return the tasks as a table."""
    table = Table(caption="decisions: of the agent, about; times her time per decision that is how long a task takes")
    for heading in ("task", "version", "suite", "what", "size", "decisions"):
        table.add_column(heading, no_wrap=heading == "task")
    for task in tasks:
        size, decisions = f"{task.games:,} {task.of}", f"{task.games * task.decisions:,.0f}"
        table.add_row(task.id, str(task.version), task.suites[0], task.title, size, decisions)
    return table


def _results(board: Board) -> Table:
    """Return the main table for a terminal."""
    title = None if board.scale == 1.0 else f"scale {board.scale:g}: not comparable with results at 1"
    bounds = f" ({EXPLOIT_SMALL.id}: bounds)" if EXPLOIT_SMALL in board.tasks else ""
    table = Table(title=title, caption=f"95 % intervals{bounds}; ↑ higher is better, ↓ lower")
    table.add_column("task", no_wrap=True)
    table.add_column("metric")
    for agent in board.agents:
        table.add_column(agent)
    for task in board.tasks:
        arrow = "↑" if task.higher_is_better else "↓"
        cells = (cell(task, board.results[agent, task.id]) for agent in board.agents)
        table.add_row(task.id, f"{task.metric}, {task.unit} {arrow}", *cells)
    return table
