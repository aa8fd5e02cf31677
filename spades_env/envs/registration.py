"""Names under which other libraries find the environments; none is imported before it is made."""

from __future__ import annotations

from typing import Any

import gymnasium
import pettingzoo  # type: ignore[import-untyped]
from gymnasium.envs.registration import EnvSpec

AEC_ID = "spades_env/Spades-v0"
GYMNASIUM_ID = "spades_env/Spades-v0"


def register_all() -> None:
    """Register with PettingZoo, where a version without a registry has no `make` either, and with Gymnasium."""
    registry = getattr(pettingzoo, "aec_registry", None)
    if registry is not None and AEC_ID not in registry:
        pettingzoo.register("aec", AEC_ID, entry_point="spades_env.envs.aec:env")
    if GYMNASIUM_ID not in gymnasium.registry:
        gymnasium.register(
            GYMNASIUM_ID,
            entry_point="spades_env.envs.single:SpadesEnv",
            vector_entry_point="spades_env.envs.vector:SpadesVectorEnv",
        )


def gymnasium_spec(**arguments: Any) -> EnvSpec:
    """Gymnasium's description of a `SpadesEnv` with plain `arguments`; it makes one in any process."""
    return EnvSpec(GYMNASIUM_ID, entry_point="spades_env.envs.single:SpadesEnv", kwargs=arguments)
