"""Several worker processes on this machine."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import AbstractContextManager
from multiprocessing.context import SpawnContext, SpawnProcess
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


class ProcessWorkers(AbstractContextManager["ProcessWorkers"]):
    """Fresh processes that carry out orders (`backend.Workers`); leaving the context ends them at once."""

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

    def share(self, value: R) -> R:
        """Return the value: each order takes a copy along."""
        return value

    def submit_with(self, shared: Any, function: Callable[..., R], *arguments: Any) -> Future[R]:
        """Order a call whose first argument is shared."""
        return self._pool.submit(function, shared, *arguments)

    @property
    def ordered_again(self) -> int:
        """None: with a process all orders are lost."""
        return 0


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


def _begin(begin: Callable[..., None], arguments: tuple[Any, ...]) -> None:
    """Make this process a worker: it leaves Ctrl-C to its parent, and ends when that is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    begin(*arguments)


def _end_with_parent() -> None:
    """Wait for the parent's end, however it came; the pool's workers would wait for orders for ever."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
