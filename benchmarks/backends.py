"""What a backend costs: `python -m benchmarks.backends`. The same games, in turn, in several rounds, by

- `processes`: two worker processes of this machine (`--workers 2`);
- `ray`: two workers on Ray (`--workers 2 --backend ray`);
- `plain`: two processes that play half of the games each and tell nobody, which no backend can beat.

Wall time from the moment that all workers have begun and played a game; how long that takes stands apart.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

import click
from rich.console import Console
from rich.table import Table

from agents.registry import load_agent
from evaluation.machine import machine, versions
from evaluation.work.backend import AHEAD, Backend, check_installed, connected
from evaluation.work.crew import Crew, Desk, open_crew
from evaluation.work.job import DUPLICATE, Job
from evaluation.work.part import play_part, warm_up
from evaluation.work.run import play_all
from spades_env.files import write_atomically
from spades_env.rules import PRESETS

PAIRS: Final = ("normal~easy", "hard~easy")
"""Ten thousand deals in a part, so that logs of a megabyte are sent; and a few hundred, by agents that think."""
WORKERS: Final = 2
TRIAL_SECONDS: Final = 2.0
START: Final = 2**24
"""First of the games with which workers are tried out; no others."""


def job_of(pair: str, seed: int = 0) -> Job:
    """Return the deals of a pair of agents."""
    a, b = pair.split("~")
    return Job((a, b), PRESETS["classic"], DUPLICATE, seed=seed)


def deals_for(job: Job, seconds: float) -> int:
    """Return how many deals WORKERS processes play in about so many seconds."""
    agents = [load_agent(text) for text in job.agents]
    warm_up(job, agents)
    deals, taken = 4, 0.0
    while taken < TRIAL_SECONDS:
        deals = 4 * deals
        taken = play_part(job, agents, START, deals).seconds
    return round(WORKERS * seconds * deals / taken)


def started(crew: Crew) -> float:
    """Return the seconds until every worker has played: as many games as all of them are given at a time."""
    begun = time.perf_counter()
    for future in [crew.submit(0, START + k, 1) for k in range(AHEAD * WORKERS)]:
        future.result()
    return time.perf_counter() - begun


def crew_seconds(job: Job, deals: int, backend: Backend) -> dict[str, float]:
    """Return the seconds that a crew takes to begin, and then for the deals."""
    opened = time.perf_counter()
    with open_crew(Desk([job]), WORKERS, backend) as crew:
        opened = time.perf_counter() - opened
        start = opened + started(crew)
        begun = time.perf_counter()
        play_all(crew, 0, deals)
        return {"start": start, "play": time.perf_counter() - begun}


def plain_seconds(pair: str, deals: int) -> dict[str, float]:
    """Return the same of WORKERS processes with a share of the deals each; told to play when all have begun."""
    begun = time.perf_counter()
    with plain_processes(pair, deals) as processes:
        for process in processes:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
        start = time.perf_counter() - begun
        begun = time.perf_counter()
        for process in processes:
            assert process.stdin is not None
            process.stdin.write("go\n")
            process.stdin.flush()
        for process in processes:
            assert process.stdout is not None
            assert process.stdout.readline() == "done\n"
        return {"start": start, "play": time.perf_counter() - begun}


@contextmanager
def plain_processes(pair: str, deals: int) -> Iterator[list[subprocess.Popen[str]]]:
    """Fresh processes that run `play_plainly`, each with a seed of its own."""
    path = os.pathsep.join(entry or os.getcwd() for entry in sys.path)
    command = [sys.executable, "-m", "benchmarks.backends", "--plain", pair]
    processes = [
        subprocess.Popen(
            [*command, str(seed), str(deals // WORKERS)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | {"PYTHONPATH": path},
        )
        for seed in range(WORKERS)
    ]
    try:
        yield processes
    finally:
        for process in processes:
            process.kill()
            process.communicate()


def play_plainly(pair: str, seed: int, deals: int) -> None:
    """In a process of its own: get ready, wait for the word, and play, as `spades evaluate` does with one worker."""
    with open_crew(Desk([job_of(pair, seed)])) as crew:
        started(crew)
        print("ready", flush=True)
        sys.stdin.readline()
        play_all(crew, 0, deals)
        print("done", flush=True)


def measure(pair: str, rounds: int, seconds: float, backend: Backend, console: Console) -> dict[str, Any]:
    """Measure one pair of agents; seconds by way, in rounds, and what they say of each other."""
    job = job_of(pair)
    with console.status(f"{pair}: trying out"):
        deals = deals_for(job, seconds)
    samples: dict[str, list[dict[str, float]]] = {"processes": [], "ray": [], "plain": []}
    ways: dict[str, Callable[[], dict[str, float]]] = {
        "processes": lambda: crew_seconds(job, deals, Backend()),
        "ray": lambda: crew_seconds(job, deals, backend),
        "plain": lambda: plain_seconds(pair, deals),
    }
    names = list(ways)
    for number in range(rounds):
        with console.status(f"{pair}: round {number + 1} of {rounds}, {deals:,} deals"):
            for k in range(len(names)):  # each begins a round in turn
                name = names[(number + k) % len(names)]
                samples[name].append(ways[name]())
    return {"pair": pair, "deals": deals, "samples": samples, **figures(samples)}


def figures(samples: dict[str, list[dict[str, float]]]) -> dict[str, float]:
    """Return medians over the rounds of what stands side by side in each: a slow minute of the machine hits all."""
    rows = list(zip(*([row["play"] for row in samples[way]] for way in ("processes", "ray", "plain")), strict=True))
    return {
        "overhead_of_ray": statistics.median(ray / processes - 1 for processes, ray, _ in rows),
        "ray_per_plain": statistics.median(plain / ray for _, ray, plain in rows),
        "processes_per_plain": statistics.median(plain / processes for processes, _, plain in rows),
    } | {f"start_{way}": statistics.median(row["start"] for row in samples[way]) for way in samples}


def show(found: list[dict[str, Any]], console: Console) -> None:
    """Print the figures as a table."""
    table = Table("agents, deals", "way", "begins, s", "plays, s", "deals/s", "against plain", "against processes")
    for row in found:
        for way, samples in row["samples"].items():
            times = sorted(sample["play"] for sample in samples)
            seconds = statistics.median(times)
            plain = {"processes": row["processes_per_plain"], "ray": row["ray_per_plain"]}.get(way)
            table.add_row(
                f"{row['pair']}, {row['deals']:,}",
                way,
                f"{row[f'start_{way}']:.1f}",
                f"{seconds:.1f} ({times[0]:.1f}..{times[-1]:.1f})",
                f"{row['deals'] / seconds:,.0f}",
                "" if plain is None else f"{plain:.2f} x speed",
                f"{row['overhead_of_ray']:+.1%} time" if way == "ray" else "",
            )
    console.print(table)


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--pair", "pairs", multiple=True, metavar="A~B", help=f"Agents; again for more. Default: {', '.join(PAIRS)}."
)
@click.option("--rounds", default=3, show_default=True, help="Rounds, each with every way in turn.")
@click.option("--seconds", default=10.0, show_default=True, help="About how long a way plays in a round.")
@click.option("--backend", "backend_text", default="ray", show_default=True, help="ray or ray:ADDRESS.")
@click.option("--json", "json_path", metavar="FILE", help="Write all samples, too.")
@click.option("--plain", nargs=3, hidden=True)
def main(
    pairs: tuple[str, ...],
    rounds: int,
    seconds: float,
    backend_text: str,
    json_path: str | None,
    plain: tuple[str, str, str] | None,
) -> None:
    """Compare two workers on Ray with two worker processes, and with two processes that have nothing in common."""
    if plain is not None:
        play_plainly(plain[0], int(plain[1]), int(plain[2]))
        return
    console = Console(stderr=True)
    backend = check_installed(Backend.of(backend_text))
    begun = time.perf_counter()
    with connected(backend, WORKERS):
        connecting = time.perf_counter() - begun
        found = [measure(pair, rounds, seconds, backend, console) for pair in pairs or PAIRS]
    show(found, Console(width=110))
    click.echo(f"Ray itself was started, or found, in {connecting:.1f} s; load {os.getloadavg()[1]:.1f} (5 minutes)")
    if json_path is not None:
        report = {"pairs": found, "connect_seconds": connecting, "rounds": rounds, "load": os.getloadavg()[1]}
        write_atomically(json_path, json.dumps(report | {"machine": machine() | versions()}, indent=1) + "\n")


if __name__ == "__main__":
    main()
