"""The moving average of a policy's weights, and holding the policy near to it."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs the extra `train`")
pytest.importorskip("sb3_contrib", reason="needs the extra `train`")

from small_training import collected, small  # noqa: E402

from agents.learned.weights import read_policy  # noqa: E402
from spades_env.configs import ConfigError  # noqa: E402
from training.losses import divergence  # noqa: E402
from training.outcome import AVERAGE_FILE  # noqa: E402
from training.run import Interrupted, train  # noqa: E402
from training.selfplay import SelfPlayPPO  # noqa: E402

PPO = {"games": 8, "minibatch": 64}


def flat(network: Any) -> Any:
    """All weights of a network in one row."""
    return torch.cat([tensor.reshape(-1) for _, tensor in sorted(network.state_dict().items())])


def test_the_average_begins_with_the_policy_and_moves_by_the_rate() -> None:
    model = SelfPlayPPO(small(ppo=PPO | {"average_rate": 0.25}))
    before = flat(model.policy.network())
    assert torch.equal(flat(model.policy.average), before)
    collected(model).train()
    after = flat(model.policy.network())
    assert not torch.equal(after, before)
    assert torch.allclose(flat(model.policy.average), 0.75 * before + 0.25 * after, atol=1e-7)


def test_keeping_an_average_does_not_change_what_is_learned() -> None:
    alone, averaged = (SelfPlayPPO(small(ppo=PPO | {"average_rate": rate})) for rate in (0.0, 0.1))
    for model in (alone, averaged):
        collected(model).train()
    assert alone.policy.average is None
    assert torch.equal(flat(alone.policy.network()), flat(averaged.policy.network()))


def test_a_heavy_anchor_holds_the_policy_near_the_average() -> None:
    """After the same collection and the same steps she is nearer to where she began than without."""
    distances = []
    for anchor in (0.0, 100.0):
        model = SelfPlayPPO(small(ppo=PPO | {"average_rate": 0.01, "anchor": anchor, "epochs": 8}))
        buffer = collected(model).rollout_buffer
        (choices,) = buffer.minibatches(10**6, np.random.default_rng(0))
        start = model.policy.average_log_probs(choices.observations, choices.masks)
        model.train()
        logits, _ = model.policy.logits_and_values(choices.observations, choices.masks)
        distances.append(float(divergence(torch.log_softmax(logits.detach(), 1), start).mean()))
    assert distances[1] < distances[0] / 2


def test_divergence_by_hand_and_without_nan_on_illegal_actions() -> None:
    """p = (1/2, 1/2, illegal), q = (1/4, 3/4, illegal): ln 2 - ln 3 / 2."""
    lowest = torch.finfo(torch.float32).min
    mine = torch.log_softmax(torch.tensor([[0.0, 0.0, lowest]], requires_grad=True), 1)
    mine.retain_grad()
    other = torch.log_softmax(torch.tensor([[0.0, np.log(3.0), lowest]]), 1)
    found = divergence(mine, other)
    assert found.item() == pytest.approx(np.log(2) - np.log(3) / 2, rel=1e-6)
    found.sum().backward()
    assert bool(torch.isfinite(mine.grad).all())
    assert float(divergence(other, other)) == 0.0


def test_an_interrupted_run_resumes_to_the_same_average(tmp_path: Path) -> None:
    config = small(ppo=PPO | {"average_rate": 0.2, "anchor": 0.1})

    def stop_once(model: SelfPlayPPO, entry: Any) -> None:
        if model.num_timesteps == 8:
            signal.raise_signal(signal.SIGINT)

    train(config, tmp_path / "whole")
    with pytest.raises(Interrupted):
        train(config, tmp_path / "parts", show=stop_once)
    train(config, tmp_path / "parts", resume=True)
    whole, parts = (read_policy(tmp_path / run / "selfplay" / AVERAGE_FILE)[0] for run in ("whole", "parts"))
    assert whole.keys() == parts.keys()
    assert all(np.array_equal(whole[name], parts[name]) for name in whole)


def test_an_anchor_needs_an_average() -> None:
    with pytest.raises(ConfigError, match=r"ppo.anchor is 0.1; allowed without ppo.average_rate: 0"):
        small(ppo=PPO | {"anchor": 0.1})
