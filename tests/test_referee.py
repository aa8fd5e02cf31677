"""The referee against expectations worked out by hand from the rule text (tests/data/golden.py, cases.json).

The same data hold the fast engine to account; here they make sure that its oracle reads the rules as written.
"""

import json
import random
from pathlib import Path
from typing import Any

import pytest
from data.golden import (
    ACCEPTED,
    BAD_STARTS,
    POSITIONS,
    REFUSED,
    SCORING,
    BadStart,
    Position,
    Refusal,
    ScoringCase,
    action_id,
    card_id,
    cards,
    expected,
    full_rules,
)
from referee import Referee
from referee_rules import (
    ITEM_KEYS,
    check_rules,
    deck,
    is_truncated,
    legal_cards,
    may_bid_blind,
    score_deal,
    suit_of,
    winning_card,
)

CASES = json.loads((Path(__file__).parent / "data" / "cases.json").read_text(encoding="utf-8"))
CASE = {case["id"]: case for case in CASES if case["kind"] in ("scoring", "legality")}


def lines(items: list[dict[str, int]]) -> tuple[tuple[int, ...], ...]:
    """Score-sheet items as the golden entries write them."""
    return tuple(tuple(item[key] for key in ITEM_KEYS) for item in items)


# --- Golden deals to score ----------------------------------------------------------------------------


@pytest.mark.parametrize("case", SCORING, ids=lambda case: case.id)
def test_golden_scoring(case: ScoringCase) -> None:
    rules = full_rules(case.preset, case.rules)
    blind = [seat in case.blind for seat in range(rules["players"])]
    result = score_deal(rules, case.bids, blind, case.tricks, case.scores_before, case.bags_before)
    assert lines(result.items) == case.items
    assert (tuple(result.scores), tuple(result.bags)) == (case.scores, case.bags)
    assert (result.boston, result.winner) == (case.boston, case.winner)
    assert is_truncated(rules, result.winner, case.deals_played + 1) == case.truncated


@pytest.mark.parametrize("case", SCORING, ids=lambda case: case.id)
def test_golden_scoring_adds_up(case: ScoringCase) -> None:
    """The hand-made numbers agree with each other, whatever any code says."""
    assert sum(case.tricks) == full_rules(case.preset, case.rules)["hand_size"]
    for team in (0, 1):
        assert case.scores_before[team] + sum(case.items[team][:4]) == case.scores[team]


# --- Golden positions ---------------------------------------------------------------------------------


def play_to(position: Position) -> Referee:
    """The referee after the actions of a golden position."""
    rules = full_rules(position.preset, position.rules)
    referee = Referee(
        rules,
        dealer=position.dealer,
        hands=[cards(hand) for hand in position.hands] or None,
        pile=cards(position.pile) or None,
        scores=position.scores_before,
        bags=position.bags_before,
        deals_played=position.deals_played,
    )
    drawn = [cards(text) for text in position.drawn]
    for word in position.actions.split():
        seat, thrown = referee.seat_to_act(), 0
        if referee.phase() == "exchange" and seat is not None:
            thrown = len(referee.knows(seat)["thrown"]) + (word != "done")
        completes = thrown > 0 and (word == "done" or thrown == rules["blind_nil_exchange"])
        referee.apply(action_id(word), drawn.pop(0) if completes else ())
    assert not drawn, "the position lists more drawn cards than exchanges"
    return referee


def actual(referee: Referee, key: str) -> Any:
    """What the referee says about one key of a position's expectations."""
    knowledge = [referee.knows(seat) for seat in range(referee.players)]
    match key:
        case "phase":
            return referee.phase()
        case "to_act":
            return referee.seat_to_act()
        case "legal":
            return referee.legal_actions()
        case "sees":
            return tuple(known["hand"] is not None for known in knowledge)
        case "shown" | "rejected" | "thrown":
            return tuple(known[key] for known in knowledge)
        case "discards":
            return referee.draft_discards
        case "discards_left":
            return len(referee.draft_discards)
        case "trick":
            return [card for _, card in referee.trick]
        case "items":
            return lines(referee.items)
        case _:
            value = getattr(referee, key)
            return tuple(value) if isinstance(value, list) else value


@pytest.mark.parametrize("position", POSITIONS, ids=lambda position: position.id)
def test_golden_position(position: Position) -> None:
    referee = play_to(position)
    found = {key: actual(referee, key) for key in position.expect}
    assert found == {key: expected(key, value) for key, value in position.expect.items()}


