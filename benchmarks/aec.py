"""One loop for every PettingZoo AEC environment: `agent_iter`, `last`, a random legal action, `step`."""

from __future__ import annotations

import random
from typing import Any

import numpy as np

from benchmarks.timing import Work

STEPS_PER_CALL = 200


def play_episodes(env: Any, seed: int) -> Work:
    """Random legal play of `env`, whose observations carry an `action_mask`, episode after episode."""
    rng = random.Random(seed)
    env.reset(seed=seed)

    def work() -> int:
        steps = 0
        while steps < STEPS_PER_CALL:
            for _agent in env.agent_iter(STEPS_PER_CALL - steps):
                observation, _reward, terminated, truncated, _info = env.last()
                action = None
                if not (terminated or truncated):
                    legal = np.flatnonzero(observation["action_mask"])
                    action = int(legal[int(rng.random() * len(legal))])
                env.step(action)
                steps += 1
            if not env.agents:
                env.reset()
        return steps

    return work
