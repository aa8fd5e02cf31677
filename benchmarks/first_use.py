"""Run in a fresh process with an empty Numba cache: seconds of the first use of each part, as JSON on stdout.

The imports are done before the clock starts, so that what is measured is compiling (and a little running).
"""

from __future__ import annotations

import json
import time

import numpy as np

from benchmarks import ours
from evaluation.duplicate import evaluate
from spades_env.envs.aec import env

SEED = 0


def env_step() -> None:
    """One step of the AEC environment."""
    game = env("classic")
    game.reset(seed=SEED)
    observation = game.last()[0]
    game.step(int(np.argmax(observation["action_mask"])))
    game.last()


def batch() -> None:
    """A few steps of the batched environment."""
    ours.batch_observation(SEED)()


def playout() -> None:
    """Playouts inside a kernel."""
    ours.playout(SEED)()


def easy_evaluation() -> None:
    """A duplicate evaluation of rule bots."""
    evaluate("easy", "easy", deals=2, seed=SEED)


def main() -> None:
    seconds = {}
    for use in (env_step, batch, playout, easy_evaluation):
        start = time.perf_counter()
        use()
        seconds[use.__name__] = time.perf_counter() - start
    print(json.dumps(seconds))


if __name__ == "__main__":
    main()
