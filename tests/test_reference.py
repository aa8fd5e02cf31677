"""Reference pairs: what cheaper agents come to on the same deals narrows an interval and moves nothing.

The mean of such a control is estimated from further deals: its error must be in the interval, and no more.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agents.base import ActionArray, KeyArray
from agents.registry import load_agent
from evaluation.again import differences, items_of
from evaluation.duplicate import Evaluation, evaluate, evaluate_line_up
from evaluation.intervals import Z_95, mean_interval
from evaluation.report.duels import evaluation_command
from evaluation.report.read import read_sources
from evaluation.result import margins_of
from evaluation.variance.fit import Controls, controlled
from evaluation.variance.gain import best_deals
from evaluation.variance.reference import COLUMNS, References, columns_of, further_seed, split_pair
from evaluation.work.crew import Desk
from evaluation.work.job import DUPLICATE, Job
from evaluation.work.keys import other_keys
from evaluation.work.store import StoreError
from spades_cli.main import main
from spades_env.engine.state import StateArray
from spades_env.rules import PRESETS, Rules
from spades_env.view import empty_views, views_to_act

PAIR = ("easy", "conservative")
OPTIONS: dict[str, Any] = {"reference": ["suit_odds~conservative"], "reference_plays": 2}
TIMES = ("seconds", "ms_per_decision", "versions", "machine", "control")


def without_luck(reference: np.ndarray, further: np.ndarray) -> Controls:
    """Controls of estimated mean alone."""
    return Controls(np.zeros((len(reference), 0)), reference, further)


def same_controls(one: Evaluation, other: Evaluation) -> None:
    """Check that two evaluations have the same games and controls to the last byte."""
    assert one.controls is not None
    assert other.controls is not None
    assert one.log.tobytes() == other.log.tobytes()
    for name in ("luck", "reference", "further"):
        assert getattr(one.controls, name).tobytes() == getattr(other.controls, name).tobytes()
    assert one.controlled_margin == other.controlled_margin


# --- The estimator -------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def bank() -> tuple[np.ndarray, np.ndarray]:
    """Margins of `easy` against `conservative`, and the controls of a pair, of 30,000 deals."""
    found = evaluate(*PAIR, deals=30_000, seed=9, reference=["easy~conservative"], reference_plays=2, reference_deals=2)
    assert found.controls is not None
    return found.margins, found.controls.reference


@pytest.mark.parametrize(("deals", "further"), [(40, 20), (200, 200), (200, 1000)])
def test_many_evaluations_agree_with_the_truth(bank: tuple[np.ndarray, np.ndarray], deals: int, further: int) -> None:
    """Drawn again and again from deals whose mean is known: no bias, and the truth in 95 % of the intervals."""
    margins, reference = bank
    truth, rng, means, held = margins.mean(), np.random.default_rng(deals + further), [], 0
    rounds = 3000
    for _ in range(rounds):
        own, other = rng.integers(0, len(margins), deals), rng.integers(0, len(margins), further)
        interval = mean_interval(controlled(margins[own], without_luck(reference[own], reference[other])))
        means.append(interval.mean)
        held += interval.low <= truth <= interval.high
    assert abs(np.mean(means) - truth) < 4 * np.std(means) / np.sqrt(rounds)
    assert 0.935 < held / rounds < 0.965


def test_without_the_error_of_the_mean_the_intervals_would_be_too_narrow(bank: tuple[np.ndarray, np.ndarray]) -> None:
    """The reported spread is the one that the means have; the deals' own would be a fifth too small here."""
    margins, reference = bank
    rng, means, reported, own_alone = np.random.default_rng(4), [], [], []
    for _ in range(2000):
        own, other = rng.integers(0, len(margins), 200), rng.integers(0, len(margins), 200)
        found = without_luck(reference[own], reference[other])
        better = controlled(margins[own], found)
        means.append(better.mean())
        reported.append(better.var(ddof=1) / 200)
        many = without_luck(reference[own], np.tile(reference[other], (100, 1)))
        own_alone.append(controlled(margins[own], many).var(ddof=1) / 200)
    assert np.mean(reported) == pytest.approx(np.var(means), rel=0.08)
    assert np.mean(own_alone) < 0.85 * np.var(means)


