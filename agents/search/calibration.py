"""How good a seat's beliefs about hidden cards are: log-loss and calibration of any method against the truth.

A method turns a view into probabilities of shape (54, 4). Two are here: the exact marginals of the uniform layouts, and
sampled worlds weighted by whatever the caller thinks of the bids and plays in each. For reports, never for play: only
here does the truth stand beside the view.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from agents.search.sampler import FloatArray, new_plans, sample_worlds, view_marginals
from agents.search.sampler_plan import returnable_cards, unknown_cards
from spades_env.cards import NUM_CARDS
from spades_env.engine.kernel import kernel, lowest_bit
from spades_env.engine.rng import combine
from spades_env.engine.state import STATE, StateArray

DECILES: Final = 10

Method = Callable[[StateArray, int, FloatArray], None]
"""method(views, i, out): fill `out`, shape (54, 4), with the probability that each unseen card is with each seat.

The view is `views[i]`. What a card's row lacks to 1 is the probability that it is out of play.
"""

Weigh = Callable[[StateArray, int, StateArray, FloatArray], None]
"""weigh(views, i, worlds, out): fill `out`, shape (n,), with the log-likelihood of the bids and plays in `views[i]`.

One for each of `worlds`, dtype STATE, shape (n,), if it were true. A constant may be left out; -inf rules a world out.
"""


class CalibrationError(ValueError):
    """Input that cannot be reported on; the message says what is wrong with it."""


@dataclass(frozen=True)
class Decile:
    """Pairs of an unseen card and a hidden seat whose predicted probability is in one tenth of [0, 1]."""

    low: float
    high: float
    pairs: int
    predicted: float
    """Mean predicted probability; NaN without pairs."""
    observed: float
    """Share of pairs in which the seat had the card; NaN without pairs."""


@dataclass(frozen=True)
class Calibration:
    """What `calibrate` found."""

    losses: FloatArray
    """Per position, shape (n,): -log of the probability given to the true places of its unseen cards, summed, nats."""
    cards: npt.NDArray[np.int64]
    """Per position, shape (n,): unseen cards, those whose place is certain included."""
    table: tuple[Decile, ...]

    @property
    def log_loss(self) -> float:
        """Nats per unseen card, inf if a true place was called impossible; NaN without unseen cards."""
        return float(self.losses.sum() / self.cards.sum()) if self.cards.sum() else float("nan")

    def text(self) -> str:
        """The figures as a table of plain text."""
        lines = [f"log-loss {self.log_loss:.4f} nats a card, {self.cards.sum()} cards, {len(self.cards)} positions"]
        lines += [
            f"{row.low:.1f}-{row.high:.1f}  predicted {row.predicted:.4f}  observed {row.observed:.4f}  {row.pairs}"
            for row in self.table
            if row.pairs
        ]
        return "\n".join(lines)


@kernel
def add_position(
    views: StateArray, states: StateArray, i: int, marginals: FloatArray, table: FloatArray
) -> tuple[float, int]:
    """(loss in nats, unseen cards) of `marginals`, shape (54, 4), for position `i`; its pairs are added to `table`.

    `table`, shape (10, 3): pairs, sum of probabilities, pairs that came true, by tenths of the probability.
    """
    known, seat = views[i]["known"], int(views[i]["seat"])
    players, looked = int(known["rules"]["players"]), int(known["looked"][seat])
    unseen = unknown_cards(known, seat) | returnable_cards(known, seat)
    loss, cards = 0.0, 0
    while unseen:
        card = lowest_bit(unseen)
        unseen &= unseen - 1
        cards += 1
        out_of_play, given = 1.0, -1.0
        for other in range(players):
            if other == seat and looked == 1:
                continue
            probability = marginals[card, other]
            holds = (int(states[i]["hands"][other]) >> card) & 1
            out_of_play -= probability
            if holds == 1:
                given = probability
            decile = min(DECILES - 1, int(probability * DECILES))
            table[decile, 0] += 1.0
            table[decile, 1] += probability
            table[decile, 2] += holds
        if given < 0.0:
            given = max(0.0, out_of_play)
        loss += -np.log(given) if given > 0.0 else np.inf
    return loss, cards


def calibrate(views: StateArray, states: StateArray, method: Method) -> Calibration:
    """Compare what `method` makes of every one of `views`, dtype VIEW, with the truth in `states`, dtype STATE.

    Both have shape (n,); `views[i]` must be somebody's view of `states[i]`.
    """
    if views.shape != states.shape or views.ndim != 1:
        raise CalibrationError(f"views and states have shapes {views.shape} and {states.shape}; allowed: (n,) both")
    losses, cards = np.zeros(len(views)), np.zeros(len(views), np.int64)
    table, marginals = np.zeros((DECILES, 3)), np.zeros((NUM_CARDS, 4))
    for i in range(len(views)):
        marginals[:] = 0.0
        method(views, i, marginals)
        if not (np.isfinite(marginals).all() and marginals.min() >= 0.0 and marginals.sum(axis=1).max() <= 1.0 + 1e-9):
            raise CalibrationError(f"position {i}: the method's numbers are no probabilities")
        losses[i], cards[i] = add_position(views, states, i, marginals, table)
    return Calibration(losses, cards, tuple(_decile(number, *row) for number, row in enumerate(table)))


def _decile(number: int, pairs: float, probability: float, held: float) -> Decile:
    """Row `number` of the table from its sums."""
    predicted, observed = (probability / pairs, held / pairs) if pairs else (float("nan"), float("nan"))
    return Decile(number / DECILES, (number + 1) / DECILES, int(pairs), predicted, observed)


class UniformLayouts:
    """The method that takes every layout for equally likely: the sampler's exact marginals."""

    def __init__(self) -> None:
        self._plans = new_plans(1)

    def __call__(self, views: StateArray, i: int, out: FloatArray) -> None:
        """See `Method`."""
        if view_marginals(views, i, self._plans, out) == 0.0:
            raise CalibrationError(f"position {i}: no layout fits, or hands are not complete yet")


