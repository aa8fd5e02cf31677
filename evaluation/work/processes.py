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
from typing import Any, TypeVar

from agents.base import AgentError
from evaluation.work.crew import Crew, Desk
from evaluation.work.job import Job, Part

Result = TypeVar("Result")

_desk: Desk | None = None
"""In a worker: its jobs and their agents."""


class Processes(AbstractContextManager["Processes"]):
    """A pool of fresh processes; leaving the context ends them at once: what is not collected by now is not wanted."""

    def __init__(self, workers: int, begin: Callable[..., None], arguments: tuple[Any, ...] = ()) -> None:
        """`begin` is called with the arguments in each process before all else, and should call `begin_worker`."""
        self._context = _Context()
        self._pool = ProcessPoolExecutor(workers, self._context, begin, arguments)

    def __exit__(self, *_: object) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)
        running = [process for process in self._context.started if process.pid is not None]
        for process in running:
            process.terminate()
        for process in running:
            process.join()

    def submit(self, function: Callable[..., Result], *arguments: Any) -> Future[Result]:
        """Order `function`, one of a module's, to be called with the arguments."""
        return self._pool.submit(function, *arguments)


class ProcessCrew(Crew):
    """A pool of `workers` fresh processes; each loads an agent when it first needs it."""

    def __init__(self, desk: Desk, workers: int) -> None:
        jobs = tuple(_picklable(job) for job in desk.jobs)
        self.desk = desk
        self.workers = workers
        self._processes = Processes(workers, _begin, (jobs, desk.expected()))

    def __exit__(self, *_: object) -> None:
        """End the workers at once."""
        self._processes.__exit__()

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


def begin_worker() -> None:
    """Make this process a worker: it leaves Ctrl-C to its parent, and ends when that is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _begin(jobs: tuple[bytes, ...], files: dict[str, str]) -> None:
    """Begin with the jobs of a desk."""
    global _desk
    begin_worker()
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
