"""SuperSuit: which wrappers take observations that are dictionaries, which the array alone, and which none."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
import pytest
import supersuit
from pettingzoo.utils.conversions import turn_based_aec_to_parallel

import spades_env

Wrap = Callable[[Any], Any]

WITH_DICTIONARIES: dict[str, Wrap] = {
    "action_lambda_v1": lambda env: supersuit.action_lambda_v1(env, lambda action, _: action, lambda space: space),
    "clip_reward_v0": supersuit.clip_reward_v0,
    "nan_noop_v0": lambda env: supersuit.nan_noop_v0(env, 0),
    "nan_random_v0": supersuit.nan_random_v0,
    "nan_zeros_v0": supersuit.nan_zeros_v0,
    "observation_lambda_v0": lambda env: supersuit.observation_lambda_v0(
        env, lambda seen, _: seen, lambda space: space
    ),
    "pad_action_space_v0": supersuit.pad_action_space_v0,
    "reward_lambda_v0": lambda env: supersuit.reward_lambda_v0(env, lambda reward: 2 * reward),
}
WITH_ARRAYS_ONLY: dict[str, Wrap] = {
    "agent_indicator_v0": supersuit.agent_indicator_v0,
    "dtype_v0": lambda env: supersuit.dtype_v0(env, np.float16),
    "flatten_v0": supersuit.flatten_v0,
    "frame_stack_v1": lambda env: supersuit.frame_stack_v1(env, 3),
    "max_observation_v0": lambda env: supersuit.max_observation_v0(env, 2),
    "normalize_obs_v0": supersuit.normalize_obs_v0,
    "pad_observations_v0": supersuit.pad_observations_v0,
    "reshape_v0": lambda env: supersuit.reshape_v0(env, (1, *env.observation_space("player_0").shape)),
}
NOT_AT_ALL: dict[str, Wrap] = {
    # They want a picture, a continuous action, or all agents to act at once.
    "black_death_v3": supersuit.black_death_v3,
    "clip_actions_v0": supersuit.clip_actions_v0,
    "color_reduction_v0": supersuit.color_reduction_v0,
    "resize_v1": lambda env: supersuit.resize_v1(env, 2, 2),
    "scale_actions_v0": lambda env: supersuit.scale_actions_v0(env, 2),
    # They repeat one seat's action for the next.
    "frame_skip_v0": lambda env: supersuit.frame_skip_v0(env, 2),
    "sticky_actions_v0": lambda env: supersuit.sticky_actions_v0(env, 0.5),
}


def dictionaries() -> Any:
    return spades_env.env(episode="deal")


def arrays() -> Any:
    """The observation without its mask, which stands in the infos too."""
    return supersuit.observation_lambda_v0(
        dictionaries(), lambda seen, _: seen["observation"], lambda space: space["observation"]
    )


def play_a_deal(env: Any) -> int:
    """Random legal play by the masks in the infos, which must be those in the observations; decisions taken."""
    env.reset(seed=3)
    rng, decisions = np.random.default_rng(0), 0
    for agent in env.agent_iter():
        seen, _, terminated, truncated, info = env.last()
        assert env.observation_space(agent).contains(seen)
        if terminated or truncated:
            env.step(None)
            continue
        mask = info["action_mask"]
        if isinstance(seen, dict):
            assert np.array_equal(seen["action_mask"], mask)
        env.step(int(rng.choice(np.flatnonzero(mask))))
        decisions += 1
    return decisions


@pytest.mark.parametrize("name", WITH_DICTIONARIES)
def test_with_dictionaries(name: str) -> None:
    assert play_a_deal(WITH_DICTIONARIES[name](dictionaries())) == 56


@pytest.mark.parametrize("name", WITH_DICTIONARIES | WITH_ARRAYS_ONLY)
def test_with_arrays(name: str) -> None:
    assert play_a_deal((WITH_DICTIONARIES | WITH_ARRAYS_ONLY)[name](arrays())) == 56


@pytest.mark.parametrize("name", WITH_ARRAYS_ONLY)
def test_not_with_dictionaries(name: str) -> None:
    with pytest.raises((AssertionError, AttributeError, TypeError)):
        play_a_deal(WITH_ARRAYS_ONLY[name](dictionaries()))


@pytest.mark.parametrize("name", NOT_AT_ALL)
@pytest.mark.parametrize("base", [dictionaries, arrays])
def test_not_at_all(name: str, base: Callable[[], Any]) -> None:
    with pytest.raises((AssertionError, AttributeError, KeyError, TypeError, spades_env.IllegalActionError)):
        play_a_deal(NOT_AT_ALL[name](base()))


def test_delayed_observations_have_masks_of_an_earlier_turn() -> None:
    with pytest.raises(AssertionError):
        play_a_deal(supersuit.delay_observations_v0(dictionaries(), 1))
    assert play_a_deal(supersuit.delay_observations_v0(arrays(), 1)) == 56


def test_vector_environments_of_the_parallel_conversion() -> None:
    """A row for every seat, 0 masks off turn, over the end of a deal."""
    games = supersuit.pettingzoo_env_to_vec_env_v1(turn_based_aec_to_parallel(dictionaries()))
    games = supersuit.concat_vec_envs_v1(games, 2)
    seen, _ = games.reset(seed=1)
    ends = 0
    for _ in range(60):
        assert (seen["action_mask"].reshape(2, 4, 73).any(axis=2).sum(axis=1) == 1).all()
        seen, _, terminations, _, _ = games.step(seen["action_mask"].argmax(axis=1))
        ends += int(terminations.sum())
    assert ends == 8


def test_vectorize_aec_env() -> None:
    games = supersuit.vectorize_aec_env_v0(dictionaries(), 2)
    games.reset(seed=1)
    for _ in range(20):
        seen, *_, passes, _ = games.last()
        games.step(np.array([int(row["action_mask"].argmax()) for row in seen]))
        assert not passes.all()


def test_vector_environment_of_the_single_one() -> None:
    games = supersuit.gym_vec_env_v0(gymnasium.make("spades_env/Spades-v0", episode="deal"), 2)
    seen, _ = games.reset(seed=1)
    for _ in range(20):
        seen, _, _, truncated, _ = games.step(seen["action_mask"].argmax(axis=1))
        assert seen["action_mask"].any(axis=1).all()
        assert not truncated.any()
