"""Strengths, ratings and schedule on agents whose true strength is known: order, coverage, who plays more."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from evaluation.intervals import Z_95
from evaluation.tournament.config import Pair
from evaluation.tournament.rating import rate
from evaluation.tournament.schedule import (
    BUDGET,
    LIMITS,
    SEPARATED,
    SWINGS,
    needed_games,
    play_schedule,
    ranking,
    ranking_doubts,
)
from evaluation.tournament.seats import mixed_line_ups
from evaluation.tournament.strength import (
    Games,
    bootstrap,
    covariance,
    games_of_pairs,
    games_of_teams,
    half_widths,
    strengths,
)

TRUTH = np.array([20.0, 5.0, 3.0, -8.0, -20.0])
PAIRS = list(combinations(range(len(TRUTH)), 2))


def simulated(rng: np.random.Generator, lengths: list[int], truth: npt.NDArray[np.float64] = TRUTH) -> list[Any]:
    """Margins of all pairs: strengths, what a deal has in store for each agent, and chance; sd about 36 points."""
    suits_her = rng.normal(0, 15, (max(lengths), len(truth)))
    pairs = combinations(range(len(truth)), 2)
    return [
        truth[a] - truth[b] + suits_her[:n, a] - suits_her[:n, b] + rng.normal(0, 30, n)
        for (a, b), n in zip(pairs, lengths, strict=True)
    ]


def games(margins: list[Any], agents: int = len(TRUTH)) -> Games:
    return games_of_pairs(list(combinations(range(agents), 2)), agents, margins)


# --- Strengths ----------------------------------------------------------------------------------------------


def test_additive_margins_give_the_strengths_exactly() -> None:
    margins = [np.full(n, TRUTH[a] - TRUTH[b]) for (a, b), n in zip(PAIRS, range(2, 12), strict=True)]
    assert strengths(games(margins)) == pytest.approx(TRUTH)
    assert np.abs(bootstrap(games(margins), 0, 50) - TRUTH).max() < 1e-9
    assert np.abs(covariance(games(margins))).max() < 1e-12


def test_strengths_are_the_least_squares_over_games() -> None:
    """Against NumPy's solver on one row a game, which shares nothing with ours."""
    rng = np.random.default_rng(1)
    margins = [rng.normal(0, 30, n) for n in (5, 9, 3, 7, 2, 30, 4, 6, 8, 2)]
    found = games(margins)
    rows, values = found.design[found.contest], found.margin
    expected = np.linalg.lstsq(rows, values, rcond=None)[0]
    assert strengths(found) == pytest.approx(expected)
    assert strengths(found).sum() == pytest.approx(0, abs=1e-9)


def test_the_bootstrap_draws_deals_with_all_their_games() -> None:
    """Against the definition, sample by sample: games of a deal are drawn together, as often as the deal."""
    rng = np.random.default_rng(2)
    found = games(simulated(rng, [12, 12, 12, 12, 12, 30, 12, 12, 12, 12]))
    samples = bootstrap(found, 5, 3)
    draws = np.random.default_rng([5, 1]).integers(30, size=(3, 30))
    for sample, drawn in zip(samples, draws, strict=True):
        index = np.concatenate([np.flatnonzero(found.deal == deal) for deal in drawn])
        rows, values = found.design[found.contest[index]], found.margin[index]
        assert sample == pytest.approx(np.linalg.lstsq(rows, values, rcond=None)[0])
    assert (bootstrap(found, 5, 3) == samples).all()


def test_the_closed_form_agrees_with_the_bootstrap() -> None:
    """Both know that the games of a deal are not independent: half the spread that shared cards would hide."""
    rng = np.random.default_rng(3)
    found = games(simulated(rng, [200] * 5 + [900] + [200] * 4))
    by_samples = np.cov(bootstrap(found, 0, 4000).T)
    by_formula = covariance(found)
    assert np.sqrt(np.diag(by_formula)) == pytest.approx(np.sqrt(np.diag(by_samples)), rel=0.06)
    alone = Games(found.design, found.contest, np.arange(len(found.margin)), found.margin)
    assert np.diag(covariance(alone)).max() < 0.7 * np.diag(by_formula).max()


