"""Self-play with RLlib's PPO, one policy for all four seats: `python docs/examples/rllib_self_play.py`.

The wrapper asks one seat at a time, so every seat has a trajectory of her own. An `RLModule` of a few lines keeps
illegal actions out; whole deals are collected, with γ = λ = 1, because points come at the end of a deal.

pip install "ray[rllib]" torch
"""

from __future__ import annotations

from typing import Any

import ray
import torch
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.columns import Columns
from ray.rllib.core.rl_module.apis.value_function_api import ValueFunctionAPI
from ray.rllib.core.rl_module.multi_rl_module import MultiRLModuleSpec
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from ray.rllib.core.rl_module.torch import TorchRLModule
from ray.rllib.env.wrappers.pettingzoo_env import PettingZooEnv
from ray.tune.registry import register_env
from torch import nn

import spades_env

POLICY = "seat"
NEVER = -1e9
"""Logit of an illegal action: finite, so that nothing becomes NaN."""


class MaskedNet(TorchRLModule, ValueFunctionAPI):
    """A network with two heads; illegal actions have probability 0."""

    def setup(self) -> None:
        size = self.observation_space["observation"].shape[0]
        hidden = self.model_config["hidden"]
        self.body = nn.Sequential(nn.Linear(size, hidden), nn.ReLU())
        self.policy = nn.Linear(hidden, int(self.action_space.n))
        self.value = nn.Linear(hidden, 1)

    def _forward(self, batch: dict[str, Any], **_: Any) -> dict[str, Any]:
        seen = batch[Columns.OBS]
        logits = self.policy(self.body(seen["observation"]))
        return {Columns.ACTION_DIST_INPUTS: logits.masked_fill(seen["action_mask"] == 0, NEVER)}

    def compute_values(self, batch: dict[str, Any], embeddings: Any = None) -> torch.Tensor:
        return self.value(self.body(batch[Columns.OBS]["observation"])).squeeze(-1)


def make_config(deals: int, seed: int) -> PPOConfig:
    """PPO on about `deals` deals an update, all in this process."""
    decisions = 56 * deals
    register_env("spades", lambda options: PettingZooEnv(spades_env.env(**options)))
    module = RLModuleSpec(module_class=MaskedNet, model_config={"hidden": 128})
    return (
        PPOConfig()
        # RLlib's check of an environment acts at random, which this one refuses.
        .environment("spades", env_config={"rules": "classic", "episode": "deal"}, disable_env_checking=True)
        .multi_agent(policies={POLICY}, policy_mapping_fn=lambda agent, episode, **_: POLICY)
        .rl_module(rl_module_spec=MultiRLModuleSpec(rl_module_specs={POLICY: module}))
        .env_runners(num_env_runners=0, batch_mode="complete_episodes")
        .learners(num_learners=0)
        .training(train_batch_size_per_learner=decisions, minibatch_size=min(decisions, 256), num_epochs=4)
        .training(gamma=1.0, lambda_=1.0)
        .debugging(seed=seed)
    )


def main(updates: int = 20, deals: int = 16, seed: int = 1) -> list[float]:
    """Train; the entropy of the policy after each update, which falls as she learns what to prefer."""
    ray.init("local", num_cpus=1, include_dashboard=False, ignore_reinit_error=True)
    algorithm = make_config(deals, seed).build_algo()
    entropies = []
    for update in range(updates):
        result = algorithm.train()
        entropies.append(float(result["learners"][POLICY]["entropy"]))
        played = result["env_runners"]["num_episodes_lifetime"]
        print(f"update {update + 1}: {played} deals, entropy {entropies[-1]:.3f}")
    algorithm.stop()
    ray.shutdown()
    return entropies


if __name__ == "__main__":
    main()
