"""Cards: ids (R1-R3), masks, and text in both directions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spades_env import cards
from spades_env.cards import (
    CardError,
    card_text,
    cards_of,
    hand_text,
    mask_of,
    parse_card,
    parse_hand,
    suit_of,
)

SUITS = {"C": 0, "D": 13, "H": 26, "S": 39}


def test_ids_are_suit_major_and_ascend_with_rank() -> None:
    """R3: clubs 0-12, diamonds 13-25, hearts 26-38, spades 39-51; R1: 2 is low, A is high."""
    for letter, first in SUITS.items():
        for offset, rank in enumerate("23456789TJQKA"):
            assert card_text(first + offset) == rank + letter
            assert suit_of(first + offset) == "CDHS".index(letter)


def test_jokers_are_the_highest_spades() -> None:
    """R2, R3: the little joker is 52, the big joker 53, and both are spades."""
    assert (parse_card("LJ"), parse_card("BJ")) == (52, 53) == (cards.LITTLE_JOKER, cards.BIG_JOKER)
    assert suit_of(52) == suit_of(53) == cards.SPADES == 3


def test_suit_masks_hold_every_card_once_in_its_suit() -> None:
    """R2: the mask of spades has 15 bits, 39 to 53, the others 13."""
    assert cards_of(cards.SUIT_MASKS[cards.SPADES]) == list(range(39, 54))
    for suit, mask in enumerate(cards.SUIT_MASKS):
        assert all(suit_of(card) == suit for card in cards_of(mask))
    assert sum(cards.SUIT_MASKS) == cards.ALL_CARDS_MASK == 2**54 - 1


def test_constants() -> None:
    assert cards.NUM_CARDS == 54
    assert (cards.CLUBS, cards.DIAMONDS, cards.HEARTS, cards.SPADES) == (0, 1, 2, 3)
    assert cards.SUIT_NAMES == ("clubs", "diamonds", "hearts", "spades")
    assert cards.RANKS == "23456789TJQKA"


@pytest.mark.parametrize("card", range(54))
def test_text_round_trip(card: int) -> None:
    text = card_text(card)
    assert parse_card(text) == parse_card(text.lower()) == parse_card(f" {text} ") == card
    if card < 52:
        assert parse_card(text[::-1]) == card


@pytest.mark.parametrize("text", ["", "A", "1S", "10S", "AX", "JL", "JB", "ASS", "A S", None, 51])
def test_text_that_is_no_card_is_refused(text: object) -> None:
    with pytest.raises(CardError, match="does not exist: a rank of 23456789TJQKA and a suit of CDHS"):
        parse_card(text)  # type: ignore[arg-type]


@pytest.mark.parametrize("card", [-1, 54, 1000, 1.0, "AS", None, True])
@pytest.mark.parametrize("function", [card_text, suit_of, lambda card: mask_of([card])])
def test_ids_that_are_no_card_are_refused(function: object, card: object) -> None:
    with pytest.raises(CardError, match=r"0\.\.53"):
        function(card)  # type: ignore[operator]


def test_a_card_given_twice_is_refused_by_name() -> None:
    with pytest.raises(CardError, match=r"AS \(id 51\) is given twice"):
        mask_of([51, 3, 51])
    with pytest.raises(CardError, match="2C"):
        parse_hand("2C AS c2")


@pytest.mark.parametrize("mask", [-1, 1 << 54, 0.5, None, False])
def test_masks_with_foreign_bits_are_refused(mask: object) -> None:
    with pytest.raises(CardError, match=r"bits 0\.\.53"):
        cards_of(mask)  # type: ignore[arg-type]


def test_hand_text_and_parse_hand() -> None:
    mask = parse_hand("2C, kh  AS,BJ")
    assert mask == 1 << 0 | 1 << 37 | 1 << 51 | 1 << 53
    assert hand_text(mask) == "BJ AS KH 2C"
    assert parse_hand(["2C", 37, "SA", np.int8(53)]) == mask
    assert (hand_text(0), parse_hand(""), parse_hand([])) == ("", 0, 0)


@given(st.sets(st.integers(0, 53)))
def test_masks_round_trip(hand: set[int]) -> None:
    mask = mask_of(hand)
    assert cards_of(mask) == sorted(hand)
    assert mask.bit_count() == len(hand)
    assert parse_hand(hand_text(mask)) == mask
    assert cards_of(np.uint64(mask)) == sorted(hand)
