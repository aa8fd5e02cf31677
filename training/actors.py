"""WorkerPlayers: rollout actors, here or on a cluster, each with a table and a copy of the network of its own.

Weights go out once for a collection and by version; a share whose actor is lost is played again by another, which gives
the same bytes, so it can neither be missing nor count twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import BrokenExecutor, Future
from time import perf_counter
from typing import Any, Final

from agents.learned.weights import Tensors
from evaluation.work.backend import Backend, BackendError, PoisonedError, open_workers
from evaluation.work.definition import hash_of_sources
from training.config import TrainingConfig, config_from
from training.players import Collected, Players
from training.shares import Order, PlayedShare, ShareError, SharePlayer

SOURCES: Final = (("training", "**/*.py"),)
"""Beside the engine and the agents, which the backend compares: what decides how a share is played."""

LOST: Final = (
    "an actor, a process of this machine, ended abruptly (out of memory, or an agent that ends its process?); "
    "--resume goes on from the last checkpoint"
)
"""On Ray another one takes over."""

_player: SharePlayer | None = None
"""In an actor."""


class WorkerPlayers(Players):
    """Actors on a backend; leaving the context ends them, and with them what is still played."""

    here = False

    def __init__(self, config: TrainingConfig, precision: str, backend: Backend, actors: int) -> None:
        self._config = config
        arguments = config.model_dump(), precision, hash_of_sources(SOURCES)
        self._workers = open_workers(backend, actors, _begin, arguments, agents=_agents_of(config))
        self._flying: list[tuple[Order, Future[tuple[PlayedShare, bool]]]] = []
        self._weight_bytes = self._again = 0

    def __exit__(self, *error: object) -> None:
        self._workers.__exit__(*error)

    def begin(self, orders: Sequence[Order], weights: Tensors) -> None:
        """Order the shares; the weights that the collection before was played with are let go."""
        if self._flying:
            raise RuntimeError("a collection is begun before the last one is finished")
        self._again = self._workers.ordered_again
        self._weight_bytes = sum(array.nbytes for array in weights.values())
        shared = self._workers.share(weights)
        try:
            self._flying = [(order, self._workers.submit_with(shared, _play, order)) for order in orders]
        except BrokenExecutor as error:
            raise ShareError(LOST) from error

    def finish(self) -> Collected:
        """Wait for the shares, in whatever order they come."""
        begun = perf_counter()
        flying, self._flying = self._flying, []
        found = [self._result(order, future) for order, future in flying]
        shares = [share for share, _ in found]
        return Collected(
            shares,
            sent=self._weight_bytes * sum(new for _, new in found),
            received=sum(share.nbytes for share in shares),
            again=self._workers.ordered_again - self._again,
            waited=perf_counter() - begun,
        )

    def _result(self, order: Order, future: Future[tuple[PlayedShare, bool]]) -> tuple[PlayedShare, bool]:
        try:
            return future.result()
        except PoisonedError as error:
            games = self._config.ppo.games // self._config.ppo.shares
            raise ShareError(
                f"share {order.number} (seed {self._config.seed}, games {order.first}..{order.first + games - 1}, "
                f"weights {order.version}) was given up: {error}"
            ) from error
        except BrokenExecutor as error:
            raise ShareError(LOST) from error


def _agents_of(config: TrainingConfig) -> list[str]:
    """Texts of the agents that sit at the tables."""
    if config.pool is not None:
        return list(config.pool.agents)
    return [] if config.opponent is None else [config.opponent]


def _begin(config: dict[str, Any], precision: str, code: str) -> None:
    """In an actor: set the table."""
    global _player
    if hash_of_sources(SOURCES) != code:
        raise BackendError("an actor's training/ differs from the learner's; allowed: the same checkout on all nodes")
    _player = SharePlayer(config_from(config, "the learner's configuration"), precision)


def _play(weights: Tensors, order: Order) -> tuple[PlayedShare, bool]:
    """In an actor: play a share; whether its weights were new to the actor."""
    assert _player is not None
    new = _player.version != order.version
    if new:
        _player.take(order.version, weights)
    return _player.play(order), new
