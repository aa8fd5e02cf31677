"""Self-play training: per-seat trajectories and advantages, exact resume, refusal of what does not fit."""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs the extra `train`")
pytest.importorskip("sb3_contrib", reason="needs the extra `train`")

from gymnasium import spaces  # noqa: E402
from safetensors.torch import save_file  # noqa: E402
from small_training import collected, small, weights  # noqa: E402

from spades_env.actions import FIRST_BID, NIL, NUM_ACTIONS  # noqa: E402
from spades_env.configs import ConfigError  # noqa: E402
from spades_env.engine import step  # noqa: E402
from spades_env.engine.batch import legal_action_list  # noqa: E402
from spades_env.engine.rollout import only_action  # noqa: E402
from spades_env.engine.state import PHASE_DEAL_OVER, STATE, rules_to_record  # noqa: E402
from spades_env.observation.blocks import FLAT, GAME_SIZE  # noqa: E402
from spades_env.rules import PRESETS  # noqa: E402
from training.buffer import Choices, DealBuffer  # noqa: E402
from training.checkpoint import CheckpointError  # noqa: E402
from training.choosing import explorer  # noqa: E402
from training.config import load_config  # noqa: E402
from training.diagnostics import deal_summary  # noqa: E402
from training.losses import BID_PRIOR, exploration_weights, prior_cross_entropy  # noqa: E402
from training.outcome import collapse_warnings  # noqa: E402
from training.report import final_table  # noqa: E402
from training.run import Interrupted, RunError, train  # noqa: E402
from training.seats import SeatVecEnv, most_choices  # noqa: E402
from training.sections import ExploreConfig  # noqa: E402
from training.selfplay import SelfPlayPPO  # noqa: E402


def test_advantages_of_a_scripted_deal_by_hand() -> None:
    """Two columns with lambda 1/2: one of three choices, one of a single choice, worked out on paper."""
    buffer = DealBuffer(3, spaces.Box(0, 255, (2,), np.uint8), spaces.Discrete(NUM_ACTIONS), "cpu", 0.5, 1.0, 2)
    none, zeros = np.zeros((2, NUM_ACTIONS), np.bool_), np.zeros((2, 2), np.uint8)

    def add(columns: list[int], values: list[float]) -> None:
        n = len(columns)
        flags = np.zeros(n, np.bool_)
        numbers = np.array(values, np.float32)
        buffer.add_choices(
            np.array(columns), zeros[:n], none[:n], np.zeros(n, np.int64), numbers, numbers, flags, flags
        )

    add([0, 1], [0.1, -0.2])
    add([0], [0.4])
    add([0], [-0.3])
    buffer.finish_deals(np.array([1.0, -1.0], np.float32))
    # Seat 0: last 1 - (-.3) = 1.3; before it -.3 - .4 + 1.3/2 = -.05; first .4 - .1 - .05/2 = .275.
    assert buffer.advantages[:, 0] == pytest.approx([0.275, -0.05, 1.3], abs=1e-6)
    assert buffer.returns[:, 0] == pytest.approx([0.375, 0.35, 1.0], abs=1e-6)
    assert buffer.advantages[0, 1] == pytest.approx(-0.8)
    assert list(buffer.rows()) == [0, 1, 2, 4]


def test_each_column_holds_the_choices_of_one_seat_and_her_reward() -> None:
    """Replay every deal from the buffer's actions alone: seat, order, mask and observation must fit."""
    model = SelfPlayPPO(small())
    buffer = collected(model).rollout_buffer
    states = np.zeros(8, STATE)
    step.new_games(states, rules_to_record(PRESETS["classic"]), model.env._deal_seed, 0)
    taken = np.zeros(buffer.n_envs, np.int64)
    for game in range(8):
        while int(states[game]["phase"]) < PHASE_DEAL_OVER:
            legal = legal_action_list(states, game)
            action = legal[0]
            if len(legal) > 1:
                column = 4 * game + int(states[game]["turn"])
                slot = taken[column]
                action = int(buffer.actions[slot, column])
                assert list(np.flatnonzero(buffer.action_masks[slot, column])) == legal
                hand = buffer.observations[slot, column][FLAT.block("own_hand").slice]
                assert sum(int(bit) << card for card, bit in enumerate(hand)) == int(
                    states[game]["hands"][int(states[game]["turn"])]
                )
                assert buffer.is_bid[slot, column] == (FIRST_BID <= action <= FIRST_BID + 13)
                taken[column] += 1
            step.apply(states, game, action)
        result = states[game]["result"]
        margin = sum(
            sign * (int(result["contract"][t]) + int(result["nil"][t]) - 9 * int(result["bags"][t]))
            for t, sign in ((0, 1), (1, -1))
        )
        last = [buffer.returns[taken[4 * game + seat] - 1, 4 * game + seat] for seat in range(4)]
        assert last == pytest.approx([margin / 100, -margin / 100, margin / 100, -margin / 100], abs=1e-6)
    assert (taken == buffer.counts).all()


