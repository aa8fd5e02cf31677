"""Cards, hands and deals as text, and back."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from record_games import SUITED

import spades_env
from spades_env.cards import card_text, hand_text, mask_of, parse_card, parse_hand
from spades_env.game import Game, PositionError
from spades_env.record import deal_text, parse_deal
from spades_env.rules import PRESETS

cards = st.integers(0, 53)


@given(st.sets(cards))
def test_cards_and_hands_have_a_text(hand: set[int]) -> None:
    mask = mask_of(hand)
    text = hand_text(mask)
    assert parse_hand(text) == parse_hand(text.lower()) == parse_hand(text.split()[::-1]) == mask
    assert [card_text(parse_card(word)) for word in text.split()] == text.split()


@given(st.permutations(range(54)), st.integers(0, 3), st.sampled_from([(2, 13), (4, 13), (4, 4), (2, 1)]))
def test_deals_have_a_text(pack: list[int], dealer: int, form: tuple[int, int]) -> None:
    seats, size = form
    hands = [pack[seat * size : (seat + 1) * size] for seat in range(seats)]
    text = deal_text(dealer=dealer, hands=hands)
    assert parse_deal(text) == {"dealer": dealer, "hands": [hand_text(mask_of(hand)) for hand in hands]}
    assert deal_text(**parse_deal(f"  {text.lower()} ")) == text
    pile = deal_text(dealer=dealer, pile=pack[:52])
    assert parse_deal(pile) == {"dealer": dealer, "pile": " ".join(card_text(card) for card in pack[:52])}
    assert deal_text(**parse_deal(pile.lower())) == pile


@pytest.mark.parametrize("preset", PRESETS)
def test_a_deals_text_makes_the_game(preset: str) -> None:
    record = Game(preset, seed=5, dealer=1).to_record()
    text = deal_text(dealer=record["dealer"], hands=record.get("hands"), pile=record.get("pile"))
    game = Game(preset, seed=5, **parse_deal(text))
    assert game == Game(preset, seed=5, dealer=1)
    assert spades_env.parse_deal is parse_deal


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"deal is ''; allowed: '2: AS KS"),
        ("AS KS | 2C 3C", r"deal is 'AS KS \| 2C 3C'; allowed"),
        ("4: AS | KS", r"deal is '4: AS \| KS'; allowed"),
        ("0: AS | KS | QS", r"hands are 3; allowed: 2 or 4"),
        ("0: AS | AS", r"hands\[1\] has AS; allowed: cards no other seat holds"),
        ("0: AS | 1S", r"hands\[1\]: card '1S' does not exist"),
        ("0: pile AS as", r"pile: card AS .* is given twice"),
        ("0: pileAS", r"hands are 1; allowed: 2 or 4"),
        ("0: " + "AS " * 200, r"deal is .*; allowed"),
        (None, r"deal is a NoneType; allowed"),
    ],
)
def test_a_wrong_text_of_a_deal_is_refused(text: Any, message: str) -> None:
    with pytest.raises(PositionError, match=message):
        parse_deal(text)


def test_a_deals_text_needs_hands_or_a_pile() -> None:
    for both in ({}, {"hands": SUITED, "pile": "AS"}):
        with pytest.raises(PositionError, match=r"hands and pile are both"):
            deal_text(dealer=0, **both)  # type: ignore[arg-type]
