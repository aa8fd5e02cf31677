"""The regressions behind the tables of normal's bidding: which entries a hand reads, and what they should hold."""

from __future__ import annotations

from typing import Final

import numpy as np

from agents.rules.normal.self_play import WEIGHED, FloatArray, IntArray
from agents.rules.normal.strength import (
    HONOURS,
    NIL_LOW,
    NIL_RANKS,
    NIL_SPADE_RANKS,
    NIL_TOP,
    SIDE_LENGTHS,
    SPADE_LENGTHS,
    long_spades,
    side_index,
    side_suit,
    spade_index,
)
from spades_env.engine.kernel import highest_bit, kernel, lowest_bit, popcount

SIDE_ROWS, SPADE_ROWS = SIDE_LENGTHS * HONOURS, SPADE_LENGTHS * HONOURS
NIL_SIDE_COLUMNS, NIL_SPADE_COLUMNS = (NIL_LOW + 1) * NIL_RANKS, (NIL_TOP + 1) * NIL_SPADE_RANKS
TRICKS_READ, NIL_READ = 4, 3 * (NIL_LOW + 1) + NIL_TOP + 1
"""Entries that a hand reads."""
TRICKS_PENALTY, NIL_PENALTY = 4.0, 2.0
"""Strength of the pull towards 0, in hands."""
NEWTON_STEPS: Final = 12


@kernel
def trick_columns(hands: IntArray, jokers: int, out: IntArray, beyond: FloatArray) -> None:
    """Rows that `expected_tricks` reads for each hand, (n, TRICKS_READ), and the tricks that it adds, shape (n,).

    Rows of spades are numbered behind those of side suits.
    """
    for i in range(hands.shape[0]):
        beyond[i] = long_spades(int(hands[i]))
        for suit in range(3):
            out[i, suit] = side_index(side_suit(int(hands[i]), suit))
        out[i, 3] = SIDE_ROWS + spade_index(int(hands[i]) >> 39, jokers)


@kernel
def nil_columns(hands: IntArray, out: IntArray) -> None:
    """Entries that `nil_logit` reads for each hand, int64 of shape (n, NIL_READ), those of spades behind the others."""
    for i in range(hands.shape[0]):
        column = 0
        for suit in range(3):
            cards = side_suit(int(hands[i]), suit)
            out[i, column] = NIL_LOW * NIL_RANKS + popcount(cards)
            for k in range(NIL_LOW):
                rank = lowest_bit(cards) if cards else NIL_RANKS - 1
                cards &= cards - 1
                out[i, column + 1 + k] = k * NIL_RANKS + rank
            column += NIL_LOW + 1
        spades = int(hands[i]) >> 39
        out[i, column] = NIL_SIDE_COLUMNS + NIL_TOP * NIL_SPADE_RANKS + min(popcount(spades), NIL_SPADE_RANKS - 1)
        for k in range(NIL_TOP):
            place = highest_bit(spades) + 1 if spades else 0
            spades ^= (1 << place) >> 1
            out[i, column + 1 + k] = NIL_SIDE_COLUMNS + k * NIL_SPADE_RANKS + place


@kernel
def add_up(columns: IntArray, weights: FloatArray, values: FloatArray, gram: FloatArray, moment: FloatArray) -> None:
    """Add X'WX to `gram` and X'v to `moment`, where row i of X counts the entries of columns[i]."""
    for i in range(columns.shape[0]):
        for a in columns[i]:
            moment[a] += values[i]
            for b in columns[i]:
                gram[a, b] += weights[i]


def main_effects() -> FloatArray:
    """Each row of both trick tables as length and honours, float64 of shape (SIDE_ROWS + SPADE_ROWS, ...)."""
    effects = np.zeros((SIDE_ROWS + SPADE_ROWS, SIDE_LENGTHS + SPADE_LENGTHS + 8))
    for start, rows, first in ((0, SIDE_ROWS, 0), (SIDE_ROWS, SPADE_ROWS, SIDE_LENGTHS + 4)):
        pattern = np.arange(rows)
        effects[start + pattern, first + pattern // HONOURS] = 1.0
        for honour in range(4):
            effects[start + pattern, first + rows // HONOURS + honour] = (pattern >> honour) & 1
    return effects


def fit_tricks(columns: IntArray, tricks: FloatArray) -> FloatArray:
    """Ridge regression; a rare pattern leans on its length and honours, the mean hand counts with the spades."""
    size = SIDE_ROWS + SPADE_ROWS
    gram, moment = np.zeros((size, size)), np.zeros(size)
    mean = float(tricks.mean())
    add_up(columns, np.ones(tricks.size), tricks - mean, gram, moment)
    basis = np.hstack([np.eye(size), main_effects()])
    inner = basis.T @ gram @ basis + TRICKS_PENALTY * np.eye(basis.shape[1])
    table: FloatArray = basis @ np.linalg.solve(inner, basis.T @ moment)
    table[SIDE_ROWS:] += mean
    return table


def fit_nil(columns: IntArray, made: FloatArray) -> FloatArray:
    """Logistic regression with a ridge by Newton's method."""
    size = NIL_SIDE_COLUMNS + NIL_SPADE_COLUMNS
    table: FloatArray = np.zeros(size)
    for _ in range(NEWTON_STEPS):
        chance = chance_of_logit(table[columns].sum(axis=1))
        gram, moment = NIL_PENALTY * np.eye(size), -NIL_PENALTY * table
        add_up(columns, chance * (1.0 - chance), made - chance, gram, moment)
        table += np.linalg.solve(gram, moment)
    return table


def chance_of_logit(logits: FloatArray) -> FloatArray:
    """Chances with these log-odds."""
    result: FloatArray = 1.0 / (1.0 + np.exp(-logits))
    return result


def log_loss(chance: FloatArray, made: FloatArray) -> float:
    """Mean negative log-likelihood, in nats; no chance counts as quite 0 or 1."""
    chance = np.clip(chance, 1e-6, 1.0 - 1e-6)
    return float(-np.mean(made * np.log(chance) + (1.0 - made) * np.log(1.0 - chance)))


def fit_before(known: FloatArray, logits: FloatArray, made: FloatArray) -> FloatArray:
    """Weights of what is `known` (n, WEIGHED), added to the log-odds of the cards: logistic, by Newton's method."""
    weights: FloatArray = np.zeros(WEIGHED)
    for _ in range(NEWTON_STEPS):
        chance = chance_of_logit(logits + known @ weights)
        gram = (known.T * (chance * (1.0 - chance))) @ known + NIL_PENALTY * np.eye(WEIGHED)
        weights += np.linalg.solve(gram, known.T @ (made - chance) - NIL_PENALTY * weights)
    return weights


def fit_team(known: FloatArray, tricks: FloatArray) -> FloatArray:
    """Weights of what is `known` (n, WEIGHED), by least squares, and the spread around them, shape (WEIGHED + 1,)."""
    pull = np.eye(WEIGHED)
    pull[0, 0] = 0.0  # all but the constant; what never occurs keeps weight 0
    weights = np.linalg.solve(known.T @ known + pull, known.T @ tricks)
    return np.append(weights, np.std(tricks - known @ weights))
