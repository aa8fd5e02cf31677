"""`spades train` as a user calls it: files, progress, resume, errors of one line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="needs the extra `train`")
pytest.importorskip("sb3_contrib", reason="needs the extra `train`")

from spades_cli.main import main
from spades_cli.output import INTERRUPTED
from training.keeper import Keeper

SMALL = (
    *("--set", "deals=16", "--set", "threads=1", "--set", "ppo.games=8", "--set", "network.hidden=[8]"),
    *("--set", "evaluation.deals=4", "--set", "evaluation.final_deals=4"),
    *("--set", "evaluation.opponents=[random]", "--set", "evaluation.final_opponents=[random]"),
)


def train(*arguments: str) -> int:
    return main(["train", "configs/train/scratch.yaml", *SMALL, *arguments])


def test_train_leaves_a_report_and_says_where(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert train("--runs", str(tmp_path), "--seed", "3") == 0
    out = capsys.readouterr().out
    assert "against random" in out
    assert str(tmp_path / "scratch" / "report.md") in out
    assert "seed: 3" in (tmp_path / "scratch" / "config.yaml").read_text()
    policy = str(tmp_path / "scratch")
    assert main(["evaluate", policy, "random", "--deals", "4", "--json", "-"]) == 0
    assert json.loads(capsys.readouterr().out)["illegal_actions"] == 0
    assert train("--runs", str(tmp_path), "--seed", "3") == 2
    assert "--resume goes on" in capsys.readouterr().err


def test_json_on_stdout_is_nothing_else(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert train("--runs", str(tmp_path), "--json", "-") == 0
    results = json.loads(capsys.readouterr().out)
    assert set(results) == {"config", "history", "final", "versions", "machine"}
    assert results["final"]["opponents"]["random"]["margin"]["low"] < 200


def test_interrupt_exits_130_and_resume_finishes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(Keeper, "_on_step", lambda self: not setattr(self, "stopped", True) and False)
        assert train("--runs", str(tmp_path)) == INTERRUPTED
    shown = " ".join(capsys.readouterr().err.split())
    assert f"spades train {tmp_path}/scratch/config.yaml --runs {tmp_path} --resume" in shown
    assert main(["train", f"{tmp_path}/scratch/config.yaml", "--runs", str(tmp_path), "--resume"]) == 0
    assert "Report:" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--set", "sed=1"), "sed"),
        (("--set", "deals=ten"), "deals is 'ten'"),
        (("--set", "device=tpu"), "device is 'tpu'"),
        (("--set", "evaluation.opponents=[nobody]"), "nobody"),
        (("--set", "rules=chess"), "chess"),
        (("--json", "no/such/folder.json"), "No such file or directory"),
        (("--resume",), "no checkpoint"),
    ],
)
def test_errors_are_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], message: str
) -> None:
    assert train("--runs", str(tmp_path), *arguments) in (1, 2)
    last = capsys.readouterr().err.strip().splitlines()[-1]
    assert last.startswith("spades: error:")
    assert message in last


def test_a_shipped_configuration_is_found_by_name_and_others_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert train("--runs", str(tmp_path)) == 0
    assert main(["train", "nothing.yaml"]) == 2
    assert "nothing.yaml" in capsys.readouterr().err
