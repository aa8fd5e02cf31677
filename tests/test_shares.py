"""Collections in shares: cutting changes nothing that was learned from, staleness is one update and no more."""

from __future__ import annotations

import json
import signal
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs the extra `train`")
pytest.importorskip("sb3_contrib", reason="needs the extra `train`")

from small_training import collected, small, weights  # noqa: E402

from spades_env.configs import ConfigError  # noqa: E402
from training.checkpoint import CHECKPOINT_FILE, CheckpointError, load_checkpoint, save_checkpoint  # noqa: E402
from training.collected import LOG_FILE, CollectionLog  # noqa: E402
from training.nils import NilLearner  # noqa: E402
from training.players import Collected, LocalPlayers  # noqa: E402
from training.run import Interrupted, train  # noqa: E402
from training.selfplay import SelfPlayPPO  # noqa: E402
from training.shares import ShareError, SharePlayer, orders, put_together  # noqa: E402

POOL = {"agents": {"conservative": 1.0, "random": 1.0}, "opponents": 0.4, "partners": 0.3}
ARRAYS = (
    "observations",
    "action_masks",
    "actions",
    "log_probs",
    "values",
    "returns",
    "advantages",
    "is_bid",
    "explored",
)


def ppo(**changes: int) -> dict[str, int]:
    """A collection of 8 deals."""
    return {"games": 8, "minibatch": 64} | changes


def learner(**changes: Any) -> SelfPlayPPO:
    config = small(**changes)
    return SelfPlayPPO(config) if config.nils is None else NilLearner(config)


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"ppo": ppo(copies=2)},
        {"pool": POOL},
        {"pool": POOL, "ppo": ppo(copies=4)},
        {"opponent": "conservative"},
        {"nils": {"force": 0.3}, "start": "unused"},
        {"rules": "modern"},
        {"rules": "two_player"},
        {"explore": {"nil": 1.0}},
        {"match": {}},
        {"match": {}, "pool": POOL, "ppo": ppo(copies=2)},
    ],
)
def test_what_comes_of_a_share_is_what_the_learner_would_have_seen(changes: dict[str, Any]) -> None:
    """The buffer filled by playing a share over is, bit for bit, that of the plain loop."""
    plain, apart = learner(**changes), learner(**changes)
    apart.let_play(LocalPlayers(apart.config, apart.policy.precision))
    collected(plain)
    collected(apart)
    first, second = plain.rollout_buffer, apart.rollout_buffer
    assert (first.counts == second.counts).all()
    filled = np.arange(first.buffer_size)[:, None] < first.counts
    assert filled.sum() > 100
    for name in ARRAYS:
        assert (getattr(first, name)[filled] == getattr(second, name)[filled]).all(), name
    assert plain.env.states.tobytes() == apart.env.states.tobytes()
    assert (plain.choices_made, plain.decisions_made) == (apart.choices_made, apart.decisions_made)


@pytest.mark.parametrize("copies", [1, 2])
def test_shares_cut_the_same_deals(copies: int) -> None:
    """Cards, dealers, line-ups and keys go by the number of the game, so more shares deal nothing else."""
    whole = collected(learner(pool=POOL, ppo=ppo(games=16, copies=copies)))
    cut = collected(learner(pool=POOL, ppo=ppo(games=16, copies=copies, shares=4)))
    for name in ("played", "dealer"):
        assert (np.sort(whole.env.states[name]) == np.sort(cut.env.states[name])).all()
    assert (whole.env._owners == cut.env._owners).all()  # type: ignore[attr-defined]
    same = whole.env.states["actions"] == cut.env.states["actions"]
    # Another batch size may move a probability by a bit; a draw that falls just there is rare.
    assert same.all(axis=1).mean() > 0.8


def played(model: SelfPlayPPO) -> Collected:
    """The shares of the first collection of a model."""
    player = SharePlayer(model.config, model.policy.precision)
    player.take(0, model.policy.playing_weights())
    return Collected([player.play(order) for order in orders(model.config, 0, 0, 1)])


