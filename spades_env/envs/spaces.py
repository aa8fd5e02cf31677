"""Spaces of the environments, and the choices that decide them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, Literal

import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from spades_env.actions import NUM_ACTIONS
from spades_env.checks import shown
from spades_env.observation.blocks import STATE_SIZE
from spades_env.observation.encoders import ENCODERS

Observation = dict[str, npt.NDArray[Any]]
DtypeName = Literal["float32", "uint8"]

OBSERVATIONS: Final = tuple(ENCODERS)
DTYPES: Final = ("float32", "uint8")


def one_of(name: str, value: object, allowed: Iterable[object]) -> None:
    """Refuse a choice that is none of `allowed`, naming all three."""
    allowed = list(allowed)
    if not any(type(value) is type(choice) and value == choice for choice in allowed):
        raise ValueError(f"{name} is {shown(value)}; allowed: {', '.join(map(repr, allowed))}")


def array_space(size: int, dtype: DtypeName) -> spaces.Box:
    """A row of `size` entries: float32 in 0..1, or the same as bytes before scaling."""
    if dtype == "uint8":
        return spaces.Box(0, 255, (size,), np.uint8)
    return spaces.Box(0.0, 1.0, (size,), np.float32)


def observation_space(observation: str, dtype: DtypeName) -> spaces.Dict:
    """What `observe` returns: "observation" and "action_mask" (int8, 1 = legal)."""
    mask = spaces.Box(0, 1, (NUM_ACTIONS,), np.int8)
    size = ENCODERS[observation].layout.size
    return spaces.Dict({"observation": array_space(size, dtype), "action_mask": mask})


def state_space(dtype: DtypeName) -> spaces.Box:
    """What `state` returns."""
    return array_space(STATE_SIZE, dtype)


def action_space() -> spaces.Discrete[np.int64]:
    """The one action space of all rule sets (actions.py)."""
    return spaces.Discrete(NUM_ACTIONS)
