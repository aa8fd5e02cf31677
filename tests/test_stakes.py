"""What agents play for: the worth of a deal beside the engine's scoring, and which stakes count in which view."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from random_rules import random_rules
from test_agents import deals, views_of

from agents import objective as objective_module
from agents.base import AgentError
from agents.equity.grid import grid_of, table_shape
from agents.equity.lookup import match_equity
from agents.objective import for_each_stakes
from agents.rules.normal.agent import NormalAgent
from agents.search.agent import SearchAgent
from agents.stakes import NEAR_END, POINTS, WIN, Stakes, is_near_end, split_value
from spades_env.engine import step
from spades_env.engine.kernel import kernel
from spades_env.engine.scoring import deal_value, finish_deal
from spades_env.engine.state import NO_BID, STATE, StateArray, rules_from_record, rules_to_record
from spades_env.rules import PRESETS, Rules
from spades_env.view import empty_views


@kernel
def value_of(states: StateArray, i: int, stakes: Stakes) -> float:
    """`split_value` of game `i` with the tricks that stand in it."""
    game = states[i]
    tricks = game["tricks"]
    return split_value(game, int(tricks[0]), int(tricks[1]), int(tricks[2]), int(tricks[3]), stakes)


@kernel
def scored(states: StateArray, i: int) -> float:
    """Score the deal of game `i` as the engine does; team 0's points less team 1's, penalties included."""
    finish_deal(states[i])
    return deal_value(states[i], 0, np.nan) - deal_value(states[i], 1, np.nan)


@kernel
def near_end(states: StateArray, i: int) -> bool:
    """`is_near_end` of game `i`."""
    return is_near_end(states[i])


def finished_deals(rules: Rules, n: int, rng: np.random.Generator) -> StateArray:
    """`n` deals that are played but not scored: random bids, blind flags, tricks, scores and bags."""
    states = np.zeros(n, STATE)
    states["rules"] = rules_to_record(rules)
    states["dealer"] = rng.integers(0, rules.players, n)
    states["scores"] = rng.integers(-250, 500, (n, 2))
    states["bags"] = rng.integers(0, rules.bag_limit or 30, (n, 2))
    states["bids"] = NO_BID
    for seat in range(rules.players):
        states["bids"][:, seat] = rng.integers(0, rules.hand_size // 2 + 1, n)
        states["blind"][:, seat] = (states["bids"][:, seat] == 0) & (rng.random(n) < 0.3)
    for i in range(n):
        takers = rng.integers(0, rules.players, rules.hand_size)
        states["tricks"][i] = np.bincount(takers, minlength=4)
    return states


# --- The worth of a deal ------------------------------------------------------------------------------------


def bags_without_penalty(rules: Rules, before: int, bags: int) -> int:
    """How many of the deal's bags bring no penalty themselves, put on the sheet one by one; `reset` stops at one."""
    count, kept = before, 0
    for _ in range(bags):
        count += 1
        if count < rules.bag_limit:
            kept += 1
        else:
            count = 0
            if rules.bag_after == "reset":
                break
    return kept


@pytest.mark.parametrize("case", [*PRESETS, *range(40)])
def test_points_are_the_difference_as_scored_less_the_price_of_bags(case: str | int) -> None:
    """R17-R22 by the engine; a bag that brings no penalty itself costs its share of the next one."""
    rng = np.random.default_rng(case if isinstance(case, int) else 100)
    rules = PRESETS[case] if isinstance(case, str) else random_rules(rng)
    price = rules.bag_penalty / rules.bag_limit if rules.bag_limit else 0.0
    states = finished_deals(rules, 60, rng)
    values = [value_of(states, i, POINTS) for i in range(len(states))]
    before = states["bags"].tolist()
    compared = 0
    for i, value in enumerate(values):
        expected = scored(states, i)
        bags = states["result"]["bags"][i].tolist()
        if rules.bag_limit:
            if max(bags) >= rules.bag_limit > 1:
                continue  # so many that they may bring two penalties
            ours, theirs = (bags_without_penalty(rules, before[i][team], bags[team]) for team in range(2))
            expected -= price * (ours - theirs)
        assert value == pytest.approx(expected)
        compared += 1
    assert compared > 5
    assert len(set(values)) > 3


@pytest.mark.parametrize(
    ("bags", "tricks", "points"),
    [
        (0, 5, 50),  # made on the nose
        (0, 7, 50 + 2 - 2 * 10),  # R21: two bags at +1, each a tenth of the next penalty
        (7, 8, 50 + 3 - 100 - 2 * 10),  # R23: the tenth bag, and the two that led to it
        (7, 9, 50 + 4 - 100 - 3 * 10),
        (9, 6, 50 + 1 - 100),  # the tenth bag alone
        (9, 4, -50),  # R18: set, no bags
    ],
)
def test_points_by_hand(bags: int, tricks: int, points: int) -> None:
    """Team 0 bid 5; team 1 bid exactly what it took."""
    states = np.zeros(1, STATE)
    states["rules"] = rules_to_record(PRESETS["classic"])
    states["bids"], states["tricks"] = (3, 12 - tricks, 2, 1), (tricks, 13 - tricks, 0, 0)
    states["bags"][0, 0] = bags
    assert value_of(states, 0, POINTS) == points - 10 * (13 - tricks)


