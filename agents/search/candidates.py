"""The actions that a search compares: legal cards less equals, bids around what the hand promises."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from agents.rules.easy_bid import easy_bid
from agents.rules.facts import unseen_cards
from agents.rules.normal.bid import best_ordinary_bid
from agents.rules.normal.draft import worst_for_nil
from agents.rules.normal.strength import expected_tricks, nil_chance, tables_fit, top_run
from agents.stakes import Stakes
from spades_env.actions import BLIND_NIL, DONE, FIRST_BID, KEEP, LOOK, TAKE_NEXT
from spades_env.cards import SUIT_MASKS
from spades_env.engine.bidding import legal_bids
from spades_env.engine.kernel import highest_bit, kernel, lowest_bit
from spades_env.engine.play import legal_cards
from spades_env.engine.state import PHASE_BID, PHASE_BLIND, PHASE_DRAFT, PHASE_EXCHANGE

ActionList = npt.NDArray[np.int64]
MOST_CANDIDATES = 16
BIDS_BELOW, BIDS_ABOVE = 2, 2
"""Ordinary bids looked at below and above the one that `normal` would make."""
LEAST_NIL_CHANCE = 0.15
THROWN_FROM = 4
"""Cards of which a double-nil bidder looks at giving one up."""


@kernel
def distinct_cards(known: np.void, seat: int) -> int:
    """Legal cards less those next to a lower one of hers, with no unseen card between: they are equals."""
    legal = legal_cards(known)
    unseen = unseen_cards(known, seat)
    table = 0
    players = int(known["rules"]["players"])
    start = int(known["first_play"]) + int(known["trick"]) * players
    for k in range(int(known["trick_len"])):
        table |= 1 << int(known["actions"][start + k])
    others = unseen | table
    distinct = 0
    for suit in range(4):
        own = legal & SUIT_MASKS[suit]
        previous = -1
        while own:
            card = lowest_bit(own)
            own &= own - 1
            between = others & ((1 << card) - 1) & ~((2 << previous) - 1) if previous >= 0 else 1
            if between:
                distinct |= 1 << card
            previous = card
    return distinct


@kernel
def bid_candidates(known: np.void, seat: int, stakes: Stakes, out: ActionList) -> int:
    """Bids worth comparing; how many. Where points count none is below the certain tricks: it would only make bags."""
    rules = known["rules"]
    legal = legal_bids(known)
    hand = int(known["hands"][seat])
    players, jokers = int(rules["players"]), int(rules["jokers"])
    count = 0
    if legal & 1 == 1 and nil_chance(hand, players, jokers) > LEAST_NIL_CHANCE:
        out[0] = FIRST_BID
        count = 1
    certain = top_run(hand, jokers)
    if tables_fit(rules):
        centre, _ = best_ordinary_bid(known, seat, expected_tricks(hand, players, jokers), certain, stakes)
    else:
        centre = easy_bid(known)
    low, high = max(1, centre - BIDS_BELOW, certain), min(13, max(centre + BIDS_ABOVE, certain))
    low = min(low, highest_bit(legal))  # a cap may leave less than the certain tricks (R8)
    if stakes[0].shape[0] > 0:
        low, high = 1, 13
    for bid in range(low, high + 1):
        if (legal >> bid) & 1 == 1 and count < MOST_CANDIDATES:
            out[count] = FIRST_BID + bid
            count += 1
    return count


@kernel
def exchange_candidates(hand: int, out: ActionList) -> int:
    """The THROWN_FROM cards of a hand that are worst for a nil, and done."""
    chosen = 0
    for _ in range(THROWN_FROM):
        card = worst_for_nil(hand & ~chosen)
        if card >= 0:
            chosen |= 1 << card
    count = 0
    while chosen:
        out[count] = lowest_bit(chosen)
        chosen &= chosen - 1
        count += 1
    out[count] = DONE
    return count + 1


@kernel
def candidates(known: np.void, seat: int, stakes: Stakes, out: ActionList) -> int:
    """Write the actions to compare to `out`, int64 (MOST_CANDIDATES,), in rising order; how many.

    0 where there is no search: in a draft in which nobody has called double nil.
    """
    phase = int(known["phase"])
    if phase == PHASE_BLIND:
        out[0], out[1] = BLIND_NIL, LOOK
        return 2
    if phase == PHASE_DRAFT:
        if int(known["blind"][0]) == 0 and int(known["blind"][1]) == 0:
            return 0  # one card of thirteen is worth too little to be told from chance
        out[0], out[1] = KEEP, TAKE_NEXT
        return 2
    if phase == PHASE_EXCHANGE:
        return exchange_candidates(int(known["hands"][seat]), out)
    if phase == PHASE_BID:
        return bid_candidates(known, seat, stakes, out)
    cards = distinct_cards(known, seat)
    count = 0
    while cards:
        out[count] = lowest_bit(cards)
        cards &= cards - 1
        count += 1
    return count
