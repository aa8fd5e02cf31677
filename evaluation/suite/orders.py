"""Tasks handed to worker processes: each runs whole tasks, so that figures cannot depend on how many there are."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import BrokenExecutor, Future, wait
from dataclasses import dataclass
from multiprocessing.context import SpawnContext
from queue import Empty
from typing import Any, Final

from agents.base import Agent, AgentError
from agents.registry import load_agent
from evaluation.suite.task import SEED, Task, batch_size_for, run_task
from evaluation.work.backend import LOCAL, Backend, PoisonedError, open_workers
from evaluation.work.files import files_of

SECONDS_BETWEEN_LOOKS: Final = 0.5

Values = dict[str, Any]
Find = Callable[[str], Task]
"""Returns the task of an id, ready to be played; a function of a module, which workers can import."""
Told = Callable[[int, float], None]
"""Called with an order's number and the share of it that is done."""

_shares: Any = None
"""In a worker of this machine: the queue of (order's number, share done); None elsewhere."""


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


def run_orders(
    orders: Sequence[Order], workers: int, find: Find, told: Told, backend: Backend = LOCAL
) -> Iterator[tuple[int, Values]]:
    """Yield (number of the order, its result) as they are finished, by so many processes, the longest begun first.

    Shares done are told of workers of this machine; of others, what is finished.
    """
    shares = SpawnContext().Queue() if backend.is_local else None
    agents = {text for order in orders for text in (order.agent, *order.pool)}
    with open_workers(backend, workers, _begin, (shares,), agents=agents) as processes:
        longest = sorted(range(len(orders)), key=lambda k: -orders[k].seconds)
        running = {processes.submit(_run, k, orders[k], find): k for k in longest}
        while running:
            for future in wait(running, timeout=SECONDS_BETWEEN_LOOKS).done:
                k = running.pop(future)
                yield k, _result(future, orders[k], orders)
            _pass_on(shares, told)


def _result(future: Future[Values], order: Order, orders: Sequence[Order]) -> Values:
    """Return what came out of the future of `order`."""
    try:
        return future.result()
    except PoisonedError as error:
        raise AgentError(f"task {order.task} of seed {SEED} with {order.agent!r}: {error}") from error
    except BrokenExecutor as error:
        raise AgentError(
            "a worker process ended abruptly (out of memory, or an agent that ends it?) while tasks of "
            f"{', '.join(sorted({order.agent for order in orders}))} were run"
        ) from error


def _pass_on(shares: Any, told: Told) -> None:
    """Tell what the workers have reported, if they can."""
    while shares is not None:
        try:
            told(*shares.get_nowait())
        except Empty:
            return


def _begin(shares: Any) -> None:
    """Begin a worker that reports to the queue, if there is one."""
    global _shares
    _shares = shares


def _run(number: int, order: Order, find: Find) -> Values:
    """Run an order in a worker; an agent whose files have changed since the start is refused."""
    for text in (order.agent, *order.pool):
        if files_of([text]).get(text) != order.files.get(text):
            raise AgentError(f"agent {text!r}: its files have changed since the start; start again")
    return run_order(order, find, load_agent, lambda share: _tell(number, share))


def _tell(number: int, share: float) -> None:
    """In a worker: tell the share of an order that is done, if there is a queue to put it in."""
    if _shares is not None:
        _shares.put((number, share))