def test_shares_may_come_in_any_order() -> None:
    model = learner(ppo=ppo(shares=4))
    shares = played(model).shares
    buffer = collected(model).rollout_buffer
    before = {name: getattr(buffer, name).copy() for name in ARRAYS}
    buffer.reset()
    put_together([shares[k] for k in (2, 0, 3, 1)], 0, model.env, buffer)
    filled = np.arange(buffer.buffer_size)[:, None] < buffer.counts
    for name in set(ARRAYS) - {"returns", "advantages"}:
        assert (getattr(buffer, name)[filled] == before[name][filled]).all(), name


def test_a_share_played_again_is_the_same() -> None:
    model = learner(ppo=ppo(shares=2), pool=POOL)
    first, second = played(model).shares[1], played(model).shares[1]
    for name in ("states", "log_probs", "values", "explored"):
        assert getattr(first, name).tobytes() == getattr(second, name).tobytes()
    assert first.nbytes < 8 * 1500


def test_shares_that_do_not_hold_together_are_refused() -> None:
    model = learner(ppo=ppo(shares=4))
    shares = played(model).shares

    def refused(wrong: list[Any], text: str) -> None:
        model.rollout_buffer.reset()
        with pytest.raises(ShareError, match=text):
            put_together(wrong, 0, model.env, model.rollout_buffer)

    refused(shares[:3], "shares are .* 8 games from 0 on are expected")
    refused([shares[0], shares[0], shares[2], shares[3]], r"shares are \[\(0, 2\), \(0, 2\), \(4, 2\), \(6, 2\)\]")
    illegal = shares[1].states.copy()
    illegal["actions"][1, 5] = illegal["actions"][1, 4]
    refused([shares[0], replace(shares[1], states=illegal), *shares[2:]], "game 3 has an action")
    odd = shares[1].states.copy()
    odd["scores"] += 1
    refused([shares[0], replace(shares[1], states=odd), *shares[2:]], "another engine")
    short = replace(shares[2], values=shares[2].values[1:])
    refused([*shares[:2], short, shares[3]], "share 2 has")


def test_weights_of_another_version_are_refused() -> None:
    model = learner(ppo=ppo(shares=2))
    player = SharePlayer(model.config, "float32")
    with pytest.raises(ShareError, match="ordered with weights 3, there are -1"):
        player.play(orders(model.config, 0, 3, 1)[0])


def test_only_one_collection_is_under_way() -> None:
    model = learner(ppo=ppo(shares=2))
    players, some = LocalPlayers(model.config, "float32"), orders(model.config, 0, 0, 1)
    players.begin(some, model.policy.playing_weights())
    with pytest.raises(RuntimeError, match="before the last one is finished"):
        players.begin(some, model.policy.playing_weights())


@pytest.mark.parametrize("staleness", [0, 1])
def test_deals_are_played_with_the_weights_of_the_update_that_is_promised(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, staleness: int
) -> None:
    """Collection k with the weights before update k - staleness; versions in the log say the same."""
    learned, used = [], []
    begin, update = LocalPlayers.begin, SelfPlayPPO.train

    def spy_begin(self: LocalPlayers, some: Any, given: Any) -> None:
        used.append(given["action_head.weight"].copy())
        begin(self, some, given)

    def spy_train(self: SelfPlayPPO) -> None:
        learned.append(self.policy.playing_weights()["action_head.weight"])
        update(self)

    monkeypatch.setattr(LocalPlayers, "begin", spy_begin)
    monkeypatch.setattr(SelfPlayPPO, "train", spy_train)
    train(small(deals=40, ppo=ppo(shares=2, staleness=staleness)), tmp_path)
    assert len(learned) == len(used) == 5
    assert len({array.tobytes() for array in learned}) == 5
    expected = [max(0, k - staleness) for k in range(5)]
    assert [array.tobytes() for array in used] == [learned[k].tobytes() for k in expected]
    log = [json.loads(line) for line in (tmp_path / "selfplay" / LOG_FILE).read_text().splitlines()]
    assert [line["deals"] for line in log] == [8, 16, 24, 32, 40]
    assert [line["version"] for line in log] == expected
    assert [line["staleness"] for line in log] == [k - version for k, version in enumerate(expected)]
    assert all(line["shares"] == 2 and line["again"] == 0 and line["played_seconds"] > 0 for line in log)


