"""A training that takes seconds."""

from __future__ import annotations

from typing import Any

from training.config import TrainingConfig, config_from


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
