"""Agents that misbehave, for tests of the table; loaded in its workers by name."""

from __future__ import annotations

import os
import time
from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from spades_env.view import write_view_masks


class _Late(ABC):
    """Takes the first legal action when she is first asked, which is when a worker begins."""

    def __init__(self) -> None:
        self._asked = 0

    def act(self, views: Any, keys: Any) -> Any:
        self._asked += 1
        if self._asked > 1:
            return self.fail(len(views))
        masks = np.empty((len(views), 73), np.int8)
        write_view_masks(views, masks)
        return masks.argmax(axis=1).astype(np.int16)

    @abstractmethod
    def fail(self, count: int) -> Any:
        """What she does from the second time on, for so many views."""


class Sleeper(_Late):
    """Does not answer in time."""

    name = "sleeper"

    def fail(self, count: int) -> Any:
        time.sleep(60)


class Cheat(_Late):
    """Answers with an action that is never legal in a bid."""

    name = "cheat"

    def fail(self, count: int) -> Any:
        return np.full(count, 72, np.int16)


class Crash(_Late):
    """Ends the worker."""

    name = "crash"

    def fail(self, count: int) -> Any:
        os._exit(3)
