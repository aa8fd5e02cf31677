"""Log-loss and calibration of beliefs about hidden cards: arithmetic by hand, and what better knowledge must do."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hidden_positions import Position, all_layouts, frequencies, positions, possible, small_positions

from agents.search.calibration import Calibration, CalibrationError, UniformLayouts, WeightedWorlds, calibrate
from agents.search.sampler import FloatArray
from spades_env.cards import cards_of
from spades_env.engine.state import PHASE_DRAFT, StateArray
from spades_env.rules import PRESETS, Rules

TINY = Rules(players=2, suits=1, ranks=4, hand_size=1)
"""Four spades, a card each, two out of play: the other's card is one of three."""


def tiny() -> Position:
    """The position of `TINY` at the first bid."""
    return next(positions(TINY, 1, 1))


def same_for_all(position: Position, by_card: dict[int, float]) -> Calibration:
    """The report on one position for a method that gives these probabilities for the other seat."""

    def method(views: StateArray, i: int, out: FloatArray) -> None:
        for card, probability in by_card.items():
            out[card, 1 - position.seat] = probability

    return calibrate(position.views, position.state, method)


def test_the_figures_by_hand() -> None:
    """True card at 0.5, others at 0.25 and 0.05: -log 0.5, -log 0.75, -log 0.95 in three cards."""
    position = tiny()
    true = position.truth[1 - position.seat].bit_length() - 1
    other, last = (card for card in position.unseen() if card != true)
    report = same_for_all(position, {true: 0.5, other: 0.25, last: 0.05})
    assert report.cards.tolist() == [3]
    assert report.log_loss == pytest.approx(-(math.log(0.5) + math.log(0.75) + math.log(0.95)) / 3)
    filled = {row.low: row for row in report.table if row.pairs}
    assert set(filled) == {0.0, 0.2, 0.5}
    assert (filled[0.0].predicted, filled[0.0].observed) == (0.05, 0.0)
    assert (filled[0.2].predicted, filled[0.2].observed) == (0.25, 0.0)
    assert (filled[0.5].predicted, filled[0.5].observed, filled[0.5].high) == (0.5, 1.0, 0.6)
    assert "0.5-0.6  predicted 0.5000  observed 1.0000  1" in report.text()


def test_certainty_counts_and_a_wrong_one_is_infinite() -> None:
    position = tiny()
    true = position.truth[1 - position.seat].bit_length() - 1
    other = next(card for card in position.unseen() if card != true)
    right, wrong = same_for_all(position, {true: 1.0}), same_for_all(position, {other: 1.0})
    assert right.log_loss == 0.0
    assert [row.pairs for row in right.table] == [2, 0, 0, 0, 0, 0, 0, 0, 0, 1]
    assert wrong.log_loss == math.inf


def test_uniform_layouts_of_a_third_each() -> None:
    position = tiny()
    report = calibrate(position.views, position.state, UniformLayouts())
    assert report.losses[0] == pytest.approx(math.log(3) + 2 * math.log(1.5))
    assert [row.pairs for row in report.table] == [0, 0, 0, 3, 0, 0, 0, 0, 0, 0]


def test_without_unseen_cards_there_is_no_loss() -> None:
    rules = Rules(suits=4, ranks=3, hand_size=3)
    over = [each for each in positions(rules, 2, 1) if not each.unseen()]
    report = calibrate(over[0].views, over[0].state, UniformLayouts())
    assert math.isnan(report.log_loss)
    assert report.losses.tolist() == [0.0]


def flat(views: StateArray, i: int, worlds: StateArray, out: FloatArray) -> None:
    out[:] = -1234.5


def test_equal_weights_come_near_the_uniform_marginals() -> None:
    """A log-likelihood that is the same everywhere, however small, says nothing."""
    position = next(positions(PRESETS["classic"], 3, 1))
    exact, weighted = np.zeros((54, 4)), np.zeros((54, 4))
    UniformLayouts()(position.views, 0, exact)
    WeightedWorlds(flat, 5_000)(position.views, 0, weighted)
    assert np.abs(weighted - exact).max() < 0.04
    assert weighted.max() != exact.max()
    np.testing.assert_allclose(weighted.sum(axis=1), exact.sum(axis=1), rtol=1e-12)


