"""The layout of the observations as data: named blocks, from which sizes, scales and docs are derived.

An observation is a row of bytes; its float32 form is byte * scale. Whoever changes a name, a place or a
meaning raises `OBSERVATION_VERSION`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
import numpy.typing as npt

from spades_env.cards import NUM_CARDS
from spades_env.engine.state import PHASE_NAMES, RULES_FIELDS

OBSERVATION_VERSION: Final = 1

Encoding = Literal["bits", "one-hot", "thermometer", "count", "int32", "id"]
ENCODINGS: Final[dict[Encoding, str]] = {
    "bits": "1 = true, any number of them",
    "one-hot": "at most one 1 in a row; no 1: does not apply",
    "thermometer": "1 for every step reached",
    "count": "the number itself",
    "int32": "four bytes, highest first, of value + 2**31; exact",
    "id": "number of a thing, for a table of embeddings; 0: does not apply",
}

SEATS: Final = 4
TEAMS: Final = 2
BIDS: Final = 15
TRICK_COUNTS: Final = 14
NEEDS: Final = 27
SCORE_STEPS: Final = 16
FIRST_SCORE_STEP: Final = -5
"""Step k of `score_steps` stands for a score of at least (k + FIRST_SCORE_STEP) tenths of the target."""
PENALTY_STEPS: Final = 11
DRAWS: Final = 13
MOST_DEALS_LEFT: Final = 255

SUIT_BLOCKS: Final = frozenset(
    {"voids", "led_suit", "suit_lengths", "honours", "highest", "lowest", "sure_tricks", "outside"}
    | {"shown_suit", "rejected_lengths"}
)
"""Blocks of any layout whose columns are the four suits."""


@dataclass(frozen=True)
class Block:
    """One named part of an observation: `rows` x `width` entries from `offset` on, row after row."""

    name: str
    offset: int
    rows: int
    width: int
    encoding: Encoding
    scale: float
    meaning: str

    @property
    def length(self) -> int:
        """Number of entries."""
        return self.rows * self.width

    @property
    def slice(self) -> slice:
        """Where the block lies in a row."""
        return slice(self.offset, self.offset + self.length)

    @property
    def columns(self) -> Literal["cards", "suits", "other"]:
        """What the columns stand for, which decides what becomes of them when suits change names."""
        if self.width == NUM_CARDS:
            return "cards"
        return "suits" if self.name in SUIT_BLOCKS else "other"


class Layout:
    """An ordered table of blocks. `scales` is float32 of shape (size,): what a byte is multiplied with."""

    def __init__(self, blocks: tuple[Block, ...]) -> None:
        self.blocks: Final = blocks
        self.size: Final = blocks[-1].slice.stop
        self.scales: Final[npt.NDArray[np.float32]] = np.concatenate(
            [np.full(b.length, b.scale, np.float32) for b in blocks]
        )
        self._by_name = {block.name: block for block in blocks}

    def block(self, name: str) -> Block:
        """The block called `name`; `layout.block("own_hand").slice` cuts it out of a row."""
        if name not in self._by_name:
            raise KeyError(f"block {name!r} does not exist; allowed: {', '.join(self._by_name)}")
        return self._by_name[name]

    def offset(self, name: str) -> int:
        """Index of the first entry of the block called `name`."""
        return self.block(name).offset

    def describe(self, index: int) -> str:
        """What entry `index` is, such as "tricks[2][5]" (row and column from 0)."""
        if not 0 <= index < self.size:
            raise IndexError(f"entry {index} does not exist; allowed: 0 to {self.size - 1}")
        block = next(b for b in self.blocks if index < b.slice.stop)
        row, column = divmod(index - block.offset, block.width)
        return f"{block.name}[{row}][{column}]" if block.rows > 1 else f"{block.name}[{column}]"


Row = tuple[str, int, int, Encoding, float, str]
"""Name, rows, width, encoding, scale and meaning of a block."""

_GAME_BLOCKS: Final[tuple[Row, ...]] = (
    ("own_hand", 1, NUM_CARDS, "bits", 1, "cards she holds; none before she has looked (R10)"),
    ("played_by", SEATS, NUM_CARDS, "bits", 1, "cards each seat has played in this deal"),
    (
        "played_when",
        1,
        NUM_CARDS,
        "count",
        1 / 52,
        "k + 1 for the k-th card played in this deal (k from 0): trick k // players, order k % players",
    ),
    ("table", SEATS - 1, NUM_CARDS, "bits", 1, "card of the trick in progress from relative seats 1, 2, 3"),
    (
        "voids",
        SEATS,
        4,
        "bits",
        1,
        "own row: suits she does not hold, once she has looked; others: suits their plays have shown void",
    ),
    ("bids", SEATS, BIDS, "one-hot", 1, "not yet, nil (blind or not), 1 ... 13"),
    ("blind", SEATS, 1, "bits", 1, "the bid is a blind or double nil"),
    ("looked", SEATS, 1, "bits", 1, "the seat has seen her cards (R10)"),
    ("tricks", SEATS, TRICK_COUNTS, "one-hot", 1, "tricks taken, 0 ... 13"),
    ("need", TEAMS, NEEDS, "one-hot", 1, "tricks still wanted for the ordinary bids, 0 ... 26 (R17, R20)"),
    ("bags_so_far", TEAMS, 1, "count", 1 / 13, "bags of this deal if it ended now (R18, R20)"),
    ("nil_alive", SEATS, 1, "bits", 1, "bid any nil and has taken no trick"),
    ("nil_failed", SEATS, 1, "bits", 1, "bid any nil and has taken a trick"),
    ("boss", 1, NUM_CARDS, "bits", 1, "own cards that no card still out can beat within their suit"),
    (
        "winning",
        1,
        NUM_CARDS,
        "bits",
        1,
        "own legal cards that would win the trick as it lies; none on lead or off turn",
    ),
    ("led_suit", 1, 4, "one-hot", 1, "suit to follow: clubs, diamonds, hearts, spades; none on lead"),
    ("trick_best", 1, SEATS, "one-hot", 1, "relative seat that wins the trick in progress as it lies"),
    ("trick_len", 1, SEATS, "one-hot", 1, "cards in the trick in progress, 0 ... 3"),
    ("tricks_left", 1, 1, "count", 1 / 13, "tricks not yet complete"),
    ("broken", 1, 1, "bits", 1, "spades are broken (R14)"),
    ("phase", 1, len(PHASE_NAMES), "one-hot", 1, "what is decided next: " + ", ".join(PHASE_NAMES)),
    ("turn", 1, SEATS, "one-hot", 1, "relative seat to act; none once the deal is over"),
    ("dealer", 1, SEATS, "one-hot", 1, "relative seat of the dealer"),
    ("scores", TEAMS, 4, "int32", 1 / 255, "match score before this deal, after it once it is over"),
    (
        "score_steps",
        TEAMS,
        SCORE_STEPS,
        "thermometer",
        1,
        "score is at least -50 %, -40 % ... 100 % of target",
    ),
    ("bags", TEAMS, 4, "int32", 1 / 255, "bag count before this deal, after it once it is over"),
    (
        "bags_to_penalty",
        TEAMS,
        PENALTY_STEPS,
        "one-hot",
        1,
        "bags to the next penalty: 1 ... 10, more; none: no limit",
    ),
    ("deal", 1, 4, "int32", 1 / 255, "number of the deal in the match, from 0"),
    ("deals_left", 1, 1, "count", 1 / 255, "deals to `max_deals`, this one too; 255: more, or no limit"),
)

_DRAFT_BLOCKS: Final[tuple[Row, ...]] = (
    ("shown", 1, NUM_CARDS, "bits", 1, "draft: the card she is deciding about (R27)"),
    ("rejected", 1, NUM_CARDS, "bits", 1, "draft: cards she looked at and discarded (R29)"),
    ("thrown", 1, NUM_CARDS, "bits", 1, "draft: cards she gave up in the exchange (R29)"),
    ("exchanged", TEAMS, 1, "count", 1 / 13, "draft: how many cards she and the other have given up"),
    ("kept", DRAWS, TEAMS, "bits", 1, "draft: whether she, the other kept the card shown at each draw"),
    ("pile_left", 1, 1, "count", 1 / 52, "draft: cards of the pile not yet drawn"),
)

_RULE_ENCODINGS: Final[dict[str, tuple[int, Encoding, float]]] = {
    "target": (4, "int32", 1 / 255),
    "mercy": (4, "int32", 1 / 255),
    "nil_value": (4, "int32", 1 / 255),
    "blind_nil_value": (4, "int32", 1 / 255),
    "blind_nil_deficit": (4, "int32", 1 / 255),
    "bag_limit": (4, "int32", 1 / 255),
    "bag_penalty": (4, "int32", 1 / 255),
    "bag_points": (4, "int32", 1 / 255),
    "max_deals": (4, "int32", 1 / 255),
    "players": (1, "count", 1 / 4),
    "step": (1, "count", 1 / 3),
    "exchange": (1, "count", 1 / 13),
    "lead_spades": (3, "one-hot", 1),
    "failed_nil": (3, "one-hot", 1),
    "min_bid": (1, "count", 1 / 13),
    "max_team_bid": (1, "count", 1 / 26),
    "suits": (1, "count", 1 / 4),
    "ranks": (1, "count", 1 / 13),
    "hand_size": (1, "count", 1 / 13),
}
"""Fields of ``RULES`` that are not flags: width, encoding and scale."""


def _rules_blocks() -> tuple[Row, ...]:
    """A block for every field of ``RULES``, in its order, so that no rule can be forgotten here."""
    rows: list[Row] = []
    for name, _, meaning in RULES_FIELDS:
        if name != "_pad":
            width, encoding, scale = _RULE_ENCODINGS.get(name, (1, "bits", 1))
            rows.append((f"rules.{name}", 1, width, encoding, scale, meaning))
    return tuple(rows)


_STATE_BLOCKS: Final[tuple[Row, ...]] = (
    ("hands", SEATS, NUM_CARDS, "bits", 1, "cards each seat holds, also those she has not looked at"),
    ("pile", 1, NUM_CARDS, "count", 1 / 52, "draft: k for the k-th card of the pile still to be drawn"),
    ("discards", 1, NUM_CARDS, "bits", 1, "draft: face-down discards that an exchange may still draw"),
    ("other_rejected", 1, NUM_CARDS, "bits", 1, "draft: cards the other seat looked at and discarded"),
    ("other_thrown", 1, NUM_CARDS, "bits", 1, "draft: cards the other seat gave up in the exchange"),
)


def lay_out(rows: tuple[Row, ...]) -> Layout:
    """Blocks one after another, without gaps."""
    blocks: list[Block] = []
    offset = 0
    for name, count, width, encoding, scale, meaning in rows:
        blocks.append(Block(name, offset, count, width, encoding, scale, meaning))
        offset += count * width
    return Layout(tuple(blocks))


_FLAT_ROWS: Final = _GAME_BLOCKS + _DRAFT_BLOCKS + _rules_blocks()

FLAT: Final = lay_out(_FLAT_ROWS)
"""What one seat knows, seat-relative; the same for all rule sets."""
STATE_LAYOUT: Final = lay_out(_FLAT_ROWS + _STATE_BLOCKS)
"""Perfect information: the flat observation of a reference seat and everything hidden from her."""

FLAT_SIZE: Final = FLAT.size
STATE_SIZE: Final = STATE_LAYOUT.size
GAME_SIZE: Final = FLAT.offset("shown")
"""Length of the prefix that is enough where the rules are fixed and nothing is drafted."""
RULES_OFFSET: Final = FLAT.offset("rules.target")
"""Length of the prefix that is enough where the rules are fixed."""

FLAT_SCALES: Final[npt.NDArray[np.float32]] = FLAT.scales
STATE_SCALES: Final[npt.NDArray[np.float32]] = STATE_LAYOUT.scales


def block(name: str) -> Block:
    """The block of the flat observation called `name`."""
    return FLAT.block(name)
