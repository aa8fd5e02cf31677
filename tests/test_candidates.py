"""What a search compares, and how it drops what is behind: candidates against the solver, comparisons by hand."""

from __future__ import annotations

import numpy as np
import pytest
from search_positions import POINTS_NORMAL, acting, rules_of, scattered
from test_agents import position

from agents.search.candidates import MOST_CANDIDATES, THROWN_FROM, ActionList, candidates
from agents.search.playout import doubted_worth
from agents.search.searcher import FIRST_ROUND, add_rows, best_of, drop_losers
from agents.search.solver.api import NO_LIMIT, solve_moves_at
from agents.search.solver.workspace import new_workspace
from agents.stakes import POINTS, Stakes
from spades_env.actions import BLIND_NIL, DONE, KEEP, LOOK, NIL, TAKE_NEXT, action_text
from spades_env.cards import parse_hand
from spades_env.engine.batch import legal_action_list
from spades_env.engine.kernel import kernel
from spades_env.engine.state import (
    PHASE_BID,
    PHASE_BLIND,
    PHASE_DRAFT,
    PHASE_EXCHANGE,
    PHASE_PLAY,
    STATE,
    StateArray,
    rules_to_record,
)
from spades_env.rules import PRESETS, Rules


@kernel
def candidates_at(states: StateArray, i: int, stakes: Stakes, out: ActionList) -> int:
    """`candidates` of the seat to act in game `i`."""
    return candidates(states[i], int(states[i]["turn"]), stakes, out)


@kernel
def doubted(states: StateArray, seat: int, doubt: float, stakes: Stakes) -> float:
    """`doubted_worth` of the deal in progress in the first of `states` and scored in the second."""
    return doubted_worth(states[0], states[1], seat, doubt, stakes)


def listed(states: StateArray, i: int = 0) -> list[int]:
    """What a search compares in game `i`."""
    out = np.zeros(MOST_CANDIDATES, np.int64)
    return out[: candidates_at(states, i, POINTS, out)].tolist()


# --- Candidates ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", [*PRESETS, *range(16)])
def test_a_card_left_out_is_worth_exactly_what_one_that_is_kept_is(case: str | int) -> None:
    rules = rules_of(case)
    states = scattered(rules, 25, 1)
    states = states[(states["phase"] == PHASE_PLAY) & (states["trick"] >= rules.hand_size - 4)]
    workspace, values = new_workspace(), np.zeros(54)
    left_out = 0
    for i in range(0, len(states), 2):
        kept, legal = listed(states, i), legal_action_list(states, i)
        assert kept == sorted(set(kept))
        assert set(kept) <= set(legal)
        if len(kept) == len(legal):
            continue
        solve_moves_at(states, i, workspace, POINTS, NO_LIMIT, values)
        for card in set(legal) - set(kept):
            stand_in = max(other for other in kept if other < card)
            assert values[card] == values[stand_in]
            left_out += 1
    assert left_out > 5


HANDS = "/".join(
    (
        "AS KS JS TS 9S 4H 3H AD QD JD 5C 4C 2C",
        "QS 8S 7S 6S AH KH QH KD TD 9D AC KC QC",
        "5S 4S 3S JH TH 9H 8H 8D 7D 6D JC TC 9C",
        "2S 7H 6H 5H 2H 5D 4D 3D 2D 8C 7C 6C 3C",
    )
)
BIDS = "bid 4,bid 3,bid 2,bid 2"


def texts(states: StateArray) -> list[str]:
    """The actions that are compared, as text."""
    return [action_text(action) for action in listed(states)]


def test_of_cards_next_to_each_other_the_lowest_is_looked_at() -> None:
    """Next to each other in her hand, or with nothing between them that somebody may still play or has on the table."""
    classic, any_lead = PRESETS["classic"], PRESETS["classic"].replace(lead_spades="any")
    assert texts(position(classic, HANDS, 3, BIDS)) == ["2C", "4C", "JD", "AD", "3H"]
    assert texts(position(any_lead, HANDS, 3, BIDS))[-2:] == ["9S", "KS"]
    # Once the three of clubs has gone, the two is as good as the four.
    assert texts(position(classic, HANDS, 3, BIDS + ",5C,QC,9C,3C,AC,JC,6C")) == ["2C"]
    # The queen of spades lies on the table: king and jack differ, jack, ten and nine do not.
    assert texts(position(any_lead, HANDS, 0, "bid 3,bid 2,bid 2,bid 4,QS,5S,2S")) == ["9S", "KS"]


