"""Positions of random play with what a seat cannot see, and every layout of it that the engine itself accepts.

Shared by the tests of the sampler. Knows the engine and nothing of the sampler.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from spades_env.cards import cards_of
from spades_env.engine import step
from spades_env.engine.batch import sample_actions
from spades_env.engine.deal import deck_mask
from spades_env.engine.kernel import kernel
from spades_env.engine.state import STATE, StateArray, rules_to_record
from spades_env.rules import Rules
from spades_env.view import empty_views, view_of

Layout = tuple[int, int, int, int]
"""A hand mask for every seat."""


@dataclass
class Position:
    """A position of a deal: the deal at its start, the position itself and the view of one seat, each shape (1,)."""

    start: StateArray
    state: StateArray
    views: StateArray

    @property
    def seat(self) -> int:
        return int(self.views["seat"][0])

    @property
    def truth(self) -> Layout:
        hands = [int(hand) for hand in self.state["hands"][0]]
        return hands[0], hands[1], hands[2], hands[3]

    def hidden(self) -> list[int]:
        """Seats whose hands are hidden."""
        players, looked = int(self.state["rules"]["players"][0]), int(self.state["looked"][0, self.seat])
        return [seat for seat in range(players) if seat != self.seat or not looked]

    def unseen(self) -> list[int]:
        """Cards of a dealt pack that the seat does not see, ascending."""
        seen = int(self.state["played"][0].sum())
        if self.seat not in self.hidden():
            seen |= int(self.state["hands"][0, self.seat])
        return cards_of(pack(self.state) & ~seen)


@kernel
def pack(states: StateArray) -> int:
    return deck_mask(states[0]["rules"])


def positions(rules: Rules, seed: int, deals: int, chance: float = 1.0) -> Iterator[Position]:
    """Every position of some deals of random play, with a random seat's view, kept with probability `chance`."""
    rng = np.random.default_rng(seed)
    states, actions = np.zeros(1, STATE), np.zeros(1, np.int64)
    step.new_games(states, rules_to_record(rules), seed, 0)
    n = 0
    for _ in range(deals):
        start = states.copy()
        while True:
            if rng.random() < chance:
                views = empty_views(1)
                view_of(states, 0, int(rng.integers(rules.players)), views, 0)
                yield Position(start, states.copy(), views)
            if step.is_over(states, 0):
                break
            sample_actions(states, np.uint64(seed), n, actions)
            step.apply(states, 0, int(actions[0]))
            n += 1
        step.advance(states, 0)


@kernel
def replays(game: StateArray, actions: npt.NDArray[np.int8], n: int) -> bool:
    """Whether the first `n` of `actions` are all legal from the start of a deal, which is played on in `game`."""
    for k in range(n):
        if not step.is_legal_action(game[0], int(actions[k])):
            return False
        step.apply_action(game[0], int(actions[k]))
    return True


def possible(position: Position, layout: Layout) -> bool:
    """Whether the deal could have gone as it did had the hidden hands been these."""
    game = position.start.copy()
    game["hands"][0] = np.array(layout) | position.state["played"][0]
    return bool(replays(game, position.state["actions"][0], int(position.state["n_actions"][0])))


def all_layouts(position: Position) -> Iterator[Layout]:
    """Every way to deal the unseen cards that respects the sizes of the hands."""
    hands = list(position.truth)
    sizes = [hands[seat].bit_count() for seat in position.hidden()]

    def deal(seats: list[int], cards: tuple[int, ...], sizes: list[int]) -> Iterator[Layout]:
        if not seats:
            yield hands[0], hands[1], hands[2], hands[3]
            return
        for chosen in itertools.combinations(cards, sizes[0]):
            hands[seats[0]] = sum(1 << card for card in chosen)
            yield from deal(seats[1:], tuple(card for card in cards if card not in chosen), sizes[1:])

    yield from deal(position.hidden(), tuple(position.unseen()), sizes)


def number_of_layouts(position: Position) -> int:
    """How many `all_layouts` are."""
    left, ways = len(position.unseen()), 1
    for seat in position.hidden():
        size = position.truth[seat].bit_count()
        ways *= math.comb(left, size)
        left -= size
    return ways


def small_positions(rules: Rules, seed: int, deals: int, most: int) -> Iterator[Position]:
    """Positions of random play with few enough ways to deal the unseen cards."""
    return (position for position in positions(rules, seed, deals) if number_of_layouts(position) <= most)


def frequencies(layouts: npt.NDArray[np.int64], weights: npt.NDArray[np.float64] | None = None) -> np.ndarray:
    """Share of `layouts`, shape (n, 4), in which each card is with each seat, shape (54, 4)."""
    held = (layouts[:, None, :] >> np.arange(54)[None, :, None]) & 1
    return np.average(held, axis=0, weights=weights)


def chi_square_z(observed: npt.NDArray[np.float64], expected: npt.NDArray[np.float64]) -> float:
    """Chi-square of counts as a standard normal deviate (Wilson and Hilferty 1931): 3.72 is p = 1e-4."""
    degrees = len(expected) - 1
    spread = 2 / (9 * degrees)
    statistic = float(((observed - expected) ** 2 / expected).sum())
    return float(((statistic / degrees) ** (1 / 3) - (1 - spread)) / math.sqrt(spread))
