"""The search: can team 0 force a yes? Cards are played and taken back on explicit stacks, one entry a ply.

A ply is one card. Team 0 looks for one card that leads to WON, team 1 for one that leads to LOST; the first such card
ends the ply. Leads are looked up in the transposition table.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from agents.search.solver.bits import FIRST_SPADE, LANE, SPADE_LANE, lowest_of_runs
from agents.search.solver.bounds import counted_answer
from agents.search.solver.classes import LOST, UNKNOWN, WON
from agents.search.solver.order import HIGH_FIRST, order_moves
from agents.search.solver.table import look_up, store
from agents.search.solver.workspace import NODES
from spades_env.engine.kernel import highest_bit, inline_kernel, kernel, lowest_bit
from spades_env.engine.state import LEAD_ANY, LEAD_BROKEN


class Setting(NamedTuple):
    """What stays the same during a search: numbers of the rules, of the table, and the limit."""

    players: int
    lead_spades: int
    forced_lead_breaks: int
    last_entry: int
    node_limit: int


@inline_kernel
def beats(card: int, best: int) -> bool:
    """Whether `card` beats the best card so far, both as bits in lane form (R12); a lead beats -1."""
    return card > best and (card >= FIRST_SPADE or best < 0 or card >> 4 == best >> 4)


@inline_kernel
def playable(ws: np.void, setting: Setting, ply: int) -> int:
    """Cards of the position to act that the rules allow, in lane form (R11, R13)."""
    hand = int(ws["hands"][int(ws["mover"][ply])])
    if int(ws["length"][ply]) > 0:
        follow = hand & LANE << (16 * int(ws["led"][ply]))
        return follow if follow else hand
    if setting.lead_spades == LEAD_ANY or (setting.lead_spades == LEAD_BROKEN and int(ws["broken"][ply]) == 1):
        return hand
    others = hand & ~SPADE_LANE
    return others if others else hand


@inline_kernel
def candidates(ws: np.void, setting: Setting, ply: int) -> int:
    """The playable cards, one of each set of equals: only a card in a hand or the best on the table divides them."""
    cards = playable(ws, setting, ply)
    if cards & (cards - 1) == 0:
        return cards
    hands = ws["hands"]
    present = int(hands[0]) | int(hands[1]) | int(hands[2]) | int(hands[3])
    if int(ws["length"][ply]) > 0:
        present |= 1 << int(ws["best"][ply])
    return lowest_of_runs(cards, present)


@inline_kernel
def next_card(ws: np.void, ply: int) -> int:
    """Take the next card to try off the ply's lists (see `list_moves`); -1 if none is left."""
    start = int(ws["start"][ply])
    if start:
        ws["start"][ply] = 0
        return lowest_bit(start)
    first, order = int(ws["first"][ply]), int(ws["order"][ply])
    if first == 0:
        first, order = int(ws["rest"][ply]), order >> 1
        if first == 0:
            return -1
        ws["rest"][ply] = 0
        ws["order"][ply] = order
    card = highest_bit(first) if order & 1 == HIGH_FIRST else lowest_bit(first)
    ws["first"][ply] = first & ~(1 << card)
    return card


@inline_kernel
def begin_trick(ws: np.void, ply: int, leader: int, broken: int, state: int) -> None:
    """Make `ply` a lead."""
    ws["mover"][ply] = leader
    ws["length"][ply] = 0
    ws["best"][ply] = -1
    ws["winner"][ply] = leader
    ws["broken"][ply] = broken
    ws["state"][ply] = state