def test_weights_are_the_posterior() -> None:
    """Worlds in which the other seat holds more spades are weighted up by e for each: against enumeration."""

    def more_spades(views: StateArray, i: int, worlds: StateArray, out: FloatArray) -> None:
        other = 1 - int(views["seat"][i])
        out[:] = [(int(hand) >> 39).bit_count() for hand in worlds["hands"][:, other]]

    rules = Rules(players=2, suits=2, ranks=5, hand_size=3)
    position = next(positions(rules, 4, 1))
    layouts = np.array(list(all_layouts(position)))
    weights = np.exp([(int(hand) >> 39).bit_count() for hand in layouts[:, 1 - position.seat]])
    expected = frequencies(layouts, weights)[:, 1 - position.seat]
    out = np.zeros((54, 4))
    WeightedWorlds(more_spades, 20_000)(position.views, 0, out)
    assert np.abs(out[:, 1 - position.seat] - expected).max() < 0.015
    assert (out[:, position.seat] == 0).all()


def test_a_likelihood_that_knows_the_truth_loses_less() -> None:
    """Positions in endings: worlds equal to the truth weighted up, and nothing becomes infinite with few worlds."""
    found = [each for each in small_positions(PRESETS["classic"], 5, 4, 1_700) if each.unseen()]
    views = np.concatenate([each.views for each in found])
    states = np.concatenate([each.state for each in found])

    def knowing(views: StateArray, i: int, worlds: StateArray, out: FloatArray) -> None:
        for n, world in enumerate(worlds):
            right = world["hands"] & states["hands"][i]
            out[n] = 1.5 * sum(int(cards).bit_count() for cards in right)

    uniform = calibrate(views, states, UniformLayouts())
    knows = calibrate(views, states, WeightedWorlds(knowing, 20))
    knows_nothing = calibrate(views, states, WeightedWorlds(flat, 20))
    assert (uniform.cards == knows.cards).all()
    assert knows.log_loss < 0.9 * uniform.log_loss
    assert uniform.log_loss < knows_nothing.log_loss < math.inf


def test_worlds_that_are_all_ruled_out_leave_the_uniform_marginals() -> None:
    def impossible(views: StateArray, i: int, worlds: StateArray, out: FloatArray) -> None:
        out[:] = -np.inf

    position = tiny()
    report = calibrate(position.views, position.state, WeightedWorlds(impossible, 4))
    assert report.log_loss == calibrate(position.views, position.state, UniformLayouts()).log_loss


def test_uniform_marginals_are_calibrated_when_play_tells_nothing() -> None:
    """Over the layouts of a position, all equally likely, every decile comes true as often as predicted."""
    position = next(
        each
        for each in small_positions(PRESETS["classic"], 6, 3, 400)
        if each.unseen() and each.hidden() and _narrow(each)
    )
    layouts = [layout for layout in all_layouts(position) if possible(position, layout)]
    views, states = np.repeat(position.views, len(layouts)), np.repeat(position.state, len(layouts))
    states["hands"] = layouts
    report = calibrate(views, states, UniformLayouts())
    assert sum(row.pairs for row in report.table) == 3 * len(layouts) * len(position.unseen())
    assert len([row for row in report.table if row.pairs]) > 2
    for row in report.table:
        if row.pairs:
            assert row.observed == pytest.approx(row.predicted, abs=1e-12)


def _narrow(position: Position) -> bool:
    """Whether somebody has shown a void, and the cards are not known for certain all the same."""
    out = np.zeros((54, 4))
    UniformLayouts()(position.views, 0, out)
    return len(np.unique(np.round(out[cards_of(sum(1 << card for card in position.unseen()))], 9))) > 4


def test_what_cannot_be_reported_is_refused() -> None:
    position = tiny()
    with pytest.raises(CalibrationError, match="no probabilities"):
        same_for_all(position, {position.unseen()[0]: 1.5})
    with pytest.raises(CalibrationError, match="shapes"):
        calibrate(position.views, np.repeat(position.state, 2), UniformLayouts())
    draft = next(each for each in positions(PRESETS["two_player"], 7, 1) if each.state["phase"][0] == PHASE_DRAFT)
    with pytest.raises(CalibrationError, match="no layout fits"):
        calibrate(draft.views, draft.state, UniformLayouts())

    def nan(views: StateArray, i: int, worlds: StateArray, out: FloatArray) -> None:
        out[:] = np.nan

    with pytest.raises(CalibrationError, match="NaN"):
        calibrate(position.views, position.state, WeightedWorlds(nan, 2))
