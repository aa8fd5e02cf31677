"""What an agent may be asked besides her actions, called with care: the code is anybody's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from agents.base import AgentError, FloatArray


def asked(name: str, method: Callable[..., Any], *arguments: Any) -> FloatArray:
    """Return what `method` of the agent called `name` says, float64; AgentError, naming both, where it fails."""
    try:
        return np.asarray(method(*arguments), np.float64)
    except Exception as error:  # an agent of anybody's may raise anything
        what = getattr(method, "__name__", type(method).__name__)
        raise AgentError(f"agent {name!r}: {what} failed: {type(error).__name__}: {error}") from error
