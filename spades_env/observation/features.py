"""The features encoder: a VIEW becomes a few hand-crafted numbers, for small models and for people to read."""

from __future__ import annotations

from typing import Final

import numpy as np

from spades_env.cards import LITTLE_JOKER, NUM_CARDS, SUIT_MASKS
from spades_env.engine.deal import deck_mask
from spades_env.engine.kernel import highest_bit, inline_kernel, kernel, lowest_bit, popcount
from spades_env.engine.play import suit_of
from spades_env.engine.state import StateArray
from spades_env.engine.write import Bytes
from spades_env.observation.blocks import FLAT, FLAT_SIZE, NEEDS
from spades_env.observation.flat import cards_out, check_rows, encode_flat, wrapped
from spades_env.observation.more_blocks import (
    CALLS_SPAN,
    DEALS_SPAN,
    EXCHANGED_SPAN,
    FEATURES,
    FEATURES_SIZE,
    HONOURS,
    MOST_BAGS_LEFT,
    MOST_PERCENT,
    NILS_SPAN,
    PILE_SPAN,
    TABLE_SPAN,
    VOIDS_SPAN,
    Span,
    span_slice,
)

_LENGTHS: Final = FEATURES.offset("suit_lengths")
_HONOURS: Final = FEATURES.offset("honours")
_JOKERS: Final = FEATURES.offset("jokers_held")
_HIGHEST: Final = FEATURES.offset("highest")
_LOWEST: Final = FEATURES.offset("lowest")
_SURE: Final = FEATURES.offset("sure_tricks")
_OUTSIDE: Final = FEATURES.offset("outside")
_WINNING: Final = FEATURES.offset("winning_cards")
_BIDS: Final = FEATURES.offset("bid_counts")
_TRICKS: Final = FEATURES.offset("trick_counts")
_NEEDS: Final = FEATURES.offset("needs")
_SCORE: Final = FEATURES.offset("score_percent")
_BAGS: Final = FEATURES.offset("bags_left")
_SHOWN_SUIT: Final = FEATURES.offset("shown_suit")
_SHOWN_RANK: Final = FEATURES.offset("shown_rank")
_REJECTED: Final = FEATURES.offset("rejected_lengths")
_PLAYERS: Final = FEATURES.offset("players")
_HAND_SIZE: Final = FEATURES.offset("hand_size")

_FLAT_BOSS: Final = FLAT.offset("boss")
_FLAT_WINNING: Final = FLAT.offset("winning")
_FLAT_NEED: Final = FLAT.offset("need")

_ACE: Final = 12


def _copies(*spans: Span) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Indices in a flat row and in a row of features of all that is copied."""
    pairs = [(span_slice(span), span_slice(span, FEATURES)) for span in spans]
    old = [k for there, _ in pairs for k in range(there.start, there.stop)]
    new = [k for _, here in pairs for k in range(here.start, here.stop)]
    return tuple(old), tuple(new)


_OLD, _NEW = (
    np.array(indices, np.int64)
    for indices in _copies(VOIDS_SPAN, CALLS_SPAN, NILS_SPAN, TABLE_SPAN, DEALS_SPAN, EXCHANGED_SPAN, PILE_SPAN)
)


@inline_kernel
def rank_number(card: int) -> int:
    """1 for a two ... 13 for an ace, 14 and 15 for the jokers."""
    return card - 13 * suit_of(card) + 1


@inline_kernel
def count_set(flat: Bytes, start: int, length: int) -> int:
    """How many of `length` entries from `start` on are set."""
    total = 0
    for k in range(start, start + length):
        total += int(flat[k])
    return total


@inline_kernel
def write_suits(known: np.void, me: int, flat: Bytes, out: Bytes) -> None:
    """The blocks with a column for every suit."""
    hand, rejected = int(known["hands"][me]), 0
    if int(known["rules"]["draft"]) == 1:
        rejected = int(known["rejected"][me])
    outside = cards_out(known, me) & deck_mask(known["rules"])
    for suit in range(4):
        cards = hand & SUIT_MASKS[suit]
        low = 13 * suit
        out[_LENGTHS + suit] = popcount(cards)
        for k in range(HONOURS):
            out[_HONOURS + 4 * k + suit] = (hand >> (low + _ACE - k)) & 1
        if cards != 0:
            out[_HIGHEST + suit] = rank_number(highest_bit(cards))
            out[_LOWEST + suit] = rank_number(lowest_bit(cards))
        out[_SURE + suit] = count_set(flat, _FLAT_BOSS + low, 13)
        out[_OUTSIDE + suit] = popcount(outside & SUIT_MASKS[suit])
        out[_REJECTED + suit] = popcount(rejected & SUIT_MASKS[suit])
    for k in range(2):
        joker = LITTLE_JOKER + k
        out[_JOKERS + k] = (hand >> joker) & 1
        out[_SURE + 3] += flat[_FLAT_BOSS + joker]


@inline_kernel
def write_counts(known: np.void, me: int, out: Bytes) -> None:
    """Bids and tricks of every seat in relative order."""
    rules = known["rules"]
    players, step = int(rules["players"]), int(rules["step"])
    seat = me
    for r in range(players):
        out[_BIDS + r] = int(known["bids"][seat]) + 1
        out[_TRICKS + r] = known["tricks"][seat]
        seat = wrapped(seat + step, players)
    out[_PLAYERS] = players
    out[_HAND_SIZE] = rules["hand_size"]


@inline_kernel
def write_match_features(known: np.void, me: int, flat: Bytes, out: Bytes) -> None:
    """Needs, scores and bags of both teams, own first."""
    rules = known["rules"]
    target, limit = int(rules["target"]), int(rules["bag_limit"])
    for row in range(2):
        team = (me + row) & 1
        for need in range(NEEDS):
            if flat[_FLAT_NEED + NEEDS * row + need] == 1:
                out[_NEEDS + row] = need
        percent = 100 * int(known["scores"][team]) // target
        out[_SCORE + row] = max(min(percent + 100, MOST_PERCENT), 0)
        if limit > 0:
            out[_BAGS + row] = min(limit - int(known["bags"][team]), MOST_BAGS_LEFT)


@kernel
def encode_features(view: np.void, flat: Bytes, out: Bytes) -> None:
    """Write the features of `view` into `out`, uint8 (FEATURES_SIZE,); `flat` is her flat row, already made."""
    known = view["known"]
    me, shown = int(view["seat"]), int(view["shown"])
    out[:] = 0
    for k in range(_OLD.shape[0]):
        out[_NEW[k]] = flat[_OLD[k]]
    write_suits(known, me, flat, out)
    out[_WINNING] = count_set(flat, _FLAT_WINNING, NUM_CARDS)
    write_counts(known, me, out)
    write_match_features(known, me, flat, out)
    if shown >= 0:
        out[_SHOWN_SUIT + suit_of(shown)] = 1
        out[_SHOWN_RANK] = rank_number(shown)


@kernel
def encode_views_features(views: StateArray, out: Bytes) -> None:
    """Features of `views`, dtype VIEW and shape (n,), into `out`, uint8 of shape (n, FEATURES_SIZE)."""
    check_rows(out.shape[0], out.shape[1], views.shape[0], FEATURES_SIZE)
    flat = np.empty(FLAT_SIZE, np.uint8)
    for i in range(views.shape[0]):
        encode_flat(views[i], flat)
        encode_features(views[i], flat, out[i])
