"""Shares: the parts into which the deals of a collection are cut, so that several players can play them at once.

What comes of a share depends on the configuration, the weights and the number of its first game, and on nothing else:
not on who played it, when, or how often. It is small: the finished games, which hold every action, and two numbers
for each choice. The learner plays them over to see what was seen (`put_together`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from time import perf_counter

import numpy as np
import numpy.typing as npt
import torch

from agents.learned.network import PolicyNetwork
from agents.learned.weights import Tensors, input_size
from spades_env.engine.lockstep import take_moves
from spades_env.engine.state import StateArray
from training.buffer import DealBuffer
from training.choosing import Explore, draw, explorer, judge
from training.config import TrainingConfig
from training.seats import SeatVecEnv, most_choices
from training.tables import make_table


class ShareError(ValueError):
    """A share that does not hold together; the message says which."""


@dataclass(frozen=True)
class Order:
    """One share to play.

    Attributes:
        number: which of its collection, from 0.
        first: number of its first game.
        progress: share of the run's deals that comes before its collection; decides how much is explored.
        version: of the weights to play with: how many collections they have learned from.
        threads: of torch; another number can give other bits.
    """

    number: int
    first: int
    progress: float
    version: int
    threads: int


@dataclass(frozen=True)
class PlayedShare:
    """A share as it was played; n choices, in the order of `DealBuffer.rows` of its own columns.

    Attributes:
        order: what was ordered.
        states: STATE (games,), every deal finished, with all its actions.
        log_probs, values: float32 (n,), of the policy that chose.
        explored: uint8, n bits (`numpy.packbits`): the action was forced to explore.
        engine, network: seconds of wall time.
    """

    order: Order
    states: StateArray
    log_probs: npt.NDArray[np.float32]
    values: npt.NDArray[np.float32]
    explored: npt.NDArray[np.uint8]
    engine: float
    network: float

    @property
    def nbytes(self) -> int:
        """Bytes of the arrays, which is what is sent."""
        return self.states.nbytes + self.log_probs.nbytes + self.values.nbytes + self.explored.nbytes


def orders(config: TrainingConfig, first: int, version: int, threads: int) -> list[Order]:
    """The shares of the collection whose first game has the number `first`."""
    games = config.ppo.games // config.ppo.shares
    progress = first / config.deals
    return [Order(k, first + k * games, progress, version, threads) for k in range(config.ppo.shares)]


def play_threads(config: TrainingConfig) -> int:
    """Threads of torch for a share: one where several can be played at once, else those of the learner."""
    return 1 if config.ppo.shares > 1 else torch.get_num_threads()


class SharePlayer:
    """Plays shares of a run on the CPU with the weights it was given last."""

    def __init__(self, config: TrainingConfig, precision: str) -> None:
        """`precision`: of the trunk's products, as the learner's machine settled it."""
        rules, ppo = config.rule_set(), config.ppo
        self.config = config
        self.table = make_table(config, ppo.games // ppo.shares)
        self.network = PolicyNetwork(input_size(rules), config.network.hidden, precision)
        self.version = -1
        shape = (most_choices(rules), self.table.num_envs)
        self._log_probs = np.zeros(shape, np.float32)
        self._values = np.zeros(shape, np.float32)
        self._explored = np.zeros(shape, np.bool_)

    def take(self, version: int, weights: Tensors) -> None:
        """Play with `weights` from now on."""
        self.network.take(weights)
        self.version = version

    def play(self, order: Order) -> PlayedShare:
        """Play a share with the weights taken last, which must be of the version ordered."""
        if order.version != self.version:
            raise ShareError(f"share {order.number} is ordered with weights {order.version}, there are {self.version}")
        with _torch_threads(order.threads):
            return self._play(order)

    def _play(self, order: Order) -> PlayedShare:
        table, explore = self.table, explorer(self.config, order.progress)
        counts, network = np.zeros(table.num_envs, np.int64), 0.0
        begun = perf_counter()
        table.deal(order.first)
        while len(games := table.waiting()):
            network += self._choose_for(games, counts, explore)
        filled = np.arange(len(self._values))[:, None] < counts
        return PlayedShare(
            order,
            table.states.copy(),
            self._log_probs[filled],
            self._values[filled],
            np.packbits(self._explored[filled]),
            perf_counter() - begun - network,
            network,
        )

    def _choose_for(self, games: npt.NDArray[np.int64], counts: npt.NDArray[np.int64], explore: Explore) -> float:
        """One choice in each of `games`; seconds of the network."""
        table = self.table
        observations, masks = table.observe(games)
        begun = perf_counter()
        log_probs, values = judge(self.network, observations, masks, torch.device("cpu"))
        network = perf_counter() - begun
        drawn = draw(log_probs, masks, table.keys(games), explore)
        columns = table.columns(games)
        where = counts[columns], columns
        self._log_probs[where], self._values[where], self._explored[where] = drawn.log_probs, values, drawn.explored
        counts[columns] += 1
        table.choose(games, drawn.actions)
        return network


def put_together(shares: Sequence[PlayedShare], first: int, table: SeatVecEnv, buffer: DealBuffer) -> None:
    """Fill an empty `buffer` with the choices of a collection's shares, whatever order they come in.

    The deals are played over at `table`, from game `first` on: what every seat saw need not be sent, which is fifty
    times as much as what she chose. A share that is missing, there twice, or not what comes of its actions is refused.
    """
    shares = sorted(shares, key=lambda share: share.order.number)
    sizes = [len(share.states) for share in shares]
    firsts = [first + sum(sizes[:k]) for k in range(len(sizes))]
    if [share.order.first for share in shares] != firsts or sum(sizes) != table.games:
        found = [(share.order.first, len(share.states)) for share in shares]
        raise ShareError(f"shares are {found} (first game, games); {table.games} games from {first} on are expected")
    _play_over(np.concatenate([share.states for share in shares]), first, table, buffer)
    players = table.rules.players
    for share in shares:
        at = share.order.first - first
        columns = slice(at * players, (at + len(share.states)) * players)
        filled = np.arange(buffer.buffer_size)[:, None] < buffer.counts[columns]
        n = int(filled.sum())
        if len(share.log_probs) != n or len(share.values) != n or len(share.explored) != (n + 7) // 8:
            raise ShareError(f"share {share.order.number} has {len(share.log_probs)} choices, its games {n}")
        buffer.log_probs[:, columns][filled] = share.log_probs
        buffer.values[:, columns][filled] = share.values
        buffer.explored[:, columns][filled] = np.unpackbits(share.explored, count=n)


def _play_over(finished: StateArray, first: int, table: SeatVecEnv, buffer: DealBuffer) -> None:
    """Play `finished` games over from their actions and put the learner's choices into `buffer`."""
    table.deal(first)
    while len(games := table.undecided()):
        taken = table.states["n_actions"][games]
        actions = finished["actions"][games, taken].astype(np.int64)
        own = table.learns(games)
        chosen = games[own]
        observations, masks = table.observe(chosen)
        is_bid, none = table.is_bid(chosen), np.zeros(len(chosen), np.float32)
        buffer.add_choices(
            table.columns(chosen), observations, masks, actions[own], none, none, is_bid, np.zeros_like(is_bid)
        )
        wrong = int(take_moves(table.states, games, actions))
        if wrong >= 0:
            raise ShareError(f"game {first + int(games[wrong])} has an action that the rules do not allow there")
    if table.states.tobytes() != finished.tobytes():
        raise ShareError("played over, a share's games end otherwise: other rules or another engine have played it")


@contextmanager
def _torch_threads(threads: int) -> Iterator[None]:
    """Let torch use so many threads."""
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        yield
    finally:
        torch.set_num_threads(before)
