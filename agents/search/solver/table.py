"""The transposition table: exact keys of leads, so that an answer found is an answer proved.

A position is known by who owns the cards of each suit in order of rank, not by the ranks: two bits an owner, packed
over all cards still in hands. With at most twelve tricks to go the rest of the key fits beside them.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from agents.search.solver.bits import LANE, extract_bits
from agents.search.solver.workspace import STAMP, TABLE_BITS
from spades_env.engine.kernel import inline_kernel, popcount

KEY_CARDS: Final = 48
"""Most cards that fit into a key: leads with more are not looked up."""
_MIX_A: Final = 0x2545F4914F6CDD1D
_MIX_B: Final = 0x1B03738712FAD5C9


@inline_kernel
def last_entry(left: int) -> int:
    """Index of the last table entry used for `left` tricks: few for few, so that they stay in the cache."""
    return (1 << min(TABLE_BITS, 2 * left)) - 1


@inline_kernel
def look_up(ws: np.void, last: int, ply: int) -> int:
    """The stored answer at the lead `ply`, or -1; notes the key and its entry for `store`."""
    hands = ws["hands"]
    hand_1, hand_2, hand_3 = int(hands[1]), int(hands[2]), int(hands[3])
    present = int(hands[0]) | hand_1 | hand_2 | hand_3
    if popcount(present) > KEY_CARDS:
        ws["slot"][ply] = -1
        return -1
    lengths = popcount(present & LANE)
    lengths = lengths << 4 | popcount(present & LANE << 16)
    lengths = lengths << 4 | popcount(present & LANE << 32)
    place = lengths << 3 | int(ws["mover"][ply]) << 1 | int(ws["broken"][ply])
    key_a = extract_bits(hand_1 | hand_3, present) | place << KEY_CARDS
    key_b = extract_bits(hand_2 | hand_3, present) | int(ws["state"][ply]) << KEY_CARDS
    slot = ((key_a * _MIX_A + key_b * _MIX_B) >> 40) & last
    ws["key_a"][ply], ws["key_b"][ply], ws["slot"][ply] = key_a, key_b, slot
    if int(ws["table"][slot, 0]) == key_a and int(ws["table"][slot, 1]) == key_b:
        stamped = int(ws["table"][slot, 2])
        if stamped >> 1 == int(ws["counters"][STAMP]):
            return stamped & 1
    return -1


@inline_kernel
def store(ws: np.void, ply: int, answer: int) -> None:
    """Keep the answer at the lead `ply`, in place of whatever was there."""
    slot = int(ws["slot"][ply])
    if slot >= 0:
        ws["table"][slot, 0], ws["table"][slot, 1] = ws["key_a"][ply], ws["key_b"][ply]
        ws["table"][slot, 2] = int(ws["counters"][STAMP]) << 1 | answer