def test_intervals_cover_the_truth() -> None:
    """500 tournaments: 95 % intervals of the strengths hold the truth in 93 to 97 % (2 standard errors are 0.9 %)."""
    rng = np.random.default_rng(4)
    lengths = [60, 60, 60, 60, 240, 60, 60, 120, 60, 60]
    held, ordered = [], 0
    for k in range(500):
        found = games(simulated(rng, lengths))
        half = half_widths(bootstrap(found, k, 200))
        held.append(np.abs(strengths(found) - TRUTH) <= half)
        ordered += ranking(strengths(found))[0] == 0
    assert 0.93 <= np.mean(held) <= 0.97
    assert ordered == 500


def test_intervals_of_seats_cover_the_truth() -> None:
    """The same for mixed teams: what a team of two of her is worth, games of a line-up drawn together."""
    rng = np.random.default_rng(5)
    truth = np.array([30.0, 10.0, 4.0, 0.0, -14.0, -30.0])
    line_ups = mixed_line_ups([10_000] * 6, 60, 0)
    sign = np.array([0.5, -0.5, 0.5, -0.5])
    held = []
    for k in range(500):
        together = (truth[line_ups] * sign).sum(axis=1) + rng.normal(0, 10, len(line_ups))
        found = games_of_teams(line_ups, 6, [mean + rng.normal(0, 30, 5) for mean in together])
        held.append(np.abs(strengths(found) - truth) <= half_widths(bootstrap(found, k, 200)))
    assert 0.93 <= np.mean(held) <= 0.97


# --- The schedule -------------------------------------------------------------------------------------------


def plans(least: int = 40, most: int = 100_000, agents: int = len(TRUTH)) -> list[Pair]:
    return [Pair(a, b, least, most) for a, b in combinations(range(agents), 2)]


