"""Alarms of a training run: what is one, and that warning, stopping and going back do what they say."""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs the extra `train`")
pytest.importorskip("sb3_contrib", reason="needs the extra `train`")

from small_training import small, weights  # noqa: E402

from agents.learned.weights import read_policy  # noqa: E402
from spades_cli.main import main  # noqa: E402
from spades_env.configs import ConfigError, config_path  # noqa: E402
from training import guard  # noqa: E402
from training.alarms import AlarmsConfig, alarm_text, alarms_of, best_of  # noqa: E402
from training.checkpoint import CheckpointError, load_checkpoint, save_checkpoint  # noqa: E402
from training.collected import LOG_FILE  # noqa: E402
from training.config import load_config  # noqa: E402
from training.guard import BEST_FILE, AlarmError  # noqa: E402
from training.outcome import snapshot_path  # noqa: E402
from training.run import Interrupted, train  # noqa: E402
from training.selfplay import SelfPlayPPO  # noqa: E402

OFF: dict[str, Any] = dict.fromkeys(
    ("own_sets", "opponent_sets", "bid_entropy", "common_bid", "nils", "table_bid_low", "table_bid_high", "margin_drop")
)
NO_TABLE_BID = OFF | {"after": 0.0, "table_bid_high": 0.0}
"""Alarm at every evaluation but the first, before which no deal was played."""
EVALUATION = small().evaluation.model_dump() | {"every": 0.2, "deals": 2}


def entry(margin: float = 10.0, **changes: Any) -> dict[str, Any]:
    """An evaluation that no default band minds, with its statistics or `deals_log`s table bid changed."""
    stats = {"set_rate": 0.1, "bid_histogram": [5, 20, 30, 30, 15], "nil_rate": 0.05}
    stats |= {name: changes[name] for name in stats if name in changes}
    result = {
        "margin": {"mean": margin},
        "stats": stats,
        "opponent_set_rate": changes.get("opponent_set_rate", 0.1),
    }
    log = {"table_bid": changes.get("table_bid", 10.5)}
    return {"deals": changes.get("deals", 100), "opponents": {"normal": result}, "deals_log": log}


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"set_rate": 0.31}, "contracts of its own that are set against normal: 31.0% (allowed: up to 30.0%)"),
        ({"opponent_set_rate": 0.01}, "contracts of the opponents that are set against normal: 1.0%"),
        ({"bid_histogram": [50, 50]}, "entropy of bids against normal: 0.69 (allowed: from 0.75 on)"),
        ({"bid_histogram": [61, 10, 10, 10, 9]}, "share of the most common bid against normal: 61.0%"),
        ({"nil_rate": 0.004}, "seats that bid nil against normal: 0.40% (allowed: from 0.50% on)"),
        ({"table_bid": 8.9}, "table bid: 8.90 (allowed: 9.00 to 12.00)"),
        ({"table_bid": 12.1}, "table bid: 12.10 (allowed: 9.00 to 12.00)"),
        ({"margin": -0.5}, "points below the best evaluation: 10.5 (allowed: up to 10.0)"),
    ],
)
def test_a_figure_outside_its_band_is_an_alarm_by_hand(changes: dict[str, Any], text: str) -> None:
    (alarm,) = alarms_of(entry(**changes), AlarmsConfig(), entry())
    assert alarm_text(alarm).startswith(text)
    off = AlarmsConfig.model_validate(OFF)
    assert alarms_of(entry(**changes), off, entry()) == []


def test_what_was_not_measured_is_no_alarm() -> None:
    """A policy that bids nothing but nils has no contracts; before the first deals there is no table bid."""
    bare = entry(set_rate=None, opponent_set_rate=None) | {"deals_log": {}}
    assert alarms_of(bare, AlarmsConfig(), None) == []


def test_the_best_evaluation_is_the_first_of_the_highest_margin_without_alarms() -> None:
    entries = [entry(3, deals=k) for k in range(2)] + [entry(9, deals=2) | {"alarms": ["one"]}]
    other = entry(99)
    other["opponents"] = {"easy": other["opponents"]["normal"]}
    assert best_of([*entries, other], entry()) is entries[0]
    assert best_of(entries[2:], entry()) is None


