"""The solver of layouts against the figures of the handed cases, and the siblings against solver and themes."""

from __future__ import annotations

from collections import Counter
from math import comb

import numpy as np
import pytest
from case_positions import CASES, PLAY_IDS, Case, play_game
from layouts import DEPTH, MATCH, card_values, possible_layouts, solve, verdicts
from sibling_themes import THEMES, theme_of
from siblings import AS_SCORED, BAG_PRICE, PER_CASE, judged, siblings
from test_cases_bots import siblings_of

from spades_env import Game
from spades_env.cards import SUIT_MASKS, card_text, parse_card
from spades_env.engine.state import STATE


def texts(cards: list[int]) -> list[str]:
    """Cards as text."""
    return [card_text(card) for card in cards]


# --- The solver ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", PLAY_IDS)
def test_handed_cases_are_solved_as_handed(name: str) -> None:
    case = CASES[name]
    cards, values = solve(play_game(case))
    assert len(values) == case["checked"]["possible_layouts"]
    found = {
        card_text(card): [int(column.min()), round(float(column.mean()), 1), int(column.max())]
        for card, column in zip(cards, values.T, strict=True)
    }
    assert found == case["checked"]["value_min_mean_max"]
    accept, reject = verdicts(cards, values)
    assert (sorted(texts(accept)), sorted(texts(reject))) == (sorted(case["accept"]), sorted(case["reject"]))


@pytest.mark.parametrize("name", PLAY_IDS)
def test_layouts_are_all_that_fit_and_the_truth_is_one(name: str) -> None:
    game = play_game(CASES[name])
    layouts, truth = possible_layouts(game), [sum(1 << card for card in hand) for hand in game.hands]
    assert truth in layouts.tolist()
    assert len({tuple(row) for row in layouts.tolist()}) == len(layouts)
    for row in layouts.tolist():
        assert [hand.bit_count() for hand in row] == [len(hand) for hand in game.hands]
        assert sum(row) == sum(truth)
        assert not any(row[seat] & SUIT_MASKS[suit] for seat in range(4) for suit in game.voids[seat])


def test_layouts_without_voids_are_counted_by_binomials() -> None:
    game = play_game(CASES["P04"])
    assert len(possible_layouts(game)) == comb(6, 2) * comb(4, 2)


def lead_by_hand(game: Game, bags: tuple[int, int], bag_price: int) -> int:
    """Value of a game for team 0 by recursion over `Game` objects, which knows nothing of the compiled solver.

    `bags` were on the sheet before the deal; each that comes to lie there costs `bag_price`.
    """
    if game.deal_over:
        if game.phase == "match over":
            return MATCH if game.scores[0] > game.scores[1] else -MATCH
        leads = [game.scores[team] - bag_price * max(0, game.bags[team] - bags[team]) for team in (0, 1)]
        return leads[0] - leads[1]
    values = []
    for card in game.legal_actions():
        after = game.copy()
        after.apply(card)
        values.append(lead_by_hand(after, bags, bag_price))
    return max(values) if game.turn in (0, 2) else min(values)


@pytest.mark.parametrize("bag_price", [0, 10])
@pytest.mark.parametrize("name", ["P01", "P05", "P07", "P09", "P10"])
def test_values_are_those_of_a_plain_recursion(name: str, bag_price: int) -> None:
    game = play_game(CASES[name])
    cards = game.legal_actions()
    layouts = np.array([[sum(1 << card for card in hand) for hand in game.hands]])
    out = np.empty((1, len(cards)), np.int64)
    card_values(game.states, layouts, np.array(cards), bag_price, np.empty(DEPTH, STATE), out)
    sign = 1 if game.turn in (0, 2) else -1
    for card, value in zip(cards, out[0], strict=True):
        after = game.copy()
        after.apply(card)
        assert value == sign * lead_by_hand(after, game.bags, bag_price)


def test_verdicts_follow_their_definition() -> None:
    values = np.array([[10, 10, 0, 0, 9], [20, 20, 5, 20, 19]])
    # 1 and 2 are best everywhere; 3 is 12.5 worse, 4 is only 5 worse, 5 is 1 worse but never best.
    assert verdicts([1, 2, 3, 4, 5], values) == ([1, 2], [3])
    # Better on average by far, and yet worse in one layout: no verdict on either.
    assert verdicts([1, 2], np.array([[100, 0], [0, 1]])) == ([], [])


# --- The siblings -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", PLAY_IDS)
def test_every_handed_case_belongs_to_its_theme_alone(name: str) -> None:
    case, states = CASES[name], play_game(CASES[name]).states
    for number, theme in enumerate(THEMES):
        right, wrong = theme_of(states, 0, number)
        assert (right != 0) == (theme == name)
        if right:
            assert all(right >> parse_card(card) & 1 for card in case["accept"])
            assert all(wrong >> parse_card(card) & 1 for card in case["reject"])


@pytest.mark.parametrize("theme", PLAY_IDS)
def test_siblings_are_many_and_differ(theme: str) -> None:
    cases = siblings_of(theme)
    assert [case["id"] for case in cases] == [f"{theme}-{number:03}" for number in range(1, PER_CASE + 1)]
    assert len({(case["plays"], case["hand"]) for case in cases}) == PER_CASE
    assert min(Counter(case["to_act"] for case in cases).values()) > PER_CASE // 10
    assert len({case["hand"] for case in cases}) > PER_CASE // 2


def check_sibling(case: Case, theme: str) -> None:
    """The case belongs to its theme, and its verdicts are those of the solver, with bags priced, too."""
    game = play_game(case)
    assert set(texts(game.hands[case["to_act"]])) == set(case["hand"].split())
    plain = {key: case[key] for key in case if key not in ("id", "theme", "accept", "reject")}
    found = judged(plain, theme)
    assert found is not None
    assert (found["accept"], found["reject"]) == (case["accept"], case["reject"])
    assert case["accept"]
    assert case["reject"]
    if theme not in AS_SCORED:
        accept, reject = verdicts(*solve(game, BAG_PRICE))
        assert (texts(accept), texts(reject)) == (case["accept"], case["reject"])


@pytest.mark.parametrize("theme", PLAY_IDS)
def test_siblings_are_judged_right(theme: str) -> None:
    for case in siblings_of(theme)[::10]:
        check_sibling(case, theme)


@pytest.mark.slow
@pytest.mark.parametrize("theme", PLAY_IDS)
def test_all_siblings_are_judged_right(theme: str) -> None:
    for case in siblings_of(theme):
        check_sibling(case, theme)


@pytest.mark.slow
@pytest.mark.parametrize("theme", PLAY_IDS)
def test_more_siblings_can_be_made(theme: str) -> None:
    found = siblings(theme)
    for _ in range(3):
        check_sibling(next(found), theme)
