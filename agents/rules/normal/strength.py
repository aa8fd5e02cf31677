"""What a hand promises: expected tricks, and the chance that a nil succeeds, both from tables measured in self-play.

`python -m agents.rules.normal.fit` measures the tables and writes tables.py. A suit counts by its length and its
highest cards, a nil by its lowest cards in the side suits and its highest spades.
"""

from __future__ import annotations

import math

import numpy as np

from agents.rules.normal.tables import NIL_SIDE, NIL_SPADES, TRICKS_SIDE, TRICKS_SPADES
from spades_env.engine.kernel import highest_bit, inline_kernel, kernel, lowest_bit, popcount

SIDE_LENGTHS, SPADE_LENGTHS, HONOURS = 8, 10, 16
NIL_LOW, NIL_RANKS = 4, 14
"""Of a side suit the four lowest cards count towards a nil's risk; rank 13 stands for "no such card"."""
NIL_TOP, NIL_SPADE_RANKS = 3, 16
"""Of the spades the three highest; 0 stands for "no such card", else the place from the bottom plus one."""
TEN_THOUSAND = 10000.0


@inline_kernel
def tables_fit(rules: np.void) -> bool:
    """Whether the tables were measured for such hands: 13 cards of the whole pack."""
    return int(rules["hand_size"]) == 13 and int(rules["ranks"]) == 13 and int(rules["suits"]) == 4


@inline_kernel
def table_number(players: int, jokers: int) -> int:
    """Which of the measured tables fits: 0 and 1 for four players without and with jokers, 2 and 3 for two."""
    return (2 if players == 2 else 0) + jokers


@inline_kernel
def side_suit(hand: int, suit: int) -> int:
    """The cards of side suit `suit` as 13 bits by rank."""
    return (hand >> (13 * suit)) & 0x1FFF


@inline_kernel
def side_index(cards: int) -> int:
    """Row of TRICKS_SIDE for the cards of a side suit: its length and which of A K Q J it has."""
    return min(popcount(cards), SIDE_LENGTHS - 1) * HONOURS + (cards >> 9)


@inline_kernel
def spade_index(cards: int, jokers: int) -> int:
    """Row of TRICKS_SPADES: the length and which of the four highest trumps are there."""
    return min(popcount(cards), SPADE_LENGTHS - 1) * HONOURS + (cards >> (11 if jokers == 1 else 9))


@inline_kernel
def long_spades(hand: int) -> int:
    """Spades beyond those that the tables count: each takes a trick."""
    return max(0, popcount(hand >> 39) - SPADE_LENGTHS + 1)


@kernel
def top_run(hand: int, jokers: int) -> int:
    """Certain tricks: how many of the highest trumps the hand holds without a gap."""
    card = 53 if jokers == 1 else 51
    run = 0
    while (hand >> card) & 1 == 1:
        run += 1
        card -= 1
    return run


@kernel
def expected_tricks(hand: int, players: int, jokers: int) -> float:
    """Tricks that 13 cards take on average if everybody plays for tricks."""
    table = table_number(players, jokers)
    total = int(TRICKS_SPADES[table, spade_index(hand >> 39, jokers)])
    for suit in range(3):
        total += int(TRICKS_SIDE[table, side_index(side_suit(hand, suit))])
    tricks = total / TEN_THOUSAND + long_spades(hand)
    return min(13.0, max(tricks, float(top_run(hand, jokers))))


@kernel
def nil_logit(hand: int, players: int, jokers: int) -> float:
    """Log-odds that a nil on these 13 cards succeeds against attack, a partner (if any) covering."""
    table = table_number(players, jokers)
    total = 0
    spades = hand >> 39
    total += int(NIL_SPADES[table, NIL_TOP, min(popcount(spades), NIL_SPADE_RANKS - 1)])
    for k in range(NIL_TOP):
        place = 0
        if spades:
            top = highest_bit(spades)
            place = top + 1
            spades ^= 1 << top
        total += int(NIL_SPADES[table, k, place])
    for suit in range(3):
        cards = side_suit(hand, suit)
        total += int(NIL_SIDE[table, NIL_LOW, popcount(cards)])
        for k in range(NIL_LOW):
            rank = NIL_RANKS - 1
            if cards:
                rank = lowest_bit(cards)
                cards &= cards - 1
            total += int(NIL_SIDE[table, k, rank])
    return total / TEN_THOUSAND


@kernel
def nil_chance(hand: int, players: int, jokers: int, shift: float = 0.0) -> float:
    """Chance that a nil on these 13 cards succeeds; none with the highest trump in the pack.

    `shift` is added to the log-odds: what is known besides the cards.
    """
    highest = 53 if jokers == 1 else 51
    if (hand >> highest) & 1 == 1:
        return 0.0
    return 1.0 / (1.0 + math.exp(-nil_logit(hand, players, jokers) - shift))


@kernel
def low_club_escape(hand: int, players: int) -> float:
    """Chance that her lowest club does not win a first trick in which every seat plays her lowest (R15, low_club).

    It wins if each other seat has a lower one; a seat has none with the chance that 13 of the 39 unseen cards miss
    them all. Seats are taken as independent, ruffs as absent.
    """
    clubs = side_suit(hand, 0)
    if clubs == 0:
        return 1.0
    without = 1.0
    for k in range(lowest_bit(clubs)):
        without *= (26.0 - k) / (39.0 - k)
    return 1.0 - (1.0 - without) ** (players - 1)