@pytest.mark.parametrize(
    "rules",
    [
        *PRESETS.values(),
        Rules(min_bid=4),
        Rules(max_team_bid=4),
        Rules(max_team_bid=9, min_bid=4),
        Rules(nil_allowed=False),
        Rules(jokers=True),
        Rules(suits=4, ranks=4, hand_size=4),
        Rules(suits=2, ranks=8, hand_size=3),
        Rules(players=2, suits=3, ranks=6, hand_size=8),
        Rules(contract="individual"),
    ],
)
def test_bids_compared_are_legal_and_in_order(rules: Rules) -> None:
    states = scattered(rules, 60, 1)
    states = states[states["phase"] == PHASE_BID]
    lengths = []
    for i in range(len(states)):
        found, legal = listed(states, i), legal_action_list(states, i)
        assert found == sorted(set(found))
        assert set(found) <= set(legal)
        assert any(action > NIL for action in found)
        lengths.append(len(found))
    assert max(lengths) <= 6
    assert np.mean(lengths) > 2 or min(rules.max_team_bid or 13, rules.hand_size) <= 4


def test_bids_compared_for_the_match_are_all_that_are_legal() -> None:
    """Near the end of a match the best bid may be far from what the hand is worth."""
    states = scattered(PRESETS["classic"], 8, 1)
    states = states[states["phase"] == PHASE_BID]
    out = np.zeros(MOST_CANDIDATES, np.int64)
    stakes = np.full((2, 2, 1, 1), 0.5, np.float32), POINTS[1]
    for i in range(len(states)):
        count = candidates_at(states, i, stakes, out)
        assert set(range(NIL + 1, NIL + 14)) <= set(out[:count].tolist())


def test_blind_and_double_nil_are_compared_with_looking() -> None:
    """R10, R28; and keeping with taking the next card (R27) once somebody has called double nil, not before."""
    seen = set()
    for preset in ("modern", "two_player"):
        states = scattered(PRESETS[preset], 30, 1)
        for i, phase in enumerate(states["phase"].tolist()):
            if phase == PHASE_BLIND:
                assert listed(states, i) == [BLIND_NIL, LOOK]
                seen.add((preset, phase))
            if phase == PHASE_DRAFT:
                called = bool(states["blind"][i].any())
                assert listed(states, i) == ([KEEP, TAKE_NEXT] if called else [])
                seen.add((preset, phase, called))
    assert len(seen) == 4


def test_of_an_exchange_the_cards_worst_for_a_nil_and_done_are_compared() -> None:
    """R28: high cards, spades above all; what `normal` would do is among them."""
    states = scattered(PRESETS["two_player"], 40, 1)
    states = states[states["phase"] == PHASE_EXCHANGE]
    moves = POINTS_NORMAL.act(acting(states), np.zeros(len(states), np.uint64))
    for i in range(len(states)):
        found = listed(states, i)
        assert found == sorted(set(found))
        assert len(found) == THROWN_FROM + 1
        assert {DONE, int(moves[i])} <= set(found) <= set(legal_action_list(states, i))
    states["hands"] = parse_hand("2C AC KC AD 6S 2S 3S")
    assert texts(states)[:-1] == ["KC", "AC", "AD", "6S"]
    assert len(states) > 20


def test_a_doubted_nil_counts_as_failed_with_that_chance() -> None:
    """R19: a nil that was made by 100 points; one that failed, and a bid, are left as they are."""
    states = np.zeros(2, STATE)
    states["rules"] = rules_to_record(PRESETS["classic"])
    states["bids"], states["tricks"] = (0, 4, 4, 4), (0, 4, 5, 4)
    states["scores"][1] = (140, 80)
    sure = doubted(states, 0, 0.0, POINTS)
    assert sure == 60
    assert doubted(states, 0, 0.25, POINTS) == 60 - 0.25 * 200
    assert doubted(states, 2, 0.25, POINTS) == sure
    states["tricks"][1] = (1, 4, 4, 4)
    assert doubted(states, 0, 0.25, POINTS) == sure


