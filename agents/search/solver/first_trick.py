"""First tricks under `low_club` or `first_trick_spades: forbid` (R15), which the fast search does not know.

The engine plays such a trick card by card, by plain minimax over records; the search takes over where it ends.
"""

from __future__ import annotations

import numpy as np

from agents.search.solver.solve import plain_value
from agents.stakes import Stakes, split_value
from spades_env.engine.kernel import inline_kernel, kernel, lowest_bit
from spades_env.engine.play import legal_cards
from spades_env.engine.state import PHASE_PLAY
from spades_env.engine.step import apply_action


@inline_kernel
def is_bound(game: np.void) -> bool:
    """Whether the trick in progress is a first trick under special rules."""
    rules = game["rules"]
    return int(game["trick"]) == 0 and (int(rules["low_club"]) == 1 or int(rules["forbid_first_spades"]) == 1)


@kernel
def play_on(ws: np.void, depth: int) -> None:
    """Play the next card to try in record `depth`; the position after it becomes the record after it."""
    card = lowest_bit(int(ws["tried"][depth]))
    ws["tried"][depth] = int(ws["tried"][depth]) & ~(1 << card)
    ws["games"][depth + 1] = ws["games"][depth]
    apply_action(ws["games"][depth + 1], card)


@inline_kernel
def open_record(ws: np.void, depth: int, cards: int) -> None:
    """Have `cards` tried in record `depth`; the worst for the team to act is what it has so far."""
    ws["tried"][depth] = cards
    ws["results"][depth] = np.inf if int(ws["games"][depth]["turn"]) % 2 == 1 else -np.inf


@inline_kernel
def offer(ws: np.void, depth: int, value: float) -> None:
    """Keep `value` as the result of record `depth` if the team to act prefers it."""
    best = float(ws["results"][depth])
    ws["results"][depth] = min(best, value) if int(ws["games"][depth]["turn"]) % 2 == 1 else max(best, value)


@kernel
def first_trick_value(game: np.void, cards: int, ws: np.void, stakes: Stakes, node_limit: int) -> float:
    """Value to team 0 if the seat to act plays the best of `cards` in the first trick; NaN beyond the node limit."""
    ws["games"][0] = game
    depth = 0
    open_record(ws, 0, cards)
    while True:
        if int(ws["tried"][depth]) == 0:
            value = float(ws["results"][depth])
            if depth == 0:
                return value
            depth -= 1
            offer(ws, depth, value)
            continue
        play_on(ws, depth)
        after = ws["games"][depth + 1]
        if int(after["trick_len"]) > 0:
            depth += 1
            open_record(ws, depth, legal_cards(after))
            continue
        if int(after["phase"]) == PHASE_PLAY:
            value = plain_value(after, ws, stakes, node_limit)
            if np.isnan(value):
                return value
        else:
            # A deal of one trick is scored already, bags too: only the tricks are taken from it.
            tricks = after["tricks"]
            value = split_value(game, int(tricks[0]), int(tricks[1]), int(tricks[2]), int(tricks[3]), stakes)
        offer(ws, depth, value)
