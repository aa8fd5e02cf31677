"""The native vector environment beside `SyncVectorEnv` of the single one: `python -m benchmarks.vector`.

Steps of the learner per second of CPU time, single deals, random legal actions; drawing them and the moves of the three
other seats are included. Both run in turn, in several rounds of one process.
"""

from __future__ import annotations

from itertools import count
from typing import Any, Final

import click
import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode
from rich.console import Console
from rich.table import Table

import spades_env  # noqa: F401  (registers the name)
from agents.registry import load_agent
from benchmarks.ours import sample_from_masks
from benchmarks.timing import Work, alternate, per_cpu_second

NAME: Final = "spades_env/Spades-v0"
DTYPES: Final = ("uint8", "float32")


def steps_of(env: gymnasium.vector.VectorEnv[Any, Any, Any], seed: int) -> Work:
    """One step of all games of `env` with random legal actions; returns how many decisions that were."""
    observations, _ = env.reset(seed=seed)
    masks, actions, drawn = [observations["action_mask"]], np.zeros(env.num_envs, np.int64), count()

    def step() -> int:
        sample_from_masks(masks[0], np.uint64(seed), next(drawn), actions)
        observations, *_ = env.step(actions)
        masks[0] = observations["action_mask"]
        return env.num_envs

    return step


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--games", type=click.IntRange(1, 65536), default=1024, show_default=True, help="Games in an environment."
)
@click.option("--rounds", type=click.IntRange(1, 100), default=5, show_default=True, help="Rounds; the medians count.")
@click.option("--seconds", type=click.FloatRange(0.1, 60), default=1.0, show_default=True, help="Of each measurement.")
@click.option("--agent", "agents", multiple=True, default=("random", "easy"), show_default=True, help="On other seats.")
def main(games: int, rounds: int, seconds: float, agents: tuple[str, ...]) -> None:
    """Measure both for each agent and dtype, and print a table."""
    console, works = Console(), dict[str, Work]()
    for agent in agents:
        player = "random" if agent == "random" else load_agent(agent)
        for dtype in DTYPES:
            options: dict[str, Any] = {"episode": "deal", "partner": player, "opponents": player, "dtype": dtype}
            native = gymnasium.make_vec(NAME, num_envs=games, **options)
            sync = gymnasium.make_vec(
                NAME,
                num_envs=games,
                vectorization_mode="sync",
                vector_kwargs={"autoreset_mode": AutoresetMode.SAME_STEP},
                **options,
            )
            works[f"{agent} {dtype} native"], works[f"{agent} {dtype} sync"] = steps_of(native, 1), steps_of(sync, 1)
    for work in works.values():
        work()
    with console.status("measuring") as status:
        samples = alternate(works, rounds, seconds, status.update)
    table = Table("agents", "dtype", "make_vec, steps/s", "SyncVectorEnv, steps/s", "ratio")
    for name in (name.removesuffix(" native") for name in works if name.endswith(" native")):
        ours, peer = (per_cpu_second(samples[f"{name} {kind}"]) for kind in ("native", "sync"))
        table.add_row(*name.rsplit(" ", 1), f"{ours:,.0f}", f"{peer:,.0f}", f"{ours / peer:.1f}")
    console.print(table)


if __name__ == "__main__":
    main()
