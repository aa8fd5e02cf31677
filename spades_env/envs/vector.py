"""The native Gymnasium vector environment: N games in lock-step, no Python loop over games (docs/wrappers.md).

Game i is what `SpadesEnv` with the same arguments plays under the same seed and actions; the agents decide in batches.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from spades_env.actions import NUM_ACTIONS
from spades_env.checks import shown
from spades_env.engine.batch import IllegalActionError, illegal_text
from spades_env.engine.lockstep import (
    LEARNER,
    OUTCOME,
    REWARD_MARGIN,
    REWARD_POINTS,
    REWARD_WIN,
    IndexArray,
    OutcomeArray,
    first_illegal_choice,
    games_by_agent,
    next_matches,
    note_seats,
    score_deals,
    start_games,
    take_choices,
    take_moves,
)
from spades_env.engine.state import RESULT, STATE, StateArray, rules_to_record
from spades_env.envs.aec import _checked_options, _next_match
from spades_env.envs.players import Player, choose
from spades_env.envs.recycled import RecycledArrays
from spades_env.envs.single import SpadesEnv
from spades_env.game import Game
from spades_env.game.position import HIGHEST_COUNT, HIGHEST_SEED, whole_number
from spades_env.observation.encoders import ENCODERS
from spades_env.observation.seats import (
    learner_masks,
    observe_learner,
    observe_learner_float32,
    views_of_games,
    views_of_learner,
)
from spades_env.rules import Rules
from spades_env.view import empty_views

Seeds = int | Sequence[int | None] | None
MOST_GAMES: Final = 2**20
_KINDS: Final = {"margin": REWARD_MARGIN, "points": REWARD_POINTS, "win": REWARD_WIN}


class SpadesVectorEnv(VectorEnv[Any, Any, Any]):
    """`num_envs` games stepped together.

    Args:
        rules, options: as in `SpadesEnv`; `render_mode` is refused.
        num_envs: number of games.
        autoreset_mode: "SameStep" (default): a game that ends starts its next episode at once, and what it ended with
            stands in `final_obs` and `final_info`; "NextStep": in the next step, whose action is ignored; "Disabled":
            by `reset(options={"reset_mask": ...})` only.
        copy: False: observations and masks are overwritten by the next step.
    """

    def __init__(
        self,
        rules: Rules | str | Path | Mapping[str, Any] = "classic",
        *,
        num_envs: int = 1,
        autoreset_mode: AutoresetMode | str = AutoresetMode.SAME_STEP,
        copy: bool = True,
        **options: Any,
    ) -> None:
        self.num_envs = whole_number("num_envs", num_envs, 1, MOST_GAMES)
        # It checks the arguments and holds what all games share.
        self._one = SpadesEnv(rules, **options)
        if self._one.render_mode is not None:
            raise ValueError(f"render_mode is {self._one.render_mode!r}; allowed: None, one game can be rendered")
        self._mode = _mode(autoreset_mode)
        self.metadata = {"render_modes": [], "autoreset_mode": self._mode}
        self.copy = copy
        self.single_observation_space = self._one.observation_space
        self.single_action_space = self._one.action_space
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self._set_up_rewards()
        self._set_up_players()
        self._set_up_games()

    def _set_up_rewards(self) -> None:
        """What the kernels need to know about an episode and its rewards."""
        table = self._one.table
        self._team = self._one.seat % 2
        self._whole_match = table.episode == "match"
        self._bag_price = table._bag_price
        self._reward = _KINDS[table.reward]
        self._penalty = table.illegal_penalty
        self._raises = table.on_illegal == "raise"

    def _set_up_players(self) -> None:
        """The agents, each once, and where they sit."""
        self._players: list[Player] = []
        self._line_up = np.full(4, LEARNER, np.int8)
        for seat, player in enumerate(self._one.players):
            if player is None:
                continue
            if not any(player is known for known in self._players):
                self._players.append(player)
            self._line_up[seat] = next(k for k, known in enumerate(self._players) if known is player)

    def _set_up_games(self) -> None:
        """The games, not yet dealt, and the arrays of one step."""
        n = self.num_envs
        self._rules_record = rules_to_record(self._one.rules)
        self.states: StateArray = np.zeros(n, STATE)
        self._outcomes: OutcomeArray = np.zeros(n, OUTCOME)
        # Seed of each game (-1: none yet) and its number under that seed.
        self._seeds = np.full(n, -1, np.int64)
        self._numbers = np.zeros(n, np.int64)
        self._all = np.arange(n)
        self._games, self._games_before = np.empty(n, np.int64), np.empty(n, np.int64)
        self._ends = np.empty(len(self._players), np.int64)
        self._keys = np.empty(n, np.uint64)
        self._views = empty_views(n)
        self._observation_size = ENCODERS[self._one.table.observation].layout.size
        self._new_rows = RecycledArrays((n, self._observation_size), self._one.table._dtype)
        self._new_masks = RecycledArrays((n, NUM_ACTIONS), np.int8)
        self._rows, self._masks = self._new_rows.take(), self._new_masks.take()
        # All games wait for the learner or are over. False before the first reset and after a step that was broken off.
        self._is_set = False

    def reset(self, *, seed: Seeds = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Start an episode in every game; game i gets `seed` + i, or its own of a sequence.

        Games without a seed go on to their next match under the one they have. `options`: those of `SpadesEnv`, the
        same for all games, and `reset_mask`, bool (n,): only these games.
        """
        given = dict(options) if isinstance(options, Mapping) else _checked_options(options)
        games = self._games_to_reset(given.pop("reset_mask", None))
        self._deal(games, self._seed_list(seed)[games], _checked_options(given))
        super().reset(seed=int(seed) if isinstance(seed, int) else None)
        self._is_set = False
        self._play_others(games)
        self._is_set = True
        which = np.zeros(self.num_envs, np.bool_)
        which[games] = True
        observation = self._observe()
        return observation, _infos(self._outcomes, self._masks, which)

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """Take one action of the learner in every game and let the agents act up to her next one, as in `SpadesEnv`.

        `actions`: integers (n,). Rewards are float64, terminations and truncations bool, all (n,).
        """
        chosen = self._checked(actions)
        outcomes = self._outcomes
        over = np.flatnonzero(_done(outcomes))
        if over.size and self._mode is AutoresetMode.DISABLED:
            raise ValueError(f"game {over[0]} is over; allowed: reset(options={{'reset_mask': ...}}) for it")
        self._is_set = False
        take_choices(self.states, outcomes, chosen, self._penalty)
        self._start_next(over)
        self._score(self._all)
        self._play_others(self._all)
        rewards = outcomes["reward"].copy()
        terminated, truncated = outcomes["terminated"] == 1, outcomes["truncated"] == 1
        infos: dict[str, Any] = {}
        if self._mode is AutoresetMode.SAME_STEP:
            ended = np.flatnonzero(terminated | truncated)
            if ended.size:
                infos = self._final(ended)
                self._start_next(ended)
                self._play_others(ended)
        self._is_set = True
        observation = self._observe()
        infos |= _infos(outcomes, self._masks, np.ones(self.num_envs, np.bool_))
        return observation, rewards, terminated, truncated, infos

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """Legal actions of the learner in every game, bool (n, 73)."""
        return self._masks.astype(np.bool_)

    def _games_to_reset(self, mask: Any) -> IndexArray:
        """Indices of the games that `reset_mask` names; all if there is none."""
        if mask is None:
            return self._all
        if (
            not isinstance(mask, np.ndarray)
            or mask.dtype != np.bool_
            or mask.shape != (self.num_envs,)
            or not mask.any()
        ):
            raise ValueError(f"reset_mask is {shown(mask)}; allowed: a bool array ({self.num_envs},) with a True")
        if not self._is_set:
            raise ValueError("reset_mask is given, but reset() of all games needs to be called first")
        return np.flatnonzero(mask)

    def _seed_list(self, seed: Seeds) -> IndexArray:
        """A seed for every game, int64 (n,), -1 for none."""
        n = self.num_envs
        if seed is None:
            return np.full(n, -1, np.int64)
        if isinstance(seed, Sequence | np.ndarray):
            if len(seed) != n:
                raise ValueError(f"seed has {len(seed)} entries; allowed: one for each of {n} games")
            return np.array([-1 if s is None else whole_number("seed", s, 0, HIGHEST_SEED) for s in seed], np.int64)
        return np.asarray(whole_number("seed", seed, 0, HIGHEST_SEED - n + 1) + self._all)

    def _deal(self, games: IndexArray, seeds: IndexArray, options: Mapping[str, Any]) -> None:
        """Start an episode in `games` under `seeds` (-1: the next match, or a random seed the first time)."""
        seeds = seeds.copy()
        unseeded = (seeds < 0) & (self._seeds[games] < 0)
        seeds[unseeded] = np.random.default_rng().integers(HIGHEST_SEED, size=int(unseeded.sum()))
        fresh = seeds >= 0
        if options:
            self._deal_given(games, np.where(fresh, seeds, self._seeds[games]), fresh, options)
            return
        self._start_fresh(games[fresh], seeds[fresh], 0)
        self._start_next(games[~fresh])

    def _deal_given(
        self, games: IndexArray, seeds: IndexArray, fresh: npt.NDArray[np.bool_], options: Mapping[str, Any]
    ) -> None:
        """Start an episode from a given position; the only loop over games, and no part of `step`."""
        before = zip(seeds.tolist(), self._numbers[games].tolist(), self.states["match"][games].tolist(), strict=True)
        origins = [
            (origin[0], 0, 0) if first else _next_match(*origin) for origin, first in zip(before, fresh, strict=True)
        ]
        dealt = [
            Game(self._one.rules, seed=seed, game=number, match=match, **options).states
            for seed, number, match in origins
        ]
        self.states[games] = np.concatenate(dealt)
        self._seeds[games] = seeds
        self._numbers[games] = [number for _, number, _ in origins]
        self._outcomes[games] = np.zeros(1, OUTCOME)

    def _start_fresh(self, games: IndexArray, seeds: IndexArray, numbers: int | IndexArray) -> None:
        """Start the first match of game number `numbers` under `seeds` in each of `games`."""
        self._seeds[games] = seeds
        self._numbers[games] = numbers
        self.states[games] = np.zeros(1, STATE)
        start_games(self.states, self._rules_record, games, seeds, self._numbers[games])
        self._outcomes[games] = np.zeros(1, OUTCOME)

    def _start_next(self, games: IndexArray) -> None:
        """Start the next match of `games`, or after the last of a game the next game; nothing is left of the old."""
        if games.size == 0:
            return
        last = self.states["match"][games] >= HIGHEST_COUNT
        if last.any():
            ended = games[last]
            self._start_fresh(ended, self._seeds[ended], self._numbers[ended] + 1)
            games = games[~last]
        self.states["result"][games] = np.zeros(1, RESULT)
        next_matches(self.states, games)
        self._outcomes[games] = np.zeros(1, OUTCOME)

    def _checked(self, actions: Any) -> IndexArray:
        """Actions as int64 (n,); what cannot be taken is refused with nothing changed."""
        if not self._is_set:
            raise ValueError("reset() needs to be called before step(), also after a step or reset that failed")
        array = np.asarray(actions)
        if not np.issubdtype(array.dtype, np.integer) or array.shape != (self.num_envs,):
            what = f"{array.dtype} of shape {array.shape}"
            raise ValueError(f"actions are {what}; allowed: integers of shape ({self.num_envs},)")
        chosen = np.ascontiguousarray(array, dtype=np.int64)
        if self._raises:
            i = int(first_illegal_choice(self.states, self._outcomes, chosen))
            if i >= 0:
                raise IllegalActionError(f"game {i}: {illegal_text(self.states, i, int(chosen[i]))}")
        return chosen

    def _score(self, games: IndexArray) -> None:
        """Report the deals of `games` that are over, and deal the next ones of their matches."""
        score_deals(self.states, self._outcomes, games, self._team, self._whole_match, self._bag_price, self._reward)

    def _play_others(self, among: IndexArray) -> None:
        """Let the agents act in the games `among` these, until each waits for the learner or is over."""
        while True:
            games = self._games
            count = games_by_agent(self.states, self._outcomes, self._line_up, among, games, self._keys, self._ends)
            if count == 0:
                return
            start = 0
            for player, end in zip(self._players, self._ends.tolist(), strict=True):
                if end > start:
                    self._move(player, games[start:end], self._keys[start:end])
                start = end
            among = games[:count]
            self._score(among)
            # Only games that have moved can wait for an agent again; they are read while the next list is written.
            self._games, self._games_before = self._games_before, games

    def _move(self, player: Player, games: IndexArray, keys: npt.NDArray[np.uint64]) -> None:
        """Let an agent act once in each of `games`, which wait for her."""
        views = self._views[: len(games)]
        views_of_games(self.states, games, views)
        actions = choose(player, views, keys)
        wrong = int(take_moves(self.states, games, actions))
        if wrong >= 0:
            i = int(games[wrong])
            what = illegal_text(self.states, i, int(actions[wrong]))
            raise IllegalActionError(f"agent {player.name!r}, game {i}: {what}")

    def _observe(self) -> Any:
        """Observations of the learner in all games, in new arrays if `copy`."""
        note_seats(self.states, self._outcomes)
        if self.copy:
            self._rows, self._masks = self._new_rows.take(), self._new_masks.take()
        return self._write(self._all, self._rows, self._masks)

    def _write(self, games: IndexArray, rows: npt.NDArray[Any], masks: npt.NDArray[np.int8]) -> Any:
        """Write observations and masks of the learner in `games`, and return them in the form of the space."""
        observation = self._one.table.observation
        if observation != "flat":
            views = self._views[: len(games)]
            views_of_learner(self.states, self._outcomes, games, views)
            ENCODERS[observation].write(views, rows)
        elif rows.dtype == np.uint8:
            observe_learner(self.states, self._outcomes, games, rows)
        else:
            observe_learner_float32(self.states, self._outcomes, games, rows)
        learner_masks(self.states, self._outcomes, games, masks)
        return {"observation": rows, "action_mask": masks} if self._one.dict_observation else rows

    def _final(self, ended: IndexArray) -> dict[str, Any]:
        """`final_obs` and `final_info` of the games that have just ended, as `SyncVectorEnv` packs them."""
        rows = np.empty((len(ended), self._observation_size), self._one.table._dtype)
        masks = np.empty((len(ended), NUM_ACTIONS), np.int8)
        self._write(ended, rows, masks)
        which = np.zeros(self.num_envs, np.bool_)
        which[ended] = True
        final_obs = np.full(self.num_envs, None, dtype=object)
        packed: Iterable[Any] = rows
        if self._one.dict_observation:
            packed = ({"observation": row, "action_mask": mask} for row, mask in zip(rows, masks, strict=True))
        final_obs[ended] = np.fromiter(packed, dtype=object, count=len(ended))
        all_masks = np.zeros((self.num_envs, NUM_ACTIONS), np.int8)
        all_masks[ended] = masks
        final_info = _infos(self._outcomes, all_masks, which)
        return {"final_obs": final_obs, "_final_obs": which, "final_info": final_info, "_final_info": which.copy()}


