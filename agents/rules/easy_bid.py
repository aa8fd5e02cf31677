"""How the beginner bids: she counts the tricks of her own hand, in hundredths, and never thinks of nil."""

from __future__ import annotations

import numpy as np

from agents.rules.facts import ACE, KING, QUEEN, nearest_bid, rank_of
from spades_env.cards import SUIT_MASKS
from spades_env.engine.bidding import legal_bids
from spades_env.engine.kernel import kernel, lowest_bit, popcount
from spades_env.engine.play import SPADE_MASK

ROUND_UP = 40
"""Hundredths of a trick added before the count is cut to whole tricks."""
TWO_PLAYER_SCALE = 120
"""Per cent: with one opponent and half the pack out of play the same cards take more tricks."""


@kernel
def side_suit_tricks(suit: int) -> int:
    """Hundredths of a trick that the high cards of a side suit promise; `suit` holds her cards of it."""
    length = popcount(suit)
    count = 0
    while suit:
        rank = rank_of(lowest_bit(suit))
        suit &= suit - 1
        if rank == ACE:
            count += 100 if length <= 5 else 70
        elif rank == KING and length >= 2:
            count += 70 if length <= 5 else 40
        elif rank == QUEEN and 3 <= length <= 5:
            count += 30
    return count


@kernel
def spade_tricks(spades: int) -> int:
    """Hundredths of a trick of spades and jokers: high ones if guarded, and every card beyond the third."""
    length = popcount(spades)
    count = 90 * max(0, length - 3)
    while popcount(spades) > 3:
        spades &= spades - 1  # the lowest: counted as long cards, not again as high ones
    while spades:
        rank = rank_of(lowest_bit(spades))
        spades &= spades - 1
        if rank >= QUEEN:
            count += 100 if length > ACE - rank else 50  # guarded: a spade for every higher one
    return count


@kernel
def ruff_tricks(hand: int, suits: int) -> int:
    """Hundredths of a trick for ruffs in short side suits, as low spades allow; `suits` in the pack."""
    low_spades = 0
    rest = hand & SPADE_MASK
    while rest:
        if rank_of(lowest_bit(rest)) < QUEEN:
            low_spades += 1
        rest &= rest - 1
    count = 0
    for suit in range(4 - suits, 3):
        length = popcount(hand & SUIT_MASKS[suit])
        if length == 0:
            count += 70
        elif length == 1:
            count += 40
    return min(count, 70 * min(low_spades, 3))


@kernel
def easy_bid(known: np.void) -> int:
    """Her ordinary bid (1-13): the count of her hand, or the nearest bid allowed."""
    rules = known["rules"]
    hand = int(known["hands"][int(known["turn"])])
    count = spade_tricks(hand & SPADE_MASK)
    for suit in range(3):
        count += side_suit_tricks(hand & SUIT_MASKS[suit])
    if int(rules["players"]) == 4:
        count += ruff_tricks(hand, int(rules["suits"]))
    else:
        count = count * TWO_PLAYER_SCALE // 100
    return nearest_bid(legal_bids(known), max(1, (count + ROUND_UP) // 100))