@pytest.mark.parametrize("staleness", [0, 1])
def test_a_run_in_shares_is_repeatable_and_resumes_to_the_same_weights(tmp_path: Path, staleness: int) -> None:
    average = {"average_rate": 0.1, "anchor": 0.5}
    config = small(deals=40, pool=POOL, ppo=ppo(shares=2, copies=2, staleness=staleness) | average)
    train(config, tmp_path / "whole")
    train(config, tmp_path / "again")

    def stop_once(model: SelfPlayPPO, entry: Any) -> None:
        if model.num_timesteps == 16:
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(Interrupted, match="16 of 40 deals"):
        train(config, tmp_path / "parts", show=stop_once)
    train(config, tmp_path / "parts", resume=True)
    found = [weights(tmp_path / name / "selfplay") for name in ("whole", "again", "parts")]
    assert found[0] == found[1] == found[2]
    logs = [(tmp_path / name / "selfplay" / LOG_FILE).read_text().splitlines() for name in ("whole", "parts")]
    assert [[json.loads(line)["version"] for line in log] for log in logs] == [
        [json.loads(x)["version"] for x in logs[0]]
    ] * 2
    assert len(logs[0]) == 5


def test_staleness_and_shares_are_part_of_the_result(tmp_path: Path) -> None:
    runs = {}
    for name, changes in {"a": {}, "b": {"staleness": 1}, "c": {"shares": 2, "staleness": 1}}.items():
        train(small(ppo=ppo(**changes)), tmp_path / name)
        runs[name] = weights(tmp_path / name / "selfplay")
    assert runs["a"] != runs["b"]
    model = learner(ppo=ppo(shares=2))
    with pytest.raises(CheckpointError, match="made with ppo"):
        load_checkpoint(tmp_path / "a" / "selfplay" / CHECKPOINT_FILE, model)


def test_a_checkpoint_from_before_shares_is_resumed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = collected(learner())
    dump = type(model.config).model_dump

    def old(self: Any) -> dict[str, Any]:
        data = dump(self)
        return data | {
            "ppo": {
                name: value for name, value in data["ppo"].items() if name not in ("shares", "staleness", "learners")
            }
        }

    with monkeypatch.context() as patch:
        patch.setattr(type(model.config), "model_dump", old)
        save_checkpoint(tmp_path / "old.safetensors", model, [])
    assert load_checkpoint(tmp_path / "old.safetensors", learner()) == []


def test_a_checkpoint_without_the_weights_that_play_is_refused(tmp_path: Path) -> None:
    model = collected(learner(ppo=ppo(staleness=1)))
    assert model.apart is not None
    model.apart.behind = None
    save_checkpoint(tmp_path / "odd.safetensors", model, [])
    with pytest.raises(CheckpointError, match="is missing or not known"):
        load_checkpoint(tmp_path / "odd.safetensors", learner(ppo=ppo(staleness=1)))


def test_the_log_of_a_resumed_run_tells_nothing_twice(tmp_path: Path) -> None:
    log = CollectionLog(tmp_path, 0)
    for deals in (8, 16, 24):
        log.add({"deals": deals})
    with (tmp_path / LOG_FILE).open("a") as file:
        file.write('{"deals": 3')
    CollectionLog(tmp_path, 16).add({"deals": 24})
    assert [json.loads(line) for line in (tmp_path / LOG_FILE).read_text().splitlines()] == [
        {"deals": deals} for deals in (8, 16, 24)
    ]


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"ppo": ppo(shares=3)}, "ppo.shares is 3; allowed: a divisor of ppo.games / ppo.copies, 8"),
        ({"ppo": ppo(shares=8, copies=2)}, "ppo.shares is 8; allowed: a divisor of ppo.games / ppo.copies, 4"),
        ({"ppo": ppo(shares=2), "clone": {}}, "ppo.shares is 2; allowed with clone: 1"),
        ({"ppo": ppo(staleness=1), "distill": {}}, "ppo.staleness is 1; allowed with distill: 0"),
        ({"ppo": ppo(staleness=2)}, "ppo.staleness is 2"),
    ],
)
def test_shares_that_make_no_sense_are_refused(changes: dict[str, Any], text: str) -> None:
    with pytest.raises(ConfigError, match=text):
        small(**changes)
