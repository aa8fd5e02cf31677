"""What training on more cores comes to: `python -m benchmarks.scaling`. Rates of one core, measured, and a formula.

`measure` takes the CPU time of what a player and a learner do for a deal; `predict` says from that alone how many deals
a second so many cores come to, what holds them back, and what goes over the network. docs/cluster.md has the formula.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter, process_time
from typing import Any, Final

import click
import torch
from rich.console import Console
from stable_baselines3.common.logger import Logger

from agents.learned.champion import FOLDER
from agents.learned.weights import read_policy
from evaluation.machine import machine, versions
from evaluation.text import markdown_table
from spades_env.configs import config_path
from spades_env.files import write_atomically
from training.config import TrainingConfig, load_config
from training.selfplay import SelfPlayPPO
from training.shares import PlayedShare, SharePlayer, orders, put_together

CONFIG: Final = "train/selfplay.yaml"
CORES: Final = (10, 100, 1000)
CORES_A_NODE: Final = 16
"""Actors on one node share one copy of the weights; all learners are on one node."""
LEARNED: Final = 1024
"""Deals that the learner is measured with, if so many have been played."""
FEWEST_SECONDS: Final = 2.0
"""CPU time for which the learner is measured, over and over the same deals if need be."""


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
    """Of one core, at one workload; seconds are CPU time.

    Attributes:
        decisions, choices: of a deal, forced ones included; those that are learned from.
        play: seconds of a player for a deal; `rest` of it all but the network: engine, encoder, draws, and what others
            at the table think.
        forward: choices a second of the network alone, at the batch of a share.
        learn: seconds of a learner for a deal; `replay` of it playing the share over, which each of several does.
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
    """What `cores` come to: `learners` of them learn, all others play shares of `Rates.games` deals.

    Attributes:
        rate: deals a second; `alone`: of one core that does both.
        bottleneck: what has nothing to wait for.
        useful: cores beyond which nothing is gained with so many learners.
        received, sent: bytes a second that the learners' node gets and gives.
        collection: deals of a collection, one share for each actor.
    """

    workload: str
    cores: int
    learners: int
    rate: float
    alone: float
    bottleneck: str
    useful: int
    received: float
    sent: float
    collection: int


def predict(rates: Rates, cores: int, learners: int = 1) -> Prediction:
    """The formula: with `ppo.staleness: 1` players and learners work at once, and the slower of the two decides.

    rate = min((cores - learners) / play, 1 / (replay + (learn - replay) / learners)).
    """
    actors = cores - learners
    step = rates.replay + (rates.learn - rates.replay) / learners
    rate, collection = min(actors / rates.play, 1 / step), actors * rates.games
    return Prediction(
        workload=rates.workload,
        cores=cores,
        learners=learners,
        rate=rate,
        alone=1 / (rates.play + rates.learn),
        bottleneck="players" if actors * step < rates.play else "learners",
        useful=learners + math.ceil(rates.play / step),
        received=rate * rates.deal_bytes,
        sent=rate / collection * rates.weight_bytes * math.ceil(actors / CORES_A_NODE),
        collection=collection,
    )


def predictions(rates: Rates) -> list[Prediction]:
    """For every number of cores: with one learner, and with as many on a node as are best where more are better."""
    found = []
    for cores in CORES:
        ways = [predict(rates, cores, learners) for learners in range(1, min(CORES_A_NODE, cores - 1) + 1)]
        best = max(ways, key=lambda way: way.rate)
        found += [ways[0]] if best is ways[0] else [ways[0], best]
    return found