def test_a_skewed_control_that_is_not_linear_does_not_move_the_mean() -> None:
    rng, means = np.random.default_rng(5), []
    for _ in range(10_000):
        control, other = rng.exponential(1.0, 40), rng.exponential(1.0, 30)
        values = 1.0 + control**2 + rng.normal(0.0, 1.0, 40)
        means.append(controlled(values, without_luck(control[:, None], other[:, None])).mean())
    assert abs(np.mean(means) - 3.0) < 4 * np.std(means) / 100


def test_a_pair_as_its_own_reference_counts_as_so_many_more_deals() -> None:
    found = evaluate(*PAIR, deals=60, seed=2, reference=[PAIR], reference_deals=240)
    more = evaluate(*PAIR, deals=240, seed=further_seed(2))
    assert found.controls is not None
    assert found.controlled_margin is not None
    assert (found.controls.reference[:, 0] == found.margins).all()
    assert (found.controls.further[:, 0] == more.margins).all()
    pooled = np.concatenate([found.margins, more.margins])
    assert found.controlled_margin.mean == pytest.approx(pooled.mean())
    half = found.controlled_margin.high - found.controlled_margin.mean
    expected = np.sqrt(found.margins.var(ddof=1) / 60 * 0.2**2 + more.margins.var(ddof=1) / 240 * 0.8**2)
    assert half == pytest.approx(Z_95 * expected)


def test_few_deals_use_the_first_columns_and_very_few_none() -> None:
    rng = np.random.default_rng(6)
    values, reference, further = rng.normal(size=45), rng.normal(size=(45, 4)), rng.normal(size=(90, 4))
    first = controlled(values, without_luck(reference[:, :2], further[:, :2]))
    assert (controlled(values, without_luck(reference, further)) == first).all()
    assert (controlled(values[:19], without_luck(reference[:19], further)) == values[:19]).all()


def test_the_best_number_of_further_deals_by_hand() -> None:
    # A deal's variance is 64 + 36 / s; ten plays in all cost 0.1 of the deals, one 0.01: s = sqrt(36 / 0.64) = 7.5.
    assert best_deals(before=100.0, after=64.0 + 3.6, deals=100, further=900, cost=0.1) == 650
    assert best_deals(before=100.0, after=100.0, deals=100, further=900, cost=0.1) == 0
    assert best_deals(before=100.0, after=64.0 + 3.6, deals=100, further=900, cost=100.0) == 0


# --- What is played ------------------------------------------------------------------------------------------


def test_controls_of_a_log_by_hand() -> None:
    found = evaluate("suit_odds", "easy", deals=150, seed=4)
    columns = columns_of(found.log, 2, -9.0)
    assert columns.shape == (150, COLUMNS)
    assert (columns[:, 0] == margins_of(found.log, 2, -9.0)).all()
    assert columns[:, 2].sum() > 0
    assert columns[:, 3].sum() > 0
    for deal in range(150):
        both = [found.log[row * 150 + deal] for row in range(2)]
        squares, nils, failed = 0, 0, 0
        for one in both:
            for bid, tricks in zip(one["bids"], one["tricks"], strict=True):
                squares += int(bid) ** 2
                nils += bid == 0
                failed += bid == 0 and tricks > 0
        assert columns[deal, 1:].tolist() == [squares / 2, nils / 2, failed / 2]


def test_missing_seats_are_no_bids() -> None:
    log = evaluate("easy", "lowest", PRESETS["two_player"], deals=6).log
    assert (log["bids"][:, 2:] == -1).all()
    expected = (log["bids"][:, :2].astype(float) ** 2).sum(axis=1).reshape(2, 6).mean(axis=0)
    assert (columns_of(log, 2, -9.0)[:, 1] == expected).all()


