"""PettingZoo's conversions to the parallel interface: the one for turn games works, the other refuses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from pettingzoo.test import parallel_api_test
from pettingzoo.utils.conversions import aec_to_parallel, turn_based_aec_to_parallel

import spades_env
from spades_env import IllegalActionError
from spades_env.rules import PRESETS


@pytest.mark.parametrize("rules", PRESETS)
def test_a_random_episode_through_turn_based_aec_to_parallel(rules: str) -> None:
    """The same rewards as in the AEC environment; only the active agent's action counts."""
    env: Any = turn_based_aec_to_parallel(spades_env.env(rules, max_deals=3))
    twin = spades_env.env(rules, max_deals=3)
    observations, _ = env.reset(seed=5)
    twin.reset(seed=5)
    assert set(observations) == set(env.possible_agents)
    active = env.aec_env.agent_selection
    rng = np.random.default_rng(1)
    ended = False
    while env.agents:
        masks = {agent: observations[agent]["action_mask"] for agent in env.agents}
        assert [agent for agent, mask in masks.items() if mask.any()] == [active]
        action = int(rng.choice(np.flatnonzero(masks[active])))
        # What the others say is not looked at: a card nobody can play.
        actions = dict.fromkeys(env.agents, 72) | {active: action}
        observations, rewards, terminations, truncations, infos = env.step(actions)
        twin.step(action)
        assert rewards == twin.rewards
        assert (terminations, truncations) == (twin.terminations, twin.truncations)
        ended = all(terminations.values()) or all(truncations.values())
        if not ended:
            active = infos[env.agents[0]]["active_agent"]
            assert active == twin.agent_selection
    assert ended


def test_a_wrong_action_of_the_active_agent_is_refused() -> None:
    env: Any = turn_based_aec_to_parallel(spades_env.env())
    env.reset(seed=5)
    with pytest.raises(IllegalActionError, match="may not do 0"):
        env.step(dict.fromkeys(env.agents, 0))


def test_parallel_api() -> None:
    """PettingZoo's own check of the parallel interface; it plays seats out of turn, which are not looked at."""
    parallel_api_test(turn_based_aec_to_parallel(spades_env.env(episode="deal", on_illegal="terminate")), 200)


def test_the_conversion_for_simultaneous_games_refuses() -> None:
    """It steps all agents in a fixed order, once a cycle; whoever takes a trick leads the next one."""
    assert spades_env.env().metadata["is_parallelizable"] is False
    with pytest.raises(AssertionError, match="not generally safe"):
        aec_to_parallel(spades_env.env())
