"""Who plays a collection's shares: this process, one after the other, or rollout actors (`training.actors`)."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

from agents.learned.weights import Tensors
from training.config import TrainingConfig
from training.shares import Order, PlayedShare, SharePlayer


@dataclass(frozen=True)
class Collected:
    """The shares of a collection in the order of their numbers, and what they cost.

    Attributes:
        sent, received: bytes of weights and of results that went to other processes and came back.
        again: shares ordered once more because who played them was lost.
        waited: seconds of waiting for other processes.
    """

    shares: list[PlayedShare]
    sent: int = 0
    received: int = 0
    again: int = 0
    waited: float = 0.0


class Players(AbstractContextManager["Players"], Protocol):
    """Plays one collection at a time; leaving the context ends what is still played."""

    here: bool
    """Whether the seconds of the shares are this process's."""

    def begin(self, orders: Sequence[Order], weights: Tensors) -> None:
        """Let the shares of one collection be played with `weights`; the one begun before must be finished."""
        ...

    def finish(self) -> Collected:
        """Wait for the collection begun last, and return it."""
        ...


class LocalPlayers(Players):
    """This process: the shares are played when they are asked for."""

    here = True

    def __init__(self, config: TrainingConfig, precision: str) -> None:
        self._player = SharePlayer(config, precision)
        self._orders: Sequence[Order] = ()
        self._weights: Tensors = {}

    def __exit__(self, *_: object) -> None:
        return None

    def begin(self, orders: Sequence[Order], weights: Tensors) -> None:
        """Remember what to play."""
        if self._orders:
            raise RuntimeError("a collection is begun before the last one is finished")
        self._orders, self._weights = orders, weights

    def finish(self) -> Collected:
        """Play the shares."""
        orders, self._orders = self._orders, ()
        self._player.take(orders[0].version, self._weights)
        return Collected([self._player.play(order) for order in orders])
