"""stable-baselines3 and sb3-contrib on the native vector environment and on single games."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gymnasium.utils.env_checker import data_equivalence
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.callbacks import MaskableEvalCallback
from sb3_contrib.common.maskable.evaluation import evaluate_policy
from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported
from stable_baselines3.common.env_checker import check_env
from stable_baselines3.common.evaluation import evaluate_policy as plain_evaluate_policy
from stable_baselines3.common.vec_env import DummyVecEnv, VecMonitor

from agents.registry import load_agent
from spades_env import SpadesEnv
from spades_env.actions import NUM_ACTIONS
from spades_env.envs.sb3 import SpadesVecEnv
from spades_env.rules import PRESETS

ROOT = Path(__file__).resolve().parent.parent
EASY = load_agent("easy")
POLICIES = [("MlpPolicy", False), ("MultiInputPolicy", True)]


def small_model(policy: str, env: Any, **options: Any) -> MaskablePPO:
    """2,048 steps are two rollouts of it on eight games."""
    return MaskablePPO(
        policy,
        env,
        n_steps=128,
        batch_size=256,
        n_epochs=2,
        gamma=1.0,
        seed=3,
        device="cpu",
        policy_kwargs={"net_arch": [32]},
        **options,
    )


def games(dict_observation: bool, n: int = 8, **options: Any) -> VecMonitor:
    options = {"episode": "deal", "opponents": EASY} | options
    return VecMonitor(SpadesVecEnv(n, dict_observation=dict_observation, **options))


@pytest.mark.parametrize("rules", PRESETS)
@pytest.mark.parametrize("dict_observation", [True, False])
def test_check_env_of_sb3_passes_without_a_warning(rules: str, dict_observation: bool) -> None:
    check_env(SpadesEnv(rules, dict_observation=dict_observation))


@pytest.mark.parametrize(
    "options",
    [
        {"episode": "deal", "opponents": EASY, "partner": EASY},
        {"rules": "modern", "max_deals": 2, "team": True, "dtype": "uint8"},
        {"rules": "two_player", "max_deals": 1, "dict_observation": False},
    ],
)
def test_the_native_one_answers_like_dummy_vec_env(options: dict[str, Any]) -> None:
    """Observations, rewards, dones, terminal observations and TimeLimit.truncated; masks; after illegal actions."""
    n, rng = 3, np.random.default_rng(2)
    makers: list[Callable[[], SpadesEnv]] = [lambda: SpadesEnv(**options)] * n
    native, dummy = SpadesVecEnv(n, **options), DummyVecEnv(makers)
    assert native.observation_space == dummy.observation_space
    assert native.action_space == dummy.action_space
    assert native.seed(5) == dummy.seed(5)
    assert data_equivalence(native.reset(), dict_of(dummy.reset()), exact=True)
    assert data_equivalence(native.reset_infos, dummy.reset_infos, exact=True)
    ends = 0
    for _ in range(120):
        masks = get_action_masks(native)
        assert masks.shape == (n, NUM_ACTIONS)
        assert masks.dtype == np.bool_
        assert np.array_equal(masks, get_action_masks(dummy))
        actions = np.array([rng.choice(np.flatnonzero(mask)) for mask in masks])
        if rng.random() < 0.1:
            actions[rng.integers(n)] = 72
        ours, theirs = native.step(actions), dummy.step(actions)
        assert data_equivalence(ours[0], dict_of(theirs[0]), exact=True)
        assert np.array_equal(ours[1], theirs[1])
        assert ours[1].dtype == theirs[1].dtype
        assert np.array_equal(ours[2], theirs[2])
        ends += int(ours[2].sum())
        for done, our_info, their_info in zip(ours[2], ours[3], theirs[3], strict=True):
            expected = {key: value for key, value in their_info.items() if key not in ("action_mask", "seat")}
            if not done:
                assert expected.pop("TimeLimit.truncated") is False
            assert our_info.keys() == expected.keys()
            assert all(
                np.array_equal(our_info[key], value) for key, value in expected.items() if key != "terminal_observation"
            )
            if done:
                assert data_equivalence(our_info["terminal_observation"], expected["terminal_observation"], exact=True)
    assert ends > 5


def dict_of(observation: Any) -> Any:
    """A plain dictionary for SB3's OrderedDict."""
    return dict(observation) if isinstance(observation, dict) else observation


