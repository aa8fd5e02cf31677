"""The native stable-baselines3 vector environment: `SpadesVectorEnv` under the interface that SB3 trains on.

It needs the extra `train`. Masks reach sb3-contrib by `env_method("action_masks")`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

try:
    from stable_baselines3.common.vec_env import VecEnv
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        f"spades_env.envs.sb3 needs {error.name!r}, which is not installed: pip install 'spades-env[train]'",
        name=error.name,
    ) from error

from spades_env.envs.vector import SpadesVectorEnv
from spades_env.rules import Rules

FINAL_KEYS = ("points", "scores", "winner", "illegal_action")
"""What an info may say besides SB3's own keys: the last deal's facts, as in `SpadesEnv`."""


class SpadesVecEnv(VecEnv):
    """`num_envs` games; a game that ends starts its next episode in the same step.

    `options` are those of `SpadesEnv`. With `dict_observation=False` observations are arrays for `MlpPolicy`, else
    dictionaries for `MultiInputPolicy`. Infos are empty but for games in which the step scored a deal or ended the
    episode.
    """

    def __init__(
        self, num_envs: int, rules: Rules | str | Path | Mapping[str, Any] = "classic", **options: Any
    ) -> None:
        self.games = SpadesVectorEnv(rules, num_envs=num_envs, **options)
        self._actions = np.zeros(num_envs, np.int64)
        super().__init__(num_envs, self.games.single_observation_space, self.games.single_action_space)

    def reset(self) -> Any:
        """Start an episode in every game, with the seeds and options set before, if any."""
        if any(options != self._options[0] for options in self._options):
            raise ValueError(f"options are {self._options}; allowed: the same for every game")
        observation, infos = self.games.reset(seed=self._seeds, options=self._options[0])
        self.reset_infos = [
            {"action_mask": mask, "seat": int(seat)}
            for mask, seat in zip(infos["action_mask"], infos["seat"], strict=True)
        ]
        self._reset_seeds()
        self._reset_options()
        return observation

    def step_async(self, actions: npt.NDArray[Any]) -> None:
        """Keep the actions for `step_wait`: nothing runs beside this process."""
        self._actions = actions

    def step_wait(self) -> Any:
        """Observations, rewards float32 (n,), dones bool (n,) and an info a game."""
        observation, rewards, terminated, truncated, infos = self.games.step(self._actions)
        dones = terminated | truncated
        return observation, rewards.astype(np.float32), dones, self._infos(infos, dones, truncated)

    def _infos(
        self, infos: Mapping[str, Any], dones: npt.NDArray[np.bool_], truncated: npt.NDArray[np.bool_]
    ) -> list[dict[str, Any]]:
        """The infos of a step, one dictionary a game."""
        rows: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        for source in (infos, infos.get("final_info", {})):
            for key in FINAL_KEYS:
                for i in np.flatnonzero(source.get(f"_{key}", ())):
                    rows[i][key] = source[key][i]
        for i in np.flatnonzero(dones):
            rows[i]["terminal_observation"] = infos["final_obs"][i]
            rows[i]["TimeLimit.truncated"] = bool(truncated[i])
        return rows

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """Legal actions of the learner in every game, bool (n, 73)."""
        return self.games.action_masks()

    def close(self) -> None:
        """Nothing is held open."""

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """The attribute, once per game asked for: all games share it."""
        owner = self if attr_name == "action_masks" else self.games
        return [getattr(owner, attr_name)] * len(self._indices(indices))

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Refused: what one game has, all have, and it is fixed when they are made."""
        raise AttributeError(f"{attr_name!r} cannot be set; make another {type(self).__name__} with other arguments")

    def env_method(self, method_name: str, *args: Any, indices: Any = None, **kwargs: Any) -> list[Any]:
        """`action_masks`, a row per game asked for; single games have no other methods."""
        if method_name != "action_masks":
            raise AttributeError(f"there is no method {method_name!r} of single games; allowed: 'action_masks'")
        masks = self.action_masks()
        return [masks[i] for i in self._indices(indices)]

    def env_is_wrapped(self, wrapper_class: type, indices: Any = None) -> list[bool]:
        """No game is wrapped; `VecMonitor` around all of them does what `Monitor` does for one."""
        return [False] * len(self._indices(indices))

    def _indices(self, indices: Any) -> Sequence[int]:
        chosen: Iterable[int] = self._get_indices(indices)
        return list(chosen)
