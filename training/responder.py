"""ResponderVecEnv: the learner on one team's seats, a fixed agent on the other's.

The learner is team 0 in games of even number and team 1 in the others. Columns of the agent's seats stay empty.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from agents.base import Agent, AgentError, decision_keys
from spades_env.actions import action_text
from spades_env.engine.lockstep import take_moves
from spades_env.envs.players import choose
from spades_env.rules import Rules
from spades_env.view import empty_views, views_to_act
from training.seats import SeatVecEnv


class ResponderVecEnv(SeatVecEnv):
    """Single deals in which `opponent` takes every choice of the other team; only the learner's wait."""

    def __init__(self, rules: Rules, games: int, seed: int, bag_price: float | None, opponent: Agent) -> None:
        super().__init__(rules, games, seed, bag_price)
        self.opponent = opponent
        self._teams = np.zeros(games, np.int64)
        self._views = empty_views(games)
        self._keys = np.zeros(games, np.uint64)

    def deal(self, first_game: int) -> None:
        """Deal games number `first_game` and on; the number also says which team is the learner's."""
        super().deal(first_game)
        self._teams = (first_game + np.arange(self.games)) % 2

    def waiting(self) -> npt.NDArray[np.int64]:
        """Play on to the learner's next choice in every game; indices of the games that wait for it."""
        while True:
            games = super().waiting()
            others = games[self.states["turn"][games] % 2 != self._teams[games]]
            if len(others) == 0:
                return games
            self._let_choose(others)

    def _let_choose(self, games: npt.NDArray[np.int64]) -> None:
        """One choice of the opponent in each of `games`."""
        states, views, keys = self.states[games], self._views[: len(games)], self._keys[: len(games)]
        views_to_act(states, views)
        decision_keys(states, keys)
        actions = choose(self.opponent, views, keys)
        wrong = int(take_moves(self.states, games, actions))
        if wrong >= 0:
            text = action_text(int(actions[wrong]))
            raise AgentError(f"opponent {self.opponent.name!r} chose {text}, which the rules do not allow there")
