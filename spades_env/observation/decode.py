"""From an observation back to facts: `decode_flat` and `decode_sequence` give the same dataclass.

Seats here are relative (0 = the observer, then in turn order), pairs are (own team, other team).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from spades_env.actions import NUM_ACTIONS
from spades_env.cards import NUM_CARDS
from spades_env.engine.state import PHASE_NAMES, RULES, rules_from_record
from spades_env.observation.blocks import FLAT, FLAT_SIZE, SEATS, Layout
from spades_env.observation.more_blocks import (
    HIDDEN_CARD,
    KIND_NAMES,
    LAST_SPAN,
    SEQUENCE,
    TEAM_SPAN,
    TRICK_SPAN,
    span_slice,
)
from spades_env.rules import Rules

Row = npt.NDArray[np.uint8]


class ObservationError(ValueError):
    """Something that is no observation of this version; the message says what is allowed."""


@dataclass(frozen=True)
class Play:
    """One card played: by which relative seat, in which trick and as which card of it (both from 0)."""

    card: int
    seat: int
    trick: int
    order: int


@dataclass(frozen=True)
class Token:
    """One token of a sequence: a card of her own, or an action of relative seat `seat`; None: does not apply.

    `kind` is one of KIND_NAMES. `action` is an action id or a card, None for a card that the other gave up. `when`
    counts the actions of the deal, `trick` the tricks, `order` the cards of a trick, all from 0.
    """

    kind: str
    seat: int
    action: int | None
    when: int | None
    trick: int | None
    order: int | None


@dataclass(frozen=True)
class Facts:
    """What a flat observation or a sequence says; None: does not apply, or not yet.

    Tuples by seat have `rules.players` entries. Cards are ids, suits 0-3. `kept` holds a bool for every draw
    of a draft so far (own, other): kept the card shown, or took the next one.
    """

    rules: Rules
    phase: str
    turn: int | None
    dealer: int
    deal: int
    hand: tuple[int, ...]
    plays: tuple[Play, ...]
    table: tuple[Play, ...]
    voids: tuple[tuple[int, ...], ...]
    bids: tuple[int | None, ...]
    blind: tuple[bool, ...]
    looked: tuple[bool, ...]
    tricks: tuple[int, ...]
    need: tuple[int, int]
    bags_so_far: tuple[int, int]
    led_suit: int | None
    winning_seat: int | None
    broken: bool
    scores: tuple[int, int]
    bags: tuple[int, int]
    shown: int | None
    rejected: tuple[int, ...]
    thrown: tuple[int, ...]
    exchanged: tuple[int, int]
    kept: tuple[tuple[bool, ...], ...]
    pile_left: int


def bytes_of(observation: npt.NDArray[Any], layout: Layout) -> Row:
    """The byte row of a uint8 or float32 observation, or an error that says what is wrong with it."""
    given = np.asarray(observation)
    if given.shape != (layout.size,) or given.dtype not in (np.uint8, np.float32):
        what = f"shape {given.shape} and dtype {given.dtype}"
        raise ObservationError(f"observation has {what}; allowed: shape ({layout.size},), uint8 or float32")
    if given.dtype == np.uint8:
        return given
    whole = np.rint(given / layout.scales)
    if not (np.isfinite(whole).all() and whole.min() >= 0 and whole.max() <= 255):
        raise ObservationError("observation has values that are no byte * scale; allowed: 0 to 255 * scale")
    return whole.astype(np.uint8)


class _Reader:
    """Access to the blocks of one byte row by name."""

    def __init__(self, row: Row) -> None:
        self._row = row

    def rows(self, name: str) -> Row:
        """The block as an array of shape (rows, width)."""
        block = FLAT.block(name)
        return self._row[block.slice].reshape(block.rows, block.width)

    def cards(self, name: str, row: int = 0) -> tuple[int, ...]:
        """Ids of the entries that are set."""
        return tuple(int(card) for card in np.flatnonzero(self.rows(name)[row]))

    def one_hot(self, name: str, row: int = 0) -> int | None:
        """Index of the entry that is set, None without one."""
        entries = np.flatnonzero(self.rows(name)[row])
        if len(entries) > 1:
            raise ObservationError(f"block {name!r} has {len(entries)} entries set in row {row}; allowed: at most 1")
        return int(entries[0]) if len(entries) else None

    def index(self, name: str, row: int = 0) -> int:
        """Like `one_hot`, for a block that always has an entry set."""
        entry = self.one_hot(name, row)
        if entry is None:
            raise ObservationError(f"block {name!r} has no entry set in row {row}; allowed: exactly 1")
        return entry

    def int32(self, name: str, row: int = 0) -> int:
        """The exact number in four bytes."""
        return int.from_bytes(self.rows(name)[row].tobytes(), "big") - 2**31

    def numbers(self, name: str) -> tuple[int, ...]:
        """The first entry of every row."""
        return tuple(int(row[0]) for row in self.rows(name))


def _rules(reader: _Reader) -> Rules:
    record = np.zeros(1, RULES)
    for block in FLAT.blocks:
        if block.name.startswith("rules."):
            field = block.name.removeprefix("rules.")
            read = {"int32": reader.int32, "one-hot": reader.index}.get(block.encoding)
            record[field] = reader.numbers(block.name)[0] if read is None else read(block.name)
    return rules_from_record(record[0])


def _plays(reader: _Reader, players: int) -> tuple[Play, ...]:
    """Every card played in this deal, in order."""
    when, by = reader.rows("played_when")[0], reader.rows("played_by")
    plays = []
    for card in sorted(np.flatnonzero(when), key=lambda c: int(when[c])):
        trick, order = divmod(int(when[card]) - 1, players)
        plays.append(Play(int(card), int(np.argmax(by[:, card])), trick, order))
    return tuple(plays)


def _kept(reader: _Reader, dealer: int, pile_left: int) -> tuple[tuple[bool, ...], ...]:
    """Keep (True) or take next (False) at each draw made so far: own, other."""
    draws = (52 - pile_left) // 2
    # The dealer draws first (R27), so she is ahead while the number of draws is odd.
    made = [draws - draws // 2 if seat == dealer else draws // 2 for seat in range(2)]
    return tuple(tuple(bool(k) for k in reader.rows("kept")[: made[seat], seat]) for seat in range(2))


def decode_flat(observation: npt.NDArray[Any]) -> Facts:
    """The facts of a flat observation, uint8 or float32 of shape (FLAT_SIZE,)."""
    reader = _Reader(bytes_of(observation, FLAT))
    rules = _rules(reader)
    players = rules.players
    seats = range(players)
    plays = _plays(reader, players)
    dealer = reader.index("dealer")
    draft = rules.deal == "draft"
    bids = [reader.index("bids", seat) for seat in seats]
    pile_left = reader.numbers("pile_left")[0]
    shown = reader.cards("shown")
    return Facts(
        rules=rules,
        phase=PHASE_NAMES[reader.index("phase")],
        turn=reader.one_hot("turn"),
        dealer=dealer,
        deal=reader.int32("deal"),
        hand=reader.cards("own_hand"),
        plays=plays,
        table=plays[len(plays) - reader.index("trick_len") :],
        voids=tuple(reader.cards("voids", seat) for seat in seats),
        bids=tuple(None if bid == 0 else bid - 1 for bid in bids),
        blind=tuple(bool(flag) for flag in reader.numbers("blind")[:players]),
        looked=tuple(bool(flag) for flag in reader.numbers("looked")[:players]),
        tricks=tuple(reader.index("tricks", seat) for seat in seats),
        need=(reader.index("need", 0), reader.index("need", 1)),
        bags_so_far=_pair(reader.numbers("bags_so_far")),
        led_suit=reader.one_hot("led_suit"),
        winning_seat=reader.one_hot("trick_best"),
        broken=bool(reader.numbers("broken")[0]),
        scores=(reader.int32("scores", 0), reader.int32("scores", 1)),
        bags=(reader.int32("bags", 0), reader.int32("bags", 1)),
        shown=shown[0] if shown else None,
        rejected=reader.cards("rejected"),
        thrown=reader.cards("thrown"),
        exchanged=_pair(reader.numbers("exchanged")),
        kept=_kept(reader, dealer, pile_left) if draft else (),
        pile_left=pile_left,
    )


_HIGHEST = {"kind": len(KIND_NAMES) - 1, "who": SEATS, "what": HIDDEN_CARD}


def _numbered(value: int) -> int | None:
    return value - 1 if value else None


def decode_tokens(observation: npt.NDArray[Any]) -> tuple[Token, ...]:
    """The tokens of a sequence, uint8 or float32 of shape (SEQUENCE_SIZE,), in order and without padding."""
    row = bytes_of(observation, SEQUENCE)
    columns = {name: row[SEQUENCE.block(name).slice] for name in (*_HIGHEST, "when", "trick", "order")}
    tokens = []
    for k in np.flatnonzero(row[SEQUENCE.block("token_mask").slice]):
        entry = {name: int(column[k]) for name, column in columns.items()}
        for name, highest in _HIGHEST.items():
            if not 1 <= entry[name] <= highest:
                raise ObservationError(f"block {name!r} has {entry[name]} in token {k}; allowed: 1 to {highest}")
        action = entry["what"] - 1
        tokens.append(
            Token(
                KIND_NAMES[entry["kind"]],
                entry["who"] - 1,
                action if action < NUM_ACTIONS else None,
                *(_numbered(entry[name]) for name in ("when", "trick", "order")),
            )
        )
    return tuple(tokens)


def decode_sequence(observation: npt.NDArray[Any]) -> Facts:
    """The facts of a sequence, uint8 or float32 of shape (SEQUENCE_SIZE,): those of the flat row of the same view."""
    row = bytes_of(observation, SEQUENCE)
    flat = np.zeros(FLAT_SIZE, np.uint8)
    for span in (TEAM_SPAN, TRICK_SPAN, LAST_SPAN):
        flat[span_slice(span)] = row[span_slice(span, SEQUENCE)]
    players = _Reader(flat).numbers("rules.players")[0]
    for token in decode_tokens(row):
        _mark(flat, token, players)
    return decode_flat(flat)


_OWN_BLOCKS = {"hand": "own_hand", "shown": "shown", "rejected": "rejected", "exchange": "thrown"}


def _mark(flat: Row, token: Token, players: int) -> None:
    """Set in a flat row what a token says about a card; what it says about bids stands in the context."""
    card = token.action
    if card is None or (token.kind == "exchange" and (token.seat != 0 or card >= NUM_CARDS)):
        return
    if token.kind in ("call", "bid", "draft"):
        return
    if card >= NUM_CARDS:
        raise ObservationError(f"block 'what' has action {card} in a token {token.kind!r}; allowed: a card")
    if token.kind != "play":
        flat[FLAT.offset(_OWN_BLOCKS[token.kind]) + card] = 1
        return
    if token.trick is None or token.order is None:
        raise ObservationError("blocks 'trick' and 'order' have 0 in a token 'play'; allowed: from 1 on")
    flat[FLAT.offset("played_by") + NUM_CARDS * token.seat + card] = 1
    flat[FLAT.offset("played_when") + card] = token.trick * players + token.order + 1


def _pair(numbers: tuple[int, ...]) -> tuple[int, int]:
    own, other = numbers
    return own, other
