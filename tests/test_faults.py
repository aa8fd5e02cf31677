"""What a crash, a full disk, a folder that may not be written, a wrong clock and a second process do: nothing lasting.

Commands are killed at numbered steps of writing files and at random moments; when they have gone on to the end, all
figures and weights are those of a run that was never stopped, bit for bit on one thread.
"""

from __future__ import annotations

import errno
import os
import signal
import time
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from faults import RESUMABLE, Killable, Resumable, error_line, wait_for

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork"),
    pytest.mark.timeout(600),
]
KILLS = 11
"""Of each command in the slow group."""
WRITING = ("mkstemp", "fsync", "replace")
BY_NAME = {command.name: command for command in RESUMABLE}


def available() -> list[Resumable]:
    """The commands whose libraries are installed."""
    return [command for command in RESUMABLE if command.needs is None or find_spec(command.needs) is not None]


@dataclass
class Runs:
    """The process, and of each command what it comes to when nothing happens, and how long that takes."""

    process: Killable
    folder: Path
    whole: dict[str, tuple[Any, float]]

    def expected(self, command: Resumable) -> tuple[Any, float]:
        """(result, seconds) of a run that was never stopped; the second one, as the first compiles kernels."""
        if command.name not in self.whole:
            for _ in range(2):
                place = self.new(command)
                start = time.perf_counter()
                status, said = self.process.run(command.command(place))
                assert status == 0, said
                self.whole[command.name] = command.found(place), time.perf_counter() - start
        return self.whole[command.name]

    def new(self, command: Resumable) -> Path:
        """A new folder for a command."""
        place = self.folder / f"{command.name}-{len(list(self.folder.iterdir()))}" / "kept"
        place.mkdir(parents=True)
        return place

    def finish(self, command: Resumable, place: Path) -> None:
        """Go on to the end, undisturbed, and compare."""
        status, said = self.process.run(command.command(place))
        assert status == 0, said
        assert command.found(place) == self.expected(command)[0]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runs]:
    folder = tmp_path_factory.mktemp("faults")
    with Killable(folder, tuple(command.name for command in available())) as process:
        yield Runs(process, folder, {})


def one_kill(runs: Runs, command: Resumable, place: Path, rng: np.random.Generator) -> bool:
    """Run the command in `place` and kill it somewhere; whether it was killed rather than finished."""
    if rng.integers(2):
        step = {"call": WRITING[int(rng.integers(len(WRITING)))], "number": int(rng.integers(6))}
        return runs.process.run(command.command(place), **step)[0] == -signal.SIGKILL
    seconds = runs.expected(command)[1]
    pid = runs.process.start(command.command(place))
    time.sleep(seconds * float(rng.random()))
    os.kill(pid, signal.SIGKILL)  # if it has ended it has not been waited for: the number is still its own
    return runs.process.wait(pid) == -signal.SIGKILL


@pytest.mark.parametrize("name", ["evaluate", "benchmark", "train"])
def test_a_killed_command_goes_on(runs: Runs, name: str) -> None:
    """Once in the middle of writing a file."""
    if name not in {command.name for command in available()}:
        pytest.skip("needs the extra `train`")
    command = BY_NAME[name]
    place = runs.new(command)
    status, said = runs.process.run(command.command(place), call="replace", number=1)
    assert status == -signal.SIGKILL, said
    runs.finish(command, place)


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("command", available(), ids=lambda command: command.name)
def test_commands_killed_often_go_on(runs: Runs, command: Resumable) -> None:
    rng = np.random.default_rng([5, *command.name.encode()])
    killed = rounds = 0
    while killed < KILLS:
        place, rounds = runs.new(command), rounds + 1
        for _ in range(4):
            before = killed
            killed += one_kill(runs, command, place, rng)
            if killed == before:
                break
        runs.finish(command, place)
        assert rounds < 10 * KILLS
    print(f"{command.name}: killed {killed} times in {rounds} runs, each finished with the same result")


