"""Work on a real Ray cluster of three nodes: the same bytes as here, each order once; memory stays bounded."""

from __future__ import annotations

import hashlib
import json
import time
from collections import Counter, deque
from concurrent.futures import Future
from pathlib import Path

import pytest
import ray_work
from ray_checks import RAY, lines, timeless, workers
from ray_nodes import STORE_BYTES, Nodes

from evaluation.duplicate import evaluate
from evaluation.work.backend import AHEAD, BackendError, PoisonedError
from evaluation.work.crew import Desk, open_crew
from evaluation.work.job import Job, Part
from evaluation.work.part import PartError
from evaluation.work.run import run
from spades_cli.main import main
from spades_env.rules import PRESETS

pytestmark = [pytest.mark.usefixtures("nodes"), pytest.mark.timeout(600)]


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
