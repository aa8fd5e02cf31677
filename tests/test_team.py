"""Learners that share every gradient step: the result of one, up to the order of additions."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs the extra `train`")
pytest.importorskip("sb3_contrib", reason="needs the extra `train`")

from safetensors.numpy import load_file  # noqa: E402
from small_training import small  # noqa: E402

from spades_env.configs import ConfigError  # noqa: E402
from training.run import Interrupted, train  # noqa: E402
from training.selfplay import SelfPlayPPO  # noqa: E402
from training.team import Member, TeamError  # noqa: E402

AVERAGE = {"average_rate": 0.2, "anchor": 0.1}


def run(learners: int, deals: int = 32) -> Any:
    """A run of four collections, with minibatches that do not come out even."""
    return small(deals=deals, ppo={"games": 8, "minibatch": 61, "shares": 2, "learners": learners} | AVERAGE)


def tensors(folder: Path) -> dict[str, np.ndarray]:
    return load_file(folder / "selfplay" / "policy.safetensors")


def test_two_learners_learn_what_one_learns(tmp_path: Path) -> None:
    """Stopped and resumed on the way: the others begin with the optimizer's moments, too."""
    train(run(1), tmp_path / "one")

    def stop_once(model: SelfPlayPPO, entry: Any) -> None:
        if model.num_timesteps == 16:
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(Interrupted):
        train(run(2), tmp_path / "two", show=stop_once)
    train(run(2), tmp_path / "two", resume=True)
    one, two = tensors(tmp_path / "one"), tensors(tmp_path / "two")
    start = SelfPlayPPO(run(1)).policy.network().tensors()
    assert set(one) == set(two)
    for name in one:
        moved, apart = np.abs(one[name] - start[name]).max(), np.abs(one[name] - two[name]).max()
        assert apart < 0.02 * moved, name


def test_a_share_of_no_rows_counts_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """The last minibatch may have fewer rows than there are learners; whoever has none adds zeros."""
    model = SelfPlayPPO(run(1))
    monkeypatch.setattr(torch.distributed, "all_reduce", lambda flat: None)
    from test_training import choices

    one_row = type(choices())(*(field[:1] for field in choices()))
    total, parts = Member(1, 2).gradient(lambda own: pytest.fail("no rows"), model.policy.parameters(), one_row)
    assert float(total) == 0
    assert parts == {}
    assert all(
        float(parameter.grad.abs().sum()) == 0 for parameter in model.policy.parameters() if parameter.requires_grad
    )


def test_a_learner_that_is_lost_ends_the_run_and_it_goes_on(tmp_path: Path) -> None:
    import multiprocessing

    def kill(model: SelfPlayPPO, entry: Any) -> None:
        if model.num_timesteps == 16:
            (other,) = multiprocessing.active_children()
            assert other.pid is not None
            os.kill(other.pid, signal.SIGKILL)
            other.join()

    with pytest.raises(TeamError, match="--resume goes on"):
        train(run(2), tmp_path, show=kill)
    assert train(run(2), tmp_path, resume=True).exists()


@pytest.mark.parametrize(
    "way", [{"clone": {}}, {"distill": {}}, {"nils": {}, "start": "x"}, {"bid_values": {}, "start": "x"}]
)
def test_learners_that_make_no_sense_are_refused(way: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match=r"ppo\.learners is 2; allowed with .*: 1"):
        small(ppo={"games": 8, "learners": 2}, **way)
    with pytest.raises(ConfigError, match=r"device is 'cuda:1'; allowed with ppo.learners 2: cpu, cuda"):
        small(ppo={"games": 8, "learners": 2}, device="cuda:1")