def _mode(value: AutoresetMode | str) -> AutoresetMode:
    """The autoreset mode that an enumeration member or its text stands for."""
    try:
        return AutoresetMode(value)
    except ValueError:
        allowed = ", ".join(repr(mode.value) for mode in AutoresetMode)
        raise ValueError(f"autoreset_mode is {shown(value)}; allowed: {allowed}") from None


def _done(outcomes: OutcomeArray) -> npt.NDArray[np.bool_]:
    """Which episodes are over, bool (n,)."""
    return np.asarray((outcomes["terminated"] == 1) | (outcomes["truncated"] == 1))


def _infos(outcomes: OutcomeArray, masks: npt.NDArray[np.int8], which: npt.NDArray[np.bool_]) -> dict[str, Any]:
    """Infos of the games `which`, as Gymnasium packs them: an array a key, zeros where `_key` is False."""
    infos: dict[str, Any] = {
        "action_mask": masks if which.all() else np.where(which[:, None], masks, np.int8(0)),
        "_action_mask": which,
        "seat": np.where(which, outcomes["seat"], np.int64(0)),
        "_seat": which.copy(),
    }
    scored = which & (outcomes["scored"] == 1)
    if scored.any():
        _add(infos, "points", outcomes["points"], scored)
        _add(infos, "scores", outcomes["scores"], scored)
        _add(infos, "winner", outcomes["winner"].astype(np.int64), scored & (outcomes["match_over"] == 1))
    _add(infos, "illegal_action", outcomes["action"], which & (outcomes["refused"] == 1))
    return infos


def _add(infos: dict[str, Any], key: str, values: npt.NDArray[Any], there: npt.NDArray[np.bool_]) -> None:
    """Add a copy of `values`, zeros where not `there`, unless that is nowhere."""
    if there.any():
        infos[key] = np.where(there if values.ndim == 1 else there[:, None], values, values.dtype.type(0))
        infos[f"_{key}"] = there.copy()
