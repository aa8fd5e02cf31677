"""What Ray costs training: `python -m benchmarks.players`. The same shares, in turn, by two processes and two actors.

Wall time of one collection, from the order to the last share; both crews are there all the time, one of them idle.
"""

from __future__ import annotations

import json
import statistics
from pathlib import Path
from time import perf_counter
from typing import Any, Final

import click
from rich.console import Console

from agents.learned.champion import FOLDER
from agents.learned.weights import Tensors, read_policy
from benchmarks.scaling import CONFIG
from evaluation.machine import machine, versions
from evaluation.text import markdown_table
from evaluation.work.backend import LOCAL, Backend
from spades_env.configs import config_path
from spades_env.files import write_atomically
from training.actors import WorkerPlayers
from training.config import TrainingConfig, load_config
from training.players import Players
from training.selfplay import SelfPlayPPO
from training.shares import orders

ACTORS: Final = 2
WORKLOADS: Final = {
    "self-play": ("ppo.games=2048", "ppo.shares=8"),
    "a response to `hard`": ("opponent=hard", "ppo.games=128", "ppo.shares=8"),
}


def measure(name: str, backend: Backend, rounds: int) -> dict[str, Any]:
    """Seconds of a collection by way, in rounds."""
    config = load_config(config_path(CONFIG), ["start=null", *WORKLOADS[name]])
    model = SelfPlayPPO(config)
    model.policy.begin_with(read_policy(FOLDER / "classic.safetensors")[0])
    weights, precision = model.policy.playing_weights(), model.policy.precision
    samples: dict[str, list[float]] = {"processes": [], "ray": []}
    with (
        WorkerPlayers(config, precision, LOCAL, ACTORS) as processes,
        WorkerPlayers(config, precision, backend, ACTORS) as actors,
    ):
        for number in range(rounds + 1):
            for way, players in {"processes": processes, "ray": actors}.items():
                samples[way].append(_seconds(players, config, weights, number))
    # The first round began them.
    found = {way: seconds[1:] for way, seconds in samples.items()}
    ratio = statistics.median(ray / plain for plain, ray in zip(found["processes"], found["ray"], strict=True))
    return {"workload": name, "deals": config.ppo.games, "seconds": found, "overhead": ratio - 1}


def _seconds(players: Players, config: TrainingConfig, weights: Tensors, number: int) -> float:
    """Seconds that players take for one collection."""
    begun = perf_counter()
    players.begin(orders(config, config.ppo.games * number, number, 1), weights)
    players.finish()
    return perf_counter() - begun


def table(found: list[dict[str, Any]]) -> str:
    """The figures, in Markdown."""
    lines = [["shares of", "deals", "two processes, s", "two actors on Ray, s", "Ray takes"]]
    for row in found:
        seconds = [f"{statistics.median(row['seconds'][way]):.2f}" for way in ("processes", "ray")]
        lines.append([row["workload"], f"{row['deals']:,}", *seconds, f"{row['overhead']:+.1%}"])
    return markdown_table(lines)


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--rounds", default=15, show_default=True, help="Collections by each way, in turn.")
@click.option("--backend", "backend_text", default="ray", show_default=True, help="ray or ray:ADDRESS.")
@click.option("--json", "json_path", metavar="FILE", type=click.Path(path_type=Path), help="Write all samples, too.")
def main(rounds: int, backend_text: str, json_path: Path | None) -> None:
    """Compare two actors on Ray with two processes of this machine at playing the shares of a collection."""
    console = Console(stderr=True)
    found = []
    for name in WORKLOADS:
        with console.status(name):
            found.append(measure(name, Backend.of(backend_text), rounds))
    print(table(found))
    if json_path is not None:
        report = {"measured": found, "machine": machine() | versions()}
        write_atomically(json_path, json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