# --- Comparing ----------------------------------------------------------------------------------------------


def test_the_best_total_wins_and_the_first_of_equals() -> None:
    actions = np.arange(60, 64, dtype=np.int64)
    assert best_of(actions, np.array([1.0, 3.0, 3.0, 2.0]), 4) == 1
    assert best_of(actions, np.array([1.0, 3.0, 3.0 + 1e-12, 2.0]), 4) == 1  # sums of floats are not exact
    assert best_of(actions, np.array([-1.0, -3.0, 9.0, 2.0]), 2) == 0  # the others are no candidates
    actions[1] = -1
    assert best_of(actions, np.array([1.0, 3.0, 2.0, 2.0]), 4) == 2


def test_totals_are_sums_of_the_rows_given() -> None:
    values, totals = np.arange(12.0).reshape(4, 3), np.zeros(3)
    add_rows(values, 1, 3, 2, totals)
    assert totals.tolist() == [9.0, 11.0, 0.0]


def left_after(columns: list[list[float]], best: int, margin: float) -> list[int]:
    """Candidates, by number, that are still in the race after these values, a column each."""
    values = np.array(columns).T
    actions = np.arange(len(columns))
    left = drop_losers(values, actions, len(values), len(columns), best, margin)
    kept = [int(action) for action in actions if action >= 0]
    assert left == len(kept)
    return kept


def test_candidates_are_dropped_by_the_gap_world_by_world() -> None:
    """Gaps 2, 0, 2, 0: mean 1, standard error 1 / sqrt(4); what both share does not count."""
    noise = [100.0, -50.0, 0.0, 7.0]
    best = [value + gap for value, gap in zip(noise, (2, 0, 2, 0), strict=True)]
    assert left_after([best, noise], 0, 1.9) == [0]
    assert left_after([best, noise], 0, 2.1) == [0, 1]
    assert left_after([noise, best], 1, 1.9) == [1]
    # Behind in every world alike, or level in every world.
    assert left_after([[5.0] * 4, [4.0] * 4], 0, 100.0) == [0]
    assert left_after([[5.0] * 4, [5.0] * 4], 0, 0.0) == [0, 1]
    # One that is ahead of the best so far is not dropped.
    assert left_after([[1.0, 1.0], [2.0, 2.0]], 0, 3.0) == [0, 1]


def rounds(values: np.ndarray, margin: float) -> int:
    """The winner among candidates with these values, (worlds, candidates), in rounds that double as a search's do."""
    actions, totals = np.arange(values.shape[1]), np.zeros(values.shape[1])
    done = 0
    while done < len(values):
        upto = min(len(values), FIRST_ROUND if done == 0 else 2 * done)
        add_rows(values, done, upto, values.shape[1], totals)
        done = upto
        drop_losers(values, actions, done, values.shape[1], best_of(actions, totals, values.shape[1]), margin)
    return best_of(actions, totals, values.shape[1])


def missed(margin: float) -> tuple[int, float]:
    """Of 1,000 made-up comparisons: how often the best on all worlds loses, dropped on the way, and the mean loss."""
    rng, count, lost = np.random.default_rng(0), 0, 0.0
    for _ in range(1000):
        shared = rng.normal(0, 60, (256, 1))
        values = shared + rng.normal(0, 30, (256, 5)) + rng.normal(0, 4, 5)
        best, found = int(values.sum(axis=0).argmax()), rounds(values, margin)
        count += found != best
        lost += values[:, best].mean() - values[:, found].mean()
    return count, lost / 1000


def test_dropping_costs_next_to_nothing() -> None:
    """At the margin of the levels; at a small one it would be seen."""
    count, lost = missed(3.0)
    assert count < 10
    assert lost < 0.01
    assert missed(0.3)[0] > 100
