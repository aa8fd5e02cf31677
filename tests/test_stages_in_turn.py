"""Several configurations to `spades train`: one after another, weights passed on, finished stages passed over."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="needs the extra `train`")
pytest.importorskip("sb3_contrib", reason="needs the extra `train`")

import yaml
from small_training import small

from agents.learned.weights import read_policy
from spades_cli.main import main
from spades_cli.output import INTERRUPTED
from training.keeper import Keeper
from training.stages import is_finished


@pytest.fixture
def two_stages(tmp_path: Path) -> list[str]:
    """Files of a clone and of self-play that starts with its weights."""
    first = small(name="first", clone={"teacher": "lowest"})
    second = small(name="second", start="stage:first")
    files = [tmp_path / "first.yaml", tmp_path / "second.yaml"]
    for file, config in zip(files, (first, second), strict=True):
        file.write_text(yaml.safe_dump(config.model_dump()))
    return [str(file) for file in files]


def run(files: list[str], runs: Path, *more: str) -> int:
    return main(["train", *files, "--runs", str(runs), *more])


def test_the_second_stage_begins_with_the_weights_of_the_first(two_stages: list[str], tmp_path: Path) -> None:
    assert run(two_stages, tmp_path / "runs") == 0
    first, _ = read_policy(tmp_path / "runs" / "first")
    start, description = read_policy(tmp_path / "runs" / "second" / "policy-000.safetensors")
    assert all((first[name] == start[name]).all() for name in first)
    assert description.trained["config"]["start"] == "stage:first"
    end, _ = read_policy(tmp_path / "runs" / "second")
    assert any((start[name] != end[name]).any() for name in start)


def test_resume_passes_over_what_is_finished_and_ends_alike(
    two_stages: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(two_stages, tmp_path / "whole") == 0
    with monkeypatch.context() as patch:
        step = Keeper._on_step

        def stop_in_the_second(keeper: Keeper) -> bool:
            keeper.stopped = keeper.stopped or keeper.config.name == "second"
            return step(keeper)

        patch.setattr(Keeper, "_on_step", stop_in_the_second)
        assert run(two_stages, tmp_path / "runs") == INTERRUPTED
    assert "the same command with --resume" in capsys.readouterr().err
    results = tmp_path / "runs" / "first" / "results.json"
    before = results.stat().st_mtime_ns
    assert run(two_stages, tmp_path / "runs", "--resume") == 0
    assert results.stat().st_mtime_ns == before
    whole, resumed = (read_policy(tmp_path / name / "second")[0] for name in ("whole", "runs"))
    assert all((whole[name] == resumed[name]).all() for name in whole)


def test_without_resume_a_finished_stage_is_refused(
    two_stages: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(two_stages, tmp_path / "runs") == 0
    assert run(two_stages, tmp_path / "runs") == 2
    assert "holds a run already: --resume goes on with it" in capsys.readouterr().err


def test_stages_need_folders_of_their_own(
    two_stages: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(two_stages, tmp_path / "runs", "--set", "name=same") == 2
    assert "name is 'same' in two configurations" in capsys.readouterr().err
    assert not (tmp_path / "runs").exists()


def test_a_stage_that_is_missing_is_named(
    two_stages: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(two_stages[1:], tmp_path / "runs") == 2
    assert str(tmp_path / "runs" / "first") in capsys.readouterr().err


def test_only_the_same_configuration_counts_as_finished(tmp_path: Path) -> None:
    config = small(name="first")
    assert not is_finished(tmp_path, config)
    file = tmp_path / "results.json"
    file.write_text(json.dumps({"config": config.model_dump()}))
    assert is_finished(tmp_path, config)
    assert not is_finished(tmp_path, small(name="first", deals=25))
    file.write_text("{")
    assert not is_finished(tmp_path, config)
