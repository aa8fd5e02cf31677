"""Tables of agents for the tasks: bidder and player in one seat, and any seating on the same deals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from agents.base import ActionArray, Agent, KeyArray
from evaluation.play import LogArray, Players, log_deals
from evaluation.suite.task import SEED, Share
from spades_env.engine.state import PHASE_PLAY, STATE, StateArray, rules_to_record
from spades_env.engine.step import new_games
from spades_env.rules import Rules

FloatArray = npt.NDArray[np.float64]
Deal = Callable[[int, int], StateArray]
"""deal(first, count): STATE records, shape (count,), of the deals from number `first`, before their first decision."""


@dataclass(frozen=True)
class Split:
    """One seat of two agents: `bidder` decides until the first card is played, `player` from then on."""

    bidder: Agent
    player: Agent

    @property
    def name(self) -> str:
        """Both names."""
        return f"{self.bidder.name}/{self.player.name}"

    def act(self, views: StateArray, keys: KeyArray) -> ActionArray:
        """Return the actions, int16 (n,), of whoever decides in each of `views`, shape (n,)."""
        out = np.empty(len(views), np.int16)
        plays = views["known"]["phase"] == PHASE_PLAY
        for agent, rows in ((self.bidder, np.flatnonzero(~plays)), (self.player, np.flatnonzero(plays))):
            if rows.size:
                out[rows] = agent.act(views[rows], keys[rows])
        return out


def dealer(rules: Rules, seed: int = SEED) -> Deal:
    """Return the deals of `seed` from 0:0."""
    record = rules_to_record(rules)

    def deal(first: int, count: int) -> StateArray:
        states: StateArray = np.zeros(count, STATE)
        new_games(states, record, seed, first)
        return states

    return deal


def play_tables(
    players: Players, seatings: Sequence[Sequence[int]], deal: Deal, deals: int, batch_size: int, share: Share
) -> LogArray:
    """Play every deal once in each of `seatings`; the log, dtype DEAL_LOG, shape (seatings, deals).

    A seating says which of the players sits on each seat. Cards, dealer and decision keys stay with the seats.
    """
    parts = []
    for first in range(0, deals, batch_size):
        count = min(batch_size, deals - first)
        states = np.tile(deal(first, count), len(seatings))
        line_ups = np.repeat(np.array(seatings, np.int8), count, axis=0)
        players.play_deals(states, line_ups)
        numbers = np.tile(np.arange(first, first + count, dtype=np.int64), len(seatings))
        log = log_deals(states, numbers, np.zeros(len(states), np.int8))
        parts.append(log.reshape(len(seatings), count))
        share((first + count) / deals)
    return np.concatenate(parts, axis=1)


def margins(log: LogArray, bag_price: float | None) -> FloatArray:
    """Return points of team 0 minus team 1 of every deal in `log`, float64 of its shape.

    Bags at `bag_price`, or as scored with their penalties if it is None.
    """
    points = (log["contract"] + log["nil"]).astype(np.float64)
    points += log["bag_points"] + log["penalty"] if bag_price is None else bag_price * log["bags"]
    result: FloatArray = points[..., 0] - points[..., 1]
    return result
