"""The programs of docs/examples, run in small."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = ROOT / "docs" / "examples"


def load(name: str) -> dict[str, Any]:
    return runpy.run_path(str(EXAMPLES / name), run_name="example")


def test_random_play(capsys: pytest.CaptureFixture[str]) -> None:
    main = load("random_aec.py")["main"]
    scores = main(seed=3)
    assert scores == main(seed=3)
    assert max(scores) >= 500 or min(scores) <= -200
    assert capsys.readouterr().out == f"final scores {scores[0]} : {scores[1]}\n" * 2


def test_maskable_ppo_on_one_seat(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    mean = load("maskable_ppo.py")["main"](steps=1024, games=8, save_to=tmp_path / "south.zip")
    assert np.isfinite(mean)
    assert (tmp_path / "south.zip").stat().st_size > 100_000
    assert "margin per deal" in capsys.readouterr().out


def test_learning_from_a_dataset(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("pyarrow", reason="needs the extra `data`")
    from evaluation.dataset.generate import generate
    from evaluation.dataset.spec import dataset_spec

    generate(dataset_spec("easy", 120, part_deals=60), tmp_path)
    before, after = load("load_deals.py")["main"](tmp_path, epochs=2)
    assert 0.0 < before < after <= 1.0
    assert f"{after:.1%}" in capsys.readouterr().out


def test_ppo_on_the_native_vector_environment(capsys: pytest.CaptureFixture[str]) -> None:
    example = load("ppo_vector.py")
    margins = example["main"](updates=2, games=16, judge_deals=8)
    assert np.isfinite(margins).all()
    assert "update 2: 32 deals" in capsys.readouterr().out


def test_advantages_of_the_ppo_example() -> None:
    """By hand, from the end: reward 2 at the last step, values 1 everywhere."""
    torch = pytest.importorskip("torch", reason="needs the extra `train`")
    example = load("ppo_vector.py")
    rewards = torch.zeros(14, 1)
    rewards[-1] = 2.0
    advantages = example["advantages_of"](rewards, torch.ones(14, 1))
    assert advantages[:, 0].tolist() == pytest.approx([0.95 ** (13 - t) for t in range(14)])


def test_an_agent_of_ones_own(capsys: pytest.CaptureFixture[str]) -> None:
    assert load("evaluate_mine.py")["main"]("random", deals=20) != 0.0
    assert "points per deal against random" in capsys.readouterr().out


def test_every_example_is_run() -> None:
    """Here, or by `make interop` in the environment of a library."""
    tests = [*ROOT.glob("tests/test_examples.py"), *ROOT.glob("tests/interop/test_*.py")]
    text = "".join(path.read_text(encoding="utf-8") for path in tests)
    assert [path.name for path in EXAMPLES.glob("*.py") if f'"{path.name}"' not in text] == []