def test_there_are_enough_golden_entries_and_none_twice() -> None:
    ids = [case.id for case in SCORING] + [position.id for position in POSITIONS]
    assert len(ids) == len(set(ids)) >= 80


# --- The handed cases S01-S15, L01-L09 ----------------------------------------------------------------


@pytest.mark.parametrize("id", [f"S{number:02}" for number in range(1, 16)])
def test_handed_scoring_case(id: str) -> None:
    case = CASE[id]
    bids = [0 if bid in ("N", "B") else bid for bid in case["bids"]]
    blind = [bid == "B" for bid in case["bids"]]
    rules = full_rules("classic", case["rules"])
    result = score_deal(rules, bids, blind, case["tricks"], case["scores_before"], case["bags_before"])
    assert result.scores == case["expect"]["scores"]
    assert result.bags == case["expect"]["bags"]
    verdict = "goes on" if result.winner is None else f"team {result.winner} wins"
    assert verdict == case["expect"]["match"]


@pytest.mark.parametrize("id", ["L01", "L02", "L03", "L04", "L05"])
def test_handed_legality_case(id: str) -> None:
    case = CASE[id]
    hand, trick = cards(" ".join(case["hand"])), cards(" ".join(case["trick"]))
    rules = full_rules("classic", case["rules"])
    legal = legal_cards(rules, hand, trick, case["spades_broken"], case["first_trick"])
    assert legal == set(cards(" ".join(case["expect_legal"])))


def test_handed_case_l07_winner() -> None:
    trick = {seat: card_id(card) for seat, card in CASE["L07"]["trick"]}
    best = winning_card(full_rules("classic", {}), list(trick.values()), first_trick=True)
    assert [f"{seat} wins with 9C" for seat in trick if trick[seat] == best] == CASE["L07"]["expect"]


@pytest.mark.parametrize(("scores", "teams"), [((150, 250), (True, False)), ((151, 250), (False, False))])
def test_handed_case_l08_eligibility(scores: tuple[int, int], teams: tuple[bool, bool]) -> None:
    rules = full_rules("classic", CASE["L08"]["rules"])
    assert tuple(may_bid_blind(rules, scores[team], scores[1 - team]) for team in (0, 1)) == teams


def test_handed_case_l09_deck() -> None:
    cards_in_play = deck(full_rules("classic", CASE["L09"]["rules"]))
    assert len(cards_in_play) == 52
    assert cards_in_play.isdisjoint(cards("2H 2D"))
    assert sum(suit_of(card) == 3 for card in cards_in_play) == 15


def test_every_handed_case_is_run() -> None:
    assert sorted(CASE) == [f"L{n:02}" for n in range(1, 10)] + [f"S{n:02}" for n in range(1, 16)]
    stems = {position.id[:3] for position in POSITIONS}
    assert {id for id in CASE if id[0] == "L"} <= stems


# --- What is refused ----------------------------------------------------------------------------------


@pytest.mark.parametrize("refusal", REFUSED, ids=lambda refusal: refusal.id)
def test_refused_rules(refusal: Refusal) -> None:
    with pytest.raises(ValueError, match="|".join(rf"\b{name}\b" for name in refusal.fields)):
        check_rules(full_rules(refusal.preset, refusal.rules))


@pytest.mark.parametrize(("preset", "overrides"), ACCEPTED)
def test_accepted_rules(preset: str, overrides: dict[str, Any]) -> None:
    check_rules(full_rules(preset, overrides))


def test_a_missing_field_is_named() -> None:
    rules = full_rules("classic", {})
    del rules["bag_after"]
    with pytest.raises(ValueError, match="bag_after"):
        check_rules(rules)


@pytest.mark.parametrize("start", BAD_STARTS, ids=lambda start: start.id)
def test_bad_start(start: BadStart) -> None:
    hands = None if start.hands is None else [cards(hand) for hand in start.hands]
    pile = None if start.pile is None else cards(start.pile)
    rules = full_rules(start.preset, start.rules)
    with pytest.raises(ValueError, match=start.names):
        Referee(rules, dealer=start.dealer, hands=hands, pile=pile, bags=start.bags)


