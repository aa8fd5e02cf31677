"""benchmarks.scaling: the formula by hand, and that a measurement holds together."""

from __future__ import annotations

import dataclasses

import pytest

pytest.importorskip("torch", reason="needs the extra `train`")
pytest.importorskip("sb3_contrib", reason="needs the extra `train`")

from benchmarks import scaling
from benchmarks.scaling import Rates, Workload, measure, predict, predictions

RATES = Rates(
    workload="by hand",
    games=64,
    deals=128,
    decisions=56.0,
    choices=45.0,
    play=0.040,
    rest=0.015,
    forward=9000.0,
    learn=0.001,
    replay=0.0002,
    passes=90_000.0,
    deal_bytes=800.0,
    weight_bytes=1_000_000,
)
"""A player takes 40 ms for a deal, a learner 1 ms, of which 0.2 ms cannot be shared."""


def test_players_hold_back_few_cores_and_the_learner_many() -> None:
    few, many = predict(RATES, 11), predict(RATES, 100)
    assert (few.rate, few.bottleneck) == (pytest.approx(250), "players")
    assert (many.rate, many.bottleneck) == (pytest.approx(1000), "learners")
    assert few.alone == pytest.approx(1 / 0.041)
    assert few.useful == many.useful == 1 + 40
    # 800 bytes a deal come in; a megabyte goes to each of 7 nodes for every 99 x 64 deals.
    assert many.received == pytest.approx(800_000)
    assert many.sent == pytest.approx(1000 / (99 * 64) * 7e6)


def test_more_learners_share_all_but_the_playing_over() -> None:
    assert predict(RATES, 1000, 4).rate == pytest.approx(1 / (0.0002 + 0.0008 / 4))
    assert [(p.cores, p.learners) for p in predictions(RATES)] == [(10, 1), (100, 1), (100, 4), (1000, 1), (1000, 16)]
    assert predict(RATES, 100, 3).bottleneck == "learners"
    assert predict(RATES, 100, 4).bottleneck == "players"


def test_a_measurement_holds_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scaling, "FEWEST_SECONDS", 0.01)
    found = measure(Workload("small", (), 4), 0.01)
    assert found.deals == 8
    assert found.decisions == 56
    assert 30 < found.choices < 56
    assert 400 < found.deal_bytes < 1200
    assert found.rest < found.play
    assert found.replay < found.learn
    assert found.rest + found.choices / found.forward == pytest.approx(found.play)
    assert all(value for value in dataclasses.astuple(found))
