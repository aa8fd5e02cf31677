"""From an observation back to facts: `decode_flat` gives a dataclass, `explain` text.

Seats here are relative (0 = the observer, then in turn order), pairs are (own team, other team).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from spades_env.actions import action_text
from spades_env.cards import SUIT_NAMES, card_text
from spades_env.engine.state import PHASE_NAMES, RULES, rules_from_record
from spades_env.observation.blocks import FLAT, FLAT_SCALES, FLAT_SIZE
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
class Facts:
    """What a flat observation says; None: does not apply, or not yet.

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


def _bytes_of(observation: npt.NDArray[Any]) -> Row:
    """The byte row of a uint8 or float32 observation, or an error that says what is wrong with it."""
    row = np.asarray(observation)
    if row.shape != (FLAT_SIZE,) or row.dtype not in (np.uint8, np.float32):
        raise ObservationError(
            f"observation has shape {row.shape} and dtype {row.dtype}; allowed: shape ({FLAT_SIZE},), uint8 or float32"
        )
    if row.dtype == np.uint8:
        return row
    whole = np.rint(row / FLAT_SCALES)
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
    reader = _Reader(_bytes_of(observation))
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


def _pair(numbers: tuple[int, ...]) -> tuple[int, int]:
    own, other = numbers
    return own, other


_SEAT_NAMES: Final = {2: ("you", "opponent"), 4: ("you", "next", "partner", "previous")}


def explain(observation: npt.NDArray[Any] | Mapping[str, npt.NDArray[Any]]) -> str:
    """What a flat observation, or a mapping with "observation" and perhaps "action_mask", says in words."""
    mask: npt.NDArray[Any] | None = None
    if isinstance(observation, Mapping):
        if "observation" not in observation:
            keys = ", ".join(map(repr, observation))
            raise ObservationError(f"mapping has keys {keys}; allowed: 'observation' and 'action_mask'")
        mask = observation.get("action_mask")
        observation = observation["observation"]
    facts = decode_flat(observation)
    lines = [*_match_lines(facts), *_seat_lines(facts), *_card_lines(facts)]
    if mask is not None:
        legal = ", ".join(action_text(int(action)) for action in np.flatnonzero(mask))
        lines.append(f"legal: {legal or 'nothing'}")
    return "\n".join(lines)


def _cards(cards: tuple[int, ...]) -> str:
    return " ".join(card_text(card) for card in sorted(cards, reverse=True)) or "none"


def _match_lines(facts: Facts) -> list[str]:
    rules, names = facts.rules, _SEAT_NAMES[facts.rules.players]
    turn = "nobody" if facts.turn is None else names[facts.turn]
    limit = "" if rules.mercy is None else f", mercy {rules.mercy}"
    return [
        f"rules: {rules.replace(max_deals=None).preset_name or 'custom'}, target {rules.target}{limit}",
        f"deal {facts.deal + 1}, phase: {facts.phase}, to act: {turn}, dealer: {names[facts.dealer]}",
        *(
            f"{side}: score {facts.scores[k]}, bags {facts.bags[k]}; "
            f"in this deal: tricks still needed {facts.need[k]}, bags so far {facts.bags_so_far[k]}"
            for k, side in enumerate(("own team", "other team"))
        ),
    ]


def _bid_text(bid: int | None, blind: bool, looked: bool) -> str:
    if bid is None:
        return "no bid yet" if looked else "no bid yet, has not looked"
    if bid == 0:
        return "blind nil" if blind else "nil"
    return f"bid {bid}"


def _seat_lines(facts: Facts) -> list[str]:
    lines = []
    for seat, name in enumerate(_SEAT_NAMES[facts.rules.players]):
        bid = _bid_text(facts.bids[seat], facts.blind[seat], facts.looked[seat])
        voids = ", ".join(SUIT_NAMES[suit] for suit in facts.voids[seat])
        played = " ".join(card_text(play.card) for play in facts.plays if play.seat == seat)
        lines.append(
            f"{name}: {bid}, tricks {facts.tricks[seat]}"
            + (f", void in {voids}" if voids else "")
            + (f", played {played}" if played else "")
        )
    return lines


def _card_lines(facts: Facts) -> list[str]:
    names = _SEAT_NAMES[facts.rules.players]
    lines = [f"spades {'are' if facts.broken else 'not'} broken", f"your hand: {_cards(facts.hand)}"]
    if facts.table:
        table = ", ".join(f"{names[play.seat]} {card_text(play.card)}" for play in facts.table)
        lines.append(f"trick {facts.table[0].trick + 1}: {table}")
    if facts.winning_seat is not None:
        lines.append(f"winning it: {names[facts.winning_seat]}")
    if facts.rules.deal == "draft":
        lines.append(
            f"draft: {facts.pile_left} cards left, rejected {_cards(facts.rejected)}, "
            f"thrown {_cards(facts.thrown)}, exchanged {facts.exchanged[0]}, opponent {facts.exchanged[1]}"
        )
    if facts.shown is not None:
        lines.append(f"card shown: {card_text(facts.shown)}")
    return lines
