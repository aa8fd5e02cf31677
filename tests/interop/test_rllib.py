"""RLlib: its PettingZooEnv against the bare environment, and PPO with masks (the example)."""

from __future__ import annotations

import copy
import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import ray
import torch
from ray.rllib.core.columns import Columns
from ray.rllib.env.wrappers.pettingzoo_env import ParallelPettingZooEnv, PettingZooEnv

import spades_env

EXAMPLE = Path(__file__).resolve().parents[2] / "docs" / "examples" / "rllib_self_play.py"


@pytest.mark.parametrize("rules", ["classic", "modern", "two_player"])
def test_a_step_is_the_same_game(rules: str) -> None:
    """Turn, observation and mask of the bare environment; every seat is paid once, at the end of the deal."""
    env, twin = PettingZooEnv(spades_env.env(rules, episode="deal")), spades_env.env(rules, episode="deal")
    seen, _ = env.reset(seed=5)
    twin.reset(seed=5)
    rng = np.random.default_rng(1)
    over = False
    while not over:
        assert list(seen) == [twin.agent_selection]
        expected = twin.observe(twin.agent_selection)
        here = seen[twin.agent_selection]
        assert env.observation_space[twin.agent_selection].contains(here)
        assert np.array_equal(here["observation"], expected["observation"])
        assert np.array_equal(here["action_mask"], expected["action_mask"])
        action = int(rng.choice(np.flatnonzero(here["action_mask"])))
        seen, rewards, terminations, truncations, _ = env.step({twin.agent_selection: action})
        twin.step(action)
        over = terminations["__all__"] or truncations["__all__"]
        if not over:
            assert rewards == {twin.agent_selection: 0.0}
    assert rewards == twin.rewards
    # A value of what ends an episode is asked for; its mask must leave a distribution.
    assert all(here["action_mask"].all() for here in seen.values())


def test_a_match_is_truncated(capsys: pytest.CaptureFixture[str]) -> None:
    """R26 as RLlib says it: every seat truncated, none terminated."""
    env = PettingZooEnv(spades_env.env(max_deals=1))
    seen, _ = env.reset(seed=5)
    truncations = {"__all__": False}
    while not truncations["__all__"]:
        ((agent, here),) = seen.items()
        seen, _, terminations, truncations, _ = env.step({agent: int(here["action_mask"].argmax())})
        assert not terminations["__all__"]
    assert len(truncations) == 5


def test_parallel_wrapper_refuses() -> None:
    """RLlib's wrapper for parallel environments wants one; `turn_based_aec_to_parallel` would ask all seats at once."""
    with pytest.raises((AttributeError, TypeError, ValueError)):
        ParallelPettingZooEnv(spades_env.env()).reset()


def test_example(capsys: pytest.CaptureFixture[str]) -> None:
    """Two updates of PPO: no illegal action (the environment raises), finite entropies."""
    entropies = runpy.run_path(str(EXAMPLE), run_name="example")["main"](updates=2, deals=4)
    assert len(entropies) == 2
    assert all(0.0 < entropy < np.log(73) for entropy in entropies)
    assert "update 2" in capsys.readouterr().out


def points_of(policies: list[Any], seed: int) -> float:
    """Points of team 0 minus those of team 1 in one deal, `policies` being the modules that play the two teams."""
    env = spades_env.env("classic", episode="deal", reward="margin")
    env.reset(seed=seed)
    rng = np.random.default_rng(seed)
    while env.agents:
        seen, _, over, truncated, _ = env.last()
        if over or truncated:
            return 100 * float(env.rewards["player_0"])
        team = int(env.agent_selection[-1]) % 2
        batch = {name: torch.from_numpy(seen[name])[None].float() for name in ("observation", "action_mask")}
        with torch.no_grad():
            logits = policies[team]._forward({Columns.OBS: batch})[Columns.ACTION_DIST_INPUTS][0]
        chances = torch.softmax(logits.double(), 0).numpy()
        env.step(int(rng.choice(len(chances), p=chances / chances.sum())))
    raise AssertionError("the deal has no end")


def test_it_learns() -> None:
    """Duplicate deals of the trained policy against the untrained one: better by more than four standard errors."""
    ray.init("local", num_cpus=1, include_dashboard=False, ignore_reinit_error=True)
    make_config = runpy.run_path(str(EXAMPLE), run_name="example")["make_config"]
    algorithm = make_config(deals=16, seed=1).build_algo()
    untrained = copy.deepcopy(algorithm.get_module("seat"))
    for _ in range(30):
        algorithm.train()
    trained = copy.deepcopy(algorithm.get_module("seat"))
    algorithm.stop()
    ray.shutdown()
    margins = np.array(
        [(points_of([trained, untrained], seed) - points_of([untrained, trained], seed)) / 2 for seed in range(150)]
    )
    mean, error = margins.mean(), margins.std(ddof=1) / np.sqrt(len(margins))
    print(f"{mean:+.1f} points a deal, standard error {error:.1f}")
    assert mean > 4 * error > 0
