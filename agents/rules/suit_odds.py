"""`suit_odds`: a baseline that bids by the chance that its high cards are not ruffed, and plays like `easy`.

An ace of a side suit takes a trick if every opponent holds at least one card of the suit, a king if each holds two,
a queen three. The chance is counted exactly from the cards that she cannot see. She looks before a blind nil and
exchanges nothing; she drafts like `easy`, and plays like an `easy` that never slips. That play ducks for a nil: with
her bid reached, and a nil's is at once, she plays the highest card that loses.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from agents.base import ActionArray, KeyArray, check_views
from agents.rules.easy import easy_draft
from agents.rules.easy_play import easy_card
from agents.rules.facts import ACE, KING, QUEEN, nearest_bid, rank_of, unseen_cards
from spades_env.actions import DONE, FIRST_BID, LOOK
from spades_env.cards import NUM_CARDS, SUIT_MASKS
from spades_env.engine.bidding import legal_bids
from spades_env.engine.kernel import highest_bit, kernel, lowest_bit, popcount
from spades_env.engine.play import SPADE_MASK
from spades_env.engine.state import PHASE_BID, PHASE_BLIND, PHASE_DRAFT, PHASE_EXCHANGE, StateArray

SPADES_FOR_LENGTH: Final = 3
"""Spades that the others are taken to hold each; every one of hers beyond takes a trick."""
NIL_TRICKS: Final = 0.5
"""Expected tricks below which she thinks of nil."""
NIL_SPADES: Final = 3
"""Most spades with which she bids nil."""
NIL_LOW: Final = 5
"""Rank of a seven, the highest that the lowest card of a suit may have for a nil."""
BID_ONE_POINTS: Final = 10
"""What a made bid of one is worth (R18): a nil must be worth more."""


def _binomials() -> np.ndarray:
    """Pascal's triangle, float64 of shape (55, 55): ways to choose k of n cards, exact below 2**53."""
    table = np.zeros((NUM_CARDS + 1, NUM_CARDS + 1))
    table[:, 0] = 1.0
    for n in range(1, NUM_CARDS + 1):
        table[n, 1:] = table[n - 1, 1:] + table[n - 1, :-1]
    return table


CHOOSE: Final = _binomials()


@kernel
def hold_ways(suit: int, others: int, hand: int, need: int) -> float:
    """Ways to draw a hand of `hand` cards from `suit` + `others` cards with at least `need` of the suit."""
    ways = 0.0
    for held in range(need, min(suit, hand) + 1):
        if hand - held <= others:
            ways += CHOOSE[suit, held] * CHOOSE[others, hand - held]
    return ways


@kernel
def hold_chance(suit: int, unseen: int, hand: int, opponents: int, need: int) -> float:
    """Chance that each of 1 or 2 `opponents` holds at least `need` cards of a suit.

    Their hands are `hand` cards each of `unseen` ones, of which `suit` are of the suit.
    """
    others = unseen - suit
    if opponents == 1:
        return hold_ways(suit, others, hand, need) / CHOOSE[unseen, hand]
    ways = 0.0
    for held in range(need, min(suit, hand) + 1):
        if hand - held <= others:
            first = CHOOSE[suit, held] * CHOOSE[others, hand - held]
            ways += first * hold_ways(suit - held, others - (hand - held), hand, need)
    return ways / (CHOOSE[unseen, hand] * CHOOSE[unseen - hand, hand])


@kernel
def side_suit_odds(own: int, suit: int, unseen: int, hand: int, opponents: int) -> float:
    """Expected tricks of ace, king and queen of a side suit, each guarded by as many cards as rank above it.

    `own` holds her cards of the suit as a mask; the other arguments are those of `hold_chance`.
    """
    length = popcount(own)
    tricks = 0.0
    while own:
        rank = rank_of(lowest_bit(own))
        own &= own - 1
        need = ACE - rank + 1
        if rank >= QUEEN and length >= need:
            tricks += hold_chance(suit, unseen, hand, opponents, need)
    return tricks


