"""An agent for tables that are to be played slowly; actors import it by name."""

from __future__ import annotations

import time

import numpy as np

from agents.rules.easy import EasyAgent
from spades_env.engine.state import StateArray


class SlowEasy:
    """`easy`, who takes her time over every batch, so that there is something to kill."""

    name = "slow"

    def __init__(self) -> None:
        self._easy = EasyAgent()

    def act(self, views: StateArray, keys: np.ndarray) -> np.ndarray:
        """Choose after a while."""
        time.sleep(0.004)
        return self._easy.act(views, keys)
