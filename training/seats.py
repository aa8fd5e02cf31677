"""SeatVecEnv: N single deals dealt anew for every collection, seen as one stable-baselines3 environment per seat.

Column `game * players + seat` is one seat of one game. `SelfPlayPPO` drives it through `deal`, `waiting` and `choose`;
the step interface is refused, because one reward per step cannot say which seat earned it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium import spaces
from stable_baselines3.common.vec_env import VecEnv

from agents.learned.sampling import keys_of_games
from agents.learned.weights import input_size
from spades_env.actions import NUM_ACTIONS
from spades_env.engine.batch import default_bag_price
from spades_env.engine.rollout import apply_choices, team_values, to_next_choice
from spades_env.engine.state import PHASE_BID, PHASE_BLIND, STATE, rules_to_record
from spades_env.engine.step import new_games
from spades_env.observation.blocks import FLAT_SIZE
from spades_env.observation.selected import observe_games
from spades_env.rules import Rules
from training.match import MatchStakes


def most_choices(rules: Rules) -> int:
    """Most decisions of one seat in a deal: blind or not, draft and exchange, the bid, the plays."""
    drafted = rules.hand_size + rules.blind_nil_exchange + 1 if rules.deal == "draft" else 0
    return int(rules.blind_nil) + drafted + 1 + rules.hand_size


class SeatVecEnv(VecEnv):
    """`games` single deals; `num_envs` is games x players.

    They begin at 0:0 without bags and are worth their points, or with `match` where and what that says. Every deal is
    there in `copies` neighbouring games, which differ in nothing but the chance of what is chosen.
    """

    def __init__(
        self,
        rules: Rules,
        games: int,
        seed: int,
        bag_price: float | None = None,
        *,
        copies: int = 1,
        match: MatchStakes | None = None,
    ) -> None:
        self.rules = rules
        self.games = games
        self.copies = copies
        self.bag_price = default_bag_price(rules) if bag_price is None else bag_price
        # Evaluation numbers its deals under the plain seed; a seed of its own keeps training off those deals.
        self._deal_seed = int(np.random.SeedSequence([seed, 0x5EA75]).generate_state(1, np.uint64)[0] >> np.uint64(1))
        self._record = rules_to_record(rules)
        self._match = match
        self._before = np.zeros(games, np.float32)
        self.states = np.zeros(games, STATE)
        self._waiting = np.zeros(games, np.int64)
        self._observations = np.zeros((games, FLAT_SIZE), np.uint8)
        self._masks = np.zeros((games, NUM_ACTIONS), np.int8)
        self.render_mode = None
        space = spaces.Box(0, 255, (input_size(rules),), np.uint8)
        super().__init__(games * rules.players, space, spaces.Discrete(NUM_ACTIONS))

    def deal(self, first_game: int) -> None:
        """Deal games number `first_game` and on; the same number is the same deal and the same chance for ever."""
        distinct = self.states[: self.games // self.copies].copy()
        new_games(distinct, self._record, self._deal_seed, first_game // self.copies)
        if self._match is not None:
            self._match.begin(distinct)
        self.states[:] = np.repeat(distinct, self.copies)
        if self._match is not None:
            self._before = self._match.worth(self.states)

    def deal_numbers(self, first_game: int) -> npt.NDArray[np.int64]:
        """Number of the deal of each game, (games,), when `deal` was called with `first_game`."""
        return (first_game + np.arange(self.games)) // self.copies

    def waiting(self) -> npt.NDArray[np.int64]:
        """Go on to the learner's next choice in every game; indices of the games, none once all deals are over."""
        return self.undecided()

    def undecided(self) -> npt.NDArray[np.int64]:
        """Take all forced actions; indices of the games that wait for a choice, whoever's it is."""
        count = to_next_choice(self.states, self._waiting)
        return self._waiting[:count]

    def learns(self, games: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
        """Whether the seat to act of each of `games` is the learner's."""
        return np.ones(len(games), np.bool_)

    def observe(self, games: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.bool_]]:
        """Observations uint8 (m, n_inputs) and masks bool (m, 73) of the seats to act; overwritten by the next call."""
        m = len(games)
        observe_games(self.states, games, self._observations[:m], self._masks[:m])
        return self._observations[:m, : self.observation_space.shape[0]], self._masks[:m].view(np.bool_)  # type: ignore[index]

    def columns(self, games: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Column of the seat to act of each game."""
        return games * self.rules.players + self.states["turn"][games]

    def is_bid(self, games: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
        """Whether each game waits for a bid, blind ones included."""
        phase = self.states["phase"][games]
        return np.asarray((phase == PHASE_BID) | (phase == PHASE_BLIND))

    def keys(self, games: npt.NDArray[np.int64]) -> npt.NDArray[np.uint64]:
        """Random keys of the decisions the games wait for."""
        keys = np.empty(len(games), np.uint64)
        keys_of_games(self.states, games, keys, self.copies)
        return keys

    def choose(self, games: npt.NDArray[np.int64], actions: npt.NDArray[np.int64]) -> None:
        """Apply legal actions, one for each of `games`."""
        apply_choices(self.states, games, actions)

    def rewards(self) -> npt.NDArray[np.float32]:
        """Once all deals are over: what each brought the seat's team, in hundreds of points, for every column.

        Own points minus the others', bags priced; in a match what the deal changed of its equity.
        """
        signs = np.where(np.arange(self.rules.players) % 2 == 0, 1, -1).astype(np.float32)
        return (self._margins()[:, None] * signs).reshape(-1).astype(np.float32)

    def _margins(self) -> npt.NDArray[np.float32]:
        """The same for team 0 of every game, (games,)."""
        if self._match is not None:
            return self._match.worth(self.states) - self._before
        values = np.zeros((self.games, 2), np.float32)
        team_values(self.states, self.bag_price, values)
        return np.asarray((values[:, 0] - values[:, 1]) / 100, np.float32)

    def luck(self, rewards: npt.NDArray[np.float32]) -> npt.NDArray[np.float32] | None:
        """Mean of `rewards`, (columns,), of the same seat in the other copies of its deal; None without copies."""
        if self.copies == 1:
            return None
        tables = rewards.reshape(-1, self.copies, self.rules.players)
        others = (tables.sum(axis=1, keepdims=True) - tables) / (self.copies - 1)
        return np.asarray(others.reshape(-1), np.float32)

    def reset(self) -> npt.NDArray[np.uint8]:
        """Deal the first games; zeros of the right shape, because no seat but one of each game is to act."""
        self.deal(0)
        return np.zeros((self.num_envs, *self.observation_space.shape), np.uint8)  # type: ignore[misc]

    def step_async(self, actions: np.ndarray) -> None:
        """Refused, see the module's text."""
        raise TypeError(
            "SeatVecEnv has no step: one reward per step cannot say which seat earned it. "
            "SelfPlayPPO collects whole deals per seat; for one learning seat use a single-agent environment."
        )

    def step_wait(self) -> Any:
        """Refused like `step_async`."""
        self.step_async(np.empty(0))

    def close(self) -> None:
        """Nothing is open."""

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """The attribute of this object, once per column asked for."""
        return [getattr(self, attr_name)] * len(self._columns(indices))

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Set the attribute; all columns share it."""
        setattr(self, attr_name, value)

    def env_method(self, method_name: str, *args: Any, indices: Any = None, **kwargs: Any) -> list[Any]:
        """Call the method once; all columns share the result."""
        return [getattr(self, method_name)(*args, **kwargs)] * len(self._columns(indices))

    def env_is_wrapped(self, wrapper_class: type, indices: Any = None) -> list[bool]:
        """No column is wrapped."""
        return [False] * len(self._columns(indices))

    def _columns(self, indices: Any) -> Sequence[int]:
        return range(self.num_envs) if indices is None else list(np.atleast_1d(indices))
