"""Tasks handed to worker processes: each runs whole tasks, so that figures cannot depend on how many there are."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import BrokenExecutor, wait
from dataclasses import dataclass
from multiprocessing.context import SpawnContext
from queue import Empty
from typing import Any, Final

from agents.base import Agent, AgentError
from agents.registry import load_agent
from evaluation.suite.task import Task, batch_size_for, run_task
from evaluation.work.files import files_of
from evaluation.work.processes import Workers

SECONDS_BETWEEN_LOOKS: Final = 0.5

Values = dict[str, Any]
Find = Callable[[str], Task]
"""Returns the task of an id, ready to be played; a function of a module, which workers can import."""
Told = Callable[[int, float], None]
"""Called with an order's number and the share of it that is done."""

_shares: Any = None
"""In a worker: the queue of (order's number, share done)."""


@dataclass(frozen=True)
class Order:
    """One task with one agent, as plain values.

    Attributes:
        agent, pool: texts of the agent and of the others of the command.
        files: a hash of the files behind each text that has any, as they were at the start.
        cost: seconds that a decision of hers takes, about.
        seconds: that the task will take, about.
    """

    task: str
    agent: str
    pool: tuple[str, ...]
    files: Mapping[str, str]
    scale: float
    cost: float
    seconds: float


def run_order(order: Order, find: Find, load: Callable[[str], Agent], share: Callable[[float], None]) -> Values:
    """Run an order in this process; its result as plain values."""
    task = find(order.task)
    pool = tuple(load(text) for text in order.pool)
    size = batch_size_for(task, order.cost)
    agent = load(order.agent)
    return run_task(task, agent, scale=order.scale, batch_size=size, share=share, pool=pool, text=order.agent).to_dict()


def run_orders(orders: Sequence[Order], workers: int, find: Find, told: Told) -> Iterator[tuple[int, Values]]:
    """Yield (number of the order, its result) as they are finished, by so many processes, the longest begun first."""
    shares = SpawnContext().Queue()
    with Workers(workers, _begin, (shares,)) as processes:
        longest = sorted(range(len(orders)), key=lambda k: -orders[k].seconds)
        running = {processes.submit(_run, k, orders[k], find): k for k in longest}
        while running:
            for future in wait(running, timeout=SECONDS_BETWEEN_LOOKS).done:
                k = running.pop(future)
                try:
                    yield k, future.result()
                except BrokenExecutor as error:
                    raise AgentError(
                        "a worker process ended abruptly (out of memory, or an agent that ends it?) while tasks of "
                        f"{', '.join(sorted({order.agent for order in orders}))} were run"
                    ) from error
            _pass_on(shares, told)


def _pass_on(shares: Any, told: Told) -> None:
    """Tell what the workers have reported."""
    while True:
        try:
            told(*shares.get_nowait())
        except Empty:
            return


def _begin(shares: Any) -> None:
    """Begin a worker that reports to the queue."""
    global _shares
    _shares = shares


def _run(number: int, order: Order, find: Find) -> Values:
    """Run an order in a worker; an agent whose files have changed since the start is refused."""
    for text in (order.agent, *order.pool):
        if files_of([text]).get(text) != order.files.get(text):
            raise AgentError(f"agent {text!r}: its files have changed since the start; start again")
    return run_order(order, find, load_agent, lambda share: _shares.put((number, share)))