@pytest.mark.parametrize("preset", list(PRESETS))
def test_training_runs_under_every_preset(preset: str) -> None:
    model = SelfPlayPPO(small(rules=preset))
    buffer = collected(model).rollout_buffer
    model.train()
    assert buffer.counts.max() <= most_choices(PRESETS[preset])
    assert buffer.counts.min() >= 1
    assert all(bool(torch.isfinite(weight).all()) for weight in model.policy.parameters())


def test_advantages_are_normalised_for_bids_and_plays_apart() -> None:
    model = SelfPlayPPO(small(explore={"nil": 0.0}))
    buffer = collected(model).rollout_buffer
    rows = buffer.rows()
    advantages, bids = buffer.normalised_advantages(rows), buffer.is_bid.reshape(-1)[rows]
    for group in (bids, ~bids):
        assert advantages[group].mean() == pytest.approx(0, abs=1e-4)
        assert advantages[group].std() == pytest.approx(1, abs=1e-3)


def test_minibatches_hold_every_choice_once() -> None:
    buffer = collected(SelfPlayPPO(small())).rollout_buffer
    batches = list(buffer.minibatches(50, np.random.default_rng(0)))
    assert sum(len(batch.actions) for batch in batches) == buffer.counts.sum()
    total = sum(float(batch.returns.sum()) for batch in batches)
    assert total == pytest.approx(float(buffer.returns.reshape(-1)[buffer.rows()].sum()), abs=1e-3)


def test_sure_cards_come_in_part_with_the_inverse_as_weight() -> None:
    """Bids and what is not sure always come; the weights leave sums as they were, on average over passes."""
    buffer = collected(SelfPlayPPO(small(ppo={"games": 64, "minibatch": 64}))).rollout_buffer
    rows = buffer.rows()
    sure = buffer.log_probs.reshape(-1)[rows] > np.log(0.4)
    bids = buffer.is_bid.reshape(-1)[rows]
    assert 0 < (sure & ~bids).sum() < len(rows) - bids.sum()
    taken, weight = 0, 0.0
    for pass_ in range(40):
        batches = list(buffer.minibatches(500, np.random.default_rng(pass_), 0.4, 0.25))
        taken += sum(len(batch.actions) for batch in batches)
        weight += sum(float(batch.weights.sum()) for batch in batches)
        assert sum(int(batch.is_bid.sum()) for batch in batches) == bids.sum()
        for batch in batches:
            assert set(batch.weights.tolist()) <= {1.0, 4.0}
            assert (batch.weights[batch.old_log_prob <= np.log(0.4)] == 1).all()
    assert weight / 40 == pytest.approx(len(rows), rel=0.02)
    assert taken / 40 == pytest.approx(len(rows) - 0.75 * (sure & ~bids).sum(), rel=0.02)


def choices(**changes: Any) -> Choices:
    base = {
        "observations": torch.zeros(3, GAME_SIZE, dtype=torch.uint8),
        "masks": torch.ones(3, NUM_ACTIONS, dtype=torch.bool),
        "actions": torch.tensor([NIL, NIL, 5]),
        "old_log_prob": torch.log(torch.tensor([0.001, 0.5, 0.5])),
        "advantages": torch.tensor([-1.0, -1.0, -1.0]),
        "returns": torch.zeros(3),
        "is_bid": torch.tensor([True, True, False]),
        "explored": torch.tensor([True, True, False]),
        "weights": torch.ones(3),
    }
    return Choices(**(base | changes))


