"""`conservative`: a public baseline re-made from its description, so that published figures can be compared.

Bids max(1, honours // 2 + spades // 3), honours being queens and up, never nil; plays any legal card.
"""

from __future__ import annotations

import numpy as np

from agents.base import ActionArray, FloatArray, KeyArray, check_views
from agents.rules.chances import mixed_chances
from agents.rules.facts import QUEEN, nearest_bid, rank_of
from spades_env.actions import DONE, FIRST_BID, LOOK
from spades_env.engine.bidding import legal_bids
from spades_env.engine.kernel import kernel, lowest_bit, popcount
from spades_env.engine.play import SPADE_MASK
from spades_env.engine.state import PHASE_BID, PHASE_BLIND, PHASE_DRAFT, PHASE_EXCHANGE, PHASE_PLAY, StateArray
from spades_env.engine.step import random_action


@kernel
def conservative_wish(hand: int) -> int:
    """The bid of the description for a hand, legal or not; jokers are honours and spades."""
    honours = 0
    rest = hand
    while rest:
        if rank_of(lowest_bit(rest)) >= QUEEN:
            honours += 1
        rest &= rest - 1
    return max(1, honours // 2 + popcount(hand & SPADE_MASK) // 3)


@kernel
def conservative_action(known: np.void, key: np.uint64) -> int:
    """Action of the seat to act in a STATE record or the `known` part of her view.

    Where the description is silent the bot looks, drafts at random and exchanges nothing.
    """
    phase = int(known["phase"])
    if phase == PHASE_BLIND:
        return LOOK
    if phase == PHASE_EXCHANGE:
        return DONE
    if phase == PHASE_BID:
        wish = conservative_wish(int(known["hands"][int(known["turn"])]))
        return FIRST_BID + nearest_bid(legal_bids(known), wish)
    return random_action(known, key, 0)


@kernel
def conservative_moves(views: StateArray, keys: KeyArray, out: ActionArray) -> None:
    """`conservative_action` for each of `views`; all arrays have shape (n,)."""
    for i in range(views.shape[0]):
        out[i] = conservative_action(views[i]["known"], keys[i])


class ConservativeAgent:
    """Bids by counting honours and spades, then plays any legal card."""

    name = "conservative"

    def act(self, views: StateArray, keys: KeyArray) -> ActionArray:
        """Return actions, int16 of shape (n,), for `views` (VIEW) and `keys` (uint64), both of shape (n,)."""
        check_views(views, keys)
        out = np.empty(views.shape[0], np.int16)
        conservative_moves(views, keys, out)
        return out

    def chances(self, views: StateArray) -> FloatArray:
        """Return the chance of every action, see `agents.base.KnownPolicy`: any card, any draft, one bid."""
        at_random = np.isin(views["known"]["phase"], (PHASE_PLAY, PHASE_DRAFT))
        return mixed_chances(views, self.act(views, np.zeros(views.shape[0], np.uint64)), at_random.astype(np.float64))
