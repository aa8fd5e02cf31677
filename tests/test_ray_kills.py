"""Workers, nodes and drivers of a real Ray cluster are killed at random moments; nothing is lost, nothing doubled."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import ray_work
from ray_checks import RAY, lines, timeless, workers
from ray_nodes import TESTS, Killer, Nodes, wait_for

from evaluation.duplicate import evaluate
from evaluation.tournament.config import tournament_from
from evaluation.tournament.run import run_tournament
from evaluation.tournament.table import found_by

ROOT = Path(__file__).resolve().parent.parent

pytestmark = [pytest.mark.usefixtures("nodes"), pytest.mark.timeout(600)]


def test_a_node_is_killed_and_another_comes(nodes: Nodes, tmp_path: Path) -> None:
    """More workers are asked for than there are processors; those of a node that joins later work, too."""
    notes, count = tmp_path / "notes", 24
    with workers(5) as crew:
        answers = [crew.submit(ray_work.number, k, str(notes), 0.3) for k in range(count)]
        wait_for(lambda: len(lines(notes)) > 4)
        nodes.kill(nodes.others[0])
        nodes.add()
        assert [answer.result(120) for answer in answers] == list(range(count))
    assert {line for line in lines(notes) if line.startswith("done")} == {f"done {k}" for k in range(count)}


def test_workers_are_killed_while_an_evaluation_runs(nodes: Nodes) -> None:
    options: dict[str, Any] = {"deals": 1200, "batch_size": 20, "seed": 2}
    whole = evaluate("easy", "random", **options)
    with Killer(nodes, seed=1, most=3, pause=(3.0, 5.0)) as killer:
        found = evaluate(ray_work.SlowEasy(), "random", workers=2, backend=RAY, **options)
    assert killer.killed >= 1
    assert found.log.tobytes() == whole.log.tobytes()
    assert [tally.decisions for tally in found.tallies] == [tally.decisions for tally in whole.tallies]


@dataclass
class NodeKiller:
    """Progress of an evaluation: after so many deals a node is killed in the midst of the work, and another comes."""

    nodes: Nodes
    node: Any
    deals: int
    killed: int = 0

    def __call__(self, what: str, done: int, total: int) -> None:
        if not self.killed and done >= self.deals:
            self.killed = 1
            self.nodes.kill(self.node)
            self.nodes.add()


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_twenty_workers_and_nodes_are_killed_at_random_moments(nodes: Nodes) -> None:
    """Evaluations, each with kills of its own, until 20 workers have been killed, and in the first four a node each."""
    chance, kills, rounds, lost = random.Random(8), 0, 0, 0
    options: dict[str, Any] = {"deals": 1500, "batch_size": 20, "seed": 3}
    whole = evaluate("easy", "random", **options)
    while kills < 20:
        moment = chance.randrange(100, 1400) if rounds < 4 else 10_000
        node_killer = NodeKiller(nodes, chance.choice(nodes.others), moment)
        with Killer(nodes, seed=rounds, most=6, pause=(2.0, 5.0)) as killer:
            found = evaluate(ray_work.SlowEasy(), "random", workers=3, backend=RAY, progress=node_killer, **options)
        kills, rounds, lost = kills + killer.killed, rounds + 1, lost + node_killer.killed
        assert found.log.tobytes() == whole.log.tobytes(), rounds
    assert lost == 4
    print(f"{kills} workers and {lost} nodes killed in {rounds} evaluations")


def start(address: str, folder: Path) -> subprocess.Popen[bytes]:
    """Start an evaluation with two workers that keeps its parts in `folder`."""
    command = [sys.executable, "-m", "spades_cli.main", "evaluate", "ray_work:SlowEasy", "random", "--deals", "40"]
    command += ["--batch-size", "2", "--workers", "2", "--resume", str(folder)]
    command += ["--json", str(folder.with_suffix(".json"))]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), str(TESTS)])}
    command += ["--backend", address]
    return subprocess.Popen(command, env=environment, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def kept(folder: Path) -> set[str]:
    """Names of the parts that are kept."""
    return {path.name for path in folder.glob("*.part")}


def check_finished(folder: Path) -> None:
    """Check that the evaluation of `start` came to what it comes to here."""
    found = json.loads(folder.with_suffix(".json").read_text(encoding="utf-8"))
    expected = json.loads(json.dumps(evaluate("ray_work:SlowEasy", "random", deals=40).to_dict()))
    for values in (found, expected):
        for name in ("command", "versions", "machine"):
            values.pop(name, None)
    assert timeless(found) == timeless(expected)


def test_the_driver_is_killed_and_goes_on_from_what_is_kept(nodes: Nodes, tmp_path: Path) -> None:
    """Killed at a random moment of its work; its actors end by themselves, and another run keeps all that was done."""
    folder = tmp_path / "kept"
    process = start(f"ray:{nodes.address}", folder)
    wait_for(lambda: len(kept(folder)) >= 3 or process.poll() is not None)
    process.kill()
    _, error = process.communicate(timeout=60)
    assert not folder.with_suffix(".json").exists(), "it was finished before it could be killed"
    before = kept(folder)
    assert len(before) >= 3, error
    wait_for(lambda: not nodes.actors())
    last = start(f"ray:{nodes.address}", folder)
    _, error = last.communicate(timeout=200)
    assert last.returncode == 0, error
    assert before <= kept(folder)
    check_finished(folder)


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_the_driver_is_killed_again_and_again(nodes: Nodes, tmp_path: Path) -> None:
    """Six kills, each after one to three parts more; every part that was kept stays."""
    folder, chance, kills, before = tmp_path / "kept", random.Random(4), 0, set()
    for _ in range(6):
        process = start(f"ray:{nodes.address}", folder)
        wanted = len(kept(folder)) + chance.randint(1, 3)
        wait_for(lambda process=process, wanted=wanted: len(kept(folder)) >= wanted or process.poll() is not None)
        kills += process.poll() is None
        process.kill()
        process.communicate(timeout=60)
        assert before <= kept(folder)
        before = kept(folder)
    last = start(f"ray:{nodes.address}", folder)
    _, error = last.communicate(timeout=200)
    assert last.returncode == 0, error
    check_finished(folder)
    print(f"{kills} drivers killed")


@pytest.mark.slow
def test_a_process_outside_the_cluster_is_a_client(nodes: Nodes, tmp_path: Path) -> None:
    folder = tmp_path / "kept"
    with nodes.client_server() as address:
        process = start(f"ray:{address}", folder)
        wait_for(lambda: len(nodes.actors()) == 2 or process.poll() is not None)
        _, error = process.communicate(timeout=200)
    assert (process.returncode, error) == (0, b"")
    check_finished(folder)


@pytest.mark.slow
def test_an_instance_of_our_own_is_started_and_nothing_of_it_stays(tmp_path: Path) -> None:
    """Without an address: a Ray of one's own, which ends with the command, also when that is killed."""
    marker = f"SPADES_TEST={tmp_path.name}-{os.getpid()}"
    folder = tmp_path / "kept"

    def left() -> list[str]:
        names = []
        for place in Path("/proc").glob("[0-9]*"):
            try:
                if marker.encode() in (place / "environ").read_bytes().split(b"\0"):
                    names.append((place / "cmdline").read_bytes().decode(errors="replace"))
            except OSError:
                continue
        return names

    os.environ[marker.partition("=")[0]] = marker.partition("=")[2]
    try:
        process = start("ray", folder)
        wait_for(lambda: len(kept(folder)) >= 3 or process.poll() is not None)
        assert len(left()) > 3
        process.kill()
        process.communicate(timeout=60)
        wait_for(lambda: not left(), 200)
        last = start("ray", folder)
        _, error = last.communicate(timeout=200)
    finally:
        del os.environ[marker.partition("=")[0]]
    assert last.returncode == 0, error
    assert error == b""
    wait_for(lambda: not left(), 60)
    check_finished(folder)


@pytest.mark.slow
def test_a_tournament_survives_kills(nodes: Nodes, tmp_path: Path) -> None:
    fields = {"agents": ["easy", "random", "ray_work:SlowEasy"], "games": 900, "min_games": 300}
    whole = timeless(found_by(run_tournament(tournament_from(fields), tmp_path / "whole")))
    with Killer(nodes, seed=5, most=5, pause=(2.0, 4.0)) as killer:
        found = run_tournament(tournament_from(fields), tmp_path / "killed", workers=2, backend=RAY)
    assert timeless(found_by(found)) == whole
    print(f"{killer.killed} workers killed")
    assert killer.killed