def test_a_bad_explored_bid_counts_only_where_it_is_alive() -> None:
    explore = ExploreConfig(weight=0.5, floor=0.02)
    assert exploration_weights(choices(), explore).tolist() == [0.0, 0.5, 1.0]
    lucky = choices(advantages=torch.tensor([1.0, 1.0, 1.0]))
    assert exploration_weights(lucky, explore).tolist() == [0.5, 0.5, 1.0]


def test_exploration_tries_nil_for_a_bid_of_one_where_it_is_legal() -> None:
    explore = explorer(small(explore={"nil": 1.0, "until": 1.0}), 0.0)
    masks = np.ones((5, NUM_ACTIONS), np.bool_)
    masks[4, NIL] = False
    actions = np.array([NIL + 1, NIL + 4, NIL, 7, NIL + 1])
    explored = explore(actions, masks, np.arange(5, dtype=np.uint64))
    assert actions.tolist() == [NIL, NIL + 4, NIL, 7, NIL + 1]
    assert explored.tolist() == [True, False, False, False, False]


def test_bid_prior_heeds_the_mask_and_ignores_plays() -> None:
    masks = torch.zeros(3, NUM_ACTIONS, dtype=torch.bool)
    masks[:, FIRST_BID + 2] = True
    masks[:, FIRST_BID + 3] = True
    logits = torch.full((3, NUM_ACTIONS), torch.finfo(torch.float32).min)
    logits[:, FIRST_BID + 2] = logits[:, FIRST_BID + 3] = 0.0
    found = prior_cross_entropy(torch.log_softmax(logits, 1), choices(masks=masks))
    assert float(found) == pytest.approx(2 / 3 * np.log(2), rel=1e-5)
    assert sum(BID_PRIOR) == pytest.approx(1)


def test_deal_summary_of_a_hand_made_deal() -> None:
    states = np.zeros(2, STATE)
    states["rules"] = rules_to_record(PRESETS["classic"])[0]
    states["bids"] = [[0, 4, 4, 3], [3, 3, 0, 3]]
    states["tricks"] = [[0, 5, 4, 4], [2, 4, 2, 5]]
    states["result"]["bags"] = [[0, 2], [2, 3]]
    found = deal_summary(states)
    assert found["table_bid"] == 10
    assert found["nil_rate"] == 0.25
    assert found["nil_success"] == 0.5
    assert found["set_rate"] == 0.25
    assert found["bags"] == 1.75
    assert found["bid_3"] == 0.5


def test_forced_actions_are_never_choices() -> None:
    states = np.zeros(1, STATE)
    step.new_games(states, rules_to_record(PRESETS["classic"]), 3, 0)
    rng = np.random.default_rng(0)
    forced = 0
    while not step.is_over(states, 0):
        legal = legal_action_list(states, 0)
        only = int(only_action.py_func(states[0]) if hasattr(only_action, "py_func") else only_action(states[0]))
        assert only == (legal[0] if len(legal) == 1 else -1)
        forced += only >= 0
        step.apply(states, 0, int(rng.choice(legal)))
    assert forced >= 4


def test_the_stock_step_interface_is_refused() -> None:
    env = SeatVecEnv(PRESETS["classic"], 2, 1)
    with pytest.raises(TypeError, match="which seat earned it"):
        env.step(np.zeros(8, np.int64))


def test_same_seed_same_weights_and_report(tmp_path: Path) -> None:
    report = train(small(), tmp_path / "a")
    train(small(), tmp_path / "b")
    train(small(seed=2), tmp_path / "c")
    first = weights(tmp_path / "a" / "selfplay")
    assert first == weights(tmp_path / "b" / "selfplay")
    assert first != weights(tmp_path / "c" / "selfplay")
    text = report.read_text()
    assert "| random |" in text
    assert (report.parent / "learning_curve.png").stat().st_size > 1000
    results = json.loads((report.parent / "results.json").read_text())
    assert [entry["deals"] for entry in results["history"]] == [0, 16, 24]
    assert list((report.parent / "tensorboard").iterdir())


