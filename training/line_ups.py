"""LineUpVecEnv: deals in which agents that do not learn sit on some of the seats.

Their columns stay empty. Who sits where is a function of the deal's number, and of what the run's checkpoint knows of
past results, so a resumed run meets the same tables.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from agents.base import Agent, AgentError, decision_keys
from spades_env.actions import action_text
from spades_env.engine.lockstep import take_moves
from spades_env.envs.players import choose
from spades_env.rules import Rules
from spades_env.view import empty_views, views_to_act
from training.league import League
from training.match import MatchStakes
from training.pool import PoolConfig
from training.seats import SeatVecEnv

LEARNER = -1
Owners = npt.NDArray[np.int64]


class LineUpVecEnv(SeatVecEnv):
    """Single deals in which `agents` choose for the seats that `owners` gives them; only the learner's choices wait."""

    def __init__(
        self,
        rules: Rules,
        games: int,
        seed: int,
        bag_price: float | None,
        agents: Sequence[Agent],
        *,
        copies: int = 1,
        match: MatchStakes | None = None,
    ) -> None:
        super().__init__(rules, games, seed, bag_price, copies=copies, match=match)
        self.agents = tuple(agents)
        self._owners: Owners = np.full((games, rules.players), LEARNER)
        self._views = empty_views(games)
        self._keys = np.zeros(games, np.uint64)

    @abstractmethod
    def owners(self, numbers: npt.NDArray[np.int64]) -> Owners:
        """Who sits where in the deals of these numbers, (n, players): LEARNER, or the index of an agent."""

    def deal(self, first_game: int) -> None:
        """Deal games number `first_game` and on; the number also says who sits where."""
        super().deal(first_game)
        self._owners = self.owners(self.deal_numbers(first_game))

    def waiting(self) -> npt.NDArray[np.int64]:
        """Play on to the learner's next choice in every game; indices of the games that wait for it."""
        while True:
            games = self.undecided()
            owners = self._owners[games, self.states["turn"][games]]
            others = np.unique(owners[owners != LEARNER])
            if len(others) == 0:
                return games
            for owner in others:
                self._let_choose(self.agents[owner], games[owners == owner])

    def learns(self, games: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
        """Whether the seat to act of each of `games` is the learner's."""
        return np.asarray(self._owners[games, self.states["turn"][games]] == LEARNER)

    def _let_choose(self, agent: Agent, games: npt.NDArray[np.int64]) -> None:
        """One choice of `agent` in each of `games`."""
        states, views, keys = self.states[games], self._views[: len(games)], self._keys[: len(games)]
        views_to_act(states, views)
        decision_keys(states, keys)
        actions = choose(agent, views, keys)
        wrong = int(take_moves(self.states, games, actions))
        if wrong >= 0:
            text = action_text(int(actions[wrong]))
            raise AgentError(f"opponent {agent.name!r} chose {text}, which the rules do not allow there")


class ResponderVecEnv(LineUpVecEnv):
    """The learner on one team's seats, team 0 in deals of even number and team 1 in the others, against one agent."""

    def __init__(
        self,
        rules: Rules,
        games: int,
        seed: int,
        bag_price: float | None,
        opponent: Agent,
        *,
        copies: int = 1,
        match: MatchStakes | None = None,
    ) -> None:
        super().__init__(rules, games, seed, bag_price, [opponent], copies=copies, match=match)

    def owners(self, numbers: npt.NDArray[np.int64]) -> Owners:
        """The learner's team goes by the parity of the number."""
        seats = np.arange(self.rules.players)
        return np.where((numbers[:, None] - seats) % 2 == 0, LEARNER, 0)


class PoolVecEnv(LineUpVecEnv):
    """Self-play, and in a share of the deals an agent of the pool on the other team's seats or as one partner.

    Agents are those named, and then the snapshots of the league, if there is one.
    """

    def __init__(
        self,
        rules: Rules,
        games: int,
        seed: int,
        bag_price: float | None,
        agents: Sequence[Agent],
        pool: PoolConfig,
        *,
        copies: int = 1,
        match: MatchStakes | None = None,
    ) -> None:
        super().__init__(rules, games, seed, bag_price, agents, copies=copies, match=match)
        self.pool = pool
        self.league = League(pool) if pool.snapshots else None
        self._named = self.agents
        self._line_up_seed = seed

    def deal(self, first_game: int) -> None:
        """Deal games number `first_game` and on, with the snapshots that there are now."""
        self.agents = (*self._named, *(self.league.agents if self.league else ()))
        super().deal(first_game)

    def chances(self) -> npt.NDArray[np.float64]:
        """How likely each agent is, (agents,), where one is drawn; the snapshots share `snapshot_weight`."""
        weights = np.array(list(self.pool.agents.values()), np.float64)
        if self.league and self.league.snapshots:
            weights = np.concatenate([weights, self.pool.snapshot_weight * self.league.chances()])
        return weights / weights.sum() if len(weights) else weights

    def owners(self, numbers: npt.NDArray[np.int64]) -> Owners:
        """Draw the line-up of each deal from its number and the agents' chances; without agents it is self-play."""
        bounds = self.chances().cumsum()
        if len(bounds) == 0:
            return np.full((len(numbers), self.rules.players), LEARNER)
        return np.array([self._line_up(int(number), bounds / bounds[-1]) for number in numbers])

    def note_results(self) -> None:
        """Once all deals are over: let the league know who won."""
        if self.league:
            rewards = self.rewards().reshape(self.games, self.rules.players)
            self.league.note(self._owners, rewards, len(self._named))

    def facts(self) -> dict[str, float]:
        """For the log: how likely each agent is, and how often the policy wins against each snapshot."""
        snapshots = self.league.snapshots if self.league else []
        names = [*self.pool.agents, *(f"snapshot-{snapshot.deals}" for snapshot in snapshots)]
        facts = {f"{name}/chance": float(chance) for name, chance in zip(names, self.chances(), strict=True)}
        return facts | {f"snapshot-{snapshot.deals}/win_rate": snapshot.win_rate for snapshot in snapshots}

    def _line_up(self, number: int, bounds: npt.NDArray[np.float64]) -> list[int]:
        kind, which, seat = np.random.default_rng([self._line_up_seed, 0x9001, number]).random(3)
        players = self.rules.players
        if kind >= self.pool.opponents + self.pool.partners:
            return [LEARNER] * players
        agent = int(np.searchsorted(bounds, which, side="right"))
        first = int(seat * players)
        if kind < self.pool.opponents:
            return [agent if (place - first) % 2 == 0 else LEARNER for place in range(players)]
        return [agent if place == first else LEARNER for place in range(players)]