def test_a_warning_changes_nothing_but_what_is_told(tmp_path: Path) -> None:
    plain = train(small(), tmp_path / "a")
    report = train(small(alarms=NO_TABLE_BID), tmp_path / "b")
    assert weights(plain.parent) == weights(report.parent)
    text = report.read_text()
    assert "**Alarm** after 16 deals: table bid" in text
    assert "**Alarm**" not in plain.read_text()
    history = json.loads((report.parent / "results.json").read_text())["history"]
    assert [found["alarm_action"] for found in history] == [None, "warn", "warn"]
    (alarm,) = history[1]["alarms"]
    assert alarm["measure"] == "table_bid"
    assert (alarm["low"], alarm["high"], alarm["against"]) == (None, 0.0, None)
    assert not (report.parent / BEST_FILE).exists()


def test_nothing_comes_of_an_alarm_before_its_share_of_training(tmp_path: Path) -> None:
    """Evaluations are after 0, 16 and 24 deals; the alarm after 16 is before 0.9 of the training."""
    with pytest.raises(AlarmError, match="after 24 of 24 deals"):
        train(small(alarms=NO_TABLE_BID | {"on_alarm": "stop", "after": 0.9}), tmp_path)


def test_a_run_that_was_stopped_goes_on_only_with_other_bands(tmp_path: Path) -> None:
    stop = small(alarms=NO_TABLE_BID | {"on_alarm": "stop"})
    train(small(), tmp_path / "plain")
    for resume in (False, True):
        with pytest.raises(AlarmError, match=r"after 16 of 24 deals: table bid: .* \(allowed: up to 0.00\); its check"):
            train(stop, tmp_path / "run", resume=resume)
    assert not (tmp_path / "run" / "selfplay" / "report.md").exists()
    train(small(alarms=OFF | {"on_alarm": "stop"}), tmp_path / "run", resume=True)
    assert weights(tmp_path / "plain" / "selfplay") == weights(tmp_path / "run" / "selfplay")


def test_alarms_of_the_last_evaluation_leave_no_policy(tmp_path: Path) -> None:
    evaluation = small().evaluation.model_dump() | {"every": 1.0}
    config = small(alarms=NO_TABLE_BID | {"on_alarm": "stop"}, evaluation=evaluation)
    for resume in (False, True):
        with pytest.raises(AlarmError, match="after 24 of 24 deals"):
            train(config, tmp_path, resume=resume)
    assert not (tmp_path / "selfplay" / "policy.safetensors").exists()
    train(small(alarms=NO_TABLE_BID, evaluation=evaluation), tmp_path, resume=True)
    assert (tmp_path / "selfplay" / "policy.safetensors").exists()


def test_the_command_says_in_a_line_what_stopped_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "config.yaml"
    file.write_text(json.dumps(small(alarms=NO_TABLE_BID | {"on_alarm": "stop"}).model_dump()))
    assert main(["train", str(file), "--runs", str(tmp_path)]) == 2
    told = capsys.readouterr().err
    assert "Alarm: table bid" in told
    assert "alarms have stopped the run after 16 of 24 deals" in told.splitlines()[-1]
    again = ["train", str(file), "--runs", str(tmp_path), "--resume", "--set", "alarms.on_alarm=warn"]
    assert main(again) == 0


def alarmed_at(monkeypatch: pytest.MonkeyPatch, *deals: int) -> None:
    """Let there be an alarm at the evaluations after so many deals, and at no other."""
    alarm = {"measure": "nils", "against": "random", "value": 0.0, "low": 0.1, "high": None}
    monkeypatch.setattr(guard, "alarms_of", lambda entry, *_: [alarm] if entry["deals"] in deals else [])


def going_back(after: float = 0.5, on_alarm: str = "roll_back", **ppo: Any) -> Any:
    """A run of five collections, evaluated before each, that goes back when there is an alarm after 20 deals.

    With alarms at 16 and 24 it goes back from 24 to 0 or 8, so not to the weights that staleness plays with there.
    """
    sizes = {"games": 8, "minibatch": 64} | ppo
    return small(deals=40, ppo=sizes, alarms=OFF | {"on_alarm": on_alarm, "after": after}, evaluation=EVALUATION)