def test_an_interrupted_run_resumes_to_the_same_weights(tmp_path: Path) -> None:
    train(small(), tmp_path / "whole")

    def stop_once(model: SelfPlayPPO, entry: Any) -> None:
        if model.num_timesteps == 8:
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(Interrupted, match="8 of 24 deals"):
        train(small(), tmp_path / "parts", show=stop_once)
    with pytest.raises(RunError, match="--resume"):
        train(small(), tmp_path / "parts")
    train(small(), tmp_path / "parts", resume=True)
    assert weights(tmp_path / "whole" / "selfplay") == weights(tmp_path / "parts" / "selfplay")


def test_a_stop_in_the_last_collection_leaves_the_end_to_the_resumed_run(tmp_path: Path) -> None:
    def stop_late(model: SelfPlayPPO, entry: Any) -> None:
        if model.num_timesteps == 16:
            original = model.train

            def train_and_stop() -> None:
                original()
                signal.raise_signal(signal.SIGINT)

            model.train = train_and_stop  # type: ignore[method-assign]

    train(small(), tmp_path / "whole")
    with pytest.raises(Interrupted, match="24 of 24 deals"):
        train(small(), tmp_path / "parts", show=stop_late)
    train(small(), tmp_path / "parts", resume=True)
    train(small(), tmp_path / "parts", resume=True)
    results = [json.loads((tmp_path / run / "selfplay" / "results.json").read_text()) for run in ("whole", "parts")]
    assert [[e["deals"] for e in r["history"]] for r in results] == [[0, 16, 24]] * 2
    assert results[0]["history"][-1]["opponents"] == results[1]["history"][-1]["opponents"]
    assert results[0]["final"]["opponents"] == results[1]["final"]["opponents"]
    assert weights(tmp_path / "whole" / "selfplay") == weights(tmp_path / "parts" / "selfplay")


def test_rates_never_turn_negative_when_the_last_collection_overshoots() -> None:
    model = SelfPlayPPO(small(deals=5, ppo={"games": 8, "minibatch": 64, "final_rate": 0.0}))
    collected(model)
    model._update_current_progress_remaining(model.num_timesteps, 5)
    model.train()
    assert model.lr_schedule(model._current_progress_remaining) == 0.0


def test_early_snapshot_is_kept_whatever_the_evaluations(tmp_path: Path) -> None:
    evaluation = small().evaluation.model_dump() | {"every": 1.0}
    report = train(small(deals=72, evaluation=evaluation), tmp_path)
    assert "| itself at 10% |" in report.read_text()
    assert (report.parent / "policy-100.safetensors").exists()


def test_results_are_json_where_nobody_bid_nil(tmp_path: Path) -> None:
    """JSON has no NaN: a share of nothing is null."""

    def refuse(text: str) -> None:
        raise AssertionError(text)

    report = train(small(rules={"preset": "classic", "nil_allowed": False, "blind_nil": False}), tmp_path)
    results = json.loads((report.parent / "results.json").read_text(encoding="utf-8"), parse_constant=refuse)
    assert [entry["deals_log"].get("nil_success", "none") for entry in results["history"]] == ["none", None, None]


def test_a_policy_that_never_bids_is_reported_too(tmp_path: Path) -> None:
    stats = {"table_bid_mean": 0.0, "nil_rate": 1.0, "nil_success": None, "set_rate": None, "bags_per_deal": 1.0}
    interval = {"mean": 0.0, "low": -1.0, "high": 1.0}
    table = final_table({"random": {"margin": interval, "margin_raw": interval, "stats": stats}})
    assert "| - | - |" in table


def test_unusable_devices_and_opponents_are_refused_before_training(tmp_path: Path) -> None:
    if not torch.cuda.is_available():
        with pytest.raises(RunError, match="no GPU"):
            train(small(device="cuda"), tmp_path)
    evaluation = small().evaluation.model_dump() | {"final_opponents": ["fooo"]}
    with pytest.raises(ValueError, match="fooo"):
        train(small(evaluation=evaluation), tmp_path)
    assert not (tmp_path / "selfplay" / "checkpoint.safetensors").exists()