def player(seed: int, longest: int = 20_000, truth: npt.NDArray[np.float64] = TRUTH) -> Any:
    """Plays as the schedule asks: the first n of margins that are there already, and notes what was asked for."""
    margins = simulated(np.random.default_rng(seed), [longest] * (len(truth) * (len(truth) - 1) // 2), truth)
    asked: list[tuple[int, int]] = []

    def play(pair: int, count: int) -> Any:
        asked.append((pair, count))
        return margins[pair][:count]

    return play, asked


def test_every_pair_plays_and_uncertain_neighbours_play_more() -> None:
    play, asked = player(0)
    margins, stopped = play_schedule(plans(), 5, 20_000, 0.0, play)
    assert stopped == SEPARATED
    assert asked[:10] == [(p, 40) for p in range(10)]
    counts = dict(zip(PAIRS, map(len, margins), strict=True))
    assert max(counts, key=lambda pair: counts[pair]) == (1, 2)  # 2 points apart, the others 8 and more
    assert counts[1, 2] > 400
    assert all(counts[pair] == 40 for pair in [(0, 2), (0, 3), (0, 4), (1, 4), (2, 4)])  # no neighbours
    for n in ranking_doubts(plans(), 5, margins, 0.0):
        assert n.games == counts[min(n.upper, n.lower), max(n.upper, n.lower)] >= n.needed
    doubts = ranking_doubts(plans(), 5, margins, 0.0)
    assert [(n.upper, n.lower) for n in doubts] == [(0, 1), (1, 2), (2, 3), (3, 4)]
    assert all(n.settled and n.doubt <= 0.025 for n in doubts)
    again, _ = play_schedule(plans(), 5, 20_000, 0.0, player(0)[0])
    assert [len(values) for values in again] == [len(values) for values in margins]


def test_doubt_is_the_chance_that_the_order_is_wrong() -> None:
    """Two agents: by the normal distribution of their mean margin; a zone of indifference lessens it."""
    margins = [np.array([-3.0, 1.0, 5.0, 9.0])]
    error = np.sqrt(np.var(margins[0], ddof=1) / 4)
    (found,) = ranking_doubts(plans(agents=2), 2, margins, 0.0)
    assert (found.upper, found.lower, found.difference) == (0, 1, pytest.approx(3.0))
    assert found.error == pytest.approx(error)
    assert found.doubt == pytest.approx(0.1226, abs=0.0005)  # 3 / 2.582 = 1.162 standard errors
    (wider,) = ranking_doubts(plans(agents=2), 2, margins, 3.0)
    assert wider.doubt == pytest.approx(0.0101, abs=0.0005)  # 6 / 2.582
    (often,) = ranking_doubts(plans(agents=2), 2, [np.tile(margins[0], 150)], 0.0)
    assert (found.settled, wider.settled, often.settled) == (False, False, True)  # four games settle nothing
    (turned,) = ranking_doubts(plans(agents=2), 2, [-margins[0]], 0.0)
    assert (turned.upper, turned.doubt) == (1, pytest.approx(found.doubt))


def test_agents_of_one_strength_do_not_play_for_ever() -> None:
    truth = np.array([10.0, 0.0, 0.0])
    margins, stopped = play_schedule(plans(agents=3), 3, 50_000, 2.0, player(1, truth=truth)[0])
    assert stopped == SEPARATED
    assert sum(map(len, margins)) < 10_000
    margins, stopped = play_schedule(plans(agents=3), 3, 5_000, 0.0, player(3, truth=truth)[0])
    assert (stopped, sum(map(len, margins))) == (BUDGET, 5_000)


def test_agents_that_always_play_alike_are_left_alone() -> None:
    """Not before what is rare would have been seen; with a zone of indifference they count as equal then."""
    margins = simulated(np.random.default_rng(2), [10_000] * 3, np.array([10.0, 0.0, 0.0]))
    alike = [margins[0], margins[0], np.zeros(10_000)]
    for indifference, expected in ((0.0, LIMITS), (0.5, SEPARATED)):
        found, stopped = play_schedule(plans(agents=3), 3, 9_000, indifference, lambda p, n: alike[p][:n])
        assert stopped == expected
        assert 2000 < len(found[2]) < 3750  # 3,000, less for what the games with the third say, and a batch more


def test_agents_that_differ_seldom_are_told_apart() -> None:
    """One deal in 300 goes to the first by 200 points; 40 deals without such are no sign of equal strength."""
    rare = np.zeros(20_000)
    rare[299::300] = 200.0
    found, stopped = play_schedule(plans(agents=2), 2, 20_000, 0.25, lambda _, n: rare[:n])
    assert stopped == SEPARATED
    assert len(found[0]) > 1000
    (doubt,) = ranking_doubts(plans(agents=2), 2, found, 0.25)
    assert (doubt.upper, doubt.settled) == (0, True)


def test_the_games_that_an_order_needs() -> None:
    deals, matches = SWINGS["deals"], SWINGS["matches"]
    assert [needed_games(points, deals) for points in (100.0, 10.0, 2.5, 0.5, 0.0)] == [30, 150, 600, 3000, 3000]
    assert [needed_games(share, matches) for share in (0.5, 0.06, 0.01, 0.0)] == [30, 50, 300, 3000]


@pytest.mark.parametrize("first", [2, 30, 200])
def test_orders_that_count_as_settled_are_seldom_wrong(first: int) -> None:
    """Two agents 2 points apart, sd 40: of 300 orders counted as settled 3 % may be wrong."""
    wrong = 0
    for seed in range(300):
        margins = np.random.default_rng([seed, first]).normal(2.0, 40.0, 6000)
        found, stopped = play_schedule(plans(first, agents=2), 2, 6000, 0.5, lambda _, n, m=margins: m[:n])
        wrong += stopped == SEPARATED and found[0].mean() < 0
    assert wrong <= 9


def test_a_pair_plays_no_more_than_its_most() -> None:
    limited = [Pair(p.a, p.b, 40, 100 if (p.a, p.b) == (1, 2) else 100_000) for p in plans()]
    margins, stopped = play_schedule(limited, 5, 20_000, 0.0, player(0)[0])
    assert stopped == LIMITS
    assert len(margins[PAIRS.index((1, 2))]) == 100


def test_intervals_cover_after_a_schedule_that_looks(record_property: Any) -> None:
    """200 tournaments by the schedule, which stops when it sees enough: looking costs the intervals little."""
    held, orders = [], 0
    for seed in range(200):
        margins, _ = play_schedule(plans(), 5, 3_000, 1.0, player(seed, 3_000)[0])
        half = Z_95 * np.sqrt(np.diag(covariance(games(margins))))
        held.append(np.abs(strengths(games(margins)) - TRUTH) <= half)
        orders += ranking(strengths(games(margins))) == [0, 1, 2, 3, 4]
    record_property("coverage", float(np.mean(held)))
    assert 0.92 <= np.mean(held) <= 0.98
    assert orders >= 170  # 2 points between neighbours are more than the indifference: seldom wrong


# --- Mixed teams --------------------------------------------------------------------------------------------


def test_mixed_teams_seat_all_agents_equally_often() -> None:
    line_ups = mixed_line_ups([1000] * 6, 300, 7)
    assert line_ups.shape == (300, 4)
    assert all(len(set(chairs)) == 4 for chairs in line_ups.tolist())
    times = np.bincount(line_ups.ravel(), minlength=6)
    assert abs(times - 200).max() < 45  # one sits out in three rounds: 200 ± 8
    assert (mixed_line_ups([1000] * 6, 50, 7) == line_ups[:50]).all()
    assert (mixed_line_ups([1000] * 6, 50, 8) != line_ups[:50]).any()
    # With a multiple of four nobody sits out.
    assert set(np.bincount(mixed_line_ups([1000] * 8, 100, 7).ravel())) == {50}


def test_mixed_teams_respect_limits() -> None:
    line_ups = mixed_line_ups([3, 100, 100, 100, 100], 80, 1)
    assert (line_ups == 0).sum() == 3
    assert len(line_ups) == 80
    assert mixed_line_ups([2, 2, 2, 2], 80, 1).shape == (2, 4)
    assert mixed_line_ups([2, 2, 2], 80, 1).shape == (0, 4)


# --- Ratings ------------------------------------------------------------------------------------------------


def test_ratings_recover_the_order_and_say_what_the_order_of_games_does() -> None:
    found = games(simulated(np.random.default_rng(6), [80] * 10, np.array([30.0, 15.0, 0.0, -15.0, -30.0])))
    teams = np.array(PAIRS)[found.contest][:, :, None]
    ratings = rate(teams, found.margin, 5, 0)
    assert ranking(np.array([rating.mu for rating in ratings])) == [0, 1, 2, 3, 4]
    assert all(0 < rating.sigma < 3 for rating in ratings)  # from 25 / 3
    assert all(0 < rating.order_spread < 2 for rating in ratings)
    assert rate(teams, found.margin, 5, 0) == ratings
    assert rate(teams, found.margin, 5, 1) != ratings
    # Games written the other way round are the same games.
    turned = rate(teams[:, ::-1], -found.margin, 5, 0)
    assert [rating.mu for rating in turned] == pytest.approx([rating.mu for rating in ratings])
    assert rate(teams, 1000 * found.margin, 5, 0) == ratings  # the size of a margin is not rated


def test_draws_keep_ratings_where_they_are() -> None:
    ratings = rate(np.tile([[[0], [1]]], (50, 1, 1)), np.zeros(50), 2, 0)
    assert [rating.mu for rating in ratings] == pytest.approx([25.0, 25.0])
    assert [rating.sigma for rating in ratings] < [25 / 3, 25 / 3]


def test_seat_ratings_recover_the_order() -> None:
    truth = np.array([30.0, 15.0, 0.0, -15.0, -30.0])
    line_ups = mixed_line_ups([10_000] * 5, 1500, 0)
    margins = (truth[line_ups] * [0.5, -0.5, 0.5, -0.5]).sum(axis=1)
    margins += np.random.default_rng(8).normal(0, 30, len(margins))
    ratings = rate(line_ups[:, [[0, 2], [1, 3]]], margins, 5, 0)
    assert ranking(np.array([rating.mu for rating in ratings])) == [0, 1, 2, 3, 4]
