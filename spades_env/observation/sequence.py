"""The sequence encoder: a VIEW becomes tokens (own cards, then every public action in order) and a context.

Columns of the tokens are blocks of their own, so that each can be fed to a table of embeddings. Padding stands
behind the last token; a batch may be cut to its longest sequence.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from spades_env.actions import BLIND_NIL, DONE, LOOK
from spades_env.cards import NUM_CARDS
from spades_env.engine.draft import ACTION_KEEP, ACTION_TAKE_NEXT
from spades_env.engine.kernel import inline_kernel, kernel, lowest_bit
from spades_env.engine.state import StateArray
from spades_env.engine.write import Bytes
from spades_env.observation.blocks import FLAT_SIZE
from spades_env.observation.flat import check_rows, encode_flat, relative_seat, wrapped
from spades_env.observation.more_blocks import (
    HIDDEN_CARD,
    KIND_BID,
    KIND_CALL,
    KIND_DRAFT,
    KIND_EXCHANGE,
    KIND_HAND,
    KIND_PLAY,
    KIND_REJECTED,
    KIND_SHOWN,
    LAST_SPAN,
    SEQUENCE,
    SEQUENCE_SIZE,
    TEAM_SPAN,
    TOKENS,
    TRICK_SPAN,
    span_slice,
)

_MASK: Final = SEQUENCE.offset("token_mask")
_KIND: Final = SEQUENCE.offset("kind")
_WHO: Final = SEQUENCE.offset("who")
_WHAT: Final = SEQUENCE.offset("what")
_WHEN: Final = SEQUENCE.offset("when")
_TRICK: Final = SEQUENCE.offset("trick")
_ORDER: Final = SEQUENCE.offset("order")

_TEAM_FROM: Final = span_slice(TEAM_SPAN).start
_TEAM_LENGTH: Final = span_slice(TEAM_SPAN).stop - _TEAM_FROM
_TEAM: Final = span_slice(TEAM_SPAN, SEQUENCE).start
_TRICK_FROM: Final = span_slice(TRICK_SPAN).start
_TRICK_LENGTH: Final = span_slice(TRICK_SPAN).stop - _TRICK_FROM
_TRICK_TO: Final = span_slice(TRICK_SPAN, SEQUENCE).start
_LAST_FROM: Final = span_slice(LAST_SPAN).start
_LAST_LENGTH: Final = span_slice(LAST_SPAN).stop - _LAST_FROM
_LAST: Final = span_slice(LAST_SPAN, SEQUENCE).start


@inline_kernel
def copy_entries(row: Bytes, start: int, length: int, out: Bytes, to: int) -> None:
    """Copy `length` entries of `row` from `start` on into `out` from `to` on."""
    for k in range(length):
        out[to + k] = row[start + k]


@inline_kernel
def write_token(out: Bytes, n: int, kind: int, who: int, action: int) -> int:
    """Token `n`: relative seat `who` and an action or card, negative if hidden; the number of tokens with it."""
    if n >= TOKENS:  # only a record that no kernel made; the index would leave the block
        raise ValueError("a view has more tokens than a deal can have; allowed: TOKENS")
    out[_MASK + n] = 1
    out[_KIND + n] = kind
    out[_WHO + n] = who + 1
    out[_WHAT + n] = HIDDEN_CARD if action < 0 else action + 1
    return n + 1


@inline_kernel
def write_own_cards(out: Bytes, n: int, kind: int, cards: int) -> int:
    """A token of her own for each of `cards`, lowest id first; the number of tokens with them."""
    while cards != 0:
        n = write_token(out, n, kind, 0, lowest_bit(cards))
        cards &= cards - 1
    return n


@inline_kernel
def write_bidding(known: np.void, me: int, end: int, n: int, out: Bytes) -> int:
    """Tokens of a deal without a draft up to action `end`: calls and bids in turn order (R7, R10)."""
    rules = known["rules"]
    players, step = int(rules["players"]), int(rules["step"])
    who = relative_seat(int(known["first"]), me, players, step)
    for k in range(end):
        action = int(known["actions"][k])
        out[_WHEN + n] = k + 1
        n = write_token(out, n, KIND_CALL if action >= BLIND_NIL else KIND_BID, who, action)
        if action != LOOK:  # who looks bids at once
            who = wrapped(who + 1, players)
    return n


@inline_kernel
def write_drafting(known: np.void, me: int, end: int, n: int, out: Bytes) -> int:
    """Tokens of a draft up to action `end`: double nil, choices and exchanges, dealer first, and bids (R27, R28)."""
    dealer, first = int(known["dealer"]), int(known["first"])
    drawer = dealer ^ me
    giver = drawer if int(known["blind"][dealer]) == 1 else 1 - drawer
    bidder = (first ^ me) if int(known["blind"][first]) == 0 else 1 - (first ^ me)
    given, most = 0, int(known["rules"]["exchange"])
    for k in range(end):
        action = int(known["actions"][k])
        out[_WHEN + n] = k + 1
        if action in (BLIND_NIL, LOOK):
            n = write_token(out, n, KIND_CALL, drawer, action)
        elif action in (ACTION_KEEP, ACTION_TAKE_NEXT):
            n = write_token(out, n, KIND_DRAFT, drawer, action)
            drawer = 1 - drawer
        elif action < NUM_CARDS or action == DONE:
            n = write_token(out, n, KIND_EXCHANGE, giver, action)
            given += 1
            if action == DONE or given == most:
                giver, given = 1 - giver, 0
        else:
            n = write_token(out, n, KIND_BID, bidder, action)
            bidder = 1 - bidder
    return n


@inline_kernel
def write_tricks(known: np.void, me: int, n: int, out: Bytes) -> int:
    """Tokens of all cards played, in order, with their trick and their place in it."""
    rules = known["rules"]
    players, step = int(rules["players"]), int(rules["step"])
    start = int(known["first_play"])
    who, trick, order = 0, 0, 0
    for k in range(start, int(known["n_actions"])):
        if order == 0:
            who = relative_seat(int(known["leaders"][trick]), me, players, step)
        out[_WHEN + n] = k + 1
        out[_TRICK + n] = trick + 1
        out[_ORDER + n] = order + 1
        n = write_token(out, n, KIND_PLAY, who, int(known["actions"][k]))
        who = wrapped(who + 1, players)
        order += 1
        if order == players:
            trick, order = trick + 1, 0
    return n


@kernel
def encode_sequence(view: np.void, flat: Bytes, out: Bytes) -> None:
    """Write tokens and context of `view` into `out`, uint8 (SEQUENCE_SIZE,); `flat` is her flat row, already made."""
    known = view["known"]
    me = int(view["seat"])
    out[:_TEAM] = 0
    copy_entries(flat, _TEAM_FROM, _TEAM_LENGTH, out, _TEAM)
    copy_entries(flat, _TRICK_FROM, _TRICK_LENGTH, out, _TRICK_TO)
    copy_entries(flat, _LAST_FROM, _LAST_LENGTH, out, _LAST)
    n = write_own_cards(out, 0, KIND_HAND, int(known["hands"][me]))
    start = int(known["first_play"])
    end = start if start > 0 else int(known["n_actions"])
    if int(known["rules"]["draft"]) == 1:
        if int(view["shown"]) >= 0:
            n = write_token(out, n, KIND_SHOWN, 0, int(view["shown"]))
        n = write_own_cards(out, n, KIND_REJECTED, int(known["rejected"][me]))
        n = write_drafting(known, me, end, n, out)
    else:
        n = write_bidding(known, me, end, n, out)
    if start > 0:
        write_tricks(known, me, n, out)


@kernel
def encode_views_sequence(views: StateArray, out: Bytes) -> None:
    """Sequences of `views`, dtype VIEW and shape (n,), into `out`, uint8 of shape (n, SEQUENCE_SIZE)."""
    check_rows(out.shape[0], out.shape[1], views.shape[0], SEQUENCE_SIZE)
    flat = np.empty(FLAT_SIZE, np.uint8)
    for i in range(views.shape[0]):
        encode_flat(views[i], flat)
        encode_sequence(views[i], flat, out[i])