# --- Files that cannot be written -----------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("command", available(), ids=lambda command: command.name)
@pytest.mark.parametrize(
    ("call", "error"),
    [("fsync", errno.ENOSPC), ("mkstemp", errno.ENOSPC), ("mkstemp", errno.EROFS), ("replace", errno.EIO)],
    ids=lambda part: errno.errorcode.get(part, "") if isinstance(part, int) else part,
)
def test_a_full_or_broken_disk(runs: Runs, command: Resumable, call: str, error: int) -> None:
    """One line, status 1, no temporary file left; with room again the command goes on."""
    place = runs.new(command)
    status, said = runs.process.run(command.command(place), call=call, number=2, error=error)
    assert status == 1, said
    assert os.strerror(error) in error_line(said)
    assert not list(place.rglob("*.tmp"))
    runs.finish(command, place)


@pytest.mark.parametrize("command", [BY_NAME["evaluate"]], ids=lambda command: command.name)
def test_no_room_for_a_file(runs: Runs, command: Resumable) -> None:
    """The system's own limit of a file's size, hit in the middle of a write."""
    place = runs.new(command)
    status, said = runs.process.run(command.command(place), bytes=300)
    assert status == 1, said
    assert os.strerror(errno.EFBIG) in error_line(said)
    assert not list(place.rglob("*.part"))
    runs.finish(command, place)


@pytest.mark.parametrize("name", ["evaluate", "benchmark"])
def test_a_folder_that_may_not_be_written(runs: Runs, name: str) -> None:
    command = BY_NAME[name]
    place = runs.new(command)
    place.chmod(0o555)
    status, said = runs.process.run(command.command(place), permissions=True)
    assert status == 1, said
    assert "ermission denied" in error_line(said)
    assert list(place.iterdir()) == []
    place.chmod(0o755)
    runs.finish(command, place)


# --- Clocks and other processes -------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("command", available(), ids=lambda command: command.name)
def test_a_clock_that_runs_backwards(runs: Runs, command: Resumable) -> None:
    place = runs.new(command)
    status, said = runs.process.run(command.command(place), clock=True)
    assert status == 0, said
    assert command.found(place) == runs.expected(command)[0]


def stopped_at_work(runs: Runs, command: Resumable, place: Path) -> int:
    """A process that has begun in a folder and is halted there."""
    pid = runs.process.start(command.command(place))
    wait_for(lambda: command.begun(place))
    os.kill(pid, signal.SIGSTOP)
    return pid


@pytest.mark.parametrize("name", ["evaluate", "train"])
def test_a_second_process_in_the_folder_is_refused(runs: Runs, name: str) -> None:
    if name not in {command.name for command in available()}:
        pytest.skip("needs the extra `train`")
    command = BY_NAME[name]
    place = runs.new(command)
    pid = stopped_at_work(runs, command, place)
    try:
        log = place.parent / "second.txt"
        status = runs.process.wait(runs.process.start(command.command(place), log))
        assert status == 2
        assert "is in use by another" in error_line(log.read_text(encoding="utf-8"))
    finally:
        os.kill(pid, signal.SIGCONT)
    assert runs.process.wait(pid) == 0
    assert command.found(place) == runs.expected(command)[0]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["tournament", "ladder", "benchmark"])
def test_two_processes_in_one_folder_lose_nothing(runs: Runs, name: str) -> None:
    """Either is refused in one line, or both come to the end."""
    command = BY_NAME[name]
    place = runs.new(command)
    logs = [place.parent / f"{k}.txt" for k in range(2)]
    pids = [runs.process.start(command.command(place), log) for log in logs]
    for pid, log in zip(pids, logs, strict=True):
        status = runs.process.wait(pid)
        assert status in (0, 2)
        if status == 2:
            assert "is in use by another" in error_line(log.read_text(encoding="utf-8"))
    runs.finish(command, place)
