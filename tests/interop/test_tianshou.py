"""Tianshou: collecting with masks, DQN for every seat, and what a return must be in a game of turns."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tianshou.algorithm.algorithm_base import Policy
from tianshou.algorithm.modelfree.dqn import DQN, DiscreteQLearningPolicy
from tianshou.algorithm.modelfree.reinforce import DiscreteActorPolicy, Reinforce
from tianshou.algorithm.multiagent.marl import (
    MultiAgentOffPolicyAlgorithm,
    MultiAgentOnPolicyAlgorithm,
    MultiAgentPolicy,
)
from tianshou.algorithm.optim import AdamOptimizerFactory
from tianshou.algorithm.random import MARLRandomDiscreteMaskedOffPolicyAlgorithm
from tianshou.data import Collector, VectorReplayBuffer
from tianshou.env import DummyVectorEnv, PettingZooEnv
from tianshou.utils.net.common import Net
from tianshou.utils.torch_utils import policy_within_training_step

import spades_env

STEPS = {"classic": 56, "modern": 60}
"""More decisions than a deal has: four seats, thirteen cards, bids, and in `modern` a blind choice each (R10)."""


def one_game(rules: str = "classic", **options: Any) -> PettingZooEnv:
    return PettingZooEnv(spades_env.env(rules, **{"episode": "deal"} | options))


def random_players(env: PettingZooEnv) -> dict[str, Policy]:
    return {agent: MARLRandomDiscreteMaskedOffPolicyAlgorithm(env.action_space).policy for agent in env.agents}


@pytest.mark.parametrize("rules", ["classic", "modern"])
def test_a_step_is_the_same_game(rules: str) -> None:
    """Observation, mask, turn and rewards of the bare environment under the same actions."""
    env, twin = one_game(rules), spades_env.env(rules, episode="deal")
    seen, _ = env.reset(seed=5)
    twin.reset(seed=5)
    rng = np.random.default_rng(1)
    done = False
    while not done:
        assert seen["agent_id"] == twin.agent_selection
        expected = twin.observe(twin.agent_selection)
        assert np.array_equal(seen["obs"], expected["observation"])
        assert np.array_equal(seen["mask"], expected["action_mask"] == 1)
        action = int(rng.choice(np.flatnonzero(seen["mask"])))
        seen, rewards, terminated, truncated, _ = env.step(action)
        twin.step(action)
        assert rewards == list(twin.rewards.values())
        done = terminated or truncated
    assert all(twin.terminations.values())


def test_a_collector_of_random_play() -> None:
    games = DummyVectorEnv([one_game for _ in range(3)])
    buffer = VectorReplayBuffer(2000, 3)
    collector = Collector(MultiAgentPolicy(random_players(one_game())), games, buffer)
    collector.reset(gym_reset_kwargs={"seed": 1})
    played = collector.collect(n_episode=6)
    assert played.n_collected_episodes == 6
    assert played.n_collected_steps == 6 * STEPS["classic"]
    legal = buffer.obs.mask[: STEPS["classic"]][np.arange(STEPS["classic"]), buffer.act[: STEPS["classic"]]]
    assert legal.all()


def learners(env: PettingZooEnv, horizon: int) -> MultiAgentOffPolicyAlgorithm:
    """A DQN for each seat."""
    size = env.observation_space["observation"].shape
    algorithms = []
    for _ in env.agents:
        net = Net(state_shape=size, action_shape=env.action_space.n, hidden_sizes=(32,))
        policy = DiscreteQLearningPolicy(model=net, action_space=env.action_space, eps_training=0.2)
        optim = AdamOptimizerFactory(lr=1e-3)
        algorithms.append(DQN(policy=policy, optim=optim, gamma=1.0, n_step_return_horizon=horizon))
    return MultiAgentOffPolicyAlgorithm(algorithms=algorithms, env=env)


def test_dqn_with_returns_of_whole_deals() -> None:
    """With a horizon of a deal, the return of each decision is what its seat got at the end, and an update works.

    Tianshou's next observation is the next seat's: a shorter horizon would take her value for one's own.
    """
    env = one_game()
    algorithm = learners(env, horizon=STEPS["classic"])
    buffer = VectorReplayBuffer(2000, 2)
    games = DummyVectorEnv([one_game for _ in range(2)])
    collector = Collector(algorithm, games, buffer, exploration_noise=True)
    collector.reset(gym_reset_kwargs={"seed": 1})
    with policy_within_training_step(algorithm.policy):
        collector.collect(n_episode=4)
        batch, indices = buffer.sample(0)
        processed = algorithm._preprocess_batch(batch, buffer, indices)
        before = [p.detach().clone() for p in algorithm.policy.parameters()]
        algorithm.update(buffer, sample_size=64)
    ends = np.flatnonzero(buffer.done[indices])
    assert len(ends) == 4
    for k, agent in enumerate(env.agents):
        where = np.flatnonzero(batch.obs.agent_id == agent)
        paid = batch.rew[ends[np.searchsorted(ends, where)], k]
        assert np.allclose(processed[agent].returns.flatten(), paid)
    assert any(not np.array_equal(a, b.detach()) for a, b in zip(before, algorithm.policy.parameters(), strict=True))


def a_random_deal() -> VectorReplayBuffer:
    buffer = VectorReplayBuffer(200, 1)
    collector = Collector(MultiAgentPolicy(random_players(one_game())), DummyVectorEnv([one_game]), buffer)
    collector.reset(gym_reset_kwargs={"seed": 1})
    collector.collect(n_episode=1)
    return buffer


def test_the_next_observation_is_the_next_seats() -> None:
    """Why the horizon matters."""
    batch, _ = a_random_deal().sample(0)
    bids = slice(0, 4)
    assert (batch.obs.agent_id[bids] != batch.obs_next.agent_id[bids]).all()


def test_on_policy_returns_miss_the_points_of_three_seats() -> None:
    """Fails when Tianshou is mended: its on-policy returns see a seat's own steps only, and points come with the last.

    REINFORCE with whole episodes, where a return is nothing but rewards.
    """
    env = one_game()
    algorithms: list[Any] = []
    for _ in env.agents:
        net = Net(state_shape=env.observation_space["observation"].shape, action_shape=env.action_space.n)
        policy = DiscreteActorPolicy(actor=net, action_space=env.action_space)
        algorithms.append(Reinforce(policy=policy, gamma=1.0, optim=AdamOptimizerFactory(lr=1e-3)))
    algorithm = MultiAgentOnPolicyAlgorithm(algorithms=algorithms, env=env)
    buffer = a_random_deal()
    batch, indices = buffer.sample(0)
    processed = algorithm._preprocess_batch(batch, buffer, indices)
    assert (batch.rew[-1] != 0.0).all()
    paid = {agent for agent in env.agents if processed[agent].returns.any()}
    assert paid == {batch.obs.agent_id[-1]}
