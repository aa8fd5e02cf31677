"""sb3-contrib's MaskablePPO on South's seat, beginners on the others: `python docs/examples/maskable_ppo.py`.

Needs the extra `train`. A few minutes are enough to beat the score that random play gets on her seat by far.
"""

from __future__ import annotations

from pathlib import Path

from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.evaluation import evaluate_policy
from stable_baselines3.common.vec_env import VecMonitor

from agents.registry import load_agent
from spades_env.envs.sb3 import SpadesVecEnv


def make_games(games: int) -> VecMonitor:
    """Single deals in lock-step, a bag at -9 points; the observation alone, for `MlpPolicy`."""
    easy = load_agent("easy")
    return VecMonitor(SpadesVecEnv(games, episode="deal", partner=easy, opponents=easy, dict_observation=False))


def main(steps: int = 500_000, games: int = 64, save_to: str | Path = "south.zip") -> float:
    """Train, save, and return the mean reward per deal: South's margin in hundreds of points."""
    model = MaskablePPO(
        "MlpPolicy",
        make_games(games),
        n_steps=128,
        batch_size=1024,
        n_epochs=4,
        gamma=1.0,  # 14 decisions a deal and one reward at the end: nothing to discount
        seed=1,
        verbose=1,
        device="cpu",
    )
    model.learn(steps)
    model.save(save_to)
    games_to_judge = make_games(games)
    games_to_judge.seed(10**9)
    mean, spread = evaluate_policy(model, games_to_judge, n_eval_episodes=4 * games)
    print(f"margin per deal {100 * mean:+.1f} points (standard deviation {100 * spread:.0f})")
    return float(mean)


if __name__ == "__main__":
    main()