def test_plays_have_the_same_cards_and_other_keys() -> None:
    keys = (0, 0, 1, 1, 2, 2)
    drawn = Desk([Job(PAIR, Rules(), DUPLICATE * 3, seed=3, keys=keys)]).play(0, 4, 20)
    plain = Desk([Job(PAIR, Rules(), seed=3)]).play(0, 4, 20)
    assert drawn.log[:40].tobytes() == plain.log.tobytes()
    assert drawn.log["row"].tolist() == np.repeat(np.arange(6), 20).tolist()
    assert drawn.log["game"].tolist() == np.tile(np.arange(4, 24), 6).tolist()
    by_row = drawn.log.reshape(6, 20)
    assert (by_row["dealer"] == by_row["dealer"][0]).all()
    assert all((by_row["tricks"][0] != by_row["tricks"][row]).any() for row in (2, 4))
    assert (by_row["tricks"][2] != by_row["tricks"][4]).any()
    assert [tally.decisions for tally in drawn.tallies] == [3 * tally.decisions for tally in plain.tallies]
    # Who draws nothing plays the same with any keys, so the cards are the same, too.
    fixed = Desk([Job(("lowest", "highest"), Rules(), DUPLICATE * 2, seed=3, keys=keys[:4])]).play(0, 0, 20)
    assert (fixed.log["tricks"][:40] == fixed.log["tricks"][40:]).all()


def test_sets_of_keys_have_nothing_in_common() -> None:
    keys = np.arange(1000, dtype=np.uint64)
    sets = np.concatenate([keys, *(other_keys(keys, number) for number in (1, 2, 3))])
    assert len(np.unique(sets)) == 4000


class SeesAll:
    """An oracle that asks `conservative`, and so plays as she does."""

    name = "sees_all"

    def act_on_states(self, states: StateArray, keys: KeyArray) -> ActionArray:
        views = empty_views(len(states))
        views_to_act(states, views)
        return load_agent("conservative").act(views, keys)


def test_an_oracle_may_be_a_reference_with_any_keys() -> None:
    found = evaluate(*PAIR, deals=20, reference=[("easy", SeesAll())], reference_plays=3, reference_deals=2)
    plain = evaluate(*PAIR, deals=20, reference=[PAIR], reference_plays=3, reference_deals=2)
    assert found.controls is not None
    assert plain.controls is not None
    assert (found.controls.reference == plain.controls.reference).all()
    assert found.reference is not None
    assert found.reference.pairs == (("easy", "sees_all"),)


# --- In an evaluation ----------------------------------------------------------------------------------------


def test_the_plain_figures_stay_and_nothing_depends_on_parts() -> None:
    plain = evaluate(*PAIR, deals=90, seed=3)
    one, other = (evaluate(*PAIR, deals=90, seed=3, batch_size=size, **OPTIONS) for size in (90, 7))
    same_controls(one, other)
    assert one.margin == plain.margin
    assert plain.controls is None
    assert one.controls is not None
    assert one.controls.further.shape == (810, COLUMNS)
    assert one.controls.luck.shape == (90, 0)
    twice = evaluate(*PAIR, deals=90, seed=3, reference=["suit_odds~conservative", "easy~lowest"])
    assert twice.controls is not None
    assert twice.controls.reference.shape == (90, 2 * COLUMNS)
    easy_lowest = evaluate("easy", "lowest", deals=90, seed=3)
    assert (twice.controls.reference[:, 1] == easy_lowest.margins).all()


def test_workers_change_nothing() -> None:
    options: dict[str, Any] = {"half_width": 12.0, "max_deals": 700, "seed": 3, **OPTIONS}
    one = evaluate(*PAIR, **options)
    assert one.stopped == "half_width"
    same_controls(one, evaluate(*PAIR, **options, workers=2, batch_size=150))


def test_a_half_width_is_that_of_the_controlled_margin() -> None:
    options: dict[str, Any] = {"half_width": 4.0, "max_deals": 3000, "seed": 1}
    found = evaluate("easy", "random", **options, reference=["easy~random"], reference_plays=2)
    plain = evaluate("easy", "random", **options)
    assert found.stopped == plain.stopped == "half_width"
    assert len(found.margins) < len(plain.margins)
    assert found.controlled_margin is not None
    assert found.controls is not None
    assert found.controlled_margin.high - found.controlled_margin.mean == pytest.approx(4.0)
    assert found.controls.further.shape[0] == 9 * len(found.margins)


