"""AgileRL: PPO on the native vector environment, IPPO on the parallel conversion, and what does not work there.

`on_illegal="raise"` throughout, so a mask that is not respected fails the test.
"""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest
from agilerl.algorithms import IPPO, PPO
from agilerl.rollouts.on_policy import collect_rollouts
from pettingzoo.utils.conversions import turn_based_aec_to_parallel
from pettingzoo.utils.wrappers import BaseParallelWrapper
from supersuit import observation_lambda_v0

import spades_env

SMALL = {"encoder_config": {"hidden_size": [32]}, "head_config": {"hidden_size": [32]}}


def test_ppo_on_the_native_vector_environment() -> None:
    """Masks go from the infos into its buffer, and from there into the update."""
    games = gymnasium.make_vec(
        "spades_env/Spades-v0", num_envs=8, episode="deal", dict_observation=False, on_illegal="raise"
    )
    agent = PPO(
        games.single_observation_space,
        games.single_action_space,
        num_envs=8,
        learn_step=8 * 28,
        batch_size=56,
        gamma=1.0,
        gae_lambda=1.0,
        net_config=SMALL,
    )
    scores, *_ = collect_rollouts(agent, games)
    assert len(scores) == 16  # two whole deals of fourteen decisions in each game
    before = [p.detach().clone() for p in agent.actor.parameters()]
    agent.learn()
    assert any(not np.array_equal(a, b.detach()) for a, b in zip(before, agent.actor.parameters(), strict=True))


class MasksAsLists(BaseParallelWrapper):
    """AgileRL's IPPO compares masks with None by ==, which an array does not survive."""

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, Any]:
        observations, infos = super().reset(seed, options)
        return observations, self._listed(infos)

    def step(self, actions: dict[str, int]) -> tuple[Any, ...]:
        *rest, infos = super().step(actions)
        return *rest, self._listed(infos)

    def _listed(self, infos: dict[str, Any]) -> dict[str, Any]:
        return {agent: {"action_mask": info["action_mask"].tolist()} for agent, info in infos.items()}


def parallel_game() -> Any:
    """All seats each step; observations without the mask, which AgileRL wants in the infos alone."""
    env = spades_env.env(episode="deal")
    env = observation_lambda_v0(env, lambda seen, _: seen["observation"], lambda space: space["observation"])
    return turn_based_aec_to_parallel(env)


def make_ippo(env: Any, net_config: dict[str, Any] | None = None) -> IPPO:
    agents = env.possible_agents
    return IPPO(
        [env.observation_space(agent) for agent in agents],
        [env.action_space(agent) for agent in agents],
        agent_ids=agents,
        gamma=1.0,
        gae_lambda=1.0,
        batch_size=56,
        net_config=net_config,
    )


def test_ippo_plays_and_learns_on_the_parallel_conversion() -> None:
    env = MasksAsLists(parallel_game())
    agent = make_ippo(env, SMALL)
    fields: list[dict[str, list[Any]]] = [{name: [] for name in env.possible_agents} for _ in range(6)]
    states, actions, log_probs, rewards, dones, values = fields
    seen, infos = env.reset(seed=1)
    done = dict.fromkeys(env.possible_agents, np.zeros(1))
    while env.agents:
        chosen, log_prob, _, value = agent.get_action(seen, infos)
        following, reward, terminations, _, infos = env.step({name: int(a[0]) for name, a in chosen.items()})
        for name in seen:
            states[name].append(seen[name][None])
            actions[name].append(chosen[name])
            log_probs[name].append(log_prob[name])
            rewards[name].append(np.array([reward[name]]))
            dones[name].append(done[name])
            values[name].append(value[name])
        seen, done = following, {name: np.array([float(end)]) for name, end in terminations.items()}
    assert len(states["player_0"]) == 56
    assert sum(float(reward[0]) for reward in rewards["player_0"]) != 0.0
    last = {name: row[None] for name, row in seen.items()}
    losses = agent.learn((states, actions, log_probs, rewards, dones, values, last, done))
    assert all(np.isfinite(loss) for loss in losses.values())


def test_ippo_does_not_take_masks_that_are_arrays() -> None:
    """Fails when AgileRL is mended: then `MasksAsLists` can go."""
    env = parallel_game()
    seen, infos = env.reset(seed=1)
    with pytest.raises(ValueError, match="truth value of an array"):
        make_ippo(env, SMALL).get_action(seen, infos)


def test_masks_in_observations_are_refused() -> None:
    env = turn_based_aec_to_parallel(spades_env.env(episode="deal"))
    seen, infos = env.reset(seed=1)
    with pytest.raises(AssertionError, match="information dictionary"):
        make_ippo(env).get_action(seen, infos)
