"""Datasets as Minari's, read back by Minari itself: episodes, spaces, the environment behind them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("pyarrow", reason="needs the extra `data`")
pytest.importorskip("h5py", reason="needs the extra `minari`")
pytest.importorskip("minari", reason="needs the extra `minari`")

import minari

from evaluation.dataset.generate import generate
from evaluation.dataset.minari import export_minari
from evaluation.dataset.read import open_dataset
from evaluation.dataset.spec import DatasetError, dataset_spec
from evaluation.starts import begin
from spades_cli.main import main
from spades_env.game import Game
from spades_env.rules import Rules

LINE_UP = ("easy", "random", "lowest", "random")


@pytest.fixture(autouse=True)
def folder_of_minari(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path / "minari"))


@pytest.mark.parametrize(
    ("rules", "encoder", "line_up"), [("classic", "flat", LINE_UP), ("two_player", "features", ("easy", "random"))]
)
def test_episodes_are_the_decisions_of_a_seat(tmp_path: Path, rules: str, encoder: str, line_up: Any) -> None:
    generate(dataset_spec(line_up, 12, rules, encoder=encoder, part_deals=5, seed=2), tmp_path / "d")
    source = open_dataset(tmp_path / "d")
    players = len(line_up)
    assert export_minari(source, "spades/mixed-v0") == 12 * players
    found = minari.load_dataset("spades/mixed-v0")
    assert (found.total_episodes, found.total_steps) == (12 * players, source.rows)
    [rows] = source.batches(10_000)
    at = 0
    metadata = found.storage.get_episode_metadata(range(found.total_episodes))
    for number, (episode, told) in enumerate(zip(found.iterate_episodes(), metadata, strict=True)):
        deal, seat = divmod(number, players)
        steps = slice(at, at + len(episode.rewards))
        at = steps.stop
        assert set(rows["deal"][steps].tolist()) == {deal}
        assert set(rows["seat"][steps].tolist()) == {seat}
        assert np.array_equal(episode.actions, rows["action"][steps])
        assert np.array_equal(episode.observations["observation"][:-1], rows["observation"][steps])
        assert np.array_equal(episode.observations["action_mask"][:-1], rows["mask"][steps])
        assert episode.observations["action_mask"][-1].all()
        assert episode.rewards[:-1].tolist() == [0.0] * (len(episode.rewards) - 1)
        assert episode.rewards[-1] == pytest.approx(rows["margin"][steps.start] / 100)
        assert episode.terminations.tolist() == [False] * (len(episode.rewards) - 1) + [True]
        assert not episode.truncations.any()
        assert told["options"] == {"deal": deal, "seat": seat, "agent": line_up[seat]}
        sample = {name: values[-1] for name, values in episode.observations.items()}
        assert found.observation_space.contains(sample)
    assert at == source.rows


def test_an_episode_is_what_the_environment_shows(tmp_path: Path) -> None:
    """The environment that Minari recovers shows and rewards the same, given the same cards and actions."""
    # The environment ends matches after 100 deals where the rules do not, and its observations say so.
    generate(dataset_spec("lowest", 6, Rules(max_deals=100), seed=4), tmp_path / "d")
    export_minari(open_dataset(tmp_path / "d"), "lowest-v0")
    found = minari.load_dataset("lowest-v0")
    env = found.recover_environment()
    assert env.observation_space == found.observation_space
    assert env.action_space == found.action_space
    for deal in range(6):
        episode = found[4 * deal]
        game = Game("classic", seed=4, game=deal)
        state, _ = env.reset(seed=0, options={"dealer": game.dealer, "hands": game.hand_texts})
        for k, action in enumerate(episode.actions):
            assert np.array_equal(state["observation"], episode.observations["observation"][k])
            assert np.array_equal(state["action_mask"], episode.observations["action_mask"][k])
            state, reward, terminated, truncated, _ = env.step(action)
            assert reward == pytest.approx(episode.rewards[k])
            assert terminated == bool(episode.terminations[k])
            assert not truncated
        assert np.array_equal(state["observation"], episode.observations["observation"][-1])


def test_what_cannot_be_exported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    generate(dataset_spec("easy", 3, encoder="none"), tmp_path / "none")
    with pytest.raises(DatasetError, match="encoder is 'none'; allowed for Minari: flat, sequence, features"):
        export_minari(open_dataset(tmp_path / "none"), "easy-v0")
    generate(dataset_spec("easy", 3), tmp_path / "flat")
    assert main(["minari", str(tmp_path / "flat"), "no version"]) == 2
    assert "Malformed dataset ID" in capsys.readouterr().err
    assert main(["minari", str(tmp_path / "flat"), "easy-v0", "--author", "me"]) == 0
    assert "easy-v0: 12 episodes, 168 steps" in capsys.readouterr().out
    assert main(["minari", str(tmp_path / "flat"), "easy-v0"]) == 2
    error = capsys.readouterr().err
    assert "is there already: delete it, or give another ID" in error
    assert error.count("\n") == 1


def test_a_broken_off_export_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    generate(dataset_spec("easy", 3), tmp_path / "d")

    def stop(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        export_minari(open_dataset(tmp_path / "d"), "easy-v0", progress=stop)
    assert not (tmp_path / "minari" / "easy-v0").exists()


def test_actions_that_are_not_those_of_the_deal_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    generate(dataset_spec("easy", 3), tmp_path / "d")
    monkeypatch.setattr(
        "evaluation.dataset.minari.begin", lambda kind, rules, seed, first, n: begin(kind, rules, seed + 1, first, n)
    )
    with pytest.raises(DatasetError, match=r"deal \d: an action is not legal"):
        export_minari(open_dataset(tmp_path / "d"), "easy-v0")
