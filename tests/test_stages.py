"""The stages of training beside plain self-play: cloning, labels of a search and their distillation, pools."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs the extra `train`")
pytest.importorskip("sb3_contrib", reason="needs the extra `train`")

from fuzz_learned import shards  # noqa: E402
from small_training import collected, small  # noqa: E402
from stable_baselines3.common.callbacks import CallbackList  # noqa: E402
from stable_baselines3.common.logger import Logger  # noqa: E402

from agents.base import AgentError, decision_keys  # noqa: E402
from agents.registry import load_agent  # noqa: E402
from agents.search.agent import SearchAgent  # noqa: E402
from spades_env.actions import NUM_ACTIONS  # noqa: E402
from spades_env.engine.state import PHASE_DEAL_OVER, rules_to_record  # noqa: E402
from spades_env.engine.step import apply, new_games  # noqa: E402
from spades_env.rules import PRESETS  # noqa: E402
from spades_env.view import empty_views, views_to_act  # noqa: E402
from training.clone import Cloner  # noqa: E402
from training.config import TrainingConfigError  # noqa: E402
from training.distill import Distiller  # noqa: E402
from training.labels import make_shards, read_labels  # noqa: E402
from training.line_ups import LEARNER, PoolVecEnv  # noqa: E402
from training.run import train  # noqa: E402
from training.sections import LabelsConfig  # noqa: E402
from training.selfplay import SelfPlayPPO  # noqa: E402
from training.shards import LabelError, shard_path  # noqa: E402

CLASSIC = PRESETS["classic"]
FEW = LabelsConfig(teacher="hard:worlds=4,exact=0", player="easy", games=6, shards=3, play_share=0.3)


def agreement(model: SelfPlayPPO) -> float:
    """Share of the choices in the buffer that are the policy's likeliest."""
    buffer = model.rollout_buffer
    rows = buffer.rows()
    choices = next(buffer.minibatches(len(rows), np.random.default_rng(0)))
    with torch.inference_mode():
        logits, _ = model.policy.logits_and_values(choices.observations, choices.masks)
    return float((logits.argmax(1) == choices.actions).float().mean())


def test_cloning_remembers_what_the_teacher_does_and_learns_it() -> None:
    """With no random cards every deal is the teacher's own; the loss is that of her choices."""
    model = collected(Cloner(small(clone={"teacher": "lowest", "random": 0.0}, ppo={"games": 64, "minibatch": 64})))
    buffer = model.rollout_buffer
    assert isinstance(model.env.states, np.ndarray)
    states = np.zeros(64, model.env.states.dtype)
    new_games(states, rules_to_record(CLASSIC), model.env._deal_seed, 0)
    teacher, taken = load_agent("lowest"), np.zeros(buffer.n_envs, np.int64)
    views, keys = empty_views(1), np.zeros(1, np.uint64)
    while int(states[0]["phase"]) < PHASE_DEAL_OVER:
        views_to_act(states[:1], views)
        decision_keys(states[:1], keys)
        action = int(teacher.act(views, keys)[0])
        seat = int(states[0]["turn"])
        slot = int(taken[seat])
        if slot < buffer.counts[seat] and buffer.action_masks[slot, seat, action]:
            assert buffer.actions[slot, seat] == action
            taken[seat] += 1
        apply(states, 0, action)
    assert (taken[:4] == buffer.counts[:4]).all()
    before = agreement(model)
    for _ in range(8):
        model.train()
    assert agreement(model) > before + 0.2


def test_random_cards_change_the_deal_but_not_the_labels() -> None:
    """What is remembered is the teacher's choice also where another card is played."""
    plain = collected(Cloner(small(clone={"teacher": "lowest", "random": 0.0})))
    mixed = collected(Cloner(small(clone={"teacher": "lowest", "random": 1.0})))
    first = plain.rollout_buffer.is_bid[0]
    assert (plain.rollout_buffer.actions[0][first] == mixed.rollout_buffer.actions[0][first]).all()
    assert (plain.env.states["actions"] != mixed.env.states["actions"]).any()


