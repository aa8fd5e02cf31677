"""What is measured, against whom, and the report: plain values whose names are a contract (docs/peers.md)."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Collection
from dataclasses import dataclass
from importlib import metadata
from typing import Any, Final

from benchmarks import fresh, ours, peers
from benchmarks.timing import Sample, Work, alternate, per_cpu_second, per_wall_second
from evaluation.machine import machine, versions


@dataclass(frozen=True)
class Loop:
    """A measured loop: its name in the report, its group, how to make it from a seed, what it does."""

    name: str
    group: str
    make: Callable[[int], Work]
    meaning: str


GROUPS: Final = ("playout", "batch", "aec", "import", "compile")
LOOPS: Final = (
    Loop("playout", "playout", ours.playout, "random playouts inside a kernel, dealing included"),
    Loop("openspiel_cpp", "playout", peers.openspiel_cpp, "OpenSpiel: random C++ rollouts of dealt states"),
    Loop(
        "batch_observation",
        "batch",
        ours.batch_observation,
        f"{ours.BATCH_GAMES} games from Python: uint8 observations, masks, sampler, step",
    ),
    Loop(
        "openspiel_python",
        "batch",
        lambda seed: peers.openspiel_python(seed, written=False),
        "OpenSpiel from Python: observation_tensor, legal_actions, random choice",
    ),
    Loop(
        "openspiel_python_written",
        "batch",
        lambda seed: peers.openspiel_python(seed, written=True),
        "the same with write_observation_tensor into an array",
    ),
    Loop("aec", "aec", ours.aec, "env() through agent_iter and last, random legal actions"),
    Loop("connect_four", "aec", peers.connect_four, "PettingZoo's connect_four_v3.env() the same way"),
)
RATIOS: Final = {
    "playout_vs_openspiel_cpp": ("playout", "openspiel_cpp"),
    "batch_observation_vs_openspiel_python": ("batch_observation", "openspiel_python"),
    "batch_observation_vs_openspiel_python_written": ("batch_observation", "openspiel_python_written"),
    "aec_vs_pettingzoo_connect_four": ("aec", "connect_four"),
}
"""Ratio: (our loop, the peer's)."""
PEER_PACKAGES: Final = ("open-spiel", "pettingzoo", "gymnasium")


def bench(
    groups: Collection[str] = GROUPS,
    *,
    rounds: int = 5,
    seconds: float = 1.0,
    seed: int = 0,
    progress: Callable[[str], None] = lambda text: None,
) -> dict[str, Any]:
    """Measure `groups`, each loop `rounds` times for `seconds`, and return the report, ready for JSON.

    Rates are decisions per second of CPU time, ratios are those of the median rates; what was not measured is
    None and has its reason under "reason".
    """
    started = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    works, reasons = _make_loops(groups, seed, progress)
    samples = alternate(works, rounds, seconds, progress)
    parts = _compile_parts(groups, progress)
    rates = {name: per_cpu_second(rows) for name, rows in samples.items()}
    ratios = {
        name: rates[mine] / rates[theirs] if mine in rates and theirs in rates else None
        for name, (mine, theirs) in RATIOS.items()
    }
    missing = {name: reasons[RATIOS[name][1]] for name, ratio in ratios.items() if ratio is None}
    return {
        "ratio": ratios,
        "reason": missing | {name: text for name, text in reasons.items() if name in GROUPS},
        "per_second": rates,
        "per_second_wall": {name: per_wall_second(rows) for name, rows in samples.items()},
        "samples": {name: [_plain(row) for row in rows] for name, rows in samples.items()},
        "import_seconds": _import_seconds(groups, progress),
        "compile_seconds": sum(parts.values()) if parts else None,
        "compile_parts": parts,
        "machine": machine() | versions() | {name: _version(name) for name in PEER_PACKAGES},
        "settings": {"groups": sorted(groups), "rounds": rounds, "seconds": seconds, "seed": seed},
        "started": started,
    }


def _make_loops(
    groups: Collection[str], seed: int, progress: Callable[[str], None]
) -> tuple[dict[str, Work], dict[str, str]]:
    """The loops of `groups`, each called once so that it is compiled, and why the others are not there."""
    works: dict[str, Work] = {}
    reasons = {group: f"not asked for (--only {','.join(groups)})" for group in GROUPS if group not in groups}
    for loop in LOOPS:
        if loop.group not in groups:
            reasons[loop.name] = reasons[loop.group]
            continue
        progress(f"preparing {loop.name} (what is not compiled yet is compiled now)")
        try:
            work = loop.make(seed)
        except peers.MissingPeer as error:
            reasons[loop.name] = str(error)
            continue
        work()
        works[loop.name] = work
    return works, reasons


def _import_seconds(groups: Collection[str], progress: Callable[[str], None]) -> float | None:
    if "import" not in groups:
        return None
    progress("importing in fresh processes")
    return fresh.import_seconds()


def _compile_parts(groups: Collection[str], progress: Callable[[str], None]) -> dict[str, float]:
    if "compile" not in groups:
        return {}
    progress("compiling everything anew in a fresh process with an empty cache: up to a minute")
    return fresh.compile_seconds()


def _plain(sample: Sample) -> dict[str, float]:
    return {"decisions": sample.decisions, "wall_seconds": sample.wall, "cpu_seconds": sample.cpu}


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None
