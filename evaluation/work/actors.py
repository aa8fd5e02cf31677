"""Workers as actors of a Ray cluster, one for each processor; what comes back is freed there as soon as it is here."""

from __future__ import annotations

import pickle
import traceback
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future
from contextlib import AbstractContextManager, ExitStack
from typing import Any, ParamSpec, TypeVar

import ray

from evaluation.work.backend import Backend, BackendError
from evaluation.work.cluster import connection
from evaluation.work.dispatch import Dispatcher, LostError
from evaluation.work.origin import Parcel, check_identity, identity

P = ParamSpec("P")
R = TypeVar("R")


class RayWorkers(AbstractContextManager["RayWorkers"]):
    """Actors that carry out orders (`backend.Workers`); leaving the context ends them at once."""

    def __init__(
        self,
        backend: Backend,
        count: int,
        begin: Callable[..., None],
        arguments: tuple[Any, ...],
        agents: Iterable[str],
    ) -> None:
        """See `backend.open_workers`; if the cluster has fewer processors, those there are work, and others join."""
        packed = pickle.dumps((Parcel.of(agents), begin, arguments))
        self._exit = ExitStack()
        with ExitStack() as stack:
            stack.enter_context(connection(backend, count))
            same, start = identity(), ray.put(packed)
            self._dispatcher = Dispatcher(count, lambda: ActorHand(same, start))
            stack.callback(self._dispatcher.close)
            self._exit = stack.pop_all()

    def __exit__(self, *_: object) -> None:
        """End the actors: what is not collected by now is not wanted."""
        self._exit.close()

    def submit(self, function: Callable[P, R], *arguments: P.args, **options: P.kwargs) -> Future[R]:
        """Order a call of a module's function."""
        return self._dispatcher.order((pickle.dumps((function, arguments, options)),))

    def share(self, value: Any) -> Any:
        """Put the value into the object store: a node fetches it once, and it is freed with the last order."""
        return ray.put(pickle.dumps(value))

    def submit_with(self, shared: Any, function: Callable[..., R], *arguments: Any) -> Future[R]:
        """Order a call whose first argument is shared."""
        return self._dispatcher.order((pickle.dumps((function, arguments, {})), shared))

    @property
    def ordered_again(self) -> int:
        """How many orders were given to another actor because theirs was lost."""
        return self._dispatcher.ordered_again


class _Actor:
    """One worker. Everything goes in and out as bytes of our own: what is wrong is said and not raised, and what is
    unpickled is no view into the object store, which would keep it there."""

    def begin(self, same: Mapping[str, str], packed: bytes) -> bytes:
        """Check that this node is fit, and begin."""

        def begun() -> None:
            check_identity(same)
            parcel, begin, arguments = pickle.loads(packed)
            parcel.open()
            begin(*arguments)

        return _told(begun)

    def carry_out(self, order: bytes, *shared: bytes) -> bytes:
        """Call a function, with what is shared as its first argument."""

        def result() -> Any:
            function, arguments, options = pickle.loads(order)
            return function(*map(pickle.loads, shared), *arguments, **options)

        return _told(result)


_RemoteActor: Any = ray.remote(num_cpus=1, max_restarts=0, max_task_retries=0)(_Actor)


class ActorHand:
    """An actor, as `dispatch` needs it."""

    def __init__(self, same: Mapping[str, str], start: Any) -> None:
        """`start`: a reference to the bytes with which it begins."""
        self._same, self._start = same, start
        self._actor = _RemoteActor.remote()

    def begin(self) -> Future[Any]:
        """See `dispatch.Hand`."""
        return _future(self._actor.begin.remote(self._same, self._start), _read)

    def carry_out(self, order: tuple[Any, ...]) -> Future[Callable[[], Any]]:
        """See `dispatch.Hand`; an order is its bytes, and maybe a reference to what it shares with others."""
        return _future(self._actor.carry_out.remote(*order), lambda answer: lambda: _read(answer))

    def end(self) -> None:
        """See `dispatch.Hand`."""
        ray.kill(self._actor)


def _told(call: Callable[[], Any]) -> bytes:
    """In a worker: what `call` returns, or raises, as bytes."""
    try:
        return pickle.dumps((None, call()))
    except BaseException as error:  # as of a process of this machine: SystemExit, too, is for whoever ordered
        error.add_note(traceback.format_exc())
        return _told_error(error)


def _told_error(error: BaseException) -> bytes:
    """An error as bytes; one that cannot be sent by its name and message."""
    try:
        told = pickle.dumps((error, None))
        pickle.loads(told)
    except Exception:  # pickling runs code of whoever wrote the error
        return pickle.dumps((RuntimeError(f"{type(error).__name__}: {error}"), None))
    return told


def _read(told: bytes) -> Any:
    """Return what a worker's function has returned, or raise what it has raised."""
    error, result = pickle.loads(told)  # our own bytes, from our own worker
    if error is not None:
        raise error
    return result


def _future(reference: Any, read: Callable[[bytes], R]) -> Future[R]:
    """Return the future of what `read` makes of an answer of Ray's; LostError for a lost worker."""
    future: Future[R] = Future()

    def done(answer: Future[bytes]) -> None:
        try:
            future.set_result(read(answer.result()))
        except ray.exceptions.RayTaskError as error:  # our own code raises nothing: it could not be loaded there
            future.set_exception(BackendError(f"a worker of the cluster cannot work: {_last_line(error)}"))
        except ray.exceptions.RayError as error:  # the worker, or its node with what it had answered, is gone
            future.set_exception(LostError(_last_line(error)))
        except BaseException as error:
            future.set_exception(error)

    reference.future().add_done_callback(done)
    return future


def _last_line(error: Exception) -> str:
    """Return what Ray says in brief: of a traceback, the error."""
    return next((line.strip() for line in reversed(str(error).splitlines()) if line.strip()), type(error).__name__)
