"""What training on more cores comes to: `python -m benchmarks.scaling`. Rates of one core, measured, and a formula.

`measure` times on one core what a player and the learner do for a deal; `predict` says from that alone how many deals a
second so many cores come to, what holds them back, and what goes over the network. docs/cluster.md has the formula.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter
from typing import Any, Final

import click
import torch
from rich.console import Console
from rich.table import Table
from stable_baselines3.common.logger import Logger

from agents.learned.champion import FOLDER
from agents.learned.weights import read_policy
from evaluation.machine import machine, versions
from spades_env.configs import config_path
from spades_env.files import write_atomically
from training.config import TrainingConfig, load_config
from training.selfplay import SelfPlayPPO
from training.shares import PlayedShare, SharePlayer, orders, put_together

CONFIG: Final = "train/selfplay.yaml"
CORES: Final = (10, 100, 1000)
CORES_A_NODE: Final = 16
"""Actors on one node share one copy of the weights."""


@dataclass(frozen=True)
class Workload:
    """Tables to play at: fields over CONFIG, and how many deals make a share."""

    name: str
    overrides: tuple[str, ...]
    games: int


WORKLOADS: Final = (
    Workload("self-play", (), 64),
    Workload("a tenth of the tables with `hard`", ("pool.agents={hard: 1.0}", "pool.opponents=0.1"), 64),
    Workload("a response to `hard`", ("opponent=hard",), 64),
    Workload("a response to `expert`", ("opponent=expert",), 16),
)


@dataclass(frozen=True)
class Rates:
    """Of one core, at one workload.

    Attributes:
        decisions, choices: of a deal, forced ones included; those that are learned from.
        play: seconds of a player's core for a deal; `rest` of it all but the network: engine, encoder, draws, and
            what others at the table think.
        forward: choices a second of the network alone, at the batch of a share.
        learn: seconds of the learner's core for a deal; `replay` of it playing the share over.
        passes: choices a second of the learner in one pass over a collection.
        deal_bytes, weight_bytes: of a deal's result, and of the weights.
    """

    workload: str
    games: int
    deals: int
    decisions: float
    choices: float
    play: float
    rest: float
    forward: float
    learn: float
    replay: float
    passes: float
    deal_bytes: float
    weight_bytes: int


@dataclass(frozen=True)
class Prediction:
    """What `cores` come to: one for the learner, all others play shares of `Rates.games` deals.

    Attributes:
        rate: deals a second; `alone`: of one core that does both.
        bottleneck: what has nothing to wait for.
        useful: cores beyond which nothing is gained.
        received, sent: bytes a second that the learner's node gets and gives.
        collection: deals of a collection, one share for each actor.
    """

    cores: int
    rate: float
    alone: float
    bottleneck: str
    useful: int
    received: float
    sent: float
    collection: int


def predict(rates: Rates, cores: int) -> Prediction:
    """The formula: with `ppo.staleness: 1` players and learner work at once, and the slower of the two decides.

    rate = min((cores - 1) / play, 1 / learn).
    """
    actors = cores - 1
    played, learned = actors / rates.play, 1 / rates.learn
    rate, collection = min(played, learned), actors * rates.games
    return Prediction(
        cores=cores,
        rate=rate,
        alone=1 / (rates.play + rates.learn),
        bottleneck="players" if played < learned else "learner",
        useful=1 + math.ceil(rates.play / rates.learn),
        received=rate * rates.deal_bytes,
        sent=rate / collection * rates.weight_bytes * math.ceil(actors / CORES_A_NODE),
        collection=collection,
    )


def measure(workload: Workload, seconds: float) -> Rates:
    """Let this process play shares for about so many seconds, with the champion's weights, and learn from them once."""
    torch.set_num_threads(1)
    config = _config(workload, 1)
    first = SelfPlayPPO(config)
    first.policy.begin_with(read_policy(FOLDER / "classic.safetensors")[0])
    weights, precision = first.policy.playing_weights(), first.policy.precision
    player = SharePlayer(config, precision)
    player.take(0, weights)
    player.play(orders(config, 0, 0, 1)[0])  # compiles what is not compiled yet
    shares: list[PlayedShare] = []
    begun = perf_counter()
    while perf_counter() - begun < seconds or len(shares) < 2:
        shares.append(player.play(orders(config, workload.games * len(shares), 0, 1)[0]))
    played = perf_counter() - begun
    deals = workload.games * len(shares)
    learner = SelfPlayPPO(_config(workload, len(shares)))
    learner.policy.begin_with(read_policy(FOLDER / "classic.safetensors")[0])
    learner.set_logger(Logger(folder=None, output_formats=[]))
    replay, learn = _learn(learner, shares)
    choices = int(learner.rollout_buffer.counts.sum())
    return Rates(
        workload=workload.name,
        games=workload.games,
        deals=deals,
        decisions=float(learner.env.states["n_actions"].mean()),
        choices=choices / deals,
        play=played / deals,
        rest=sum(share.engine for share in shares) / deals,
        forward=choices / sum(share.network for share in shares),
        learn=learn / deals,
        replay=replay / deals,
        passes=choices * config.ppo.epochs / (learn - replay),
        deal_bytes=sum(share.nbytes for share in shares) / deals,
        weight_bytes=sum(array.nbytes for array in weights.values()),
    )


