"""Values of positions whose trick in progress no special rule binds; api.py sends the others elsewhere.

A value is found by a few questions "can team 0 force at least v?" over the payoffs that are possible (payoff.py).
"""

from __future__ import annotations

import numpy as np

from agents.search.payoff import FloatArray, fill_payoffs, partners_alike
from agents.search.solver.bits import lane_of, to_lanes
from agents.search.solver.classes import UNKNOWN, WON, begin_classes, has_room, root_class
from agents.search.solver.order import order_moves
from agents.search.solver.search import Setting, beats, candidates, search
from agents.search.solver.table import last_entry
from agents.search.solver.workspace import STAMP
from agents.stakes import Stakes
from spades_env.engine.kernel import inline_kernel, kernel, lowest_bit
from spades_env.engine.play import led_suit, legal_cards
from spades_env.engine.state import LEAD_BROKEN

SAME_VALUE = 1e-9
"""Payoffs nearer than this are one value: they differ by rounding only."""


@kernel
def list_values(ws: np.void, left: int, alike_0: bool, alike_1: bool) -> int:
    """Write the distinct payoffs to `ws["values"]` in ascending order; their number."""
    size, count = left + 1, 0
    for a in range(size):
        for b in range(1 if alike_1 else size - a):
            for c in range(1 if alike_0 else size - a - b):
                value = ws["payoffs"][(a * size + b) * size + c]
                place = count
                while place > 0 and ws["values"][place - 1] > value - SAME_VALUE:
                    place -= 1
                if place < count and ws["values"][place] < value + SAME_VALUE:
                    continue
                for k in range(count, place, -1):
                    ws["values"][k] = ws["values"][k - 1]
                ws["values"][place] = value
                count += 1
    return count


@kernel
def set_up(game: np.void, ws: np.void) -> None:
    """Put the cards of `game` and its trick in progress at ply 0; positions count seats in turn order from seat 0."""
    rules = game["rules"]
    players, step = int(rules["players"]), int(rules["step"])
    for position in range(4):
        ws["hands"][position] = 0
    for position in range(players):
        ws["hands"][position] = to_lanes(int(game["hands"][(position * step) % players]))
    trick, length = int(game["trick"]), int(game["trick_len"])
    # A seat's position is its number of steps from seat 0; `step` is 1 or -1 modulo `players`, its own inverse.
    leader = (int(game["leaders"][trick]) if length > 0 else int(game["turn"])) * step % players
    best, winner = -1, leader
    start = int(game["first_play"]) + trick * players
    for k in range(length):
        card = lane_of(int(game["actions"][start + k]))
        if beats(card, best):
            best, winner = card, (leader + k) % players
    ws["mover"][0] = (leader + length) % players
    ws["length"][0] = length
    ws["best"][0] = best
    ws["winner"][0] = winner
    ws["led"][0] = led_suit(game) if length > 0 else 0
    # Where the flag is not read, it is one, so that it divides no positions.
    ws["broken"][0] = int(game["broken"]) if int(rules["lead_spades"]) == LEAD_BROKEN else 1


@kernel
def prepare(game: np.void, ws: np.void, stakes: Stakes) -> int:
    """Set up everything a question about `game` needs; the number of distinct payoffs."""
    left = int(game["rules"]["hand_size"]) - int(game["trick"])
    set_up(game, ws)
    for ply in range(4 * left):
        for position in range(4):
            ws["killer"][ply, position] = 0
    fill_payoffs(game, stakes, ws["payoffs"])
    begin_classes(ws)
    return list_values(ws, left, partners_alike(game, 0), partners_alike(game, 1))


@inline_kernel
def setting_of(game: np.void, node_limit: int) -> Setting:
    """The numbers that stay the same while `game` is solved."""
    rules = game["rules"]
    return Setting(
        int(rules["players"]),
        int(rules["lead_spades"]),
        int(rules["forced_lead_breaks"]),
        last_entry(int(rules["hand_size"]) - int(game["trick"])),
        node_limit,
    )


@inline_kernel
def question_class(game: np.void, ws: np.void, k: int) -> int:
    """The class of "at least `ws["values"][k]`?" at the root, made when it is first asked for."""
    if int(ws["roots"][k, 0]) == int(ws["counters"][STAMP]):
        return int(ws["roots"][k, 1])
    left = int(game["rules"]["hand_size"]) - int(game["trick"])
    if not has_room(ws, left):
        begin_classes(ws)
    state = root_class(
        ws,
        ws["values"][k] - SAME_VALUE,
        left,
        partners_alike(game, 0),
        partners_alike(game, 1),
        int(game["rules"]["step"]) == 3,
    )
    ws["roots"][k, 0], ws["roots"][k, 1] = ws["counters"][STAMP], state
    return state


@kernel
def find_value(game: np.void, ws: np.void, cards: int, count: int, guess: int, node_limit: int) -> int:
    """Index in `ws["values"]` (of `count`) of the value if the seat to act plays the best of `cards`.

    A `guess` of 0 or more, an index too, is tested first. UNKNOWN if that takes the search beyond `node_limit` cards.
    """
    setting = setting_of(game, node_limit)
    left = int(game["rules"]["hand_size"]) - int(game["trick"])
    low, high = 0, count - 1
    close = guess >= 0
    k = max(1, guess) if close else count >> 1
    while low < high:
        ws["state"][0] = question_class(game, ws, k)
        order_moves(ws, setting.players, 0, cards)
        answer = search(ws, setting, left)
        if answer == UNKNOWN:
            return UNKNOWN
        if answer == WON:
            low = k
        else:
            high = k - 1
        k = low + 1 if close and answer == WON else (low + high + 1) >> 1
        close = False
    return low


@kernel
def plain_value(game: np.void, ws: np.void, stakes: Stakes, node_limit: int) -> float:
    """`solve` where no special rule binds the trick in progress."""
    count = prepare(game, ws, stakes)
    if count == 1:
        return float(ws["values"][0])
    k = find_value(game, ws, candidates(ws, setting_of(game, node_limit), 0), count, -1, node_limit)
    return float(ws["values"][k]) if k >= 0 else np.nan


@kernel
def plain_moves(game: np.void, ws: np.void, stakes: Stakes, node_limit: int, out: FloatArray) -> int:
    """`solve_moves` where no special rule binds the trick in progress."""
    legal = legal_cards(game)
    count = prepare(game, ws, stakes)
    distinct = candidates(ws, setting_of(game, node_limit), 0)
    cards = legal
    k = -1 if count > 1 else 0
    while cards:
        card = lowest_bit(cards)
        cards &= cards - 1
        lane = 1 << lane_of(card)
        # In ascending order a card that is not in `distinct` equals the one before.
        if count > 1 and distinct & lane:
            k = find_value(game, ws, lane, count, k, node_limit)
            if k == UNKNOWN:
                return 0
        out[card] = ws["values"][k]
    return legal
