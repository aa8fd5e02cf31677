"""Names under which other libraries find the environments; none is imported before it is made."""

from __future__ import annotations

import pettingzoo  # type: ignore[import-untyped]

AEC_ID = "spades_env/Spades-v0"


def register_all() -> None:
    """Register with PettingZoo; a version of it that has no registry has no `make` either."""
    registry = getattr(pettingzoo, "aec_registry", None)
    if registry is not None and AEC_ID not in registry:
        pettingzoo.register("aec", AEC_ID, entry_point="spades_env.envs.aec:env")
