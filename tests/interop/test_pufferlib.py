"""PufferLib's emulation: rows of bytes that hold observation and mask, of one game, of all seats, of many games."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pufferlib.vector
import pytest
from pettingzoo.utils.conversions import turn_based_aec_to_parallel
from pufferlib.emulation import GymnasiumPufferEnv, PettingZooPufferEnv, nativize

import spades_env


def single(**options: Any) -> Any:
    return gymnasium.make("spades_env/Spades-v0", **{"episode": "deal", "on_illegal": "raise"} | options)


def parallel() -> Any:
    return turn_based_aec_to_parallel(spades_env.env(episode="deal"))


@pytest.mark.parametrize("dtype", ["float32", "uint8"])
def test_one_learner(dtype: str) -> None:
    """The emulated bytes hold the observation and mask that the environment gives."""
    env, twin = GymnasiumPufferEnv(env_creator=single, env_kwargs={"dtype": dtype}), single(dtype=dtype)
    row, _ = env.reset(seed=3)
    expected, _ = twin.reset(seed=3)
    done = False
    while not done:
        seen = nativize(row, env.env.observation_space, env.obs_dtype)
        assert np.array_equal(seen["observation"], expected["observation"])
        assert np.array_equal(seen["action_mask"], expected["action_mask"])
        action = int(seen["action_mask"].argmax())
        row, reward, done, _, _ = env.step(action)
        expected, paid, over, _, _ = twin.step(action)
        assert (reward, done) == (paid, over)


def test_the_array_alone_is_not_emulated() -> None:
    env = GymnasiumPufferEnv(env_creator=single, env_kwargs={"dict_observation": False})
    row, info = env.reset(seed=3)
    assert row.dtype == np.float32
    assert np.array_equal(row, single(dict_observation=False).reset(seed=3)[0])
    assert info["action_mask"].any()


def test_all_seats() -> None:
    """Every seat each step, by the parallel conversion; off turn her mask is empty."""
    env, decisions = PettingZooPufferEnv(env_creator=parallel), 0
    rows, _ = env.reset(seed=3)
    while True:
        masks = {}
        for agent, row in rows.items():
            seen = nativize(row, env.env_single_observation_space, env.obs_dtype)
            masks[agent] = seen["action_mask"].copy()
        assert [agent for agent, mask in masks.items() if mask.any()] == [env.env.aec_env.agent_selection]
        rows, rewards, ends, _, _ = env.step({agent: int(mask.argmax()) for agent, mask in masks.items()})
        decisions += 1
        if all(ends.values()):
            break
    assert decisions == 56
    assert rewards["player_0"] == -rewards["player_1"] == rewards["player_2"]


def test_many_games() -> None:
    games = pufferlib.vector.make(
        GymnasiumPufferEnv, env_kwargs={"env_creator": single}, num_envs=3, backend=pufferlib.vector.Serial
    )
    rows, _ = games.reset(seed=3)
    dtype, space, ends = games.driver_env.obs_dtype, games.driver_env.env.observation_space, 0
    for _ in range(40):
        masks = [nativize(row, space, dtype)["action_mask"] for row in rows]
        rows, _, terminals, _, _ = games.step(np.array([mask.argmax() for mask in masks]))
        ends += int(terminals.sum())
    assert ends >= 6
