"""Rollout actors that are processes of this machine, and what holds for actors anywhere."""

from __future__ import annotations

import multiprocessing
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="needs the extra `train`")
pytest.importorskip("sb3_contrib", reason="needs the extra `train`")

from small_training import small, weights  # noqa: E402

from evaluation.work.backend import LOCAL, BackendError, PoisonedError  # noqa: E402
from spades_cli.main import main  # noqa: E402
from spades_env.configs import ConfigError  # noqa: E402
from training import actors  # noqa: E402
from training.actors import WorkerPlayers  # noqa: E402
from training.crew import check_actors  # noqa: E402
from training.run import train  # noqa: E402
from training.selfplay import SelfPlayPPO  # noqa: E402
from training.shares import ShareError, SharePlayer, orders  # noqa: E402

POOL = {"agents": {"conservative": 1.0, "random": 1.0}, "opponents": 0.4, "partners": 0.3}


def test_processes_play_what_this_one_plays(tmp_path: Path) -> None:
    """Two actors and the collection ahead of the learner: the same bytes as one process."""
    config = small(deals=64, pool=POOL, ppo={"games": 16, "minibatch": 64, "shares": 4, "copies": 2, "staleness": 1})
    train(config, tmp_path / "here")
    train(config, tmp_path / "there", actors=2)
    assert weights(tmp_path / "here" / "selfplay") == weights(tmp_path / "there" / "selfplay")


def test_a_process_that_is_lost_ends_the_run_and_it_goes_on(tmp_path: Path) -> None:
    """Processes of this machine are not replaced, as Ray's are: the run stops with a line, and resumes."""
    config = small(deals=32, ppo={"games": 8, "minibatch": 64, "shares": 2})

    def kill(model: SelfPlayPPO, entry: Any) -> None:
        if model.num_timesteps == 16:
            for process in multiprocessing.active_children():
                process.kill()
                process.join()

    with pytest.raises(ShareError, match=r"ended abruptly .* --resume goes on"):
        train(config, tmp_path / "there", actors=2, show=kill)
    train(config, tmp_path / "there", resume=True)
    train(config, tmp_path / "here")
    assert weights(tmp_path / "here" / "selfplay") == weights(tmp_path / "there" / "selfplay")


class FakeWorkers:
    """Workers in this process, which answer when they are told to."""

    def __init__(self) -> None:
        self.waiting: list[tuple[Future[Any], Any]] = []
        self.shared: list[Any] = []
        self.ordered_again = 0
        self.closed = False

    def share(self, value: Any) -> Any:
        self.shared.append(value)
        return value

    def submit_with(self, shared: Any, function: Any, *arguments: Any) -> Future[Any]:
        future: Future[Any] = Future()
        self.waiting.append((future, lambda: function(shared, *arguments)))
        return future

    def answer(self, number: int) -> None:
        """Carry out what was ordered as number `number` of those that wait."""
        future, work = self.waiting.pop(number)
        future.set_result(work())

    def __exit__(self, *_: object) -> None:
        self.closed = True


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> FakeWorkers:
    workers = FakeWorkers()
    monkeypatch.setattr(actors, "open_workers", lambda *_, **__: workers)
    return workers


def test_shares_are_told_apart_whatever_order_they_come_in(fake: FakeWorkers, monkeypatch: pytest.MonkeyPatch) -> None:
    model = SelfPlayPPO(small(ppo={"games": 8, "minibatch": 64, "shares": 4}))
    monkeypatch.setattr(actors, "_player", SharePlayer(model.config, "float32"))
    players = WorkerPlayers(model.config, "float32", LOCAL, 4)
    given = model.policy.playing_weights()
    some = orders(model.config, 0, 0, 1)
    players.begin(some, given)
    assert len(fake.waiting) == 4
    with pytest.raises(RuntimeError, match="before the last one is finished"):
        players.begin(some, given)
    assert len(fake.waiting) == 4
    for number in (2, 0, 1, 0):
        fake.answer(number)
    fake.ordered_again = 3
    found = players.finish()
    assert [share.order for share in found.shares] == some
    # All shares were played by one player, who took the weights once.
    assert found.sent == sum(array.nbytes for array in given.values())
    assert found.received == sum(share.nbytes for share in found.shares) > 0
    assert found.again == 3
    players.__exit__()
    assert fake.closed


def test_a_run_orders_one_collection_ahead_and_no_more(
    fake: FakeWorkers, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Back-pressure: while the learner is at one collection, that of the next is ordered, however fast actors are."""
    config = small(deals=40, ppo={"games": 8, "minibatch": 64, "shares": 2, "staleness": 1})
    model = SelfPlayPPO(config)
    monkeypatch.setattr(actors, "_player", SharePlayer(config, "float32"))
    ordered: list[int] = []
    submit, update = FakeWorkers.submit_with, SelfPlayPPO.train

    def answered_at_once(self: FakeWorkers, shared: Any, function: Any, *arguments: Any) -> Future[Any]:
        future = submit(self, shared, function, *arguments)
        self.answer(0)
        ordered.append(arguments[0].first)
        return future

    learned: list[int] = []

    def spy(self: SelfPlayPPO) -> None:
        learned.append(len(ordered))
        update(self)

    monkeypatch.setattr(FakeWorkers, "submit_with", answered_at_once)
    monkeypatch.setattr(SelfPlayPPO, "train", spy)
    train(config, tmp_path, actors=2)
    assert ordered == [4 * k for k in range(10)]
    assert learned == [4, 6, 8, 10, 10]
    assert model.config.deals == 40


def test_a_share_that_is_given_up_is_named(fake: FakeWorkers) -> None:
    config = small(seed=7, ppo={"games": 8, "minibatch": 64, "shares": 4})
    model = SelfPlayPPO(config)
    players = WorkerPlayers(config, "float32", LOCAL, 2)
    players.begin(orders(config, 16, 2, 1), model.policy.playing_weights())
    fake.waiting[0][0].set_exception(PoisonedError("3 workers ended abruptly over it"))
    with pytest.raises(ShareError, match=r"share 0 \(seed 7, games 16..17, weights 2\) was given up: 3 workers"):
        players.finish()


def test_an_actor_with_other_code_does_not_begin() -> None:
    with pytest.raises(BackendError, match="training/ differs"):
        actors._begin(small().model_dump(), "float32", "0123456789ab")


def test_stages_without_a_policy_that_plays_stay_here(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = [
        "--set",
        "deals=8",
        "--set",
        "ppo.games=8",
        "--set",
        "network.hidden=[8]",
        "--set",
        "clone.teacher=random",
    ]
    options += ["--set", "evaluation.deals=4", "--set", "evaluation.final_deals=4"]
    options += ["--set", "evaluation.opponents=[random]", "--set", "evaluation.final_opponents=[random]"]
    assert main(["train", "train/clone.yaml", *options, "--runs", str(tmp_path), "--actors", "2"]) == 0
    assert "clone: no policy plays in this stage" in " ".join(capsys.readouterr().err.split())


def test_actors_that_make_no_sense_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ValueError, match="actors is 0"):
        train(small(), tmp_path, actors=0)
    with pytest.raises(ConfigError, match=r"ppo.shares is 1 and device 'cuda'; allowed with actors"):
        check_actors(small(device="cuda"), LOCAL, 2)
    check_actors(small(device="cuda", ppo={"games": 8, "shares": 2}), LOCAL, 2)
    assert main(["train", "train/selfplay.yaml", "--backend", "roy"]) == 2
    assert "backend is 'roy'; allowed: local" in capsys.readouterr().err
