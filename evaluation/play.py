"""Playing deals with agents in lock-step: who sits where, what they choose, what is written down of a deal.

Each game's course depends on its key and the agents alone, so results do not depend on how games are batched.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from agents.base import ActionArray, Agent, AgentError, KeyArray, OracleAgent, decision_key
from evaluation.variance.luck import Luck
from spades_env.cards import NUM_CARDS
from spades_env.engine.kernel import kernel, lowest_bit
from spades_env.engine.state import PHASE_DEAL_OVER, StateArray
from spades_env.engine.step import apply_action, go_on, is_legal_action, legal_parts
from spades_env.envs.players import PlayerError, choose
from spades_env.view import empty_views, write_view

DEAL_LOG_FIELDS: Final = (
    ("game", "<i4", "number of the game: of the duplicate deal or match"),
    ("deal", "<i4", "number of the deal in its match, from 0"),
    ("team_of_a", "i1", "team that agent A played, of a line-up its seats 0 and 2; the other was B's"),
    ("dealer", "i1", "dealer of the deal"),
    ("players", "i1", "2 or 4"),
    ("hand_size", "i1", "tricks of the deal"),
    ("bids", "(4,)i1", "bid of each seat, 0 any nil, -1 no such seat"),
    ("blind", "(4,)i1", "1: the bid is a blind or double nil"),
    ("tricks", "(4,)i1", "tricks taken by each seat"),
    ("boston", "i1", "team that took every trick (R16), else -1"),
    ("_pad", "i1", "zero"),
    ("row", "<i2", "which of the job's rows of seats played: by how many seats a line-up is turned"),
    ("contract", "(2,)<i4", "points of each team for contracts made and set (R18)"),
    ("nil", "(2,)<i4", "points for nils of any kind (R19)"),
    ("bag_points", "(2,)<i4", "points for the bags of the deal (R21)"),
    ("penalty", "(2,)<i4", "points taken for full bag counts (R21)"),
    ("bags", "(2,)<i4", "bags taken in the deal (R18, R20)"),
    ("scores", "(2,)<i4", "match scores after the deal"),
    ("luck", "(4,)<f8", "luck of each seat's choices, where measured: points of her team minus the other's"),
)
DEAL_LOG: Final = np.dtype([(name, form) for name, form, _ in DEAL_LOG_FIELDS])
"""One record a deal played: name, form and meaning of each field stand in `DEAL_LOG_FIELDS`."""

LogArray = npt.NDArray[np.void]
IndexArray = npt.NDArray[np.int64]


@kernel
def gather(
    states: StateArray,
    line_ups: npt.NDArray[np.int8],
    agent: int,
    index: IndexArray,
    views: StateArray,
    keys: KeyArray,
) -> int:
    """Collect the games in which `agent` is to act and the deal is not over; how many.

    Row k of `index`, `views` and `keys` gets the game's number, the view of the seat to act and the
    decision's key.
    """
    count = 0
    for i in range(states.shape[0]):
        game = states[i]
        turn = int(game["turn"])
        if int(game["phase"]) < PHASE_DEAL_OVER and line_ups[i, turn] == agent:
            write_view(game, turn, views[count])
            keys[count] = decision_key(game)
            index[count] = i
            count += 1
    return count


@kernel
def put(states: StateArray, index: IndexArray, actions: IndexArray) -> int:
    """Take `actions[k]` in game `index[k]`, the lowest legal id for an illegal one; how many were illegal."""
    illegal = 0
    for k in range(actions.shape[0]):
        game = states[index[k]]
        action = int(actions[k])
        if not is_legal_action(game, action):
            illegal += 1
            cards, calls = legal_parts(game)
            action = lowest_bit(cards) if cards else NUM_CARDS + lowest_bit(calls)
        apply_action(game, action)
    return illegal


@kernel
def next_deals(states: StateArray) -> None:
    """Start the next deal of every game of `states`, whose deals are over and matches are not."""
    for i in range(states.shape[0]):
        go_on(states[i])


@dataclass
class Tally:
    """What one agent's decisions came to; `luck_seconds` went into measuring their luck."""

    decisions: int = 0
    illegal: int = 0
    seconds: float = 0.0
    luck_seconds: float = 0.0

    def __add__(self, other: Tally) -> Tally:
        """Both together."""
        return Tally(*(one + another for one, another in zip(astuple(self), astuple(other), strict=True)))

    @property
    def ms_per_decision(self) -> float | None:
        """Milliseconds of wall time per decision, None before the first."""
        return 1000.0 * self.seconds / self.decisions if self.decisions else None


