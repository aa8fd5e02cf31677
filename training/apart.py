"""Apart: collections that are played in shares by players of their own, at most one ahead of the learner."""

from __future__ import annotations

from agents.learned.weights import Tensors
from training.buffer import DealBuffer
from training.config import TrainingConfig
from training.players import Collected, Players
from training.policy import SeatPolicy
from training.seats import SeatVecEnv
from training.shares import orders, play_threads, put_together

Facts = dict[str, float]
"""Of one collection: a line of collections.jsonl (docs/training.md)."""


class Apart:
    """Gives orders to `players`, and puts what they play into the learner's buffer.

    With `ppo.staleness` 1 the collection after the one just put together is begun at once, with the weights from before
    the update that it is for. So its weights are always those of one update ago, however fast anybody is.
    """

    def __init__(self, config: TrainingConfig, players: Players, behind: Tensors | None = None) -> None:
        """`behind`: of a run that goes on, see the attribute."""
        self.players = players
        self.behind = behind
        """With staleness: the weights that the next deals are played with; None before the first update."""
        self.renewed = False
        """Whether `behind` are the policy's own weights, because the run has gone back to earlier ones."""
        self._config = config
        self._begun = False

    def renew(self, policy: SeatPolicy) -> None:
        """Play the next deals with the weights of `policy` as they are now; those begun with others are let go."""
        if not self._config.ppo.staleness:
            return
        if self._begun:
            self.players.finish()
            self._begun = False
        self.behind, self.renewed = policy.playing_weights(), True

    def collect(self, first: int, policy: SeatPolicy, table: SeatVecEnv, buffer: DealBuffer) -> tuple[Collected, Facts]:
        """Have the deals from number `first` on played, and put them into the empty `buffer`."""
        stale, number = self._config.ppo.staleness, first // table.games
        if not self._begun:
            # With staleness only at the start, where a run goes on, and where it has gone back.
            version = number if self.renewed else max(0, number - stale)
            self._begin(first, version, policy.playing_weights() if self.behind is None else self.behind)
        found = self.players.finish()
        self._begun = self.renewed = False
        put_together(found.shares, first, table, buffer)
        following = first + table.games
        if stale:
            self.behind = policy.playing_weights()
            if following < self._config.deals:
                self._begin(following, number, self.behind)
        return found, _facts(found, following, number)

    def _begin(self, first: int, version: int, weights: Tensors) -> None:
        self.players.begin(orders(self._config, first, version, play_threads(self._config)), weights)
        self._begun = True


def _facts(found: Collected, deals: int, number: int) -> Facts:
    """What is told of collection `number`, with which the learner has seen so many `deals`."""
    version = found.shares[0].order.version
    return {
        "deals": deals,
        "version": version,
        "staleness": number - version,
        "shares": len(found.shares),
        "again": found.again,
        "sent_bytes": found.sent,
        "received_bytes": found.received,
        "played_seconds": sum(share.engine + share.network for share in found.shares),
        "waiting_seconds": found.waited,
    }
