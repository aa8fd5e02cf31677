"""What a deal brings: a sample of single deals that an agent plays with and against herself.

Each is seen from the dealer's team. Penalties are left out, as they depend on the bags before the deal.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from agents.base import Agent, AgentError, decision_keys
from agents.registry import load_agent
from spades_env.checks import whole_number
from spades_env.engine.lockstep import take_moves
from spades_env.engine.state import PHASE_DEAL_OVER, STATE, StateArray, rules_to_record
from spades_env.engine.step import new_games
from spades_env.envs.players import choose
from spades_env.rules import Rules
from spades_env.view import empty_views, views_to_act

FIRST_GAME: Final = 1 << 40
"""Number of the sample's first game: evaluations with the same seed play other cards."""
BATCH: Final = 1000
MAX_DEALS: Final = 1_000_000
MOST_OUTCOMES: Final = 384
"""Different outcomes kept, half of them the most common: filling a table takes time in proportion."""

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]

Progress = Callable[[str], None]
"""Called with a line of text on how far the work is."""


@dataclass(frozen=True)
class Outcomes:
    """Outcomes of a deal and how often they came.

    Attributes:
        points: int64 (k, 2), points for contracts and nils, without bags, of the dealer's team and of the other.
        bags: int64 (k, 2), bags of both in the deal.
        share: float64 (k,), above 0, 1 together.
        agent, deals, seed: who played, how many deals, under which seed.
    """

    points: IntArray
    bags: IntArray
    share: FloatArray
    agent: str
    deals: int
    seed: int


def sample_outcomes(
    rules: Rules, agent: str | Agent, deals: int, seed: int, progress: Progress | None = None
) -> Outcomes:
    """Let `agent` play `deals` single deals from 0:0 without bags on all seats, and count the outcomes."""
    whole_number("deals", deals, 1, MAX_DEALS, AgentError)
    whole_number("seed", seed, 0, 2**63 - 1, AgentError)
    player = load_agent(agent)
    rows = []
    for start in range(0, deals, BATCH):
        states: StateArray = np.zeros(min(BATCH, deals - start), STATE)
        new_games(states, rules_to_record(rules), seed, FIRST_GAME + start)
        play_deals(states, player)
        rows.append(_by_dealer(states))
        if progress is not None:
            progress(f"{start + states.size:,} of {deals:,} deals played by {player.name}")
    different, counts = np.unique(np.concatenate(rows), axis=0, return_counts=True)
    kept, share = thinned(different, counts / deals)
    return Outcomes(kept[:, :2].copy(), kept[:, 2:].copy(), share, player.name, deals, seed)


def thinned(rows: IntArray, share: FloatArray, most: int = MOST_OUTCOMES) -> tuple[IntArray, FloatArray]:
    """At most `most` of the outcomes `rows`, int64 (k, 4), and their shares; the common ones stay as they are.

    The rare ones are put in order of the margin of points and every so many of them one stands for its neighbours,
    each for as much: means stay what they were, but for chance that is small beside the sample's own.
    """
    if share.size <= most:
        return rows, share
    by_share = np.argsort(-share, kind="stable")
    common, rare = by_share[: most // 2], by_share[most // 2 :]
    rare = rare[np.argsort(rows[rare, 0] - rows[rare, 1], kind="stable")]
    count = most - common.size
    upto = np.cumsum(share[rare])
    picked = rare[np.searchsorted(upto, (np.arange(count) + 0.5) / count * upto[-1])]
    return rows[np.concatenate([common, picked])], np.concatenate([share[common], np.full(count, upto[-1] / count)])


def play_deals(states: StateArray, agent: Agent) -> None:
    """Let `agent` choose for every seat of `states`, dtype STATE, shape (n,), until all deals are scored."""
    views, keys = empty_views(states.size), np.empty(states.size, np.uint64)
    while True:
        games = np.flatnonzero(states["phase"] < PHASE_DEAL_OVER)
        if games.size == 0:
            return
        waiting, n = states[games], games.size
        views_to_act(waiting, views[:n])
        decision_keys(waiting, keys[:n])
        actions = choose(agent, views[:n], keys[:n])
        wrong = take_moves(states, games, actions)
        if wrong >= 0:
            raise AgentError(f"agent {agent.name!r}: action {actions[wrong]} is not legal where she chose it")


def _by_dealer(states: StateArray) -> IntArray:
    """Points and bags, int64 (n, 4): points of the dealer's team and of the other, then bags of both."""
    result = states["result"]
    dealing = states["dealer"].astype(np.int64) % 2
    teams = np.stack([dealing, 1 - dealing], axis=1)
    points = np.take_along_axis(result["contract"] + result["nil"], teams, axis=1)
    bags = np.take_along_axis(result["bags"], teams, axis=1)
    return np.concatenate([points, bags], axis=1).astype(np.int64)
