"""Where work is done: in processes of this machine, or by actors of a Ray cluster. Importing this imports no Ray."""

from __future__ import annotations

import importlib.util
import os
import re
from collections.abc import Callable, Iterable
from concurrent.futures import BrokenExecutor, Future
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Final, ParamSpec, Protocol, TypeVar

from spades_env.checks import shown, whole_number

P = ParamSpec("P")
R = TypeVar("R")

FORMS: Final = "local, ray (of its own, on this machine), ray:HOST:PORT, ray:ray://HOST:PORT, ray:auto"
EXTRA: Final = "pip install 'spades-env[ray]'"
MOST_PROCESSES: Final = 256
MOST_ACTORS: Final = 4096
QUIET: Final = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_DEDUP_LOGS_SKIP_REGEX": "."}
"""Ray's own switches, of the environment."""
AHEAD: Final = 2
"""Orders in flight for each worker, so that none waits for orders, and results do not pile up."""

_ADDRESS: Final = re.compile(r"auto|(?:ray://)?(?:\[[0-9A-Fa-f:.%]+\]|[\w.-]+):(\d{1,5})", re.ASCII)


class BackendError(ValueError):
    """A backend that does not exist, is not installed or does not answer; the message says which, and what to do."""


class PoisonedError(BrokenExecutor):
    """An order whose workers ended abruptly time after time; it is not tried again."""


@dataclass(frozen=True)
class Backend:
    """Where work is done; it never changes a result.

    Attributes:
        kind: "local" or "ray".
        address: of a cluster that runs, as `ray.init` takes it; None: a Ray instance of our own on this machine.
    """

    kind: str = "local"
    address: str | None = None

    @classmethod
    def of(cls, text: str | Backend) -> Backend:
        """Return the backend that `text` stands for (FORMS); BackendError for anything else."""
        if isinstance(text, Backend):
            return text
        if text in ("local", "ray"):
            return cls(text)
        kind, _, address = text.partition(":") if isinstance(text, str) else ("", "", "")
        found = _ADDRESS.fullmatch(address)
        if kind != "ray" or not found or (found[1] and not 0 < int(found[1]) < 2**16):
            raise BackendError(f"backend is {shown(text)}; allowed: {FORMS}")
        return cls(kind, address)

    @property
    def is_local(self) -> bool:
        """Whether processes of this machine do the work, without Ray."""
        return self.kind == "local"

    @property
    def most_workers(self) -> int:
        """Most workers that may be asked for."""
        return MOST_PROCESSES if self.is_local else MOST_ACTORS

    def __str__(self) -> str:
        return self.kind if self.address is None else f"{self.kind}:{self.address}"


LOCAL: Final = Backend()


def check_workers(workers: int, backend: Backend = LOCAL) -> int:
    """Return the number of workers; ValueError, naming it, for what is none or more than `backend` can have."""
    return whole_number("workers", workers, 1, backend.most_workers)


def check_installed(backend: Backend) -> Backend:
    """Return `backend`; BackendError names the extra if what it needs is not installed. Nothing is imported."""
    if not backend.is_local and importlib.util.find_spec("ray") is None:
        raise BackendError(f"backend is '{backend}', which needs Ray, and that is not installed: {EXTRA}")
    return backend


def prepare(backend: Backend) -> None:
    """Say to Ray, which reads it when it is imported, that nothing is to be sent to its makers nor printed.

    It would print what its nodes report, a killed worker for instance, to stdout, which is for results.
    """
    check_installed(backend)
    for name, value in QUIET.items():
        os.environ.setdefault(name, value)


class Workers(Protocol):
    """Processes that carry out orders, here or elsewhere; leaving the context ends them, whatever they do."""

    def __enter__(self) -> Workers: ...

    def __exit__(self, *error: object) -> None: ...

    def submit(self, function: Callable[P, R], *arguments: P.args, **options: P.kwargs) -> Future[R]:
        """Order a call of a module's function.

        The future raises what the function raised; BrokenExecutor if workers ended, PoisonedError if this order did it.
        """
        ...

    def share(self, value: Any) -> Any:
        """Make a value ready to be sent with many orders; it is kept for as long as they or the caller hold it."""
        ...

    def submit_with(self, shared: Any, function: Callable[..., R], *arguments: Any) -> Future[R]:
        """Order `function(value, *arguments)`, where `shared` is what `share(value)` returned."""
        ...

    @property
    def ordered_again(self) -> int:
        """How many orders were given to another worker because theirs was lost."""
        ...


def open_workers(
    backend: Backend,
    count: int,
    begin: Callable[..., None],
    arguments: tuple[Any, ...],
    *,
    agents: Iterable[str] = (),
) -> Workers:
    """Return `count` workers; `begin(*arguments)`, a function of a module, is called in each first.

    `agents`: texts of the agents that they will load; the files behind them are brought to workers elsewhere.
    """
    # Imported late: processes and clusters are for those who ask for them.
    if backend.is_local:
        from evaluation.work.processes import ProcessWorkers

        return ProcessWorkers(count, begin, arguments)
    prepare(backend)
    from evaluation.work.actors import RayWorkers

    return RayWorkers(backend, count, begin, arguments, agents)


def connected(backend: Backend, cpus: int) -> AbstractContextManager[None]:
    """Connect this process to the cluster of a Ray backend for as long as the context lasts.

    Without an address an instance with at least `cpus` CPUs is started, and ended with the context; a cluster that runs
    is left as it was, and so is a connection that this process has already. BackendError without Ray, or where nobody
    answers.
    """
    prepare(backend)
    from evaluation.work.cluster import connection

    return connection(backend, cpus)
