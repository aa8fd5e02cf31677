"""kill −9 while a dataset is being made: the same command goes on, and the bytes are those of an uninterrupted run."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytest.importorskip("pyarrow", reason="needs the extra `data`")

from evaluation.dataset.generate import generate
from evaluation.dataset.spec import dataset_spec
from evaluation.dataset.store import LOCK_FILE

ROOT = Path(__file__).resolve().parent.parent
DEALS, PART_DEALS = 900, 10
PARTS = DEALS // PART_DEALS


def contents(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file() and path.name != LOCK_FILE)
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def start(folder: Path, workers: int) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "spades_cli.main", "generate", "--agent", "easy", "--deals", str(DEALS)]
    command += ["--part-deals", str(PART_DEALS), "--workers", str(workers), "--out", str(folder)]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    return subprocess.Popen(
        command, env=environment, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True
    )


def kill_at_random(folder: Path, workers: int, chance: random.Random) -> bool:
    """Kill the command a moment after it has made one to three parts more; whether it was still at work."""
    process = start(folder, workers)
    wanted = len(list(folder.glob("data/*.parquet"))) + chance.randint(1, 3)
    end = time.monotonic() + 200
    while process.poll() is None and len(list(folder.glob("data/*.parquet"))) < wanted and time.monotonic() < end:
        time.sleep(0.002)
    time.sleep(chance.uniform(0.0, 0.02))
    running = process.poll() is None
    process.kill()
    # The workers share the pipe of stderr: it ends when the last of them has ended.
    _, error = process.communicate(timeout=60)
    assert running or process.returncode in (0, -signal.SIGKILL), error
    return running


def killed_and_finished(tmp_path: Path, workers: int, kills: int, seed: int) -> None:
    chance = random.Random(seed)
    folder = tmp_path / "killed"
    count = sum(kill_at_random(folder, workers, chance) for _ in range(kills))
    assert count >= min(kills, 10), "it was finished before it could be killed"
    last = start(folder, workers)
    _, error = last.communicate(timeout=200)
    assert last.returncode == 0, error
    command = f"spades generate --agent easy --deals {DEALS} --part-deals {PART_DEALS}"
    generate(dataset_spec("easy", DEALS, part_deals=PART_DEALS), tmp_path / "whole", command=command)
    assert contents(folder) == contents(tmp_path / "whole")
    assert len(list(folder.glob("data/*"))) == PARTS


def test_two_kills(tmp_path: Path) -> None:
    killed_and_finished(tmp_path, workers=2, kills=2, seed=1)


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("workers", [1, 2])
def test_many_kills(tmp_path: Path, workers: int) -> None:
    """15 kills, of which the last may come after the end."""
    killed_and_finished(tmp_path, workers=workers, kills=15, seed=workers)