def measure(workload: Workload, seconds: float) -> Rates:
    """Let this process play shares for about so many seconds, with the champion's weights, and learn from them."""
    torch.set_num_threads(1)
    config = _config(workload, 1)
    given = read_policy(FOLDER / "classic.safetensors")[0]
    first = SelfPlayPPO(config)
    first.policy.begin_with(given)
    weights, precision = first.policy.playing_weights(), first.policy.precision
    player = SharePlayer(config, precision)
    player.take(0, weights)
    player.play(orders(config, 0, 0, 1)[0])  # compiles what is not compiled yet
    shares: list[PlayedShare] = []
    until, begun = perf_counter() + seconds, process_time()
    while perf_counter() < until or len(shares) < 2:
        shares.append(player.play(orders(config, workload.games * len(shares), 0, 1)[0]))
    played = process_time() - begun
    deals = workload.games * len(shares)
    choices = sum(len(share.log_probs) for share in shares)
    learned = shares[: max(1, LEARNED // workload.games)]
    learner = SelfPlayPPO(_config(workload, len(learned)))
    learner.policy.begin_with(given)
    learner.set_logger(Logger(folder=None, output_formats=[]))
    replay, learn = (spent / (len(learned) * workload.games) for spent in _learn(learner, learned))
    network = sum(share.network for share in shares)
    network *= played / (network + sum(share.engine for share in shares))
    return Rates(
        workload=workload.name,
        games=workload.games,
        deals=deals,
        decisions=float(learner.env.states["n_actions"].mean()),
        choices=choices / deals,
        play=played / deals,
        rest=(played - network) / deals,
        forward=choices / network,
        learn=learn,
        replay=replay,
        passes=choices / deals * config.ppo.epochs / (learn - replay),
        deal_bytes=sum(share.nbytes for share in shares) / deals,
        weight_bytes=sum(array.nbytes for array in weights.values()),
    )


def _config(workload: Workload, shares: int) -> TrainingConfig:
    """CONFIG with the tables of a workload and so many shares in a collection."""
    fixed = ("start=null", f"ppo.games={workload.games * shares}", f"ppo.shares={shares}")
    return load_config(config_path(CONFIG), [*fixed, *workload.overrides])


def _learn(learner: SelfPlayPPO, shares: list[PlayedShare]) -> tuple[float, float]:
    """CPU seconds that the learner takes to play the shares over, and for that and all passes over them."""
    ordered = orders(learner.config, 0, 0, 1)
    named = [PlayedShare(order, *_arrays(share)) for order, share in zip(ordered, shares, strict=True)]
    # Once before: the first time a buffer is written to, the system has to find the memory.
    put_together(named, 0, learner.env, learner.rollout_buffer)
    replay, times, begun = 0.0, 0, process_time()
    while process_time() - begun < FEWEST_SECONDS:
        before = process_time()
        learner.rollout_buffer.reset()
        put_together(named, 0, learner.env, learner.rollout_buffer)
        replay += process_time() - before
        rewards = learner.env.rewards()
        learner.rollout_buffer.finish_deals(rewards, learner.env.luck(rewards))
        learner.train()
        times += 1
    return replay / times, (process_time() - begun) / times


def _arrays(share: PlayedShare) -> tuple[Any, ...]:
    """What a share holds beside its order."""
    return share.states, share.log_probs, share.values, share.explored, share.engine, share.network


def measured_table(found: Sequence[Rates]) -> str:
    """What was measured, in Markdown."""
    lines = [["one core", *(rates.workload for rates in found)]]
    lines += [[name, *(text(rates) for rates in found)] for name, text in _LINES.items()]
    return markdown_table(lines)


def predicted_table(found: Sequence[Prediction]) -> str:
    """What follows, in Markdown."""
    names = (
        "workload",
        "cores",
        "learners",
        "deals/s",
        "× one core",
        "bottleneck",
        "useful cores",
        "in MB/s",
        "out MB/s",
    )
    lines = [list(names)]
    for p in found:
        cells = (p.workload, f"{p.cores:,}", f"{p.learners}", f"{p.rate:,.0f}", f"{p.rate / p.alone:.1f}", p.bottleneck)
        lines.append([*cells, f"{p.useful:,}", f"{p.received / 1e6:.2f}", f"{p.sent / 1e6:.2f}"])
    return markdown_table(lines)


_LINES: Final[Mapping[str, Callable[[Rates], str]]] = {
    "deals in a share, played in all": lambda r: f"{r.games}, {r.deals:,}",
    "decisions of a deal, choices learned from": lambda r: f"{r.decisions:.1f}, {r.choices:.1f}",
    "player: all but the network, decisions/s": lambda r: f"{r.decisions / r.rest:,.0f}",
    "player: the network, choices/s": lambda r: f"{r.forward:,.0f}",
    "player: ms a deal": lambda r: f"{1000 * r.play:.3f}",
    "learner: choices/s in one pass": lambda r: f"{r.passes:,.0f}",
    "learner: playing over, ms a deal": lambda r: f"{1000 * r.replay:.3f}",
    "learner: ms a deal in all": lambda r: f"{1000 * r.learn:.3f}",
    "result of a deal, bytes": lambda r: f"{r.deal_bytes:,.0f}",
    "weights, bytes": lambda r: f"{r.weight_bytes:,}",
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
            found.append(measure(workload, seconds))
    follows = [prediction for rates in found for prediction in predictions(rates)]
    print(measured_table(found), predicted_table(follows), sep="\n\n")
    if json_path is not None:
        report = {
            "measured": [asdict(rates) for rates in found],
            "predicted": [asdict(prediction) for prediction in follows],
            "machine": machine() | versions(),
        }
        write_atomically(json_path, json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
