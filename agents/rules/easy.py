"""`easy`: the beginner. She counts her own hand, follows simple rules, slips now and then, never bids nil."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from agents.base import ActionArray, AgentError, FloatArray, KeyArray, check_views
from agents.rules.chances import mixed_chances
from agents.rules.easy_bid import easy_bid
from agents.rules.easy_play import easy_card
from agents.rules.facts import JACK, rank_of
from spades_env.actions import DONE, FIRST_BID, KEEP, LOOK, TAKE_NEXT
from spades_env.engine.kernel import kernel
from spades_env.engine.play import SPADES, suit_of
from spades_env.engine.rng import unit
from spades_env.engine.state import (
    PHASE_BID,
    PHASE_BLIND,
    PHASE_DRAFT,
    PHASE_EXCHANGE,
    PHASE_PLAY,
    StateArray,
)
from spades_env.engine.step import random_action

DEFAULT_ERROR = 0.05


@kernel
def easy_draft(shown: int) -> int:
    """Keep a spade or a jack or better; anything else goes, and she takes the next card."""
    return KEEP if suit_of(shown) == SPADES or rank_of(shown) >= JACK else TAKE_NEXT


@kernel
def easy_action(known: np.void, shown: int, key: np.uint64, error: float) -> int:
    """Action of the seat to act in a STATE record or the `known` part of her view.

    `shown` is the card to keep or not (a view's field `shown`), `error` the chance of a random card.
    """
    phase = int(known["phase"])
    if phase == PHASE_BLIND:
        return LOOK
    if phase == PHASE_DRAFT:
        return easy_draft(shown)
    if phase == PHASE_EXCHANGE:
        return DONE
    if phase == PHASE_BID:
        return FIRST_BID + easy_bid(known)
    if unit(key, 0) < error:
        return random_action(known, key, 1)
    return easy_card(known)


@kernel
def easy_moves(views: StateArray, keys: KeyArray, error: float, out: ActionArray) -> None:
    """`easy_action` for each of `views`; the arrays have shape (n,)."""
    for i in range(views.shape[0]):
        out[i] = easy_action(views[i]["known"], int(views[i]["shown"]), keys[i], error)


@dataclass(frozen=True, slots=True)
class EasyAgent:
    """The beginner; `error` is the chance, 0 to 1, that a card is picked at random."""

    error: float = DEFAULT_ERROR

    def __post_init__(self) -> None:
        if not 0.0 <= self.error <= 1.0:
            raise AgentError(f"error={self.error!r} is not allowed: a number 0..1")

    @property
    def name(self) -> str:
        """`easy`, with its option where that is not the default."""
        return "easy" if self.error == DEFAULT_ERROR else f"easy:error={self.error:g}"

    def act(self, views: StateArray, keys: KeyArray) -> ActionArray:
        """Return actions, int16 of shape (n,), for `views` (VIEW) and `keys` (uint64), both of shape (n,)."""
        check_views(views, keys)
        out = np.empty(views.shape[0], np.int16)
        easy_moves(views, keys, float(self.error), out)
        return out

    def chances(self, views: StateArray) -> FloatArray:
        """Return the chance of every action, see `agents.base.KnownPolicy`: she slips only with her cards."""
        rule = np.empty(views.shape[0], np.int16)
        easy_moves(views, np.zeros(views.shape[0], np.uint64), 0.0, rule)
        slips = np.where(views["known"]["phase"] == PHASE_PLAY, self.error, 0.0)
        return mixed_chances(views, rule, slips)