def test_values_of_a_search_agree_with_its_choices() -> None:
    """The best by value is what the search plays, and what it does not compare is NaN."""
    agent = SearchAgent(worlds=8, exact=0)
    env = SelfPlayPPO(small()).env
    env.deal(0)
    compared = 0
    for _ in range(12):
        games = env.waiting()
        states, views, keys = env.states[games], empty_views(len(games)), np.zeros(len(games), np.uint64)
        views_to_act(states, views)
        decision_keys(states, keys)
        actions, values = agent.act(views.copy(), keys), agent.values(views, keys)
        _, masks = env.observe(games)
        assert values.shape == (len(games), NUM_ACTIONS)
        assert np.isnan(values[~masks]).all()
        known = ~np.isnan(values).all(axis=1)
        assert (np.nanargmax(values[known], axis=1) == actions[known]).all()
        compared += int(known.sum())
        env.choose(games, actions.astype(np.int64))
    assert compared > 50


def test_shards_are_the_same_whoever_makes_them(tmp_path: Path) -> None:
    make_shards(FEW, CLASSIC, tmp_path / "one")
    for first in (1, 0):
        make_shards(FEW, CLASSIC, tmp_path / "two", first=first, step=2)
    for number in range(FEW.shards):
        assert shard_path(tmp_path / "one", number).read_bytes() == shard_path(tmp_path / "two", number).read_bytes()
    labels = read_labels(FEW, CLASSIC, tmp_path / "one")
    assert labels.is_bid.sum() >= 3 * 6 * 3
    assert 0.15 < (~labels.is_bid).sum() / (3 * 6 * 40) < 0.45
    assert not np.isnan(labels.values.astype(np.float32)).all(axis=1).any()


