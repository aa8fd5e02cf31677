"""Stopping at a half-width: the looks, the verdict, and how often the intervals cover the truth."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from evaluation.duplicate import evaluate, evaluate_line_up
from evaluation.intervals import Z_95, half_width_of, mean_interval, pair_win_interval
from evaluation.sequential import FIRST_LOOK, expected_deals, least_deals, next_look, previous_look, verdict

Floats = npt.NDArray[np.float64]
SIMULATIONS = 2000
LOOKS = [500, 550, 605, 665, 731, 804, 884, 972, 1069, 1175]


def looks_to(most: int) -> list[int]:
    """All looks up to `most`."""
    looks = [FIRST_LOOK]
    while looks[-1] + looks[-1] // 10 <= most:
        looks.append(looks[-1] + looks[-1] // 10)
    return looks


# --- The rule -----------------------------------------------------------------------------------------------


def test_looks_stand_fixed_and_are_a_tenth_apart() -> None:
    assert looks_to(1200) == LOOKS
    assert [next_look(n) for n in (0, 499, 500, 549, 550, 1068)] == [500, 500, 550, 550, 605, 1069]
    assert [previous_look(n) for n in (400, 500, 501, 550, 605)] == [None, None, 500, 500, 550]


def test_it_stops_one_look_after_the_interval_is_narrow() -> None:
    margins = np.tile([-100.0, 100.0], 1000)  # 196 / sqrt(n): 8.77 at 500, 8.36 at 550, 7.97 at 605
    assert verdict(margins[:500], 100.0, 10_000) is None  # narrow at the first look: one more
    assert verdict(margins[:550], 100.0, 10_000) == "half_width"
    assert verdict(margins[:550], 8.5, 10_000) is None  # narrow now, and not before
    assert verdict(margins[:605], 8.5, 10_000) == "half_width"
    assert verdict(margins[:605], 1.0, 10_000) is None
    assert verdict(margins[:600], 1.0, 600) == "max_deals"
    assert verdict(margins[:600], 8.3, 600) == "half_width"  # narrow at last


def test_it_does_not_stop_before_what_is_rare_could_have_happened() -> None:
    """Half-width 1: 1,500 deals, the looks from there on are 1,563 and 1,719."""
    assert [least_deals(half_width) for half_width in (3.0, 1.0, 0.25)] == [500, 1500, 6000]
    for margins in (np.zeros(2000), np.tile([-1.0, 1.0], 1000)):
        looks = [n for n in looks_to(2000) if verdict(margins[:n], 1.0, 10_000)]
        assert looks[0] == 1719
        assert verdict(margins[:1499], 1.0, 1499) == "max_deals"
        assert verdict(margins[:1500], 1.0, 1500) == "half_width"
    assert verdict(np.zeros(550), 1.0, 10_000, alike=True) == "half_width"
    assert expected_deals(np.zeros(550), 0.25, 10**6) >= 6000
    assert expected_deals(np.zeros(550), 0.25, 10**6, alike=True) < 1000


def test_expected_deals_are_about_those_it_takes() -> None:
    margins = np.random.default_rng(0).normal(10, 40, 600)
    assert expected_deals(margins, 1.0, 10**6) == pytest.approx((Z_95 * 40) ** 2 * 1.1, rel=0.15)
    assert expected_deals(margins, 0.1, 5000) == 5000
    assert expected_deals(margins, 100.0, 10**6) >= 600


@pytest.mark.parametrize("options", [{"batch_size": 7}, {"batch_size": 5000}, {"workers": 2}, {"store": True}])
def test_where_it_stops_depends_on_margins_alone(options: dict[str, Any], tmp_path: Any) -> None:
    found = evaluate("easy", "conservative", half_width=1.5)
    if "store" in options:
        options = {"store": tmp_path}
        evaluate("easy", "conservative", deals=600, batch_size=90, store=tmp_path)
    other = evaluate("easy", "conservative", half_width=1.5, **options)
    assert len(found.margins) in LOOKS[1:]
    assert found.stopped == other.stopped == "half_width"
    assert other.log.tobytes() == found.log.tobytes()
    assert [t.decisions for t in other.tallies] == [t.decisions for t in found.tallies]
    assert (evaluate("easy", "conservative", deals=len(found.margins)).margins == found.margins).all()


def test_what_is_said_of_the_stop() -> None:
    found = evaluate("easy", "conservative", half_width=1.5).to_dict()
    assert (found["half_width_asked"], found["stopped"]) == (1.5, "half_width")
    assert found["margin"]["high"] - found["margin"]["mean"] == pytest.approx(1.5)
    assert found["margin"]["mean"] - found["margin"]["low"] == pytest.approx(1.5)
    found = evaluate("easy", "conservative", half_width=0.1, max_deals=100).to_dict()
    assert (found["stopped"], found["deals"]) == ("max_deals", 100)
    found = evaluate("easy", "conservative", deals=100).to_dict()
    assert (found["half_width_asked"], found["stopped"], found["deals"]) == (None, "deals", 100)
    line_up = evaluate_line_up(["easy", "conservative"] * 2, half_width=1.5)
    assert line_up.margins.tobytes() == evaluate("easy", "conservative", half_width=1.5).margins.tobytes()
    alone = evaluate("easy", "easy", half_width=0.01)
    assert (len(alone.margins), alone.margin.to_dict()) == (550, {"mean": 0, "low": 0, "high": 0})


def test_only_an_agent_against_herself_is_exactly_0() -> None:
    """Two texts of one agent are known to be alike only by their games: 3 * 500 / 50 deals and no width of 0."""
    found = evaluate("easy", "easy:error=0.05", half_width=50.0)
    assert not found.margins.any()
    assert found.margin.to_dict() == {"mean": 0, "low": -50, "high": 50}
    found = evaluate("easy", "easy:error=0.05", half_width=0.25, max_deals=700)
    assert found.stopped == "max_deals"
    assert found.margin.to_dict() == {"mean": 0, "low": -0.25, "high": 0.25}
    same = evaluate_line_up(["easy"] * 4, half_width=0.25)
    assert (len(same.margins), same.margin.high) == (550, 0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"half_width": 0}, "half_width is 0; allowed: points per deal, above 0"),
        ({"half_width": float("nan")}, "half_width is nan"),
        ({"half_width": "1"}, "half_width is '1'"),
        ({"half_width": 1, "deals": 100}, "deals is 100; allowed with half_width: None"),
        ({"half_width": 1, "max_deals": 1}, "max_deals is 1; allowed: an int 2"),
        ({"max_deals": 100}, "max_deals is 100; allowed without half_width: None"),
    ],
)
def test_contradictions_are_refused_by_name(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        evaluate("easy", "easy", **options)


# --- Coverage: evaluations drawn from real margins, whose mean is the truth ---------------------------------


@pytest.fixture(scope="module")
def population() -> Floats:
    """Margins of 20,000 duplicate deals."""
    return evaluate("normal:objective=points", "easy", deals=20_000, seed=7).margins


def fixed_coverage(population: Floats, deals: int, simulations: int, seed: int) -> float:
    """How often mean +- 1.96 s / sqrt(n) has the truth in it."""
    drawn = np.random.default_rng(seed).choice(population, (simulations, deals))
    half = Z_95 * drawn.std(axis=1, ddof=1) / np.sqrt(deals)
    return float((np.abs(drawn.mean(axis=1) - population.mean()) <= half).mean())


def sequential_coverage(
    population: Floats, half_width: float, most: int, simulations: int, seed: int
) -> tuple[float, float, float]:
    """(how often the truth is in mean +- the half-width asked for, in mean +- 1.96 s / sqrt(n), mean deals)."""
    rng, truth = np.random.default_rng(seed), population.mean()
    looks = np.array(looks_to(most))
    least = least_deals(half_width)
    asked = narrow = deals = 0.0
    for start in range(0, simulations, 100):
        some = min(100, simulations - start)
        drawn = rng.choice(population, (some, looks[-1])) - truth
        sums, squares = (np.cumsum(values, axis=1)[:, looks - 1] for values in (drawn, drawn**2))
        half = Z_95 * np.sqrt(np.maximum(squares - sums**2 / looks, 0.0) / (looks - 1) / looks)
        enough = (half <= half_width) & (looks >= least)
        assert enough.any(axis=1).all(), "`most` is too small for this half-width"
        stop = np.minimum(enough.argmax(axis=1) + 1, len(looks) - 1)
        rows = np.arange(some)
        error = np.abs(sums[rows, stop] / looks[stop])
        asked += (error <= np.maximum(half_width, half[rows, stop])).sum()
        narrow += (error <= half[rows, stop]).sum()
        deals += looks[stop].sum()
    return asked / simulations, narrow / simulations, deals / simulations


@pytest.mark.parametrize("deals", [100, 1000])
def test_fixed_numbers_of_deals_cover_the_truth(population: Floats, deals: int) -> None:
    assert 0.93 <= fixed_coverage(population, deals, SIMULATIONS, seed=deals) <= 0.97


@pytest.mark.parametrize("half_width", [3.0, 2.0])
def test_stopping_at_a_half_width_covers_the_truth(population: Floats, half_width: float) -> None:
    asked, narrow, deals = sequential_coverage(population, half_width, 4000, SIMULATIONS, seed=1)
    assert asked >= 0.95  # what is reported
    assert 0.93 <= narrow <= 0.97
    needed = (Z_95 * population.std() / half_width) ** 2
    assert needed < deals < 1.25 * needed


@pytest.mark.parametrize(
    "events",
    [
        {0.0038: -100.0},  # `easy`, but for one bid of 13 in a thousand bids, against herself
        {1 / 200: -200.0, 1 / 1000: -200.0, 1 / 5000: -200.0},
        {1 / 1000: -200.0},
        {0.5: 1.0, 1 / 500: -200.0},  # margins differ often, and the rare ones decide
    ],
)
def test_stopping_covers_what_is_rare(events: dict[float, float]) -> None:
    """Stopping by the standard deviation alone covers 40 to 90 % of these."""
    rng = np.random.default_rng(11)
    margins = np.zeros(200_000)
    for chance, points in events.items():
        margins[rng.random(margins.size) < chance] += points
    asked, _, deals = sequential_coverage(margins, 0.25, 30_000, 600, seed=2)
    assert asked >= 0.94  # 0.95 less a standard error
    assert deals > 6000


def test_the_simulation_stops_where_evaluations_do(population: Floats) -> None:
    """The vectorised rule above and `verdict`, on the same margins."""
    looks = looks_to(4000)
    for half_width in (4.0, 2.5, 2.0):
        margins = np.random.default_rng(3).choice(population, 4000)
        stopped = next(n for n in looks if verdict(margins[:n], half_width, 10**6))
        narrow = next(k for k, n in enumerate(looks) if half_width_of(margins[:n]) <= half_width)
        assert stopped == looks[narrow + 1]


@pytest.mark.parametrize("pairs", [50, 300])
def test_match_win_intervals_cover_the_truth(pairs: int) -> None:
    results = evaluate("normal:objective=points", "easy", "table", deals=2, matches=1500, seed=2).match_results
    drawn = np.random.default_rng(pairs).choice(results, (SIMULATIONS, pairs))
    found = [pair_win_interval(one) for one in drawn]
    covered = np.mean([one.low <= results.mean() <= one.high for one in found])
    assert 0.93 <= covered <= 0.985


def test_the_interval_is_that_of_a_bootstrap_by_deal(population: Floats) -> None:
    margins = population[:2000]
    rng = np.random.default_rng(0)
    means = np.array([rng.choice(margins, margins.size).mean() for _ in range(4000)])
    low, high = np.quantile(means, (0.025, 0.975))
    analytic = mean_interval(margins)
    assert high - low == pytest.approx(analytic.high - analytic.low, rel=0.05)
    assert low == pytest.approx(analytic.low, abs=0.1 * (analytic.high - analytic.low))
