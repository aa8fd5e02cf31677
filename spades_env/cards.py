"""Cards: ids, suits, ranks, 64-bit hand masks and their text ("AS", "BJ").

Ids are suit-major, so that strength inside a suit is the order of ids (R3). Plain Python; knows no rule.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable

from spades_env.checks import shown

NUM_CARDS = 54
"""Card ids run from 0 to 53; 52 of them are in play in any one deal (R1, R2)."""

CLUBS, DIAMONDS, HEARTS, SPADES = 0, 1, 2, 3
SUIT_NAMES = ("clubs", "diamonds", "hearts", "spades")
SUIT_LETTERS = "CDHS"
RANKS = "23456789TJQKA"

LITTLE_JOKER = 52
BIG_JOKER = 53

JOKERS_MASK = 1 << LITTLE_JOKER | 1 << BIG_JOKER
ALL_CARDS_MASK = (1 << NUM_CARDS) - 1

SUIT_MASKS: tuple[int, int, int, int] = (
    0x1FFF,
    0x1FFF << 13,
    0x1FFF << 26,
    0x1FFF << 39 | JOKERS_MASK,  # a joker is a spade in every rule (R2)
)
"""Bit mask of each suit, indexed by suit; the jokers count as spades."""

_CARD_TEXT = (*(rank + suit for suit in SUIT_LETTERS for rank in RANKS), "LJ", "BJ")
_CARD_OF_TEXT = {text: card for card, text in enumerate(_CARD_TEXT)} | {
    text[::-1]: card for card, text in enumerate(_CARD_TEXT) if card < LITTLE_JOKER
}


class CardError(ValueError):
    """A card, a hand or a mask that does not exist; the message says what is allowed."""


def card_text(card: int) -> str:
    """Return the text of a card id: rank then suit, "TD"; the jokers are "LJ" and "BJ"."""
    return _CARD_TEXT[_checked(card)]


def parse_card(text: str) -> int:
    """Return the id of a card's text; "TD", "DT" and "td" are the same card."""
    card = _CARD_OF_TEXT.get(text.strip().upper()) if isinstance(text, str) else None
    if card is None:
        allowed = f"a rank of {RANKS} and a suit of {SUIT_LETTERS}, such as 'TD', or a joker 'LJ' or 'BJ'"
        raise CardError(f"card {shown(text)} does not exist: {allowed}")
    return card


def suit_of(card: int) -> int:
    """Return the suit (0-3) of a card id; the jokers are spades (R2)."""
    return min(_checked(card) // 13, SPADES)


def mask_of(cards: Iterable[int]) -> int:
    """Return the bit mask of some card ids; a card given twice is refused."""
    mask = 0
    for card in cards:
        bit = 1 << _checked(card)
        if mask & bit:
            raise CardError(f"card {card_text(card)} (id {card}) is given twice: each card once")
        mask |= bit
    return mask


def cards_of(mask: int) -> list[int]:
    """Return the card ids of a bit mask, ascending."""
    rest = _checked_mask(mask)
    cards = []
    while rest:
        lowest = rest & -rest
        cards.append(lowest.bit_length() - 1)
        rest ^= lowest
    return cards


def hand_text(mask: int) -> str:
    """Return the text of a hand, highest id first (spades before hearts): "AS 9S KH 2C"."""
    return " ".join(_CARD_TEXT[card] for card in reversed(cards_of(mask)))


def parse_hand(cards: str | Iterable[str | int]) -> int:
    """Return the bit mask of a hand.

    `cards` is text with the cards separated by blanks or commas, or an iterable of card texts and card ids.
    A card given twice is refused; an empty hand is the mask 0.
    """
    tokens: Iterable[str | int] = cards.replace(",", " ").split() if isinstance(cards, str) else cards
    return mask_of(parse_card(token) if isinstance(token, str) else token for token in tokens)


def _checked(card: int) -> int:
    """Return `card` as a plain int, or raise if it is no card id."""
    number = _index(card, "card {} is no card id: an int 0..53")
    if not 0 <= number < NUM_CARDS:
        raise CardError(f"card {shown(number)} does not exist: card ids are 0..{NUM_CARDS - 1}")
    return number


def _checked_mask(mask: int) -> int:
    """Return `mask` as a plain int, or raise if it has bits that are no card."""
    number = _index(mask, "mask {} is no hand: an int with bits 0..53")
    if not 0 <= number <= ALL_CARDS_MASK:
        said = f"{number:#x}" if number.bit_length() <= 64 else shown(number)
        raise CardError(f"mask {said} is no hand: only bits 0..{NUM_CARDS - 1} stand for cards")
    return number


def _index(value: int, message: str) -> int:
    """Return a Python or NumPy integer as a plain int; bools and everything else raise `message`, the value in it."""
    try:
        if not isinstance(value, bool):
            return operator.index(value)
    except TypeError:
        pass
    raise CardError(message.format(shown(value)))