@inline_kernel
def put_card(ws: np.void, setting: Setting, ply: int, card: int) -> None:
    """Play `card` at `ply` and set up the next ply; a trick that is complete becomes the next lead (R12-R14)."""
    mover, length, best = int(ws["mover"][ply]), int(ws["length"][ply]), int(ws["best"][ply])
    winner, broken, state = int(ws["winner"][ply]), int(ws["broken"][ply]), int(ws["state"][ply])
    ws["hands"][mover] ^= 1 << card
    ws["card"][ply] = card
    led = card >> 4 if length == 0 else int(ws["led"][ply])
    if card >= FIRST_SPADE:
        broken |= 1 if led < 3 else (setting.forced_lead_breaks if length == 0 else 0)
    if beats(card, best):
        best, winner = card, mover
    after = ply + 1
    if length + 1 == setting.players:
        begin_trick(ws, after, winner, broken, int(ws["after"][state, winner]))
        return
    ws["mover"][after] = (mover + 1) & (setting.players - 1)
    ws["length"][after] = length + 1
    ws["best"][after] = best
    ws["winner"][after] = winner
    ws["led"][after] = led
    ws["broken"][after] = broken
    ws["state"][after] = state


@inline_kernel
def last_trick(ws: np.void, setting: Setting, leader: int, state: int) -> int:
    """The answer when every hand holds one card."""
    best, winner, position = -1, leader, leader
    for _ in range(setting.players):
        card = lowest_bit(int(ws["hands"][position]))
        if beats(card, best):
            best, winner = card, position
        position = (position + 1) & (setting.players - 1)
    return int(ws["after"][state, winner])


@inline_kernel
def answer_at(ws: np.void, setting: Setting, ply: int, left: int) -> int:
    """The answer at `ply` where it needs no search, else UNKNOWN; at a lead its table key is noted."""
    if int(ws["length"][ply]) > 0:
        return UNKNOWN
    state = int(ws["state"][ply])
    if state <= WON:
        return state
    leader = int(ws["mover"][ply])
    if left == 1:
        return last_trick(ws, setting, leader, state)
    answer = counted_answer(ws, leader, left, state)
    return answer if answer != UNKNOWN else look_up(ws, setting.last_entry, ply)


@inline_kernel
def take_back(ws: np.void, ply: int) -> None:
    """Give the card played at `ply` back to its hand."""
    ws["hands"][int(ws["mover"][ply])] |= 1 << int(ws["card"][ply])


@inline_kernel
def wanted_by(ws: np.void, ply: int) -> int:
    """The answer that the position to act wants: WON for team 0."""
    return WON - (int(ws["mover"][ply]) & 1)


@inline_kernel
def remember(ws: np.void, ply: int) -> None:
    """Note the card tried last as the one that settled a lead."""
    if int(ws["length"][ply]) == 0:
        ws["killer"][ply, int(ws["mover"][ply])] = 1 << int(ws["card"][ply])


@inline_kernel
def climb(ws: np.void, ply: int, answer: int) -> int:
    """From `answer` at `ply` go back to the nearest ply whose mover wants another; -1 if `answer` holds at ply 0."""
    while ply > 0:
        if int(ws["length"][ply]) == 0:
            store(ws, ply, answer)
        ply -= 1
        take_back(ws, ply)
        if answer != wanted_by(ws, ply):
            return ply
        remember(ws, ply)
    return -1


@kernel
def search(ws: np.void, setting: Setting, left: int) -> int:
    """WON or LOST for the position at ply 0 of `ws`, or UNKNOWN where the node limit ends the search.

    `left` tricks are to go, the one in progress included. The cards to try at ply 0 must be listed there already.
    """
    ply, length = 0, int(ws["length"][0])
    while ply >= 0:
        card = next_card(ws, ply)
        if card < 0:
            answer = LOST + WON - wanted_by(ws, ply)
        else:
            ws["counters"][NODES] += 1
            if int(ws["counters"][NODES]) > setting.node_limit:
                return UNKNOWN
            put_card(ws, setting, ply, card)
            answer = answer_at(ws, setting, ply + 1, left - (length + ply + 1) // setting.players)
            if answer == UNKNOWN:
                ply += 1
                order_moves(ws, setting.players, ply, candidates(ws, setting, ply))
                continue
            take_back(ws, ply)
            if answer != wanted_by(ws, ply):
                continue
            remember(ws, ply)
        ply = climb(ws, ply, answer)
    return answer