def test_bags_at_any_count_without_a_limit() -> None:
    rules = full_rules("classic", {"hand_size": 1, "bag_limit": 0})
    referee = Referee(rules, dealer=0, hands=[[0], [1], [2], [3]], bags=(0, 37))
    assert referee.bags == [0, 37]


def position(id: str) -> Position:
    """The golden position of that id."""
    return next(entry for entry in POSITIONS if entry.id == id)


@pytest.mark.parametrize(
    ("id", "action", "named"),
    [
        ("R11-follow-spades", card_id("AC"), "seat 1: action 12 .*legal: .40."),
        ("R8-no-nil", 54, "seat 0: action 54 "),
        ("R8-classic", 68, "seat 0: action 68 "),
        ("R27-looks", 0, "seat 0: action 0 .*70, 71"),
        ("R16-boston", 0, "seat None: action 0 "),
    ],
)
def test_illegal_action_names_seat_action_and_what_is_legal(id: str, action: int, named: str) -> None:
    referee = play_to(position(id))
    before = play_to(position(id))
    with pytest.raises(ValueError, match=named):
        referee.apply(action)
    assert vars(referee) == vars(before)


# --- The exchange (R28), where the cards drawn come from outside ---------------------------------------


def test_drawn_cards_come_to_the_hand_and_leave_the_discards() -> None:
    referee = play_to(position("R28-both-done"))
    assert set(cards("3C")) <= referee.hands[0]
    assert set(cards("5C AS QS")) <= referee.hands[1]
    assert [len(hand) for hand in referee.hands] == [13, 13]
    assert referee.draft_discards.isdisjoint(cards("3C 5C AS QS"))
    assert referee.draft_discards.isdisjoint(cards("KD KS 4C 9S")), "thrown cards never return"
    assert referee.knows(0)["hand"] == referee.hands[0]


@pytest.mark.parametrize(
    ("start", "actions", "drawn"),
    [
        ("R28-exchange", "KD done", ""),  # one thrown, none drawn
        ("R28-exchange", "KD done", "3C 5C"),  # one thrown, two drawn
        ("R28-exchange", "done", "3C"),  # none thrown, one drawn
        ("R28-exchange", "KD", "3C"),  # not done yet
        ("R28-exchange", "KD done", "KD"),  # a thrown card never returns
        ("R28-exchange", "KD 7S done", "3C 3C"),  # twice the same
        ("R28-both-called", "KS done", "3C"),  # drawn by the other before
        ("R27-looks", "keep", "3C"),  # no exchange at all
    ],
)
def test_impossible_draws_are_refused(start: str, actions: str, drawn: str) -> None:
    referee = play_to(position(start))
    *first, last = actions.split()
    for word in first:
        referee.apply(action_id(word))
    hands, discards = [set(hand) for hand in referee.hands], set(referee.draft_discards)
    with pytest.raises(ValueError, match="drawn"):
        referee.apply(action_id(last), cards(drawn))
    assert (referee.hands, referee.draft_discards) == (hands, discards)


# --- Whole deals at random: what must hold whatever is played ------------------------------------------


@pytest.mark.parametrize("preset", ["classic", "table", "modern", "two_player"])
def test_random_deals_keep_the_cards_together(preset: str) -> None:
    """R12, R27: every deal ends, no card is lost or doubled, each seat holds 13 cards when play begins."""
    generator = random.Random(7)
    rules = full_rules(preset, {})
    pack = sorted(deck(rules))
    for _ in range(20):
        generator.shuffle(pack)
        four = rules["players"] == 4
        hands = [pack[seat::4] for seat in range(4)] if four else None
        referee = Referee(rules, dealer=0, hands=hands, pile=None if four else pack, scores=(0, 100))
        played: list[int] = []
        while (seat := referee.seat_to_act()) is not None:
            action, drawn = generator.choice(sorted(referee.legal_actions())), []
            if referee.phase() == "play":
                assert played or [len(hand) for hand in referee.hands] == [13] * rules["players"]
                played.append(action)
            elif referee.phase() == "exchange":
                count = len(referee.knows(seat)["thrown"]) + (action != 72)
                if action == 72 or count == rules["blind_nil_exchange"]:
                    drawn = generator.sample(sorted(referee.draft_discards), count)
            referee.apply(action, drawn)
        assert len(played) == len(set(played)) == 13 * rules["players"]
        assert sum(referee.tricks) == 13
        assert None not in referee.bids
