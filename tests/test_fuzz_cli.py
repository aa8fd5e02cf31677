"""Random command lines out of every command's own options: status 0, 1 or 2, an error in one line, no traceback.

What would play or train is replaced by an error of its own, so that a line costs milliseconds; all else is real.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import os
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import numpy as np
import pytest
import report_samples as samples
from fuzz_readers import time_limit
from record_games import suited_game
from spoiling import Rng, as_json, pick
from test_bad_input_cli import FILES

from spades_cli.main import SUBCOMMANDS, main
from spades_env.rules import PRESETS

FEW = 150
"""Lines in the quick group."""
SECONDS = 240.0
"""In the slow group."""
PLAYS = {
    "spades_cli.evaluate": "_evaluate",
    "spades_cli.tournament": "_run",
    "spades_cli.ladder": "_play",
    "spades_cli.benchmark": "_run",
    "spades_cli.exploit": "exact_exploitability",
    "spades_cli.equity": "equity_table",
    "spades_cli.leaderboard": "_play",
    "spades_cli.seated.session": "Session",
    "spades_cli.play": "Session",
    "benchmarks.report": "bench",
    "training.run": "train",
    "evaluation.promotion": "promotion",
    "spades_cli.generate": "_generate",
    "spades_cli.minari": "export_minari",
    "training.best_response": "trained_exploitability",
    "table.serve": "serve",
}
"""What would take long, by module."""
NUMBERS = (
    "0",
    "1",
    "2",
    "100",
    "-1",
    "1.5",
    "nan",
    "inf",
    "-inf",
    "1e400",
    "9" * 40,
    "9" * 5000,
    "0x10",
    "1_000",
    "",
    "x",
)
TEXTS = (
    *("", " ", "\x00", "\x1b[31m", "a\nb", "\ud800", "ä" * 100, "x" * 3000, "-", "--", "-x", "--json", "=", "a=b", ","),
    *("(", "[", "^normal v", "bid_only", "zzz", "core", "full", "playout", "two_8", "all", "cpu", "cuda:99"),
    *(
        "target=300",
        "target",
        "deals=5",
        "ppo.games=0",
        "ppo=[[[[",
        "rules=modern",
        "seed=2020-13-45",
        "a.b.c=!!int ''",
    ),
)
AGENTS = (
    *("easy", "random", "normal", "hard:worlds=5", "easy:error=0.1", "easy:error=nan", "hard:worlds=x", "easy:"),
    *(
        "cheating",
        "nobody",
        "json:loads",
        "no_such:thing",
        "process:false",
        "junk.safetensors",
        ".",
        "easy,easy,easy,easy",
    ),
)
RULES = (*PRESETS, "chess", "good.yaml")


class PlayingError(ValueError):
    """A command came as far as playing."""


def stop_here(*_: Any, **__: Any) -> Any:
    """Instead of playing."""
    raise PlayingError("here it would play")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A current folder with good and bad files, and commands that do not play."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    for module, name in PLAYS.items():
        with contextlib.suppress(ModuleNotFoundError):
            monkeypatch.setattr(importlib.import_module(module), name, stop_here)
    for ending in ("yaml", "json", "jsonl"):
        os.mkfifo(tmp_path / f"pipe.{ending}")
    (tmp_path / "folder.yaml").mkdir()
    (tmp_path / "loop.yaml").symlink_to("loop.yaml")
    return tmp_path


def write_files(folder: Path) -> None:
    """Put every file where it was: lines of before may have written over them."""
    good = {
        "good.yaml": PRESETS["modern"].to_yaml().encode(),
        "good.jsonl": as_json(suited_game().to_record()) + b"\n",
        "evaluation.json": as_json(samples.evaluation()),
        "tournament.json": as_json(samples.tournament()),
    }
    for name, data in (FILES | good).items():
        if not (folder / name).is_dir():
            (folder / name).write_bytes(data)


def lines(seed: int) -> Iterator[list[str]]:
    """Yield endless command lines."""
    paths = (*FILES, "good.yaml", "good.jsonl", "evaluation.json", "tournament.json", "pipe.yaml", "pipe.json")
    paths += (
        "pipe.jsonl",
        "folder.yaml",
        "loop.yaml",
        "none.json",
        "none/x.json",
        ".",
        "",
        "out",
        "new.json",
        "new.html",
    )
    pools = (NUMBERS, TEXTS, AGENTS, RULES, paths)
    k = 0
    while True:
        rng = np.random.default_rng([seed, k])
        yield line(rng, pools)
        k += 1


def line(rng: Rng, pools: tuple[tuple[str, ...], ...]) -> list[str]:
    """A command with some of its options, their values of a fitting kind or any, and arguments."""
    name = pick(rng, list(SUBCOMMANDS))
    try:
        command = importlib.import_module(f"spades_cli.{name}").command
    except ModuleNotFoundError:
        return [name, "--help"]
    words = [name]
    options = [option for option in command.params if isinstance(option, click.Option)]
    for _ in range(int(rng.integers(0, 4))):
        option = pick(rng, options) if options else None
        words += [pick(rng, TEXTS)] if option is None or not rng.integers(12) else option_words(rng, option, pools)
    for _ in range(int(rng.integers(0, 4))):
        words.append(pick(rng, AGENTS if rng.integers(2) else pick(rng, pools)))
    return words


def option_words(rng: Rng, option: click.Option, pools: tuple[tuple[str, ...], ...]) -> list[str]:
    """An option and a value, mostly one of its kind."""
    if option.is_flag:
        return [option.opts[0]]
    numeric = isinstance(option.type, click.types.IntParamType | click.types.FloatParamType)
    fitting = NUMBERS if numeric else RULES if option.name in ("rules_spec", "config") else pick(rng, pools)
    return [option.opts[0], pick(rng, fitting if rng.integers(5) else pick(rng, pools))]


def said(words: list[str]) -> tuple[int, str]:
    """Status and stderr of a command line; all that it may not do fails the test."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), time_limit(30):
        status = main(words)
    text = err.getvalue()
    assert status in (0, 1, 2), words
    errors = [line for line in text.split("\n") if line.startswith("spades: error: ")]
    assert len(errors) == (status != 0), (words, text)
    assert all(line.isprintable() and len(line) < 2100 for line in errors), (words, text)
    assert "Traceback" not in text, (words, text)
    return status, text


def run(folder: Path, seed: int, most: int | None = None, seconds: float | None = None) -> Counter[str]:
    """Run command lines; how many ended in which way."""
    found: Counter[str] = Counter()
    end = None if seconds is None else time.monotonic() + seconds
    for k, words in enumerate(lines(seed)):
        if k == most or (end is not None and time.monotonic() > end):
            break
        if k % 25 == 0:
            write_files(folder)
        try:
            status, text = said(words)
        except BaseException as error:
            error.add_note(f"command line {k} of seed {seed}: {words!r:.600}")
            raise
        found["would play" if "here it would play" in text else f"status {status}"] += 1
    return found


@pytest.mark.timeout(300)
def test_some_command_lines(folder: Path) -> None:
    found = run(folder, 1, most=FEW)
    print(f"{found.total()} command lines: {dict(found)}")
    assert found["status 2"] > FEW / 2
    assert found["would play"] > 0


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_many_command_lines(folder: Path) -> None:
    found = run(folder, 2, seconds=SECONDS)
    print(f"fuzz of the command line: {found.total()} lines: {dict(found)}")
    assert found["status 2"] > found.total() / 2
    assert found["would play"] > 0
