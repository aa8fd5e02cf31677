"""Our self-play learner beside sb3-contrib's MaskablePPO as it comes: `python -m benchmarks.learners`.

Both begin with random weights and the same trunk, on one thread, and are measured on the same duplicate deals at the
same processor times, evaluations left out. MaskablePPO learns both seats of a team from the native vector environment,
against the very opponent that both are measured with; ours only ever plays against itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import process_time
from typing import Any, Final

import click
import numpy as np
import numpy.typing as npt
import torch
from rich.console import Console
from rich.table import Table
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback

from agents.base import Agent
from agents.learned.policy import LearnedAgent
from evaluation.duplicate import evaluate
from spades_env.actions import NUM_ACTIONS
from spades_env.configs import config_path
from spades_env.engine.state import StateArray
from spades_env.envs.sb3 import SpadesVecEnv
from spades_env.observation.blocks import FLAT_SIZE
from spades_env.observation.flat import encode_views
from spades_env.rules import Rules
from spades_env.view import write_view_masks
from training.config import load_config
from training.selfplay import SelfPlayPPO

HIDDEN: Final = (256, 256)
GAMES: Final = 512
STEPS_A_DEAL: Final = 28
"""Decisions of a team in a deal of `classic`: two bids, 26 cards."""
RULES: Final = Rules()

Curve = list[tuple[float, float]]
"""(seconds of processor time, margin) at each look."""


class StockAgent:
    """A MaskablePPO model as an agent: her likeliest legal action."""

    name = "MaskablePPO"

    def __init__(self, model: MaskablePPO) -> None:
        self._model = model

    def act(self, views: StateArray, keys: npt.NDArray[np.uint64]) -> npt.NDArray[np.int16]:
        """Choose for each view."""
        observations, masks = np.zeros((len(views), FLAT_SIZE), np.uint8), np.zeros((len(views), NUM_ACTIONS), np.int8)
        encode_views(views, observations)
        write_view_masks(views, masks)
        actions, _ = self._model.predict(observations, action_masks=masks, deterministic=True)
        return np.asarray(actions, np.int16)


class Looks(BaseCallback):
    """Measures the learner whenever another `every` seconds of processor time have gone into learning."""

    def __init__(self, agent_of: Callable[[Any], Agent], opponent: str, looks: Sequence[float], deals: int) -> None:
        super().__init__()
        self._agent_of, self._opponent, self._deals = agent_of, opponent, deals
        self._looks = list(looks)
        self._spent = 0.0
        self._since = process_time()
        self.curve: Curve = []

    def _on_training_start(self) -> None:
        self._since = process_time()

    def _on_rollout_start(self) -> None:
        self._spent += process_time() - self._since
        if self._looks and self._spent >= self._looks[0]:
            while self._looks and self._spent >= self._looks[0]:
                self._looks.pop(0)
            margin = evaluate(self._agent_of(self.model), self._opponent, RULES, deals=self._deals).margin
            self.curve.append((self._spent, margin.mean))
        self._since = process_time()

    def _on_step(self) -> bool:
        return bool(self._looks)


def stock(opponent: str, looks: Sequence[float], deals: int, learning_rate: float) -> Curve:
    """Let MaskablePPO learn a team's two seats against `opponent`."""
    games = SpadesVecEnv(GAMES, RULES, team=True, opponents=opponent, episode="deal", dict_observation=False)
    model = MaskablePPO(
        "MlpPolicy",
        games,
        n_steps=2 * STEPS_A_DEAL,
        batch_size=1024,
        n_epochs=2,
        learning_rate=learning_rate,
        gamma=1.0,  # the reward comes with the deal's last card
        policy_kwargs={"net_arch": list(HIDDEN)},
        seed=1,
        device="cpu",
    )
    return _learn(model, 10**12, Looks(StockAgent, opponent, looks, deals))


def ours(opponent: str, looks: Sequence[float], deals: int, learned: int) -> Curve:
    """Let the self-play learner learn as in configs/train/scratch.yaml, cut to `learned` deals."""
    config = load_config(config_path("train/scratch.yaml"), [f"deals={learned}"])
    model = SelfPlayPPO(config)

    def agent_of(learner: SelfPlayPPO) -> Agent:
        return LearnedAgent(learner.policy.network().tensors(), RULES, name="self-play")

    return _learn(model, learned, Looks(agent_of, opponent, looks, deals))


def _learn(model: MaskablePPO, steps: int, looks: Looks) -> Curve:
    """Run a learner until its last look."""
    model.learn(steps, callback=looks)
    return looks.curve


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--seconds", type=click.FloatRange(10, 10**5), default=480.0, show_default=True, help="Of processor time."
)
@click.option(
    "--looks", type=click.IntRange(1, 100), default=8, show_default=True, help="Measurements of each learner."
)
@click.option("--opponent", default="conservative", show_default=True, help="Agent that both are measured with.")
@click.option(
    "--deals", type=click.IntRange(2), default=1000, show_default=True, help="Duplicate deals of a measurement."
)
@click.option("--ours-seconds", type=click.FloatRange(10, 10**5), default=60.0, show_default=True, help="For ours.")
@click.option(
    "--ours-deals", type=click.IntRange(1024), default=40_000, show_default=True, help="That ours is annealed over."
)
@click.option(
    "--rate", type=click.FloatRange(1e-8, 1), default=3e-4, show_default=True, help="Learning rate of MaskablePPO."
)
def main(
    seconds: float, looks: int, opponent: str, deals: int, ours_seconds: float, ours_deals: int, rate: float
) -> None:
    """Let both learn, one after the other, and print the margin of each by processor time."""
    torch.set_num_threads(1)
    console = Console()
    table = Table("learner", "processor time, s", f"margin v {opponent}")
    runs = {
        "MaskablePPO": lambda: stock(opponent, np.linspace(seconds / looks, seconds, looks).tolist(), deals, rate),
        "self-play": lambda: ours(
            opponent, np.linspace(ours_seconds / looks, ours_seconds, looks).tolist(), deals, ours_deals
        ),
    }
    for name, run in runs.items():
        with console.status(f"{name} is learning"):
            curve = run()
        for spent, margin in curve:
            table.add_row(name, f"{spent:,.0f}", f"{margin:+.1f}")
    console.print(table)


if __name__ == "__main__":
    main()