@pytest.mark.parametrize("case", [*PRESETS, *range(20)])
def test_a_match_is_worth_the_chance_to_win_it(case: str | int) -> None:
    """R24, R25: what the table says of the scores and bags that the engine writes down, with the next dealer."""
    rng = np.random.default_rng(case if isinstance(case, int) else 100)
    rules = PRESETS[case] if isinstance(case, str) else random_rules(rng)
    rules = rules.replace(max_deals=None)
    grid = grid_of(rules)
    stakes = rng.random(table_shape(grid)).astype(np.float32), grid
    states = finished_deals(rules, 40, rng)
    values = [value_of(states, i, stakes) for i in range(len(states))]
    next_dealers = (states["dealer"] + rules_to_record(rules)["step"]) % rules.players
    for i in range(len(states)):
        scored(states, i)
        scores, bags = states["scores"][i].tolist(), states["bags"][i].tolist()
        chance = match_equity(*stakes, *scores, *bags, int(next_dealers[i]) % 2)
        assert values[i] == pytest.approx(WIN * chance)
        if states["winner"][i] >= 0:
            assert values[i] == (WIN if states["winner"][i] == 0 else 0.0)


# --- When the match counts ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rules", "scores", "near"),
    [
        (PRESETS["classic"], (500 - NEAR_END - 1, 0), False),
        (PRESETS["classic"], (500 - NEAR_END, 0), True),
        (PRESETS["classic"], (-400, 500 - NEAR_END), True),
        (PRESETS["classic"], (-900, -900), False),  # no mercy
        (PRESETS["modern"], (-200 + NEAR_END + 1, 100), False),
        (PRESETS["modern"], (100, -200 + NEAR_END), True),
        (PRESETS["table"], (300 - NEAR_END, 0), True),
    ],
)
def test_the_match_counts_near_the_target_and_near_mercy(rules: Rules, scores: tuple[int, int], near: bool) -> None:
    states = np.zeros(1, STATE)
    states["rules"], states["scores"] = rules_to_record(rules), scores
    assert near_end(states, 0) == near


def mixed_views() -> StateArray:
    """240 views of deals under four rule sets in random order, some of whose matches are near their end."""
    rng = np.random.default_rng(3)
    sets = (PRESETS["classic"], PRESETS["table"], PRESETS["modern"], PRESETS["two_player"])
    states = np.concatenate([deals(rules, 60) for rules in sets])
    states["scores"] = rng.integers(-190, 499, states["scores"].shape)
    rng.shuffle(states)
    return views_of(states)[0]


class Tables:
    """In the place of `stakes_of`: a table of random chances for each rule set, and which were asked for."""

    def __init__(self) -> None:
        self.asked: list[Rules] = []

    def __call__(self, rules: np.void) -> Stakes:
        self.asked.append(rules_from_record(rules))
        grid = grid_of(self.asked[-1])
        return np.random.default_rng(len(self.asked)).random(table_shape(grid)).astype(np.float32), grid


@pytest.fixture
def tables(monkeypatch: pytest.MonkeyPatch) -> Tables:
    """Tables that are made in no time."""
    found = Tables()
    monkeypatch.setattr(objective_module, "stakes_of", found)
    return found


@pytest.mark.parametrize("objective", ["auto", "points", "match"])
def test_every_row_comes_once_with_the_stakes_of_its_rules(objective: Any, tables: Tables) -> None:
    views = mixed_views()
    near = [near_end(np.array([known]), 0) for known in views["known"]]
    assert 30 < sum(near) < len(views) - 30
    seen: list[int] = []
    for rows, stakes in for_each_stakes(views, objective):
        seen += rows.tolist()
        if stakes is POINTS:
            assert not any(near[row] for row in rows) or objective == "points"
        else:
            assert all(near[row] for row in rows) or objective == "match"
            of_rows = {rules_from_record(views["known"]["rules"][row]) for row in rows}
            assert of_rows == {tables.asked[-1]}
            assert stakes[1]["target"][0] == tables.asked[-1].target
    assert sorted(seen) == list(range(len(views)))
    assert len(tables.asked) == len(set(tables.asked)) == (0 if objective == "points" else 4)


def test_no_views_need_no_stakes(tables: Tables) -> None:
    for objective in ("auto", "points", "match"):
        assert sum(len(rows) for rows, _ in for_each_stakes(empty_views(0), objective)) == 0
    assert tables.asked == []


@pytest.mark.parametrize("make", [NormalAgent, lambda **options: SearchAgent(worlds=2, draws=1, reads=0, **options)])
def test_auto_looks_at_the_match_near_its_end_alone(make: Any, tables: Tables) -> None:
    states = deals(PRESETS["classic"], 20)
    states["scores"] = (100, 200)
    views, keys = views_of(states)
    moves = make(objective="auto").act(views, keys)
    assert tables.asked == []
    assert (moves == make(objective="points").act(views, keys)).all()
    states["scores"][::2] = (450, 440)
    views, keys = views_of(states)
    moves = make(objective="auto").act(views, keys)
    assert tables.asked == [PRESETS["classic"]]
    assert (moves[1::2] == make(objective="points").act(views, keys)[1::2]).all()
    assert all(step.is_legal(states, i, int(move)) for i, move in enumerate(moves))


@pytest.mark.parametrize("make", [NormalAgent, SearchAgent])
def test_an_objective_that_does_not_exist_is_refused(make: Any) -> None:
    with pytest.raises(AgentError, match="objective='win' is not allowed: one of auto, points, match"):
        make(objective="win")