@kernel
def worlds_of_position(views: StateArray, i: int, plans: StateArray, seed: int, worlds: StateArray) -> float:
    """`sample_worlds` for `views[i]`, with a stream of its own for every `seed` and `i`."""
    return sample_worlds(views, i, plans, combine(np.uint64(seed), i), worlds)


@kernel
def weighted_share(worlds: StateArray, weights: FloatArray, out: FloatArray) -> None:
    """Fill `out`, shape (54, 4), with the weight of the worlds in which a seat has a card; `weights` sum to 1."""
    out[:] = 0.0
    for n in range(worlds.shape[0]):
        for seat in range(4):
            hand = int(worlds[n]["hands"][seat])
            while hand:
                out[lowest_bit(hand), seat] += weights[n]
                hand &= hand - 1


@dataclass(frozen=True)
class WeightedWorlds:
    """The method of sampled worlds, each weighted by `weigh`, with the exact uniform marginals as one world more.

    That one keeps a place that none of the worlds has from being called impossible, the more so the fewer worlds
    the weights leave: it counts 1 against their effective number, (sum of weights)^2 / sum of squares.
    """

    weigh: Weigh
    worlds: int
    seed: int = 0

    def __call__(self, views: StateArray, i: int, out: FloatArray) -> None:
        """See `Method`. World number n of position i depends on `seed`, i and n alone."""
        UniformLayouts()(views, i, out)
        worlds, weights = np.zeros(self.worlds, STATE), np.zeros(self.worlds)
        worlds_of_position(views, i, new_plans(1), self.seed, worlds)
        self.weigh(views, i, worlds, weights)
        if np.isnan(weights).any() or weights.max(initial=-np.inf) == np.inf:
            raise CalibrationError(f"position {i}: log-likelihoods must be below inf and no NaN")
        if weights.max(initial=-np.inf) == -np.inf:
            return
        weights = np.exp(weights - weights.max())
        weights /= weights.sum()
        effective = 1.0 / float((weights**2).sum())
        share = np.zeros_like(out)
        weighted_share(worlds, weights, share)
        share[out.sum(axis=1) == 0.0] = 0.0  # cards that are seen
        out[:] = (effective * share + out) / (effective + 1.0)