def test_an_interrupted_evaluation_goes_on(tmp_path: Path) -> None:
    whole = evaluate(*PAIR, deals=60, seed=5, **OPTIONS)
    evaluate(*PAIR, deals=25, seed=5, batch_size=10, store=tmp_path, **OPTIONS)
    same_controls(whole, evaluate(*PAIR, deals=60, seed=5, store=tmp_path, **OPTIONS))
    assert sorted(path.name for path in tmp_path.iterdir() if path.is_dir()) == ["reference_1", "reference_1_further"]
    evaluate(*PAIR, deals=60, seed=5, store=tmp_path)
    with pytest.raises(StoreError, match=r"reference_1.*deals\.json belongs to other games: agents is"):
        evaluate(*PAIR, deals=60, seed=5, store=tmp_path, reference=["easy~lowest"])


def test_an_agent_against_itself_stays_exactly_zero() -> None:
    found = evaluate("conservative", "conservative", deals=60, **OPTIONS)
    assert (found.controlled_margins == 0).all()


def test_a_line_up_of_two_agents_gives_the_same() -> None:
    pair = evaluate(*PAIR, deals=40, seed=4, **OPTIONS)
    same_controls(pair, evaluate_line_up(PAIR * 2, deals=40, seed=4, **OPTIONS))


def test_the_further_deals_are_others() -> None:
    assert further_seed(0) != further_seed(1)
    assert all(0 <= further_seed(seed) < 2**63 and further_seed(seed) != seed for seed in (0, 7, 2**63 - 1))
    jobs = References.of(["easy~random"], 2, None).jobs(Job(PAIR, Rules(), seed=7))
    assert [(job.agents, job.seed, job.keys) for pair in jobs for job in pair] == [
        (("easy", "random"), 7, (0, 0, 1, 1)),
        (("easy", "random"), further_seed(7), (0, 0, 1, 1)),
    ]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"reference": ["easy"]}, "reference is 'easy'; allowed: two agents with ~ between"),
        ({"reference": ["easy~"]}, "reference is 'easy~'"),
        ({"reference": ["a~b~c"]}, "reference is 'a~b~c'"),
        ({"reference": ["easy~random"] * 9}, "reference has 9 pairs; allowed: at most 8"),
        ({"reference": ["easy~random"], "reference_plays": 0}, "reference_plays is 0; allowed: an int 1"),
        ({"reference": ["easy~random"], "reference_deals": 1}, "reference_deals is 1; allowed: an int 2"),
        ({"reference": ["easy~random"], "reference_deals": 2.5}, "reference_deals is 2.5"),
        ({"reference_plays": 2}, "reference_plays is 2; allowed only with a reference"),
        ({"reference_deals": 50}, "reference_deals is 50; allowed only with a reference"),
        ({"reference": ["easy~nobody"]}, "agent 'nobody' does not exist"),
    ],
)
def test_impossible_references_are_refused_by_name(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        evaluate(*PAIR, deals=4, **options)
    assert split_pair("hard:worlds=4,exact=3 ~ easy") == ("hard:worlds=4,exact=3", "easy")


def test_the_command_its_json_and_playing_it_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "result.json"
    words = ["--deals", "40", "--reference", "suit_odds~conservative", "--reference-plays", "2"]
    assert main(["evaluate", *words, *PAIR, "--json", str(path)]) == 0
    assert "the first, reference taken out" in " ".join(capsys.readouterr().out.split())
    data = json.loads(path.read_text(encoding="utf-8"))
    control = data["control"]
    assert set(control) == {"playouts", "reference", "margin", "variance_ratio", "seconds", "efficiency"}
    assert set(control["reference"]) == {"pairs", "plays", "deals", "seconds", "best_deals"}
    assert control["reference"]["pairs"] == [["suit_odds", "conservative"]]
    assert (control["playouts"], control["reference"]["plays"], control["reference"]["deals"]) == (0, 2, 360)
    assert "--reference 'suit_odds~conservative' --reference-plays 2 easy conservative" in data["command"]
    del data["command"]
    assert "--reference 'suit_odds~conservative' --reference-plays 2 --reference-deals 360" in evaluation_command(data)
    (item,) = items_of(read_sources([path], 0)[0])
    assert differences(item, item.play()) == []
    assert main(["evaluate", *PAIR, "--reference", "easy"]) == 2
    assert capsys.readouterr().err.count("\n") == 1
