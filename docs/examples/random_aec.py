"""One match of random play through the PettingZoo interface: `python docs/examples/random_aec.py`."""

from __future__ import annotations

import numpy as np

import spades_env


def main(seed: int = 7) -> tuple[int, int]:
    """Play a match and return its final scores."""
    env = spades_env.env("modern")
    env.reset(seed=seed)
    rng = np.random.default_rng(seed)
    scores = (0, 0)
    for _agent in env.agent_iter():
        observation, _reward, terminated, truncated, info = env.last()
        scores = info.get("scores", scores)
        if terminated or truncated:
            env.step(None)
        else:
            env.step(int(rng.choice(np.flatnonzero(observation["action_mask"]))))
    print(f"final scores {scores[0]} : {scores[1]}")
    return scores


if __name__ == "__main__":
    main()
