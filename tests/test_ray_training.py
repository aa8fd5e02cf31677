"""Training on a real Ray cluster of three nodes: the same bytes as here, whatever is killed; memory stays bounded."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="needs the extra `train`")
pytest.importorskip("sb3_contrib", reason="needs the extra `train`")

import yaml
from ray_nodes import STORE_BYTES, Killer, Nodes, wait_for
from small_training import small, weights

from evaluation.work.backend import Backend
from training.actors import WorkerPlayers
from training.checkpoint import CHECKPOINT_FILE
from training.collected import LOG_FILE
from training.config import TrainingConfig
from training.run import train
from training.selfplay import SelfPlayPPO
from training.shares import ShareError, orders

ROOT = Path(__file__).resolve().parent.parent
RAY = Backend("ray")
"""This process is connected by the fixture `nodes`, and so stays where it is."""

pytestmark = [pytest.mark.usefixtures("nodes"), pytest.mark.timeout(600)]


def config(collections: int, staleness: int = 1, **changes: Any) -> TrainingConfig:
    """A run with copies, in four shares, at some of whose tables others sit, one of them slow."""
    pool = {"agents": {"ray_tables:SlowEasy": 1.0, "random": 1.0}, "opponents": 0.4, "partners": 0.3}
    ppo = {"games": 16, "minibatch": 64, "shares": 4, "copies": 2, "staleness": staleness}
    return small(deals=16 * collections, pool=pool, ppo=ppo, **changes)


def log_of(folder: Path) -> list[dict[str, Any]]:
    """What a run tells of its collections."""
    return [json.loads(line) for line in (folder / LOG_FILE).read_text(encoding="utf-8").splitlines()]


def test_a_run_comes_to_the_same_though_an_actor_is_killed(nodes: Nodes, tmp_path: Path) -> None:
    """Two actors, one of which is killed at its work, and one collection ahead."""
    run = config(24)
    train(run, tmp_path / "here")

    def kill_one(model: SelfPlayPPO, entry: Any) -> None:
        if model.num_timesteps == 16 * 8:
            # The learner is done, and the next collection under way.
            os.kill(nodes.actors()[0], signal.SIGKILL)

    train(run, tmp_path / "ray", backend=RAY, actors=2, show=kill_one)
    here, there = (tmp_path / name / "selfplay" for name in ("here", "ray"))
    assert weights(here) == weights(there)
    facts = log_of(there)
    assert [line["deals"] for line in facts] == [16 * k for k in range(1, 25)]
    assert [line["staleness"] for line in facts] == [0] + [1] * 23
    assert [line["version"] for line in facts] == [0, *range(23)]
    assert all(line["received_bytes"] < 16 * 1500 for line in facts)
    assert facts[0]["sent_bytes"] > 0
    assert sum(line["again"] for line in facts) >= 1


@pytest.mark.slow
@pytest.mark.parametrize("actors", [1, 2, 3])
@pytest.mark.parametrize("staleness", [0, 1])
def test_any_number_of_actors_comes_to_the_same(actors: int, staleness: int, tmp_path: Path) -> None:
    run = config(6, staleness)
    train(run, tmp_path / "here")
    train(run, tmp_path / "ray", backend=RAY, actors=actors)
    assert weights(tmp_path / "here" / "selfplay") == weights(tmp_path / "ray" / "selfplay")


@pytest.mark.slow
@pytest.mark.parametrize(
    "changes",
    [
        {"rules": "two_player", "pool": None},
        {"rules": "modern", "pool": None, "nils": {"force": 0.3}, "ppo": {"games": 16, "minibatch": 64, "shares": 2}},
        {"pool": None, "opponent": "conservative"},
        {"pool": None, "ppo": {"games": 16, "minibatch": 64}},
    ],
)
def test_other_stages_and_rules_come_to_the_same(changes: dict[str, Any], tmp_path: Path) -> None:
    """A draft, nils in a finished policy, a response to an agent, and a run that is not cut at all."""
    if "nils" in changes:
        train(small(rules="modern"), tmp_path / "start")
        changes = {**changes, "start": str(tmp_path / "start" / "selfplay")}
    run = small(**{"deals": 64, "ppo": {"games": 16, "minibatch": 64, "shares": 4}} | changes)
    train(run, tmp_path / "here")
    train(run, tmp_path / "ray", backend=RAY, actors=2)
    assert weights(tmp_path / "here" / "selfplay") == weights(tmp_path / "ray" / "selfplay")


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_twenty_actors_and_nodes_are_killed_at_random_moments(nodes: Nodes, tmp_path: Path) -> None:
    """Runs, each with kills of its own, until 20 actors have been killed, and three nodes."""
    run, chance, kills, rounds, again = config(60), random.Random(8), 0, 0, 0
    train(run, tmp_path / "here")
    expected = weights(tmp_path / "here" / "selfplay")
    while kills < 20:
        with Killer(nodes, seed=rounds, most=8, pause=(0.5, 3.0)) as killer:

            def kill_a_node(model: SelfPlayPPO, entry: Any, rounds: int = rounds) -> None:
                if rounds < 3 and model.num_timesteps == 16 * 20:
                    nodes.kill(chance.choice(nodes.others))
                    nodes.add()

            train(run, tmp_path / f"{rounds}", backend=RAY, actors=3, show=kill_a_node)
        folder = tmp_path / f"{rounds}" / "selfplay"
        kills, rounds = kills + killer.killed, rounds + 1
        assert weights(folder) == expected
        assert [line["deals"] for line in log_of(folder)] == [16 * k for k in range(1, 61)]
        again += sum(line["again"] for line in log_of(folder))
    assert again
    print(f"{kills} actors and {min(rounds, 3)} nodes killed in {rounds} runs, {again} shares played again")


@pytest.mark.slow
def test_a_share_that_ends_its_actors_is_given_up(tmp_path: Path) -> None:
    run = small(seed=5, opponent="ray_work:Deadly", ppo={"games": 8, "minibatch": 64, "shares": 2})
    text = r"share 0 \(seed 5, games 0\.\.3, weights 0\) was given up: 3 workers ended"
    with pytest.raises(ShareError, match=text):
        train(run, tmp_path, backend=RAY, actors=1)


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_the_driver_is_killed_and_the_run_resumed(nodes: Nodes, tmp_path: Path) -> None:
    """SIGKILL at random moments; the last run ends with the bytes of one that was never stopped, its log is whole."""
    run, chance, kills = config(40, checkpoint_every=0.05), random.Random(11), 0
    train(run, tmp_path / "here")
    folder, file = tmp_path / "there" / "selfplay", tmp_path / "run.yaml"
    file.write_text(yaml.safe_dump(run.model_dump(), sort_keys=False), encoding="utf-8")
    command = [sys.executable, "-m", "spades_cli.main", "train", str(file), "--runs", str(tmp_path / "there")]
    command += ["--backend", f"ray:{nodes.address}", "--actors", "2"]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "tests")])}

    def start() -> subprocess.Popen[bytes]:
        resume = ["--resume"] if (folder / CHECKPOINT_FILE).exists() else []
        return subprocess.Popen([*command, *resume], env=environment, cwd=ROOT, stderr=subprocess.PIPE)

    for wanted in (8, 18, 28):
        process, wanted = start(), wanted + chance.randint(0, 4)

        def far_enough(process: subprocess.Popen[bytes] = process, wanted: int = wanted) -> bool:
            return process.poll() is not None or ((folder / LOG_FILE).exists() and len(log_of(folder)) >= wanted)

        wait_for(far_enough)
        kills += process.poll() is None
        process.kill()
        process.communicate(timeout=60)
    last = start()
    _, error = last.communicate(timeout=200)
    assert last.returncode == 0, error
    assert weights(folder) == weights(tmp_path / "here" / "selfplay")
    assert [line["deals"] for line in log_of(folder)] == [16 * k for k in range(1, 41)]
    print(f"{kills} drivers killed")
    assert kills


def resident(pid: int) -> int:
    """Bytes of a process's own memory; pages of the object store, which processes share, are none of it."""
    for line in Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines():
        if line.startswith("RssAnon:"):
            return 1024 * int(line.split()[1])
    raise AssertionError(pid)


def test_weights_and_shares_are_let_go(nodes: Nodes) -> None:
    """Weights of thrice the object store go through it, collection after collection; actors grow no larger."""
    run = small(
        network={"hidden": [1024, 1024], "precision": "float32"}, ppo={"games": 2, "minibatch": 64, "shares": 2}
    )
    given = SelfPlayPPO(run).policy.playing_weights()
    size = sum(array.nbytes for array in given.values())
    collections, held = 3 * STORE_BYTES // size, []
    with WorkerPlayers(run, "float32", RAY, 1) as players:
        for k in range(collections):
            players.begin(orders(run, 2 * k, k, 1), given)
            found = players.finish()
            assert found.sent == size
            (pid,) = nodes.actors()
            held.append(resident(pid))
    third = collections // 3
    # A reading swings by several weights, as freed memory goes back in pieces; a leak lifts the least of them too.
    assert min(held[-third:]) - min(held[:third]) < third * size
