"""Tricks that can be counted without search, and what they decide.

"Sure" tricks fall to a team whatever anybody plays; "forced" ones, if the team on lead wants them. Sure tricks narrow
the trick counts that are possible at all, so that they decide classes of any payoff, also where tricks are unwanted.
"""

from __future__ import annotations

import numpy as np

from agents.search.solver.bits import LANE, SPADE_LANE, extract_bits
from agents.search.solver.classes import LOST, UNKNOWN, WON
from spades_env.engine.kernel import highest_bit, inline_kernel, kernel, popcount


@inline_kernel
def sure_tricks(ws: np.void, position: int) -> int:
    """Tricks that the team of `position` takes whatever is played, counting the spades of this hand alone.

    Every spade of the hand falls to a trick of its own, which only a higher spade of an opponent takes from the team,
    and each of those once: what cannot be paired off is sure.
    """
    own = int(ws["hands"][position]) & SPADE_LANE
    if own == 0:
        return 0
    against = (int(ws["hands"][(position + 1) & 3]) | int(ws["hands"][(position + 3) & 3])) & SPADE_LANE
    both = own | against
    return int(ws["spare"][extract_bits(own, both) | 1 << popcount(both)])


@inline_kernel
def cashable(leader: int, partner: int, left_hand: int, right_hand: int) -> int:
    """Side-suit tricks that `leader` takes by leading winners nobody ruffs; arguments are hands in lane form.

    Until they are cashed nobody else has the lead. An opponent who cannot follow must be without spades; a partner
    with spades must have other cards to follow or discard.
    """
    others = partner | left_hand | right_hand
    total = 0
    for suit in range(3):
        lane = LANE << (16 * suit)
        own, rest = leader & lane, others & lane
        if own <= rest:
            continue
        top = own if rest == 0 else own & -(2 << highest_bit(rest))
        count = popcount(top)
        if left_hand & SPADE_LANE:
            count = min(count, popcount(left_hand & lane))
        if right_hand & SPADE_LANE:
            count = min(count, popcount(right_hand & lane))
        total += count
    if partner & SPADE_LANE:
        total = min(total, popcount(partner & ~SPADE_LANE))
    return total


@inline_kernel
def all_in(counts: int, low: int, high: int) -> bool:
    """Whether `counts` has every number of tricks from `low` to `high`."""
    return ((2 << high) - (1 << low)) & ~counts == 0


@kernel
def counted_answer(ws: np.void, leader: int, left: int, state: int) -> int:
    """LOST or WON where sure and forced tricks decide class `state` with `left` tricks to go, else UNKNOWN."""
    sure = max(sure_tricks(ws, leader), sure_tricks(ws, leader ^ 2))
    most = left - max(sure_tricks(ws, (leader + 1) & 3), sure_tricks(ws, (leader + 3) & 3))
    team = leader & 1
    good, bad = int(ws["won"][state, team]), int(ws["lost"][state, team])
    if team == 1:
        good, bad = bad, good
    if all_in(bad, sure, most):
        return LOST + team
    # Forcing tricks can only help where taking all that the opponents may lose would.
    if (good >> most) & 1 == 0:
        return UNKNOWN
    hands = ws["hands"]
    cash = cashable(
        int(hands[leader]), int(hands[leader ^ 2]), int(hands[(leader + 1) & 3]), int(hands[(leader + 3) & 3])
    )
    return WON - team if all_in(good, min(most, sure + cash), most) else UNKNOWN
