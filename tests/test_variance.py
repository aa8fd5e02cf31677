"""Control variates: they leave the expected margin where it is, and narrow it where an agent's chances are known."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from random_rules import random_rules

from agents.base import AgentError, FloatArray, KnownPolicy
from agents.registry import AGENTS, load_agent
from agents.rules.uniform import RandomAgent
from agents.stakes import POINTS
from evaluation.duplicate import evaluate, evaluate_line_up
from evaluation.intervals import half_width_of, mean_interval
from evaluation.variance.fit import Controls, controlled, variance_ratio
from evaluation.variance.luck import checked_chances, luck_of_action, stand_in
from spades_env.actions import NUM_ACTIONS
from spades_env.engine.kernel import kernel
from spades_env.engine.state import PHASE_DEAL_OVER, STATE, StateArray, rules_to_record
from spades_env.engine.step import apply, new_games, random_action
from spades_env.rules import PRESETS, Rules
from spades_env.view import empty_views, views_to_act

NO_PAIR = np.zeros((0, 0))
KNOWN = [name for name in AGENTS if isinstance(load_agent(name), KnownPolicy)]


@kernel
def move(states: StateArray, i: int, n: int) -> int:
    return random_action(states[i], states[i]["key"], n)


@kernel
def luck_at(
    states: StateArray,
    i: int,
    action: int,
    chances: np.ndarray,
    kinds: np.ndarray,
    slips: np.ndarray,
    work: StateArray,
    points: tuple,
) -> float:
    line_up = np.array([0, 1, 0, 1], np.int8)
    return luck_of_action(states[i], action, chances, line_up, kinds, slips, 2, -9.0, work, points)


def positions(rules: Rules, count: int, seed: int) -> StateArray:
    """Return `count` games stopped at a random decision of random play."""
    rng = np.random.default_rng(seed)
    states = np.zeros(count, STATE)
    new_games(states, rules_to_record(rules), seed, 0)
    for i in range(count):
        for n in range(int(rng.integers(0, 50))):
            before = states[i].copy()
            apply(states, i, move(states, i, n))
            if states[i]["phase"] >= PHASE_DEAL_OVER:
                states[i] = before
                break
    return states


def test_who_has_chances() -> None:
    assert KNOWN == ["random", "conservative", "easy"]


@pytest.mark.parametrize("name", ["random", "conservative", "easy:error=0.3"])
def test_the_chances_are_those_with_which_she_acts(name: str) -> None:
    agent = load_agent(name)
    for number in range(3):
        states = positions(random_rules(np.random.default_rng(number)), 6, number)
        views = empty_views(6)
        views_to_act(states, views)
        chances = checked_chances(agent, name, views)
        keys = np.random.default_rng(1).integers(0, 2**63, 4000).astype(np.uint64)
        for i in range(6):
            taken = agent.act(np.repeat(views[i : i + 1], 4000), keys)
            shares = np.bincount(taken, minlength=NUM_ACTIONS) / 4000
            assert (shares[chances[i] == 0] == 0).all()
            assert np.abs(shares - chances[i]).max() < 4.5 * np.sqrt(0.25 / 4000)


@pytest.mark.parametrize("opponent", ["normal", "random", "conservative", "easy"])
def test_the_luck_of_a_decision_has_mean_zero_exactly(opponent: str) -> None:
    agent = load_agent("easy:error=0.3")
    kinds, slips = (np.array(values) for values in zip(stand_in(agent), stand_in(load_agent(opponent)), strict=True))
    largest, work = 0.0, np.zeros(1, STATE)
    for number in range(4):
        states = positions(random_rules(np.random.default_rng(number)), 8, number)
        views = empty_views(8)
        views_to_act(states, views)
        chances = agent.chances(views)
        for i in range(8):
            before = states[i].tobytes()
            luck = [
                luck_at(states, i, action, chances[i], kinds, slips.astype(np.float64), work, POINTS)
                for action in np.flatnonzero(chances[i])
            ]
            assert states[i].tobytes() == before
            assert abs(np.dot(luck, chances[i][chances[i] > 0])) < 1e-9
            largest = max(largest, np.abs(luck).max())
    assert largest > 1.0


class Liar(RandomAgent):
    """Says chances that are not her own."""

    name = "liar"

    def __init__(self, factor: float, legal: bool = True) -> None:
        self.factor, self.legal = factor, legal

    def chances(self, views: StateArray) -> FloatArray:
        chances = super().chances(views) * self.factor
        return chances if self.legal else np.roll(chances, 1, axis=1)


@pytest.mark.parametrize("liar", [Liar(0.5), Liar(float("nan")), Liar(-1.0), Liar(1.0, legal=False)])
def test_what_are_no_chances_is_refused(liar: Liar) -> None:
    views = empty_views(4)
    views_to_act(positions(Rules(), 4, 1), views)
    with pytest.raises(AgentError, match=r"liar.*chances are of shape \(4, 73\) or no chances"):
        checked_chances(liar, "liar", views)


def test_chances_that_fail_are_an_error_that_names_the_agent() -> None:
    class Raises(RandomAgent):
        def chances(self, views: StateArray) -> FloatArray:
            raise KeyError("table")

    class Without(RandomAgent):
        def chances(self) -> FloatArray:  # type: ignore[override]
            return np.zeros(0)

    class Ragged(RandomAgent):
        def chances(self, views: StateArray) -> Any:
            return [[1.0], [0.5, 0.5]]

    class Short(RandomAgent):
        def chances(self, views: StateArray) -> FloatArray:
            return super().chances(views)[:, 0]

    views = empty_views(4)
    views_to_act(positions(Rules(), 4, 1), views)
    for agent, message in (
        (Raises(), "agent 'bad': chances failed: KeyError: 'table'"),
        (Without(), "agent 'bad': chances failed: TypeError"),
        (Ragged(), "agent 'bad': chances failed: ValueError"),
        (Short(), r"agent 'bad': chances are of shape \(4,\)"),
    ):
        with pytest.raises(AgentError, match=message):
            checked_chances(agent, "bad", views)


def luck_alone(luck: np.ndarray) -> Controls:
    """Controls without a reference pair."""
    return Controls(luck, np.zeros((len(luck), 0)), NO_PAIR)


# --- The fit ------------------------------------------------------------------------------------------------


def test_the_controlled_mean_is_unbiased_and_no_coefficient_sees_its_own_deals() -> None:
    """With 12 values, a fit on the same values would be off: 20,000 evaluations show a bias of this size."""
    rng = np.random.default_rng(5)
    means = []
    for _ in range(20_000):
        control = rng.exponential(1.0, 12) - 1.0
        # Skewed and not linear: fitted on itself, the coefficient would be tied to the control's mean.
        values = 1.0 + control**2 + rng.normal(0.0, 1.0, 12)
        means.append(controlled(values, luck_alone(control[:, None])).mean())
    error = np.std(means) / np.sqrt(20_000)
    assert abs(np.mean(means) - 2.0) < 4 * error


def test_a_control_that_explains_half_the_variance_halves_it() -> None:
    rng = np.random.default_rng(6)
    control = rng.normal(0.0, 3.0, 50_000)
    values = 7.0 + 2.0 * control + rng.normal(0.0, 6.0, 50_000)
    better = controlled(values, luck_alone(np.stack([control, rng.normal(size=50_000)], axis=1)))
    assert variance_ratio(values, better) == pytest.approx(2.0, rel=0.03)
    assert better.mean() == pytest.approx(7.0, abs=0.15)


def test_controls_that_never_vary_change_nothing() -> None:
    values = np.random.default_rng(7).normal(size=100)
    assert (controlled(values, luck_alone(np.zeros((100, 2)))) == values).all()
    assert variance_ratio(values, values) == 1.0
    assert variance_ratio(np.zeros(9), np.zeros(9)) == 1.0


# --- In an evaluation ---------------------------------------------------------------------------------------


def test_an_evaluation_is_the_same_and_its_controlled_mean_is_near() -> None:
    plain = evaluate("normal:objective=points", "conservative", deals=400, seed=3)
    found = evaluate("normal:objective=points", "conservative", deals=400, seed=3, luck_playouts=6, batch_size=150)
    assert (found.margins == plain.margins).all()
    assert plain.controlled_margins is None
    assert plain.to_dict()["control"] is None
    better, control = found.controlled_margins, found.to_dict()["control"]
    assert better is not None
    difference = found.margins - better
    assert abs(difference.mean()) < 4 * difference.std() / 20
    assert control["variance_ratio"] == variance_ratio(found.margins, better) > 1.2
    assert control["margin"] == mean_interval(better).to_dict()
    assert control["playouts"] == 6
    assert 0 < control["efficiency"] < control["variance_ratio"]


def test_luck_has_mean_zero_over_deals_for_each_agent() -> None:
    found = evaluate("easy:error=0.5", "random", deals=600, seed=8, luck_playouts=1)
    assert found.controls is not None
    assert found.controls.luck.shape == (600, 2)
    errors = found.controls.luck.std(axis=0) / np.sqrt(600)
    assert (np.abs(found.controls.luck.mean(axis=0)) < 4 * errors).all()
    assert (errors > 0.1).all()


@pytest.mark.parametrize("preset", PRESETS)
def test_luck_does_not_depend_on_parts(preset: str) -> None:
    one, other = (
        evaluate("random", "easy", preset, deals=12, seed=2, luck_playouts=2, batch_size=size) for size in (12, 5)
    )
    assert one.log.tobytes() == other.log.tobytes()
    assert (one.log["luck"] != 0).any()


def test_an_agent_against_itself_stays_exactly_zero() -> None:
    found = evaluate("conservative", "conservative", deals=40, luck_playouts=2)
    assert found.controls is not None
    assert (found.controls.luck != 0).any()
    assert (found.controlled_margins == 0).all()


def test_a_line_up_of_two_agents_gives_the_same() -> None:
    pair = evaluate("conservative", "random", deals=30, seed=4, luck_playouts=2)
    line_up = evaluate_line_up(("conservative", "random") * 2, deals=30, seed=4, luck_playouts=2)
    assert pair.controls is not None
    assert line_up.controls is not None
    assert (pair.controls.luck == line_up.controls.luck).all()
    assert (pair.controlled_margins == line_up.controlled_margins).all()


def test_without_known_chances_nothing_changes() -> None:
    found = evaluate("normal:objective=points", "lowest", deals=20, luck_playouts=3)
    assert (found.controlled_margins == found.margins).all()
    assert found.to_dict()["control"]["variance_ratio"] == 1.0


@pytest.mark.parametrize("playouts", [-1, 1.5, 10_001, True])
def test_playouts_out_of_range_are_refused(playouts: Any) -> None:
    with pytest.raises((ValueError, TypeError), match="luck_playouts"):
        evaluate("random", "easy", deals=2, luck_playouts=playouts)


def test_the_half_width_is_that_of_the_controlled_margin() -> None:
    plain = evaluate("conservative", "random", half_width=6.0, max_deals=3000)
    found = evaluate("conservative", "random", half_width=6.0, max_deals=3000, luck_playouts=2)
    assert found.stopped == "half_width"
    assert len(found.margins) <= len(plain.margins)
    assert half_width_of(found.controlled_margins) <= 6.0
    assert found.controlled_margin is not None
    assert found.controlled_margin.high - found.controlled_margin.mean == pytest.approx(6.0)
    assert found.margin == mean_interval(found.margins)
    assert plain.margin.high - plain.margin.mean == pytest.approx(6.0)


def test_luck_and_a_reference_together_explain_more_than_either() -> None:
    options: dict[str, Any] = {"deals": 1500, "seed": 3}
    luck, pair, both = (
        evaluate("normal:objective=points", "conservative", **options, **more)
        for more in (
            {"luck_playouts": 2},
            {"reference": ["normal:objective=points~easy"]},
            {"luck_playouts": 2, "reference": ["normal:objective=points~easy"]},
        )
    )
    ratios = []
    for found in (luck, pair, both):
        assert found.controlled_margins is not None
        ratios.append(variance_ratio(found.margins, found.controlled_margins))
        assert abs(found.controlled_margins.mean() - found.margins.mean()) < 3.5
    assert ratios[0] > 1.2
    assert ratios[1] > 1.05
    assert ratios[2] > max(ratios) - 1e-9
    assert ratios[2] > ratios[0] + 0.05