def _config(workload: Workload, shares: int) -> TrainingConfig:
    """CONFIG with the tables of a workload and so many shares in a collection."""
    fixed = ("start=null", f"ppo.games={workload.games * shares}", f"ppo.shares={shares}")
    return load_config(config_path(CONFIG), [*fixed, *workload.overrides])


def _learn(learner: SelfPlayPPO, shares: list[PlayedShare]) -> tuple[float, float]:
    """Seconds that the learner takes to play the shares over, and for that and all passes over them."""
    ordered = orders(learner.config, 0, 0, 1)
    named = [PlayedShare(order, *_arrays(share)) for order, share in zip(ordered, shares, strict=True)]
    begun = perf_counter()
    put_together(named, 0, learner.env, learner.rollout_buffer)
    replay = perf_counter() - begun
    rewards = learner.env.rewards()
    learner.rollout_buffer.finish_deals(rewards, learner.env.luck(rewards))
    learner.train()
    return replay, perf_counter() - begun


def _arrays(share: PlayedShare) -> tuple[Any, ...]:
    """What a share holds beside its order."""
    return share.states, share.log_probs, share.values, share.explored, share.engine, share.network


def show(found: list[tuple[Rates, list[Prediction]]], console: Console) -> None:
    """Print what was measured, and what follows."""
    measured = Table("measured on one core", *(rates.workload for rates, _ in found))
    for name, text in _LINES.items():
        measured.add_row(name, *(text(asdict(rates)) for rates, _ in found))
    console.print(measured)
    predicted = Table(
        "predicted", "cores", "deals/s", "x one core", "bottleneck", "useful cores", "in, MB/s", "out, MB/s"
    )
    for rates, predictions in found:
        for p in predictions:
            predicted.add_row(
                rates.workload,
                f"{p.cores:,}",
                f"{p.rate:,.1f}",
                f"{p.rate / p.alone:.1f}",
                p.bottleneck,
                f"{p.useful:,}",
                f"{p.received / 1e6:.3f}",
                f"{p.sent / 1e6:.3f}",
            )
    console.print(predicted)


_LINES: Final[Mapping[str, Any]] = {
    "deals played": lambda r: f"{r['deals']:,} ({r['games']} a share)",
    "decisions, choices learned from, a deal": lambda r: f"{r['decisions']:.1f}, {r['choices']:.1f}",
    "player: all but the network, decisions/s": lambda r: f"{r['decisions'] / r['rest']:,.0f}",
    "player: network, choices/s": lambda r: f"{r['forward']:,.0f}",
    "player: ms a deal": lambda r: f"{1000 * r['play']:.3f}",
    "learner: choices/s in one pass": lambda r: f"{r['passes']:,.0f}",
    "learner: playing over, ms a deal": lambda r: f"{1000 * r['replay']:.3f}",
    "learner: ms a deal": lambda r: f"{1000 * r['learn']:.3f}",
    "result of a deal, bytes": lambda r: f"{r['deal_bytes']:,.0f}",
    "weights, bytes": lambda r: f"{r['weight_bytes']:,}",
}


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--seconds", default=10.0, show_default=True, help="About how long a player plays at each workload.")
@click.option("--json", "json_path", metavar="FILE", type=click.Path(path_type=Path), help="Write all figures, too.")
def main(seconds: float, json_path: Path | None) -> None:
    """Measure players and learner on one core, and predict what 10, 100 and 1,000 cores come to."""
    console = Console(stderr=True)
    found = []
    for number, workload in enumerate(WORKLOADS):
        with console.status(f"{workload.name} ({number + 1} of {len(WORKLOADS)})"):
            rates = measure(workload, seconds)
        found.append((rates, [predict(rates, cores) for cores in CORES]))
    show(found, Console())
    if json_path is not None:
        report = {
            "measured": [asdict(rates) for rates, _ in found],
            "predicted": [[asdict(p) for p in predictions] for _, predictions in found],
            "machine": machine() | versions(),
        }
        write_atomically(json_path, json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
