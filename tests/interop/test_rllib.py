"""RLlib: its PettingZooEnv against the bare environment, and PPO with masks (the example)."""

from __future__ import annotations

import runpy
from pathlib import Path

import numpy as np
import pytest
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
