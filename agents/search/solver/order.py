"""Which card to try first. The order never changes an answer, only how soon it is found.

The game is zero-sum, so a trick is either wanted by both teams or by neither; the chances in `hope` tell which. A
wanted trick is won with the lowest card that nobody can beat any more, or else the lowest card is played. An
unwanted one is left to the others with the highest card that loses.
"""

from __future__ import annotations

import numpy as np

from agents.search.solver.bits import LANE, SPADE_LANE
from spades_env.engine.kernel import highest_bit, inline_kernel, lowest_bit

LOW_FIRST, HIGH_FIRST = 0, 1


@inline_kernel
def list_moves(ws: np.void, ply: int, first: int, rest: int, first_high: int, rest_high: int) -> None:
    """Have the cards `first` tried and then `rest`, each from the lowest up or from the highest down."""
    ws["start"][ply] = 0
    ws["first"][ply] = first
    ws["rest"][ply] = rest
    ws["order"][ply] = first_high | rest_high << 1


@inline_kernel
def beating(cards: int, best: int) -> int:
    """Those of `cards` (lane form) that beat the card `best` on the table."""
    above = cards & -(2 << best)
    return above & (SPADE_LANE | LANE << (16 * (best >> 4)))


@inline_kernel
def reach(hand: int, led: int) -> int:
    """The strongest card that `hand` can bring to a trick of suit `led`, -1 for none that could win."""
    lane = LANE << (16 * led)
    follow = hand & lane
    usable = follow if follow else hand & SPADE_LANE
    return highest_bit(usable) if usable else -1


@inline_kernel
def hope_after(ws: np.void, ply: int, winner: int) -> int:
    """Hope for the team of the position to act once `winner` has won the trick in progress."""
    hope = int(ws["hope"][int(ws["after"][int(ws["state"][ply]), winner])])
    return hope if int(ws["mover"][ply]) & 1 == 0 else -hope


@inline_kernel
def winning_leads(ws: np.void, ply: int, cards: int) -> int:
    """Those of `cards` to lead for a trick: the lowest winner of a suit, or the lowest card where partner has one."""
    mover = int(ws["mover"][ply])
    left_hand, right_hand = int(ws["hands"][(mover + 1) & 3]), int(ws["hands"][(mover + 3) & 3])
    partner = int(ws["hands"][mover ^ 2])
    leads = 0
    for suit in range(4):
        own = cards & LANE << (16 * suit)
        if own == 0:
            continue
        threat = max(reach(left_hand, suit), reach(right_hand, suit))
        above = own & -(2 << threat) if threat >= 0 else own
        if above:
            leads |= above & -above
        elif reach(partner, suit) > threat:
            leads |= own & -own
    return leads


@inline_kernel
def burden(hand: int, lane: int) -> int:
    """The lowest card with which `hand` must follow in `lane`, -1 if it need not."""
    follow = hand & lane
    return lowest_bit(follow) if follow else -1


@inline_kernel
def losing_leads(ws: np.void, ply: int, cards: int) -> int:
    """Those of `cards`, the lowest of a suit each, over which an opponent has to go and partner need not."""
    mover = int(ws["mover"][ply])
    left_hand, right_hand = int(ws["hands"][(mover + 1) & 3]), int(ws["hands"][(mover + 3) & 3])
    partner = int(ws["hands"][mover ^ 2])
    leads = 0
    for suit in range(4):
        lane = LANE << (16 * suit)
        own = cards & lane
        if own:
            low = own & -own
            heaviest = max(burden(left_hand, lane), burden(right_hand, lane))
            if heaviest > burden(partner, lane) and heaviest >= 0 and 1 << heaviest > low:
                leads |= low
    return leads


@inline_kernel
def order_lead(ws: np.void, ply: int, cards: int) -> None:
    """List the candidates of a lead: what settled this leader's last lead at this ply, then good ones and the rest."""
    mover = int(ws["mover"][ply])
    if hope_after(ws, ply, mover) > hope_after(ws, ply, (mover + 1) & 3):
        good = winning_leads(ws, ply, cards)
    else:
        good = losing_leads(ws, ply, cards)
    killer = cards & int(ws["killer"][ply, mover])
    list_moves(ws, ply, good & ~killer, cards & ~good & ~killer, LOW_FIRST, LOW_FIRST)
    ws["start"][ply] = killer


@inline_kernel
def order_follow(ws: np.void, players: int, ply: int, cards: int) -> None:
    """List the candidates of a later card of a trick."""
    mover, winner = int(ws["mover"][ply]), int(ws["winner"][ply])
    best, led = int(ws["best"][ply]), int(ws["led"][ply])
    last = int(ws["length"][ply]) + 1 == players
    after = (mover + 1) & 3
    winners = beating(cards, best)
    losers = cards & ~winners
    if hope_after(ws, ply, mover) <= hope_after(ws, ply, winner if last else after):
        list_moves(ws, ply, losers, winners, HIGH_FIRST, HIGH_FIRST if last else LOW_FIRST)
        return
    threat = -1 if last else reach(int(ws["hands"][after]), led)
    good = winners & -(2 << threat) if threat >= 0 else winners
    if winner & 1 == mover & 1 and best > threat:
        good = losers  # partner wins it
    list_moves(ws, ply, good, cards & ~good, LOW_FIRST, LOW_FIRST)


@inline_kernel
def order_moves(ws: np.void, players: int, ply: int, cards: int) -> None:
    """List the candidates `cards` of `ply` in the order to try them."""
    if cards & (cards - 1) == 0:
        list_moves(ws, ply, cards, 0, LOW_FIRST, LOW_FIRST)
    elif int(ws["length"][ply]) == 0:
        order_lead(ws, ply, cards)
    else:
        order_follow(ws, players, ply, cards)
