"""The nil head: what it learns from, that nothing else changes, and what a policy file with one says."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs the extra `train`")
pytest.importorskip("sb3_contrib", reason="needs the extra `train`")

from small_training import collected, small, weights  # noqa: E402

from agents.base import AgentError, NilForecaster, decision_keys  # noqa: E402
from agents.learned.policy import LearnedAgent, load_policy  # noqa: E402
from agents.learned.weights import Description, policy_bytes, read_policy  # noqa: E402
from spades_env.actions import NIL  # noqa: E402
from spades_env.configs import ConfigError  # noqa: E402
from spades_env.engine.state import STATE, rules_to_record  # noqa: E402
from spades_env.engine.step import new_games  # noqa: E402
from spades_env.rules import PRESETS, Rules  # noqa: E402
from spades_env.view import empty_views, views_to_act  # noqa: E402
from training.choosing import explorer  # noqa: E402
from training.nils import NilLearner  # noqa: E402
from training.run import Interrupted, train  # noqa: E402
from training.selfplay import SelfPlayPPO  # noqa: E402


def learner(force: float, games: int = 64, rules: str | dict[str, object] = "classic") -> NilLearner:
    return NilLearner(small(rules=rules, start="unused", nils={"force": force}, ppo={"games": games, "minibatch": 64}))


def first_bids(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Views and keys of the first bidder of `n` deals."""
    states, views, keys = np.zeros(n, STATE), empty_views(n), np.zeros(n, np.uint64)
    new_games(states, rules_to_record(PRESETS["classic"]), 3, 0)
    views_to_act(states, views)
    decision_keys(states, keys)
    return views, keys


def test_nils_are_found_with_their_outcomes() -> None:
    model = collected(learner(0.5))
    observations, made = model._nils()
    states, buffer = model.env.states, model.rollout_buffer
    bids, tricks = states["bids"][:, :4].reshape(-1), states["tricks"][:, :4].reshape(-1)
    assert len(made) == (bids == 0).sum() > 40
    assert sorted(made) == sorted((tricks[bids == 0] == 0).astype(float))
    bid_slot = buffer.is_bid[0]
    assert bid_slot.all()
    expected = buffer.observations[0][buffer.actions[0] == NIL]
    assert (np.unique(observations, axis=0) == np.unique(expected, axis=0)).all()


def test_nil_is_forced_as_often_as_asked_and_only_where_legal() -> None:
    model = learner(0.25)
    keys = np.arange(4000, dtype=np.uint64) * np.uint64(7919)
    actions = np.full(4000, NIL + 3)
    masks = np.ones((4000, model.action_space.n), np.bool_)
    masks[2000:, NIL] = False
    forced = explorer(model.config, 0.0)(actions, masks, keys)
    assert forced[:2000].mean() == pytest.approx(0.25, abs=0.04)
    assert not forced[2000:].any()
    assert (actions[forced] == NIL).all()
    assert (actions[~forced] == NIL + 3).all()


def test_the_head_learns_and_all_else_stays() -> None:
    """Outcomes that depend on an input are learned from it; trunk, actions and value do not change by a bit."""
    model = learner(1.0)
    before = {name: tensor.clone() for name, tensor in model.policy.state_dict().items()}
    collected(model)
    observations, made = model._nils()
    first = model._learn(observations, made)
    for _ in range(60):
        last = model._learn(observations, made)
    assert last < first - 0.02
    after = model.policy.state_dict()
    changed = {name for name in before if not torch.equal(before[name], after[name])}
    assert changed == {"nil_net.weight", "nil_net.bias"}


def test_a_run_gives_the_policy_a_head_and_the_same_choices(tmp_path: Path) -> None:
    assert train(small(name="first"), tmp_path).exists()
    assert train(small(name="nils", start="stage:first", nils={"force": 0.3}), tmp_path).exists()
    plain, knowing = load_policy(tmp_path / "first"), load_policy(tmp_path / "nils")
    views, keys = first_bids(50)
    assert (plain.outputs(views) == knowing.outputs(views)[:, :-1]).all()
    assert np.isnan(plain.nil_chances(views, keys)).all()
    chances = knowing.nil_chances(views, keys)
    assert isinstance(knowing, NilForecaster)
    assert ((chances > 0) & (chances < 1)).all()
    assert len(np.unique(chances)) > 10
    # A run that goes on from there needs no head and gets none.
    assert train(small(name="more", start="stage:nils"), tmp_path).exists()
    assert load_policy(tmp_path / "more").outputs(views).shape == (50, 74)


def test_a_stopped_run_goes_on_to_the_same_weights(tmp_path: Path) -> None:
    """Weights that are not learned have no moments in the checkpoint, and need none."""

    def stop(model: SelfPlayPPO, entry: Any) -> None:
        if model.num_timesteps == 16:
            signal.raise_signal(signal.SIGINT)

    train(small(name="first"), tmp_path)
    whole = small(name="whole", start="stage:first", nils={"force": 0.5})
    parts = small(name="parts", start="stage:first", nils={"force": 0.5})
    train(whole, tmp_path)
    with pytest.raises(Interrupted):
        train(parts, tmp_path, show=stop)
    train(parts, tmp_path, resume=True)
    assert weights(tmp_path / "whole") == weights(tmp_path / "parts")


def test_the_kernel_says_what_torch_says() -> None:
    model = collected(learner(0.5))
    observations, made = model._nils()
    for _ in range(5):
        model._learn(observations, made)
    agent = LearnedAgent(model.policy.network().tensors(), PRESETS["classic"])
    views, keys = first_bids(50)
    seen = np.zeros((50, model.observation_space.shape[0]), np.uint8)
    from spades_env.observation.blocks import FLAT_SIZE
    from spades_env.observation.flat import encode_flat

    row = np.zeros(FLAT_SIZE, np.uint8)
    for k in range(50):
        encode_flat(views[k], row)
        seen[k] = row[: seen.shape[1]]
    with torch.no_grad():
        expected = torch.sigmoid(model.policy.nil_logits(torch.from_numpy(seen))).numpy()
    assert agent.nil_chances(views, keys) == pytest.approx(expected, abs=1e-5)


def test_half_a_head_is_refused(tmp_path: Path) -> None:
    model = learner(0.5)
    tensors = model.policy.network().tensors()
    assert tensors.pop("nil_head.bias") is not None
    file = tmp_path / "half.safetensors"
    description = Description(Rules.preset("classic"), model.policy.hidden, "float32", {})
    file.write_bytes(policy_bytes(tensors, description))
    with pytest.raises(AgentError, match=r"tensors do not fit the description: nil_head\.bias"):
        read_policy(file)


def test_nils_need_a_policy_to_start_from() -> None:
    with pytest.raises(ConfigError, match="start is none; allowed with nils"):
        small(nils={})
    assert SelfPlayPPO(small()).policy.network().nil_head is None
