"""Commands that go on after an interruption, as a table, and the process in which they are killed (killable.py)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Self

ROOT: Final = Path(__file__).resolve().parent.parent
PATIENCE: Final = 240.0
"""Seconds after which waiting is a failure."""

LADDER: Final = """\
seed: 3
sections:
- title: Levels
  duels:
  - {a: easy, b: lowest, games: 40}
  - {a: random, b: lowest, games: 40}
  - {a: lowest, b: random, kind: matches, games: 4}
  - {a: easy, games: 20}
"""
TRAINING: Final = """\
name: run
deals: 48
threads: 1
checkpoint_every: 0.15
network: {hidden: [8], precision: float32}
ppo: {games: 8, minibatch: 64}
evaluation: {every: 0.3, deals: 4, final_deals: 4, opponents: [random], final_opponents: [random]}
"""
NO_FIGURES: Final = {
    *("seconds", "minutes", "ms_per_decision", "ms_per_decision_by_seat", "same_code", "speed", "command", "machine"),
    *("versions", "date"),
}
"""Fields that depend on the clock or say how something was called."""


@dataclass(frozen=True)
class Resumable:
    """A command that keeps what it has done in a folder.

    Attributes:
        arguments: the command for a folder; `resumed` the same for the next try, where it differs.
        found: what it came to in the folder, without times; equal results are equal values.
        begun: whether the folder holds something that a next try goes on from.
        needs: a library without which the command does not work.
    """

    name: str
    arguments: Callable[[Path], list[str]]
    found: Callable[[Path], Any]
    begun: Callable[[Path], bool]
    resumed: Callable[[Path], list[str]] | None = None
    needs: str | None = None

    def command(self, folder: Path) -> list[str]:
        """The arguments for the next try in a folder."""
        return (self.resumed or self.arguments)(folder) if self.begun(folder) else self.arguments(folder)


def without_times(value: Any) -> Any:
    """Plain values without the fields that differ from run to run."""
    if isinstance(value, dict):
        return {name: without_times(part) for name, part in value.items() if name not in NO_FIGURES}
    return [without_times(part) for part in value] if isinstance(value, list) else value


def _json(name: str) -> Callable[[Path], Any]:
    return lambda folder: without_times(json.loads((folder / name).read_text(encoding="utf-8")))


def _written(folder: Path, name: str, text: str) -> str:
    """The path of an input file beside the folder."""
    path = folder.parent / name
    path.write_text(text, encoding="utf-8")
    return str(path)


def _evaluate(folder: Path) -> list[str]:
    figures = ["--deals", "60", "--matches", "6", "--seed", "4", "--batch-size", "4", "--resume", str(folder)]
    return ["evaluate", "easy", "random", *figures, "--json", f"{folder}.json"]


def _tournament(folder: Path) -> list[str]:
    return ["tournament", "easy", "random", "lowest", "--deals", "700", "--min-deals", "100", "--out", str(folder)]


def _ladder(folder: Path) -> list[str]:
    return ["ladder", "--config", _written(folder, "ladder.yaml", LADDER), "--out", str(folder)]


def _benchmark(folder: Path) -> list[str]:
    tasks = ["--only", "bid_only|play_only|bag_control", "--scale", "0.004"]
    return ["benchmark", "easy", "random", *tasks, "--out", str(folder)]


def _generate(folder: Path) -> list[str]:
    return ["generate", "--agent", "easy", "--deals", "60", "--part-deals", "6", "--seed", "4", "--out", str(folder)]


def _files(folder: Path) -> dict[str, bytes]:
    """All files of a dataset, its description without times."""
    return {path.name: path.read_bytes() for path in sorted(folder.rglob("*.parquet"))}


def _train(folder: Path) -> list[str]:
    return ["train", _written(folder, "tiny.yaml", TRAINING), "--runs", str(folder)]


def _trained(folder: Path) -> Any:
    """Figures of a run, and the bytes of its weights behind the header, which has the date."""
    data = (folder / "run" / "policy.safetensors").read_bytes()
    return _json("run/results.json")(folder), data[8 + int.from_bytes(data[:8], "little") :]


def _has(pattern: str) -> Callable[[Path], bool]:
    return lambda folder: any(folder.glob(pattern))


RESUMABLE: Final = (
    Resumable("evaluate", _evaluate, lambda folder: _json(f"{folder.name}.json")(folder.parent), _has("*.part")),
    Resumable("tournament", _tournament, _json("tournament.json"), _has("games/*/*.part")),
    Resumable("ladder", _ladder, _json("ladder.json"), _has("results.json")),
    Resumable("benchmark", _benchmark, _json("benchmark.json"), _has("results.json")),
    Resumable("generate", _generate, _files, _has("data/*.parquet"), needs="pyarrow"),
    Resumable(
        "train",
        _train,
        _trained,
        _has("run/checkpoint.safetensors"),
        lambda folder: [*_train(folder), "--resume"],
        needs="sb3_contrib",
    ),
)
"""A command that keeps its work in a folder belongs here."""


class Killable:
    """The process that runs commands in children: a context."""

    def __init__(self, folder: Path, names: tuple[str, ...]) -> None:
        self._log = folder / "log.txt"
        environment = os.environ | {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
        self._process = subprocess.Popen(
            [sys.executable, str(ROOT / "tests" / "killable.py"), *names],
            env=environment,
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            pipe.close()

    def start(self, arguments: list[str], log: Path | None = None, **faults: Any) -> int:
        """Start a command; its process id."""
        return self._ask({"start": arguments, "log": str(log or self._log), "faults": faults})

    def wait(self, pid: int) -> int:
        """The exit status of a command, negative for a signal."""
        return self._ask({"wait": pid})

    def run(self, arguments: list[str], **faults: Any) -> tuple[int, str]:
        """Run a command to its end; status and all that it said."""
        status = self.wait(self.start(arguments, **faults))
        return status, self._log.read_text(encoding="utf-8")

    def _ask(self, request: dict[str, Any]) -> int:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(json.dumps(request), file=self._process.stdin, flush=True)
        return int(self._process.stdout.readline())


def wait_for(happens: Callable[[], bool]) -> None:
    """Wait until something happens."""
    end = time.monotonic() + PATIENCE
    while not happens():
        assert time.monotonic() < end
        time.sleep(0.002)


def error_line(said: str) -> str:
    """The error among the lines of a command; there is one, and no traceback."""
    lines = [line for line in said.splitlines() if line.startswith("spades: error: ")]
    assert len(lines) == 1, said
    assert "Traceback" not in said
    return lines[0]