def test_going_back_takes_weights_and_moments_and_half_the_rate(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Deals go on: the next collection is not one that was learned from before."""
    alarmed_at(monkeypatch, 16, 24)
    rates, firsts = {}, []

    def look(model: SelfPlayPPO, found: Any) -> None:
        firsts.append(model.num_timesteps)
        rates[model.num_timesteps] = model.lr_schedule(1.0)
        if model.num_timesteps == 24:
            assert found["rolled_back_to"] == best["deals"]
            now = model.policy.network().tensors()
            then = read_policy(snapshot_path(tmp_path / "selfplay", best["deals"] / 40))[0]
            assert all(np.array_equal(now[name], then[name]) for name in then)
            other = SelfPlayPPO(model.config)
            load_checkpoint(tmp_path / "selfplay" / BEST_FILE, other)
            assert other.num_timesteps == best["deals"]
            pair = (model.policy.optimizer.state_dict()["state"], other.policy.optimizer.state_dict()["state"])
            assert pair[0].keys() == pair[1].keys()
            assert all(torch.equal(pair[0][k][name], pair[1][k][name]) for k in pair[0] for name in pair[0][k])
        elif found is not None and model.num_timesteps < 16:
            best.update(max(best, found, key=lambda e: e["opponents"]["random"]["margin"]["mean"]) if best else found)

    best: dict[str, Any] = {}
    report = train(going_back(), tmp_path, show=look)
    assert firsts == [0, 8, 16, 24, 32, 40]
    assert rates[32] == rates[24] == rates[16] / 2
    assert f"Rolled back to the weights after {best['deals']:,} deals, learning rate halved." in report.read_text()


@pytest.mark.parametrize("ppo", [{}, {"shares": 2, "staleness": 1, "average_rate": 0.2, "anchor": 0.1}])
def test_a_run_that_went_back_resumes_to_the_same_weights(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ppo: dict[str, Any]
) -> None:
    """Interrupted before, in the middle of, and after going back."""
    alarmed_at(monkeypatch, 16, 24)
    config = going_back(**ppo)
    train(config, tmp_path / "whole")
    monkeypatch.setattr(guard, "alarms_of", lambda *_: [])
    train(config, tmp_path / "calm")
    assert weights(tmp_path / "whole" / "selfplay") != weights(tmp_path / "calm" / "selfplay")
    alarmed_at(monkeypatch, 16, 24)
    for stop in (16, 24, 32):
        folder = tmp_path / str(stop)

        def stop_once(model: SelfPlayPPO, found: Any, at: int = stop) -> None:
            if model.num_timesteps == at:
                signal.raise_signal(signal.SIGINT)

        with pytest.raises(Interrupted):
            train(config, folder, show=stop_once)
        train(config, folder, resume=True)
        assert weights(tmp_path / "whole" / "selfplay") == weights(folder / "selfplay"), stop
        if ppo:
            logs = [(tmp_path / run / "selfplay" / LOG_FILE).read_text().splitlines() for run in ("whole", str(stop))]
            versions = [[json.loads(line)["version"] for line in log] for log in logs]
            assert versions[0] == versions[1]


def test_after_going_back_no_deal_is_played_with_the_weights_that_were_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With staleness, too: the collection that was begun with them is let go."""
    alarmed_at(monkeypatch, 16, 24)
    used: dict[int, Any] = {}
    collect = SelfPlayPPO._have_played

    def spy(self: SelfPlayPPO, apart: Any, *rest: Any) -> None:
        if self.num_timesteps == 24:
            assert not apart._begun
            now = self.policy.playing_weights()
            assert all(np.array_equal(array, now[name]) for name, array in apart.behind.items())
        first = self.num_timesteps
        collect(self, apart, *rest)
        used[first] = self.last_collection["staleness"]

    monkeypatch.setattr(SelfPlayPPO, "_have_played", spy)
    train(going_back(staleness=1), tmp_path)
    assert used == {0: 0, 8: 1, 16: 1, 24: 0, 32: 1}


@pytest.mark.slow
def test_actors_go_back_with_the_learner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What they have begun with the weights that are left is played again, to the same bytes as without them."""
    alarmed_at(monkeypatch, 16, 24)
    config = going_back(shares=2, staleness=1)
    train(config, tmp_path / "here")
    train(config, tmp_path / "there", actors=2)
    assert weights(tmp_path / "here" / "selfplay") == weights(tmp_path / "there" / "selfplay")


def test_going_back_has_an_end(tmp_path: Path) -> None:
    bands = NO_TABLE_BID | {"on_alarm": "roll_back", "roll_backs": 2}
    config = small(deals=40, alarms=bands, evaluation=EVALUATION)
    with pytest.raises(AlarmError, match="after 24 of 40 deals, after 2 roll-backs: table bid"):
        train(config, tmp_path)
    with pytest.raises(AlarmError, match="after 2 roll-backs"):
        train(config, tmp_path, resume=True)
    more = small(deals=40, alarms=bands | {"roll_backs": 5}, evaluation=EVALUATION)
    report = train(more, tmp_path, resume=True)
    history = json.loads((report.parent / "results.json").read_text())["history"]
    assert [found["rolled_back_to"] for found in history] == [None, 0, 0, 0, 0, 0]


def test_without_a_good_evaluation_there_is_nowhere_to_go_back_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    alarmed_at(monkeypatch, 0)
    with pytest.raises(AlarmError, match="without weights of a good evaluation to go back to"):
        train(going_back(after=0.0), tmp_path)


def test_a_run_that_only_warned_has_nowhere_to_go_back_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Told to go back from the middle of the run on, it has no best weights in a file, and stops in a line."""
    alarmed_at(monkeypatch, 16, 24)

    def leave(model: SelfPlayPPO, found: Any) -> None:
        if model.num_timesteps == 8:
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(Interrupted):
        train(going_back(on_alarm="warn"), tmp_path, show=leave)
    with pytest.raises(AlarmError, match="without weights of a good evaluation to go back to"):
        train(going_back(), tmp_path, resume=True)


def test_another_best_file_than_the_histories_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    alarmed_at(monkeypatch, 16, 24)

    def swap(model: SelfPlayPPO, found: Any) -> None:
        if model.num_timesteps == 16:
            save_checkpoint(tmp_path / "selfplay" / BEST_FILE, model, [])

    alarms = OFF | {"on_alarm": "roll_back", "after": 0.0}
    evaluation = EVALUATION | {"every": 0.6}
    with pytest.raises(CheckpointError, match=r"best.safetensors': of 16 deals; expected: of 0"):
        train(small(deals=40, alarms=alarms, evaluation=evaluation), tmp_path, show=swap)


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"alarms": {"on_alarm": "panic"}}, "alarms.on_alarm is 'panic'"),
        ({"alarms": {"own_sets": 1.5}}, "alarms.own_sets is 1.5"),
        (
            {"alarms": {"table_bid_low": 12.5}},
            "alarms.table_bid_low is 12.5; allowed: up to alarms.table_bid_high, 12.0",
        ),
        ({"alarms": {"on_alarm": "roll_back"}, "clone": {}}, "is 'roll_back'; allowed with clone: warn, stop"),
        (
            {"alarms": {"on_alarm": "roll_back"}, "ppo": {"games": 8, "learners": 2}},
            "is 'roll_back'; allowed with ppo.learners 2: warn, stop",
        ),
    ],
)
def test_alarms_that_make_no_sense_are_refused(changes: dict[str, Any], text: str) -> None:
    with pytest.raises(ConfigError, match=text):
        small(**changes)


@pytest.mark.parametrize("name", ["selfplay", "scratch", "champion/selfplay", "champion/modern"])
def test_shipped_self_play_has_alarms(name: str) -> None:
    assert load_config(config_path(f"train/{name}.yaml")).alarms is not None
