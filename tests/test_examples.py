"""The programs of docs/examples, run in small."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

EXAMPLES = Path(__file__).resolve().parent.parent / "docs" / "examples"


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


def test_every_example_is_run_here() -> None:
    assert {path.name for path in EXAMPLES.glob("*.py")} == {"random_aec.py", "maskable_ppo.py", "load_deals.py"}