@dataclass(frozen=True)
class WithStates:
    """An oracle as a player for one call: she gets the states of which the views were made."""

    oracle: OracleAgent
    states: StateArray

    @property
    def name(self) -> str:
        """The oracle's."""
        return self.oracle.name

    def act(self, views: StateArray, keys: KeyArray) -> ActionArray:
        """Return her actions in `states`; the views are not used."""
        return self.oracle.act_on_states(self.states, keys)


class Players:
    """Agents that play together, their tallies and luck, and the arrays for up to `size` games at once."""

    def __init__(self, agents: Sequence[Agent | OracleAgent], size: int, luck: Luck | None = None) -> None:
        self.agents = tuple(agents)
        self.luck = luck
        self.tallies = tuple(Tally() for _ in agents)
        self._index = np.empty(size, np.int64)
        self._views = empty_views(size)
        self._keys = np.empty(size, np.uint64)

    def warm_up(self, states: StateArray) -> None:
        """Let every agent choose once in `states`, shape (n,), without counting or doing it."""
        for k, agent in enumerate(self.agents):
            every_seat = np.full((len(states), 4), k, np.int8)
            count = gather(states, every_seat, k, self._index, self._views, self._keys)
            if count:
                self._choose(agent, states, count)

    def _choose(self, agent: Agent | OracleAgent, states: StateArray, count: int) -> IndexArray:
        """Actions of `agent` in the first `count` games gathered: from views, or from states if she is an oracle."""
        if isinstance(agent, OracleAgent):
            agent = WithStates(agent, states[self._index[:count]])
        try:
            return choose(agent, self._views[:count], self._keys[:count])
        except (AgentError, PlayerError):
            raise
        except Exception as error:  # an agent of anybody's may raise anything
            raise PlayerError(f"agent {agent.name!r}: {type(error).__name__}: {error}") from error

    def play_deals(self, states: StateArray, line_ups: npt.NDArray[np.int8]) -> None:
        """Play the deal in progress of every game of `states`, shape (n,), to its end.

        `line_ups`: int8, shape (n, 4): which of the agents sits on each seat.
        """
        line_ups = np.ascontiguousarray(line_ups, np.int8)
        if self.luck is not None:
            self.luck.values[:] = 0.0
        moved = True
        while moved:
            moved = False
            for k in range(len(self.agents)):
                moved = self._play_turns(states, line_ups, k) or moved

    def _play_turns(self, states: StateArray, line_ups: npt.NDArray[np.int8], k: int) -> bool:
        """Let agent `k` decide once in every game where she is to act; whether there was one."""
        count = gather(states, line_ups, k, self._index, self._views, self._keys)
        if count == 0:
            return False
        tally = self.tallies[k]
        start = time.perf_counter()
        actions = self._choose(self.agents[k], states, count)
        tally.seconds += time.perf_counter() - start
        tally.decisions += count
        if self.luck is not None:
            start = time.perf_counter()
            self.luck.add(states, line_ups, k, self._index[:count], self._views[:count], actions)
            tally.luck_seconds += time.perf_counter() - start
        tally.illegal += put(states, self._index[:count], actions)
        return True


def log_deals(states: StateArray, games: IndexArray, team_of_a: npt.NDArray[np.int8]) -> LogArray:
    """Return DEAL_LOG records, shape (n,), of the deals that `states`, dtype STATE, have just finished."""
    log = np.zeros(states.shape[0], DEAL_LOG)
    log["game"] = games
    log["team_of_a"] = team_of_a
    log["players"] = states["rules"]["players"]
    log["hand_size"] = states["rules"]["hand_size"]
    for name in ("deal", "dealer", "bids", "blind", "tricks", "scores"):
        log[name] = states[name]
    for name in ("boston", "contract", "nil", "bag_points", "penalty", "bags"):
        log[name] = states["result"][name]
    return log