def test_foreign_damaged_and_missing_shards_are_refused(tmp_path: Path) -> None:
    make_shards(FEW, CLASSIC, tmp_path)
    path = shard_path(tmp_path, 1)
    whole = path.read_bytes()
    for data in (b"", whole[:100], whole[: len(whole) // 2], shard_path(tmp_path, 0).read_bytes()):
        path.write_bytes(data)
        with pytest.raises(LabelError, match="labels-00001"):
            read_labels(FEW, CLASSIC, tmp_path)
    path.unlink()
    with pytest.raises(LabelError, match=r"are missing; allowed: all of 0\.\.2"):
        read_labels(FEW, CLASSIC, tmp_path)
    with pytest.raises(LabelError, match="another configuration"):
        read_labels(FEW.model_copy(update={"seed": 2}), CLASSIC, tmp_path)
    with pytest.raises(AgentError, match="says no values; allowed: hard, expert"):
        make_shards(FEW.model_copy(update={"teacher": "easy", "shards": 9}), CLASSIC, tmp_path)


def test_shards_with_other_arrays_or_that_unpack_to_too_much_are_refused(tmp_path: Path) -> None:
    """The archive is in order, and so is the header; what lies behind it is not what it should be."""
    for good, read in shards().values():
        with np.load(io.BytesIO(good)) as file:
            arrays = {name: file[name] for name in file.files}
        for changed, message in (
            ({"observations": arrays["observations"][:, :5]}, "arrays of other shapes or types than format 1 has"),
            ({"values": arrays["values"].astype(np.float64)}, "arrays of other shapes or types than format 1 has"),
            ({"more": np.zeros(2**20)}, r"8\d{6} bytes unpacked; allowed: up to 786432"),
        ):
            with shard_path(tmp_path, 0).open("wb") as out:
                np.savez_compressed(out, **(arrays | changed))
            with pytest.raises(LabelError, match=message):
                read(tmp_path)


def test_distilling_learns_the_values(tmp_path: Path) -> None:
    """After some passes the policy does more of what the search thinks good, and knows more of what it is worth."""
    config = small(
        deals=20_000,
        ppo={"games": 8, "minibatch": 64, "learning_rate": 0.01},
        distill={"folder": str(tmp_path / "labels"), "labels": FEW.model_dump(), "temperature": 1.0},
    )
    make_shards(FEW, CLASSIC, tmp_path / "labels")
    model = Distiller(config)
    model.set_logger(Logger(folder=None, output_formats=[]))
    callback = CallbackList([])
    callback.init_callback(model)
    rows = np.arange(len(model.labels))
    before = model._step(rows, 0)
    while model.num_timesteps < config.deals:
        model._update_current_progress_remaining(model.num_timesteps, config.deals)
        assert model.collect_rollouts(model.env, callback, model.rollout_buffer, model.n_steps)
        model.train()
    after = model._step(rows, 0)
    assert after["cross_entropy"] < 0.95 * before["cross_entropy"]
    for part in ("value_error", "regret_bid", "regret_play"):
        assert after[part] < 0.8 * before[part]


def test_stages_resume_and_begin_with_each_other(tmp_path: Path) -> None:
    train(small(name="a", clone={"teacher": "easy"}), tmp_path)
    report = train(
        small(
            name="b",
            start=str(tmp_path / "a"),
            deals=64,
            distill={"folder": str(tmp_path / "labels"), "labels": FEW.model_dump()},
        ),
        tmp_path,
    )
    assert report.exists()
    assert len(list((tmp_path / "labels").iterdir())) == FEW.shards
    pool = {"agents": {"easy": 1.0, str(tmp_path / "b"): 2.0}, "opponents": 0.5, "partners": 0.25}
    assert train(small(name="c", start=str(tmp_path / "b"), pool=pool), tmp_path).exists()


def test_a_pool_sits_where_the_deals_number_says() -> None:
    """Line-ups: self-play, a team, or one seat; in the shares asked for, the same for the same number."""
    config = small(pool={"agents": {"easy": 3.0, "lowest": 1.0}, "opponents": 0.5, "partners": 0.2}).pool
    assert config is not None
    env = PoolVecEnv(CLASSIC, 8, 1, None, [load_agent(name) for name in config.agents], config)
    owners = env.owners(np.arange(4000))
    seats = (owners != LEARNER).sum(axis=1)
    assert (seats == 0).mean() == pytest.approx(0.3, abs=0.03)
    assert (seats == 1).mean() == pytest.approx(0.2, abs=0.03)
    teams = owners[seats == 2]
    assert ((teams[:, 0] == teams[:, 2]) & (teams[:, 1] == teams[:, 3]) & (teams[:, 0] != teams[:, 1])).all()
    assert (owners == 0).sum() / (owners != LEARNER).sum() == pytest.approx(0.75, abs=0.03)
    for seat in range(4):
        assert (owners[:, seat] != LEARNER).mean() == pytest.approx(0.3, abs=0.03)
    assert (env.owners(np.array([77, 5])) == owners[[77, 5]]).all()


def test_only_learners_seats_fill_the_buffer_of_a_pool() -> None:
    pool = {"agents": {"easy": 1.0}, "opponents": 0.6, "partners": 0.4}
    model = collected(SelfPlayPPO(small(pool=pool)))
    assert isinstance(model.env, PoolVecEnv)
    counts = model.rollout_buffer.counts.reshape(8, 4)
    owned = model.env.owners(np.arange(8)) == LEARNER
    assert (counts[owned] > 0).all()
    assert (counts[~owned] == 0).all()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"pool": {"agents": {}}}, "pool.agents"),
        ({"pool": {"agents": {"easy": 0.0}}}, "every weight must be above 0"),
        ({"pool": {"agents": {"easy": 1.0}, "opponents": 0.8, "partners": 0.3}}, "together must be at most 1"),
        ({"clone": {"teacher": "easy", "random": 2.0}}, "clone.random"),
        ({"distill": {"temperature": 0.0}}, "distill.temperature"),
        ({"clone": {"teacher": "easy"}, "distill": {}}, "one of clone, distill, nils, bid_values, pool, opponent"),
    ],
)
def test_bad_stages_name_the_field(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(TrainingConfigError, match=message):
        small(**changes)
