"""Every layout of the unseen cards that a seat thinks possible, and what each of her cards is worth in it.

Exact and slow on purpose: all lines of play through the engine, for endings of a few tricks. Values are those of the
handed cases: the lead in the match after the deal for the team of the seat to act, everything as scored (the deal's
margin plus the lead before it, which is the same for all cards), or 100,000 for a match won, -100,000 for one lost.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Final

import numpy as np
import numpy.typing as npt

from agents.rules.facts import unseen_cards
from spades_env import Game
from spades_env.cards import SUIT_MASKS, cards_of
from spades_env.engine.kernel import kernel, lowest_bit
from spades_env.engine.play import legal_cards
from spades_env.engine.state import PHASE_DEAL_OVER, STATE, StateArray
from spades_env.engine.step import apply_action

MATCH: Final = 100_000
"""Points of a match won."""
DEPTH: Final = 17
"""Records on the way of a line: the root and up to four tricks."""

Values = npt.NDArray[np.int64]
Layouts = npt.NDArray[np.int64]


@kernel
def unseen_of(states: StateArray, i: int, seat: int) -> int:
    """`unseen_cards` of `seat` in game `i`."""
    return unseen_cards(states[i], seat)


@kernel
def final_value(game: np.void, bags_0: int, bags_1: int, bag_price: int) -> int:
    """Lead of team 0 once the deal is scored, less `bag_price` for each bag of hers that stays on the sheet.

    `bags_0` and `bags_1` were on the sheet before the deal.
    """
    if int(game["winner"]) >= 0:
        return MATCH if int(game["winner"]) == 0 else -MATCH
    bags = max(0, int(game["bags"][0]) - bags_0) - max(0, int(game["bags"][1]) - bags_1)
    return int(game["scores"][0]) - int(game["scores"][1]) - bag_price * bags


@kernel
def best_value(stack: StateArray, bag_price: int) -> int:
    """Value for team 0 of the position in `stack[0]` when all four seats see all cards: plain minimax, no pruning.

    `stack`, shape (DEPTH,), dtype STATE, holds the line being looked at; all but its first record is scratch.
    """
    left = np.zeros(DEPTH, np.int64)  # cards not tried yet, a mask per depth
    values = np.zeros(DEPTH, np.int64)
    bags_0, bags_1 = int(stack[0]["bags"][0]), int(stack[0]["bags"][1])
    depth, entering = 0, True
    while True:
        game = stack[depth]
        over = int(game["phase"]) >= PHASE_DEAL_OVER
        if entering and over:
            values[depth] = final_value(game, bags_0, bags_1, bag_price)
        elif entering:
            left[depth] = legal_cards(game)
            values[depth] = -10 * MATCH if int(game["turn"]) % 2 == 0 else 10 * MATCH
        if not over and left[depth] != 0:
            card = lowest_bit(left[depth])
            left[depth] &= left[depth] - 1
            stack[depth + 1] = game
            apply_action(stack[depth + 1], card)
            depth += 1
            entering = True
            continue
        if depth == 0:
            return values[0]
        depth -= 1
        found = values[depth + 1]
        maximises = int(stack[depth]["turn"]) % 2 == 0
        values[depth] = max(values[depth], found) if maximises else min(values[depth], found)
        entering = False


@kernel
def card_values(
    states: StateArray, layouts: Layouts, cards: npt.NDArray[np.int64], bag_price: int, stack: StateArray, out: Values
) -> None:
    """Fill `out[k, c]` with the value of `cards[c]` in `layouts[k]` for the team to act in `states[0]`.

    `layouts`: int64 of shape (n, 4), a hand per seat as a mask; `stack`: scratch for `best_value`.
    """
    sign = 1 if int(states[0]["turn"]) % 2 == 0 else -1
    for k in range(layouts.shape[0]):
        for c in range(cards.shape[0]):
            stack[0] = states[0]
            for seat in range(4):
                stack[0]["hands"][seat] = layouts[k, seat]
            apply_action(stack[0], cards[c])
            out[k, c] = sign * best_value(stack, bag_price)


def possible_layouts(game: Game) -> Layouts:
    """All hands of four that fit what the seat to act knows: hand sizes, and suits shown void; shape (n, 4)."""
    states, seat = game.states, int(game.states["turn"][0])
    others = [(seat + k) % 4 for k in (1, 2, 3)]
    barred = [sum(SUIT_MASKS[suit] for suit in game.voids[other]) for other in others]
    sizes = [len(game.hands[other]) for other in others]
    rows = []
    for hands in _splits(unseen_of(states, 0, seat), sizes, barred):
        row = [0] * 4
        row[seat] = int(states["hands"][0, seat])
        for other, hand in zip(others, hands, strict=True):
            row[other] = hand
        rows.append(row)
    return np.array(rows, np.int64).reshape(-1, 4)


def _splits(cards: int, sizes: list[int], barred: list[int]) -> Iterator[list[int]]:
    """Ways to deal `cards` out in hands of `sizes` without a card of `barred`, masks all."""
    if not sizes:
        yield []
        return
    for chosen in combinations(cards_of(cards & ~barred[0]), sizes[0]):
        hand = sum(1 << card for card in chosen)
        for rest in _splits(cards & ~hand, sizes[1:], barred[1:]):
            yield [hand, *rest]


def solve(game: Game, bag_price: int = 0) -> tuple[list[int], Values]:
    """(legal cards, value of each of them in each possible layout, int64 of shape (layouts, cards))."""
    cards, layouts = game.legal_actions(), possible_layouts(game)
    out = np.empty((len(layouts), len(cards)), np.int64)
    card_values(game.states, layouts, np.array(cards, np.int64), bag_price, np.empty(DEPTH, STATE), out)
    return cards, out


def verdicts(cards: list[int], values: Values) -> tuple[list[int], list[int]]:
    """(accept, reject) of the cards of a position, by the definition of the handed cases.

    Accept: no other card is better in any layout (nor, then, on average). Reject: another card is at least as good in
    every layout and 10 or more points better on average.
    """
    means = values.mean(axis=0)
    accept = [card for c, card in enumerate(cards) if (values[:, c] == values.max(axis=1)).all()]
    reject = [
        card
        for c, card in enumerate(cards)
        if any((values[:, d] >= values[:, c]).all() and means[d] >= means[c] + 10 for d in range(len(cards)))
    ]
    return accept, reject
