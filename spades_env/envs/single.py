"""The Gymnasium environment: one learning seat, or both of a team; agents play the others inside `step`.

It drives the PettingZoo environment, so that rewards, ends and refusals are the same (docs/wrappers.md).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import gymnasium
import numpy as np
import numpy.typing as npt

from spades_env.actions import NUM_ACTIONS
from spades_env.engine.batch import Episode, IllegalActionError, illegal_text
from spades_env.engine.lockstep import decision_keys
from spades_env.engine.step import is_legal
from spades_env.envs.aec import RENDER_MODES, OnIllegal, Reward, SpadesAECEnv
from spades_env.envs.players import DEFAULT_PLAYER, Player, PlayerLike, choose, line_up
from spades_env.envs.spaces import DtypeName, Observation, action_space, observation_space, one_of
from spades_env.game import Game
from spades_env.game.position import whole_number
from spades_env.rules import Rules
from spades_env.view import empty_views, view_of


class SpadesEnv(gymnasium.Env[Any, Any]):
    """Spades for one learner.

    Args:
        rules: a Rules value, a preset's name, a YAML file or a mapping of fields.
        seat: the learner's seat.
        partner: the agent opposite: an object with `name` and `act(views, keys)`, or its name; None: "random".
        opponents: the agent on both other seats, or a pair: of the seats `seat` + 1 and `seat` + 3.
        team: True: the learner plays her partner's seat, too, each seat from its own view.
        on_illegal: "terminate" the episode, because checkers act at random, or "raise" an IllegalActionError.
        dict_observation: False: the observation is the array alone, and the mask is in `info` only.
        episode, reward, bag_price, illegal_penalty, observation, dtype, render_mode, render_seat, max_deals: as in
            `SpadesAECEnv`.

    Attributes:
        table: the PettingZoo environment that holds the game; to look at, not to step.
        players: the agent on each seat, None where the learner sits.
    """

    metadata: ClassVar[dict[str, Any]] = {"render_modes": list(RENDER_MODES), "render_fps": 2}  # type: ignore[misc]

    def __init__(
        self,
        rules: Rules | str | Path | Mapping[str, Any] = "classic",
        *,
        seat: int = 0,
        partner: PlayerLike | None = None,
        opponents: PlayerLike | tuple[PlayerLike, PlayerLike] = DEFAULT_PLAYER,
        team: bool = False,
        episode: Episode = "match",
        reward: Reward = "margin",
        bag_price: float | None = None,
        on_illegal: OnIllegal = "terminate",
        illegal_penalty: float = -1.0,
        observation: str = "flat",
        dtype: DtypeName = "float32",
        dict_observation: bool = True,
        render_mode: str | None = None,
        render_seat: int | None = None,
        max_deals: int | None = None,
    ) -> None:
        one_of("team", team, (False, True))
        one_of("dict_observation", dict_observation, (False, True))
        self.table = SpadesAECEnv(
            rules,
            episode=episode,
            reward=reward,
            bag_price=bag_price,
            on_illegal=on_illegal,
            illegal_penalty=illegal_penalty,
            observation=observation,
            dtype=dtype,
            render_mode=render_mode,
            render_seat=render_seat,
            max_deals=max_deals,
        )
        seats = self.table.rules.players
        self.seat = whole_number("seat", seat, 0, seats - 1)
        self.team = team
        self.players: tuple[Player | None, ...] = line_up(
            self.seat, seats, team=team, partner=partner, opponents=opponents
        )
        self.render_mode = render_mode
        self.dict_observation = dict_observation
        space = observation_space(observation, dtype)
        self.observation_space = space if dict_observation else space["observation"]
        self.action_space = action_space()
        self._agents = self.table.possible_agents
        self._acting = self._agents[self.seat]
        self._news: dict[str, Any] = {}
        # False while the agents act, and for good if that is broken off: then it is not the learner's turn.
        self._waits = False
        self._views = empty_views(1)
        self._keys = np.zeros(1, np.uint64)

    @property
    def rules(self) -> Rules:
        """The rules in force."""
        return self.table.rules

    @property
    def game(self) -> Game:
        """A copy of the game as it stands: hands of all seats, and free to play on."""
        return self.table.game

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Start an episode, as in `SpadesAECEnv.reset`, and let the others act up to the learner's first decision."""
        self.table.reset(seed=seed, options=options)
        # Gymnasium's own generator, which nothing here draws from: deals and agents have keys of their own.
        super().reset(seed=None if seed is None else int(seed))
        self._acting = self._agents[self.seat]
        self._news = {}
        self._waits = False
        self._play_others()
        self._waits = True
        return self._answer()

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Take the learner's action and let the others act up to her next decision or the end of the episode.

        The reward is all that she gained meanwhile.
        """
        if self._over():
            raise ValueError("the episode is over; allowed: reset()")
        if not self._waits:
            raise ValueError("a step or reset was broken off by an error; allowed: reset()")
        self.table.step(action)
        self._news = {}
        self._waits = False
        reward = self._gain() + self._play_others()
        self._waits = True
        observation, info = self._answer()
        agent = self._acting
        return observation, reward, self.table.terminations[agent], self.table.truncations[agent], info

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """Legal actions of the learner, bool of shape (73,), under the name that sb3-contrib asks for."""
        return self._mask().astype(np.bool_)

    def render(self) -> Any:
        """The table as `SpadesAECEnv.render` shows it."""
        return self.table.render()

    def close(self) -> None:
        """Close the window, if there is one."""
        self.table.close()

    def _over(self) -> bool:
        """Whether the episode is over; every seat ends in the same step."""
        agent = self._acting
        return bool(self.table.terminations[agent] or self.table.truncations[agent])

    def _play_others(self) -> float:
        """Let the agents act until the learner is to act or the episode is over; the learner's reward meanwhile."""
        table, reward = self.table, 0.0
        while not self._over():
            seat = self._agents.index(table.agent_selection)
            player = self.players[seat]
            if player is None:
                self._acting = table.agent_selection
                break
            states = table._states
            view_of(states, 0, seat, self._views, 0)
            decision_keys(states, self._keys)
            action = int(choose(player, self._views, self._keys)[0])
            if not is_legal(states, 0, action):
                raise IllegalActionError(f"agent {player.name!r}: {illegal_text(states, 0, action)}")
            table.step(action)
            reward += self._gain()
        return reward

    def _gain(self) -> float:
        """The learner's reward for the step just taken; what it says about a deal is kept for `info`."""
        info = self.table.infos[self._acting]
        if "deal_result" in info:
            self._news["points"] = np.array([result.points for result in info["deal_result"]], np.int32)
            self._news["scores"] = np.array(info["scores"], np.int32)
        if "winner" in info:
            self._news["winner"] = -1 if info["winner"] is None else info["winner"]
        if "illegal_action" in info:
            self._news["illegal_action"] = info["illegal_action"]
        return float(self.table.rewards[self._acting])

    def _mask(self) -> npt.NDArray[np.int8]:
        """The learner's mask; all ones once the episode is over, so that a masked softmax stays finite."""
        if self._over():
            return np.ones(NUM_ACTIONS, np.int8)
        mask: npt.NDArray[np.int8] = self.table.infos[self._acting]["action_mask"]
        return mask

    def _answer(self) -> tuple[Any, dict[str, Any]]:
        """Observation and info for the learner's seat that is to act, or acted last."""
        observation: Observation = self.table.observe(self._acting)
        observation["action_mask"] = mask = self._mask()
        info = {"action_mask": mask, "seat": self._agents.index(self._acting), **self._news}
        return observation if self.dict_observation else observation["observation"], info
