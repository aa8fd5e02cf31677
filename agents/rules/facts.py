"""What the rule bots read off a position: the trick in progress, unseen cards, cheapest and dearest cards.

All take a STATE record or the `known` part of a view and read only what the seat to act may know.
"""

from __future__ import annotations

import numpy as np

from spades_env.cards import LITTLE_JOKER, SPADES, SUIT_MASKS
from spades_env.engine.deal import deck_mask
from spades_env.engine.kernel import inline_kernel, kernel, lowest_bit
from spades_env.engine.play import SPADE_MASK, led_suit, seat_after, suit_of

JACK, QUEEN, KING, ACE = 9, 10, 11, 12
JOKER_RANK = 13
"""Rank of the little joker; the big joker's is one more."""


@inline_kernel
def rank_of(card: int) -> int:
    """Rank of a card id: 0 for a two to 12 for an ace, 13 and 14 for the jokers."""
    return card % 13 if card < LITTLE_JOKER else card - LITTLE_JOKER + JOKER_RANK


@inline_kernel
def worth_of(card: int) -> int:
    """Order in which cards are parted with: by rank, spades after all others."""
    return rank_of(card) + (100 if suit_of(card) == SPADES else 0)


@inline_kernel
def cheapest(cards: int) -> int:
    """The card of a mask (not 0) of the lowest worth, the lowest id among equals."""
    best, best_worth = -1, 1000
    while cards:
        card = lowest_bit(cards)
        cards &= cards - 1
        worth = worth_of(card)
        if worth < best_worth:
            best, best_worth = card, worth
    return best


@kernel
def dearest(cards: int) -> int:
    """The card of a mask (not 0) of the highest worth, the lowest id among equals."""
    best, best_worth = -1, -1
    while cards:
        card = lowest_bit(cards)
        cards &= cards - 1
        worth = worth_of(card)
        if worth > best_worth:
            best, best_worth = card, worth
    return best


@inline_kernel
def trick_strength(card: int, led: int, first_suit: int) -> int:
    """Order of cards in a trick (R12): spades, suit led, (low_club alone) the first card's suit; -1 none."""
    suit = suit_of(card)
    if suit == SPADES:
        return 128 + card
    if suit == led:
        return 64 + card
    return card if suit == first_suit else -1


@inline_kernel
def trick_so_far(known: np.void) -> tuple[int, int, int]:
    """(strength of the best card, its seat, suit led) of the trick in progress; (-1, -1, -1) at a lead."""
    rules = known["rules"]
    length = int(known["trick_len"])
    if length == 0:
        return -1, -1, -1
    trick = int(known["trick"])
    start = int(known["first_play"]) + trick * int(rules["players"])
    led = led_suit(known)
    first_suit = suit_of(int(known["actions"][start]))
    best, turns = -1, 0
    for k in range(length):
        strength = trick_strength(int(known["actions"][start + k]), led, first_suit)
        if strength > best:
            best, turns = strength, k
    return best, seat_after(rules, int(known["leaders"][trick]), turns), led


@kernel
def winning_cards(known: np.void, cards: int, best: int, led: int) -> int:
    """Those of `cards` that would win so far in a trick whose best card has strength `best` (R12)."""
    players = int(known["rules"]["players"])
    start = int(known["first_play"]) + int(known["trick"]) * players
    first_suit = suit_of(int(known["actions"][start]))
    winners = 0
    while cards:
        card = lowest_bit(cards)
        cards &= cards - 1
        if trick_strength(card, led, first_suit) > best:
            winners |= 1 << card
    return winners


@inline_kernel
def unseen_cards(known: np.void, seat: int) -> int:
    """Cards of the pack that `seat` has neither held, seen played nor thrown away in the draft (R29, R30)."""
    rules = known["rules"]
    seen = int(known["hands"][seat])
    for other in range(4):
        seen |= int(known["played"][other])
    if int(rules["draft"]) == 1:
        seen |= int(known["thrown"][seat])
        if int(known["exchanged"][1 - seat]) == 0:  # else she may have drawn what was rejected (R28)
            seen |= int(known["rejected"][seat])
    return deck_mask(rules) & ~seen


@kernel
def master_cards(cards: int, unseen: int) -> int:
    """Those of `cards` that no card of `unseen` beats in their own suit."""
    masters = 0
    for suit in range(4):
        own, others = cards & SUIT_MASKS[suit], unseen & SUIT_MASKS[suit]
        # Ids grow with strength, so as masks the greater number holds the higher card.
        while own:
            card = lowest_bit(own)
            own &= own - 1
            if (1 << card) > others:
                masters |= 1 << card
    return masters


@inline_kernel
def without_spades(cards: int) -> int:
    """`cards` less the spades and jokers, or all of them if there is nothing else."""
    others = cards & ~SPADE_MASK
    return others if others else cards


@kernel
def nearest_bid(legal: int, wish: int) -> int:
    """The ordinary bid of a `legal_bids` mask nearest to `wish`, the lower of two; R8 always leaves one."""
    for distance in range(15):
        for bid in (wish - distance, wish + distance):
            if 1 <= bid <= 13 and (legal >> bid) & 1 == 1:
                return bid
    return -1
