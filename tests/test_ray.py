"""Work on a real Ray cluster of three nodes: the same bytes as here, whatever is killed; memory stays bounded."""

from __future__ import annotations

import hashlib
import json
import os
import random
import subprocess
import sys
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import ray_work
from ray_nodes import STORE_BYTES, TESTS, Killer, Nodes, wait_for

from evaluation.duplicate import evaluate
from evaluation.tournament.config import tournament_from
from evaluation.tournament.run import run_tournament
from evaluation.tournament.table import found_by
from evaluation.work.backend import AHEAD, Backend, BackendError, PoisonedError, Workers, open_workers
from evaluation.work.crew import Desk, open_crew
from evaluation.work.job import Job, Part
from evaluation.work.part import PartError
from evaluation.work.run import run
from spades_cli.main import main
from spades_env.rules import PRESETS

ROOT = Path(__file__).resolve().parent.parent
RAY = Backend("ray")
"""This process is connected by the fixture `nodes`, and so stays where it is."""
TIMES = ("seconds", "ms_per_decision", "deal_seconds")

pytestmark = [pytest.mark.usefixtures("nodes"), pytest.mark.timeout(600)]


@contextmanager
def workers(count: int, begin: Callable[..., None] = ray_work.begin, *arguments: Any) -> Iterator[Workers]:
    """Workers on the cluster."""
    with open_workers(RAY, count, begin, arguments) as found:
        yield found


def lines(notes: Path) -> list[str]:
    """What workers have noted."""
    return notes.read_text(encoding="utf-8").splitlines() if notes.exists() else []


def timeless(values: Any) -> Any:
    """JSON values without what depends on the clock."""
    if isinstance(values, dict):
        return {name: timeless(value) for name, value in values.items() if name not in TIMES}
    return [timeless(value) for value in values] if isinstance(values, list) else values


def hashed(folder: Path) -> dict[str, str]:
    """A hash of every file in a folder, but for locks."""
    files = (path for path in sorted(folder.rglob("*")) if path.is_file() and path.suffix != ".lock")
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


# --- The same bytes -----------------------------------------------------------------------------------------


def ways(nodes: Nodes, full: bool) -> list[list[str]]:
    """Options of a command: this process and two workers on the cluster; and, in full, any others."""
    here, cluster = ["--backend", "local"], ["--backend", f"ray:{nodes.address}"]
    some = [here, [*cluster, "--workers", "2"]]
    return [*some, [*here, "--workers", "2"], cluster, [*cluster, "--workers", "4"]] if full else some


FULL = [pytest.param(False, id="two"), pytest.param(True, id="all", marks=pytest.mark.slow)]


