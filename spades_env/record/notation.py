"""A deal as one line of text: "2: AS KS 9H ... | ... | ... | ...", the dealer's seat, then a hand a seat.

A draft is "0: pile 7H AS ...", the card drawn first in front. Cards and hands have their text in cards.py.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from spades_env.cards import CardError, card_text, hand_text, parse_card, parse_hand
from spades_env.game.position import Cards, PositionError, whole_number

_DEAL = re.compile(r"\s*([0-3])\s*:\s*(pile\b)?(.*)", re.IGNORECASE | re.DOTALL)
_LONGEST = 400


def deal_text(*, dealer: int, hands: Sequence[Cards] | None = None, pile: Cards | None = None) -> str:
    """The text of a deal; the arguments are those of `Game`."""
    seat = whole_number("dealer", dealer, 0, 3)
    if (hands is None) == (pile is None):
        raise PositionError("hands and pile are both given or both missing; allowed: one of them")
    if pile is not None:
        return f"{seat}: pile {' '.join(_texts(pile))}"
    return f"{seat}: {' | '.join(_checked_hands(hands or ()))}"


def parse_deal(text: str) -> dict[str, Any]:
    """The deal of a text, as the arguments `dealer` and `hands` or `pile` of `Game`; inverse of `deal_text`.

    Game itself checks what depends on the rules: the pack, how many hands and how many cards.
    """
    match = _DEAL.fullmatch(text) if isinstance(text, str) and len(text) <= _LONGEST else None
    if match is None:
        said = f"{text[:57]!r}" if isinstance(text, str) else f"a {type(text).__name__}"
        raise PositionError(f"deal is {said}; allowed: '2: AS KS ... | ...', dealer and hands, or '0: pile 7H ...'")
    dealer, is_pile, cards = int(match[1]), match[2], match[3]
    if is_pile:
        return {"dealer": dealer, "pile": " ".join(_texts(cards))}
    return {"dealer": dealer, "hands": _checked_hands(cards.split("|"))}


def _texts(cards: Cards) -> list[str]:
    """The cards' texts in the order given, each card once."""
    tokens = cards.replace(",", " ").split() if isinstance(cards, str) else list(cards)
    try:
        parse_hand(tokens)
        return [card_text(parse_card(token) if isinstance(token, str) else token) for token in tokens]
    except CardError as error:
        raise PositionError(f"pile: {error}") from None


def _checked_hands(hands: Sequence[Cards]) -> list[str]:
    """The hands' texts, spades first; two or four of them, no card twice."""
    if len(hands) not in (2, 4):
        raise PositionError(f"hands are {len(hands)}; allowed: 2 or 4, parted by '|'")
    seen, texts = 0, []
    for seat, cards in enumerate(hands):
        try:
            mask = parse_hand(cards)
        except CardError as error:
            raise PositionError(f"hands[{seat}]: {error}") from None
        if mask & seen:
            raise PositionError(f"hands[{seat}] has {hand_text(mask & seen)}; allowed: cards no other seat holds")
        seen |= mask
        texts.append(hand_text(mask))
    return texts
