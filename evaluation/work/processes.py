"""Several worker processes on this machine, each with its own copy of the agents, loaded from their texts."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import threading
from collections.abc import Callable
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import AbstractContextManager
from multiprocessing.context import SpawnContext, SpawnProcess
from typing import Any, ParamSpec, TypeVar

from agents.base import AgentError
from evaluation.work.crew import Crew, Desk
from evaluation.work.job import Job, Part

P = ParamSpec("P")
R = TypeVar("R")

_desk: Desk | None = None
"""In a worker: its jobs and their agents."""


class Workers(AbstractContextManager["Workers"]):
    """Fresh processes that carry out orders; leaving the context ends them at once."""

    def __init__(self, count: int, begin: Callable[..., None], arguments: tuple[Any, ...]) -> None:
        """`begin(*arguments)`, a function of a module, is called in each process first."""
        self._context = _Context()
        self._pool = ProcessPoolExecutor(count, self._context, _begin, (begin, arguments))

    def __exit__(self, *_: object) -> None:
        """End the processes: what is not collected by now is not wanted."""
        self._pool.shutdown(wait=False, cancel_futures=True)
        running = [process for process in self._context.started if process.pid is not None]
        for process in running:
            process.terminate()
        for process in running:
            process.join()

    def submit(self, function: Callable[P, R], *arguments: P.args, **options: P.kwargs) -> Future[R]:
        """Order a call of a module's function."""
        return self._pool.submit(function, *arguments, **options)


class ProcessCrew(Crew):
    """A crew of `workers` processes; each loads an agent when it first needs it."""

    def __init__(self, desk: Desk, workers: int) -> None:
        jobs = tuple(_picklable(job) for job in desk.jobs)
        self.desk = desk
        self.workers = workers
        self._processes = Workers(workers, _take_desk, (jobs, desk.expected()))

    def __exit__(self, *error: object) -> None:
        self._processes.__exit__(*error)

    def submit(self, job: int, first: int, count: int) -> Future[Part]:
        """Order a part."""
        return self._processes.submit(_play, job, first, count)


class _Context(SpawnContext):
    """Fresh processes, remembered so that they can be ended: the pool itself would wait for a part to finish."""

    def __init__(self) -> None:
        super().__init__()
        self.started: list[SpawnProcess] = []

    def Process(self, *args: Any, **options: Any) -> SpawnProcess:  # type: ignore[override]
        """Make a process, for the pool to start."""
        process = SpawnProcess(*args, **options)
        self.started.append(process)
        return process


def _picklable(job: Job) -> bytes:
    """Return the job as bytes; an agent that cannot be sent is refused by name."""
    for agent in job.agents:
        try:
            pickle.dumps(agent)
        except Exception as error:  # pickling runs code of the agent's
            name = getattr(agent, "name", agent)
            raise AgentError(
                f"agent {name!r} cannot be sent to another process ({type(error).__name__}: {error}); "
                "allowed with more than one worker: texts, and agents that can be pickled"
            ) from error
    return pickle.dumps(job)


def _begin(begin: Callable[..., None], arguments: tuple[Any, ...]) -> None:
    """Make this process a worker: it leaves Ctrl-C to its parent, and ends when that is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    begin(*arguments)


def _take_desk(jobs: tuple[bytes, ...], files: dict[str, str]) -> None:
    """In a worker: make the desk it plays for."""
    global _desk
    _desk = Desk([pickle.loads(job) for job in jobs], files)  # our own bytes, from our own parent


def _end_with_parent() -> None:
    """Wait for the parent's end, however it came; the pool's workers would wait for orders for ever."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _play(job: int, first: int, count: int) -> Part:
    assert _desk is not None
    return _desk.play(job, first, count)
