"""How the beginner plays: she wins cheaply until her own bid is reached and then keeps out of the way."""

from __future__ import annotations

import numpy as np

from agents.rules.facts import (
    JACK,
    cheapest,
    dearest,
    master_cards,
    trick_so_far,
    unseen_cards,
    winning_cards,
    without_spades,
)
from spades_env.cards import SUIT_MASKS
from spades_env.engine.kernel import kernel, popcount
from spades_env.engine.play import legal_cards


@kernel
def easy_lead(legal: int, unseen: int, wants: bool) -> int:
    """A card to lead: if she wants tricks a master of a side suit, then of spades; else her lowest."""
    if wants:
        masters = master_cards(legal, unseen)
        if masters:
            return cheapest(without_spades(masters))
    return cheapest(without_spades(legal))


@kernel
def easy_win(legal: int, winners: int, led: int, unseen: int, last: bool, third: bool) -> int:
    """The card with which she tries to win a trick; `winners`, not 0, are those of `legal` that lead it."""
    if last:
        return cheapest(winners)
    followers = winners & SUIT_MASKS[led]
    if followers == 0:
        return cheapest(winners)
    if third:
        return dearest(followers)
    masters = master_cards(followers, unseen)
    return cheapest(masters) if masters else cheapest(legal)


@kernel
def easy_duck(legal: int, winners: int, last: bool) -> int:
    """The dearest card that does not win; if all win, the dearest when last, else the cheapest."""
    losers = legal & ~winners
    if losers:
        return dearest(losers)
    return dearest(winners) if last else cheapest(winners)


@kernel
def easy_card(known: np.void) -> int:
    """The card she plays, for the seat to act in a STATE record or the `known` part of her view."""
    legal = legal_cards(known)
    if popcount(legal) == 1:
        return cheapest(legal)
    seat, players = int(known["turn"]), int(known["rules"]["players"])
    unseen = unseen_cards(known, seat)
    wants = int(known["tricks"][seat]) < int(known["bids"][seat])
    best, winner, led = trick_so_far(known)
    if winner < 0:
        return easy_lead(legal, unseen, wants)
    position = int(known["trick_len"])
    last = position == players - 1
    winners = winning_cards(known, legal, best, led)
    if not wants:
        return easy_duck(legal, winners, last)
    partner_wins = players == 4 and winner == (seat + 2) % 4
    # A partner's jack or better, or any spade of hers on a side suit, is left to win.
    if winners == 0 or (partner_wins and (last or best >= 128 or (best - 64) % 13 >= JACK)):
        return cheapest(legal)
    return easy_win(legal, winners, led, unseen, last, position == 2)