@kernel
def spade_odds(own: int, unseen: int) -> int:
    """Tricks of the spades `own` (a mask) against `unseen` ones: the sure top ones, or those of length if more.

    Sure: each unseen spade can beat one lower spade of hers at best. Length: her master spades (nothing unseen
    is higher), and every spade beyond SPADES_FOR_LENGTH.
    """
    length = popcount(own)
    sure, masters, beaten = 0, 0, 0
    while own:
        card = highest_bit(own)
        own ^= 1 << card
        higher = popcount(unseen >> card)
        if higher == 0:
            masters += 1
        if higher > beaten:
            beaten += 1
        else:
            sure += 1
    return max(sure, masters + max(0, length - max(SPADES_FOR_LENGTH, masters)))


@kernel
def expected_tricks(known: np.void, seat: int) -> float:
    """Tricks that the hand of `seat` promises: side suits by their odds, and spades."""
    rules = known["rules"]
    own = int(known["hands"][seat])
    unseen = unseen_cards(known, seat)
    opponents = int(rules["players"]) // 2
    tricks = float(spade_odds(own & SPADE_MASK, unseen & SPADE_MASK))
    for suit in range(3):
        mask = SUIT_MASKS[suit]
        tricks += side_suit_odds(
            own & mask, popcount(unseen & mask), popcount(unseen), int(rules["hand_size"]), opponents
        )
    return tricks


@kernel
def nil_hand(hand: int) -> bool:
    """Whether a hand is low enough for nil: few spades, none of them high, and a low card in every suit she holds."""
    spades = hand & SPADE_MASK
    if popcount(spades) > NIL_SPADES or (spades > 0 and rank_of(highest_bit(spades)) >= KING):
        return False
    for suit in range(4):
        own = hand & SUIT_MASKS[suit]
        if own and rank_of(lowest_bit(own)) > NIL_LOW:
            return False
    return True


@kernel
def suit_odds_bid(known: np.void) -> int:
    """Her bid: nil where legal, worth it and likely; else the expected tricks, rounded, or the nearest bid allowed."""
    seat = int(known["turn"])
    legal = legal_bids(known)
    tricks = expected_tricks(known, seat)
    worth_it = int(known["rules"]["nil_value"]) > BID_ONE_POINTS
    if legal & 1 == 1 and worth_it and tricks < NIL_TRICKS and nil_hand(int(known["hands"][seat])):
        return 0
    return nearest_bid(legal, max(1, int(tricks + 0.5)))


@kernel
def suit_odds_action(known: np.void, shown: int) -> int:
    """Action of the seat to act in a STATE record or the `known` part of her view.

    `shown` is the card to keep or not (a view's field `shown`).
    """
    phase = int(known["phase"])
    if phase == PHASE_BLIND:
        return LOOK
    if phase == PHASE_DRAFT:
        return easy_draft(shown)
    if phase == PHASE_EXCHANGE:
        return DONE
    if phase == PHASE_BID:
        return FIRST_BID + suit_odds_bid(known)
    return easy_card(known)


@kernel
def suit_odds_moves(views: StateArray, out: ActionArray) -> None:
    """`suit_odds_action` for each of `views`; the arrays have shape (n,)."""
    for i in range(views.shape[0]):
        out[i] = suit_odds_action(views[i]["known"], int(views[i]["shown"]))


class SuitOddsAgent:
    """Bids by the odds of the suits, nil included, and plays by simple rules."""

    name = "suit_odds"

    def act(self, views: StateArray, keys: KeyArray) -> ActionArray:
        """Return actions, int16 of shape (n,), for `views` (VIEW) of shape (n,); `keys` are not needed."""
        check_views(views, keys)
        out = np.empty(views.shape[0], np.int16)
        suit_odds_moves(views, out)
        return out
