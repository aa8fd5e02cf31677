"""A training that takes seconds, and one collection of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from stable_baselines3.common.callbacks import CallbackList
from stable_baselines3.common.logger import Logger

from training.config import TrainingConfig, config_from
from training.selfplay import SelfPlayPPO


def small(**changes: Any) -> TrainingConfig:
    """A configuration that trains in seconds."""
    base: dict[str, Any] = {
        "deals": 24,
        "threads": 1,
        "network": {"hidden": [16], "precision": "float32"},
        "ppo": {"games": 8, "minibatch": 64},
        "evaluation": {
            "every": 0.5,
            "deals": 4,
            "final_deals": 4,
            "opponents": ["random"],
            "final_opponents": ["random"],
        },
    }
    return config_from(base | changes, "test")


def collected(model: SelfPlayPPO) -> SelfPlayPPO:
    """`model` after one collection outside of `learn`."""
    model.set_logger(Logger(folder=None, output_formats=[]))
    callback = CallbackList([])
    callback.init_callback(model)
    assert model.collect_rollouts(model.env, callback, model.rollout_buffer, model.n_steps)
    return model


def weights(folder: Path) -> bytes:
    """The tensors of a run's policy, without the description, whose date may differ."""
    data = (folder / "policy.safetensors").read_bytes()
    return data[8 + int.from_bytes(data[:8], "little") :]