@pytest.mark.parametrize("full", FULL)
def test_evaluate_comes_to_the_same(
    full: bool, nodes: Nodes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every card of every game, and all figures; in full with the champion, too."""
    monkeypatch.chdir(tmp_path)
    agents = ["champion", "easy"] if full else ["easy", "random"]
    arguments = ["evaluate", *agents, "--deals", "60", "--matches", "4", "--seed", "5", "--json", "-"]
    found = []
    for k, way in enumerate(ways(nodes, full)):
        assert main([*arguments, "--record", f"{k}", *way]) == 0
        found.append(
            (timeless(json.loads(capsys.readouterr().out)), hashlib.sha256(Path(f"{k}").read_bytes()).hexdigest())
        )
        found[-1][0]["command"] = found[-1][0]["command"].replace(f"--record {k}", "")
    assert all(other == found[0] for other in found)


@pytest.mark.parametrize("full", FULL)
def test_a_tournament_comes_to_the_same(
    full: bool, nodes: Nodes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    arguments = ["tournament", "easy", "random", "conservative", "lowest", "--games", "90", "--min-games", "10"]
    arguments += ["--seat-games", "8", "--json", "-"]
    found = []
    for k, way in enumerate(ways(nodes, full)):
        assert main([*arguments, "--out", f"{k}", *way]) == 0
        found.append(timeless(json.loads(capsys.readouterr().out)))
        found[-1]["command"] = found[-1]["command"].replace(f"--out {k}", "")
    assert all(other == found[0] for other in found)


@pytest.mark.parametrize("full", FULL)
def test_the_benchmark_comes_to_the_same(
    full: bool, nodes: Nodes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """An agent of one's own, whose file lies in the current folder, among them."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my_ray_bots.py").write_text("from agents.rules.extremes import LowestAgent as Bot\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    arguments = ["benchmark", "--suite", "full", "--only", "bid_only|endgames|cross_play", "--scale", "0.02"]
    arguments += ["easy", "my_ray_bots:Bot", "--json", "-"]
    found = []
    for k, way in enumerate(ways(nodes, full)):
        assert main([*arguments, "--out", f"{k}", *way]) == 0
        found.append(timeless(json.loads(capsys.readouterr().out)))
        found[-1]["command"] = found[-1]["command"].replace(f"--out {k}", "")
    assert len(found[0]["results"]) == 6
    assert all(other == found[0] for other in found)


@pytest.mark.parametrize("full", FULL)
def test_generated_files_are_the_same(
    full: bool, nodes: Nodes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("pyarrow", reason="needs the extra `data`")
    monkeypatch.chdir(tmp_path)
    arguments = ["generate", "--agent", "easy", "--deals", "90", "--part-deals", "10", "--epsilon", "0.1"]
    found = []
    for k, way in enumerate(ways(nodes, full)):
        assert main([*arguments, "--out", f"{k}", *way]) == 0
        found.append(hashed(tmp_path / f"{k}"))
    assert len(found[0]) == 9 + 3
    assert all(other == found[0] for other in found)


# --- Once, and not for ever ---------------------------------------------------------------------------------


def test_what_ran_twice_counts_once(tmp_path: Path) -> None:
    """A worker ends when all work is done and before it is told: it is done again, and told once."""
    notes = tmp_path / "notes"
    with workers(2) as crew:
        answers = [crew.submit(ray_work.number, k, str(notes)) for k in range(5)]
        answers.insert(2, crew.submit(ray_work.die_once, 77, str(notes)))
        assert [answer.result(120) for answer in answers] == [0, 1, 77, 2, 3, 4]
    done = Counter(line for line in lines(notes) if line.startswith("done"))
    assert done["done 77"] == 2


def test_poison_is_given_up_and_all_else_is_done(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    with workers(2) as crew:
        poison = crew.submit(ray_work.die, 66, str(notes))
        answers = [crew.submit(ray_work.number, k, str(notes)) for k in range(20)]
        with pytest.raises(PoisonedError, match="3 workers ended abruptly over it"):
            poison.result(120)
        assert [answer.result(120) for answer in answers] == list(range(20))
    # Once with others, when it may not have been clear which of them it was, and then alone.
    assert lines(notes).count("begun 66") in (3, 4)


def test_errors_come_out_as_they_were_raised(tmp_path: Path) -> None:
    with workers(1) as crew:
        with pytest.raises(ZeroDivisionError) as caught:
            crew.submit(ray_work.fail, "oh").result(120)
        assert str(caught.value) == "oh"
        assert "ray_work.py" in caught.value.__notes__[0]
        assert crew.submit(ray_work.number, 4, str(tmp_path / "notes")).result(120) == 4


def test_a_node_with_other_code_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from evaluation.work import actors

    here = actors.identity()
    monkeypatch.setattr(actors, "identity", lambda: here | {"numpy": "0.1"})
    with workers(2) as crew, pytest.raises(BackendError, match=r"node .* has numpy .* where 0\.1 is at work"):
        crew.submit(ray_work.number, 1, str(tmp_path / "notes")).result(120)


@pytest.mark.slow
def test_workers_that_cannot_begin_are_not_tried_for_ever() -> None:
    with workers(2, ray_work.end_at_once) as crew, pytest.raises(BackendError, match="5 workers in a row ended before"):
        crew.submit(ray_work.fail, "never").result(300)


@pytest.mark.slow
def test_an_agent_that_ends_her_process_is_reported_with_games_and_seed() -> None:
    with pytest.raises(PartError, match=r"^deals \d+\.\.\d+ of seed 7: 3 workers ended abruptly over it"):
        evaluate("ray_work:Deadly", "easy", deals=40, batch_size=4, seed=7, workers=2, backend=RAY)


# --- Kills --------------------------------------------------------------------------------------------------


def test_a_node_is_killed_and_another_comes(nodes: Nodes, tmp_path: Path) -> None:
    """More workers are asked for than there are processors; those of a node that joins later work, too."""
    notes, count = tmp_path / "notes", 30
    with workers(5) as crew:
        answers = [crew.submit(ray_work.number, k, str(notes), 0.4) for k in range(count)]
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


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_twenty_workers_and_nodes_are_killed_at_random_moments(nodes: Nodes, tmp_path: Path) -> None:
    """Evaluations, each with kills of its own, until 20 processes have been killed, four nodes among them."""
    chance, kills, rounds = random.Random(8), 0, 0
    options: dict[str, Any] = {"deals": 1500, "batch_size": 20, "seed": 3}
    whole = evaluate("easy", "random", **options)
    while kills < 20:
        with Killer(nodes, seed=rounds, most=6, pause=(2.0, 5.0)) as killer:
            store = tmp_path / f"{rounds}"
            found = evaluate(ray_work.SlowEasy(), "random", workers=3, backend=RAY, **options)
            if rounds < 4:
                nodes.kill(chance.choice(nodes.others))
                nodes.add()
        kills, rounds = kills + killer.killed, rounds + 1
        assert found.log.tobytes() == whole.log.tobytes(), store
    print(f"{kills} workers and {min(rounds, 4)} nodes killed in {rounds} evaluations")


def start(address: str, folder: Path) -> subprocess.Popen[bytes]:
    """Start an evaluation with two workers that keeps its parts in `folder`."""
    command = [sys.executable, "-m", "spades_cli.main", "evaluate", "ray_work:SlowEasy", "random", "--deals", "60"]
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
    expected = json.loads(json.dumps(evaluate("ray_work:SlowEasy", "random", deals=60).to_dict()))
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


# --- Memory -------------------------------------------------------------------------------------------------


def test_results_are_freed_and_wait_for_a_slow_consumer(tmp_path: Path) -> None:
    """Results of four times the object store pass through it; no more than ordered are ever made."""
    notes, size, most = tmp_path / "notes", 4 * 2**20, 2 * AHEAD
    total = 4 * STORE_BYTES // size
    with workers(2) as crew:
        flying: deque[Future[bytes]] = deque()
        for k in range(total):
            flying.append(crew.submit(ray_work.large, k, size, str(notes)))
            if len(flying) == most:
                number = k - most + 1
                assert flying.popleft().result(120) == bytes([number % 256]) * size
                if number % 25 == 0:
                    time.sleep(0.5)
                    assert len(lines(notes)) <= k + 1
        assert all(len(answer.result(120)) == size for answer in flying)
    assert len(lines(notes)) == total


def test_a_slow_consumer_of_games_holds_the_workers_back(tmp_path: Path) -> None:
    """Whoever takes a part and thinks about it finds no more than those that were in flight."""
    job = Job(("easy", "random"), PRESETS["classic"])
    with open_crew(Desk([job]), 2, RAY) as crew:
        made: list[Part] = []
        submit = crew.submit

        def counted(*order: int) -> Future[Part]:
            future = submit(*order)
            future.add_done_callback(lambda done: made.append(done.result()))
            return future

        crew.submit = counted  # type: ignore[method-assign]
        parts = run(crew, 0, 10_000, batch_size=1)
        for taken in range(1, 4):
            next(parts)
            time.sleep(0.5)
            assert len(made) <= taken + 5 * crew.in_flight
        parts.close()


# --- What only Python asks for ------------------------------------------------------------------------------


def test_an_object_is_sent_and_texts_are_taken_as_backends(nodes: Nodes) -> None:
    found = evaluate(ray_work.SlowEasy(), "easy", deals=4, batch_size=2, workers=1, backend=f"ray:{nodes.address}")
    assert found.log.tobytes() == evaluate("easy", "easy", deals=4).log.tobytes()


@pytest.mark.slow
def test_a_tournament_survives_kills(nodes: Nodes, tmp_path: Path) -> None:
    fields = {"agents": ["easy", "random", "ray_work:SlowEasy"], "games": 900, "min_games": 300}
    whole = timeless(found_by(run_tournament(tournament_from(fields), tmp_path / "whole")))
    with Killer(nodes, seed=5, most=5, pause=(2.0, 4.0)) as killer:
        found = run_tournament(tournament_from(fields), tmp_path / "killed", workers=2, backend=RAY)
    assert timeless(found_by(found)) == whole
    print(f"{killer.killed} workers killed")
    assert killer.killed