def test_a_rules_file_is_kept_as_its_fields(tmp_path: Path) -> None:
    house = tmp_path / "house.yaml"
    house.write_text("preset: classic\nbag_limit: 5\n")
    config = small(rules=str(house))
    assert isinstance(config.rules, dict)
    house.write_text("preset: modern\n")
    assert config.rule_set().bag_limit == 5


def test_resume_refuses_what_does_not_fit(tmp_path: Path) -> None:
    train(small(), tmp_path)
    for changed in (small(seed=2), small(rules="table"), small(deals=32), small(explore={"weight": 0.1})):
        with pytest.raises(CheckpointError, match="the configuration"):
            train(changed, tmp_path, resume=True)
    path = tmp_path / "selfplay" / "checkpoint.safetensors"
    whole = path.read_bytes()
    for damaged in (
        whole[: len(whole) // 2],
        b"",
        b"PK\x03\x04" + whole,
        whole[:3000] + b"\xff" * 2000 + whole[5000:],
    ):
        path.write_bytes(damaged)
        with pytest.raises(CheckpointError):
            train(small(), tmp_path, resume=True)
    save_file({"x": torch.zeros(1)}, path)
    with pytest.raises(CheckpointError, match="foreign"):
        train(small(), tmp_path, resume=True)
    with pytest.raises(RunError, match="no checkpoint"):
        train(small(name="other"), tmp_path, resume=True)


def test_two_runs_in_one_folder_are_refused(tmp_path: Path) -> None:
    def second(model: SelfPlayPPO, entry: Any) -> None:
        with pytest.raises(RunError, match="in use"):
            train(small(deals=8), tmp_path)

    train(small(deals=8), tmp_path, show=second)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("sed: 1", "sed"),
        ("device: foo", "device is 'foo'"),
        ("ppo: {value_weight: .inf}", "ppo.value_weight is inf"),
        ("seed: -1", "seed is -1"),
        ("seed: true", "seed is True"),
        ("deals: 1.5", "deals is 1.5"),
        ("name: ../up", "name is"),
        ("ppo: {clip: 2.0}", "ppo.clip is 2.0"),
        ("ppo: {games: 0}", "ppo.games is 0"),
        ("ppo: [1]", "ppo is"),
        ("network: {hidden: [0]}", "network.hidden"),
        ("network: {precision: int8}", "network.precision is 'int8'"),
        ("rules: chess", "chess"),
        ("rules: {preset: classic, targt: 5}", "targt"),
        ("explore: {nil: 1.5}", "explore.nil is 1.5"),
        ("evaluation: {opponents: []}", "evaluation.opponents"),
    ],
)
def test_bad_configurations_name_the_field(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "config.yaml"
    path.write_text(text)
    with pytest.raises(ValueError, match=message):
        load_config(path)


def test_what_sections_forbid_each_other_is_told_without_the_rest(tmp_path: Path) -> None:
    path = tmp_path / "config.yaml"
    path.write_text("{clone: {}, ppo: {copies: 2}}")
    with pytest.raises(ConfigError) as refusal:
        load_config(path)
    assert str(refusal.value) == f"{path}: ppo.copies is 2; allowed with clone: 1, nothing there needs a baseline"


def test_overrides(tmp_path: Path) -> None:
    path = tmp_path / "config.yaml"
    path.write_text("seed: 3")
    config = load_config(path, ["ppo.games=16", "rules=modern", "bag_price=-5.0"])
    assert (config.seed, config.ppo.games, config.rules, config.bag_price) == (3, 16, "modern", -5.0)
    for bad in ("ppo", "=3", "seed.a=1", "seed=2020-13-45"):
        with pytest.raises(ConfigError, match="--set"):
            load_config(path, [bad])


def test_collapse_is_reported() -> None:
    fine = {"bid_histogram": [1, 20, 40, 39], "nil_rate": 0.01}
    assert collapse_warnings(fine) == []
    assert "bid 2 makes up 70%" in collapse_warnings({"bid_histogram": [0, 15, 70, 15], "nil_rate": 0.01})[0]
    assert "0.00% of seats" in collapse_warnings({"bid_histogram": [0, 50, 50], "nil_rate": 0.0})[0]