def test_attributes_methods_and_options() -> None:
    env = SpadesVecEnv(3, "modern")
    assert is_masking_supported(env)
    assert env.get_attr("num_envs", [0, 2]) == [3, 3]
    assert env.has_attr("render_mode")
    assert not env.has_attr("nonsense")
    assert env.env_is_wrapped(VecMonitor, 1) == [False]
    env.set_options({"scores": (100, 50)})
    env.reset()
    assert env.games.states["scores"].tolist() == [[100, 50]] * 3
    env.reset()
    assert env.games.states["scores"].tolist() == [[0, 0]] * 3
    masks = env.env_method("action_masks", indices=[2, 0])
    assert np.array_equal(masks, env.action_masks()[[2, 0]])
    with pytest.raises(AttributeError, match="no method 'render' of single games; allowed: 'action_masks'"):
        env.env_method("render")
    with pytest.raises(AttributeError, match="'seat' cannot be set"):
        env.set_attr("seat", 2)
    env.set_options([{}, {"dealer": 1}, {}])
    with pytest.raises(ValueError, match="allowed: the same for every game"):
        env.reset()


@pytest.mark.parametrize(("policy", "dict_observation"), POLICIES)
def test_maskable_ppo_learns_saves_loads_and_goes_on(policy: str, dict_observation: bool, tmp_path: Path) -> None:
    train, judge = games(dict_observation), games(dict_observation, n=4)
    callback = MaskableEvalCallback(judge, eval_freq=128, n_eval_episodes=8, log_path=str(tmp_path), verbose=0)
    model = small_model(policy, train).learn(2048, callback=callback)
    assert model.num_timesteps == 2048
    assert callback.evaluations_timesteps == [1024, 2048]
    assert callback.evaluations_length == [[14] * 8] * 2
    assert np.isfinite(callback.evaluations_results).all()
    assert len(model.ep_info_buffer) == 100
    assert {episode["l"] for episode in model.ep_info_buffer} == {14}

    model.save(tmp_path / "model.zip")
    again = MaskablePPO.load(tmp_path / "model.zip", env=games(dict_observation), device="cpu")
    observation, masks = judge.reset(), get_action_masks(judge)
    before, _ = model.predict(observation, deterministic=True, action_masks=masks)
    after, _ = again.predict(observation, deterministic=True, action_masks=masks)
    assert np.array_equal(before, after)
    assert masks[np.arange(4), before].all()
    again.learn(1024, reset_num_timesteps=False)
    assert again.num_timesteps == 3072
    rewards, lengths = evaluate_policy(again, judge, n_eval_episodes=12, return_episode_rewards=True)
    assert np.isfinite(rewards).all()
    assert lengths == [14] * 12


def test_evaluation_without_masks_comes_to_an_end() -> None:
    """SB3's own `evaluate_policy` knows no masks: an illegal action ends the deal with the penalty."""
    judge = games(dict_observation=False, n=4)
    rewards, lengths = plain_evaluate_policy(
        small_model("MlpPolicy", judge), judge, n_eval_episodes=8, return_episode_rewards=True
    )
    assert len(rewards) == 8
    assert min(lengths) < 14


def test_matches_end_by_time_limit_for_sb3() -> None:
    env = SpadesVecEnv(2, max_deals=1, opponents=EASY)
    env.reset()
    for _ in range(14):
        _, _, dones, infos = env.step(env.action_masks().argmax(axis=1))
    assert dones.all()
    assert all(info["TimeLimit.truncated"] and info["winner"] == -1 for info in infos)


def test_without_the_extra_it_says_what_to_install() -> None:
    code = (
        "import sys\n"
        "sys.modules['stable_baselines3'] = None\n"
        "import spades_env, spades_env.envs.single, spades_env.envs.vector\n"
        "try:\n"
        "    import spades_env.envs.sb3\n"
        "except ModuleNotFoundError as error:\n"
        "    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, timeout=120)
    assert "spades_env.envs.sb3 needs 'stable_baselines3" in done.stdout, done.stderr
    assert "pip install 'spades-env[train]'" in done.stdout
