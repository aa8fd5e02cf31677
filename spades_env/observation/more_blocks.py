"""The layouts of the encoders `sequence` and `features`, as data; most of their context are blocks of the flat one."""

from __future__ import annotations

from typing import Final

from spades_env.actions import NUM_ACTIONS
from spades_env.engine.state import MAX_ACTIONS
from spades_env.observation.blocks import FLAT, SEATS, TEAMS, Encoding, Layout, Row, lay_out

TOKENS: Final = MAX_ACTIONS + 13
"""Most tokens there can be: after a draft every action, the cards rejected, and no card left in the hand.

Before, a card she still holds stands for at least two actions of later tricks.
"""

KIND_HAND, KIND_SHOWN, KIND_REJECTED = 1, 2, 3
KIND_CALL, KIND_BID, KIND_DRAFT, KIND_EXCHANGE, KIND_PLAY = 4, 5, 6, 7, 8
KIND_NAMES: Final = ("padding", "hand", "shown", "rejected", "call", "bid", "draft", "exchange", "play")
HIDDEN_CARD: Final = NUM_ACTIONS + 1
"""Entry of `what` for a card that the other seat gave up (R29); action a is a + 1."""

# What is copied from a flat row: from the first of two blocks up to, not including, the second.
Span = tuple[str, str]
TEAM_SPAN: Final[Span] = ("voids", "boss")
TRICK_SPAN: Final[Span] = ("led_suit", "shown")
LAST_SPAN: Final[Span] = ("exchanged", "")
"""To the end: the draft's counts and the rules."""


def span_slice(span: Span, layout: Layout = FLAT) -> slice:
    """Where the blocks of `span` lie in the flat layout, or in another that has them in one piece."""
    names = [block.name for block in FLAT.blocks]
    last = names[names.index(span[1]) - 1] if span[1] else names[-1]
    return slice(layout.offset(span[0]), layout.block(last).slice.stop)


def _copied(span: Span) -> tuple[Row, ...]:
    """The rows of the flat blocks of `span`."""
    where = span_slice(span)
    return tuple(
        (b.name, b.rows, b.width, b.encoding, b.scale, b.meaning)
        for b in FLAT.blocks
        if where.start <= b.offset < where.stop
    )


def _column(name: str, encoding: Encoding, highest: int, meaning: str) -> Row:
    """A number for every token."""
    return (name, 1, TOKENS, encoding, 1 / highest, meaning)


SEQUENCE: Final = lay_out(
    (
        _column("token_mask", "bits", 1, "1: a token, 0: padding behind the last token"),
        _column("kind", "id", 8, ", ".join(f"{k} {name}" for k, name in enumerate(KIND_NAMES))),
        _column("who", "id", SEATS, "relative seat + 1: whose card or action it is"),
        _column("what", "id", HIDDEN_CARD, f"action or card + 1; {HIDDEN_CARD}: a card given up that she may not know"),
        _column("when", "id", MAX_ACTIONS, "k + 1 for action k of this deal (k from 0); 0: no action"),
        _column("trick", "id", 13, "play: number of the trick, from 1"),
        _column("order", "id", SEATS, "play: as which card of the trick, from 1"),
        *_copied(TEAM_SPAN),
        *_copied(TRICK_SPAN),
        *_copied(LAST_SPAN),
    )
)
"""Everything known as tokens, and as context what the match and the rules say; it holds the facts of the flat row."""

HONOURS: Final = 4
TOP_RANK: Final = 15
MOST_PERCENT: Final = 255
MOST_BAGS_LEFT: Final = 255

VOIDS_SPAN: Final[Span] = ("voids", "bids")
CALLS_SPAN: Final[Span] = ("blind", "tricks")
NILS_SPAN: Final[Span] = ("bags_so_far", "boss")
TABLE_SPAN: Final[Span] = ("led_suit", "scores")
DEALS_SPAN: Final[Span] = ("deals_left", "shown")
EXCHANGED_SPAN: Final[Span] = ("exchanged", "kept")
PILE_SPAN: Final[Span] = ("pile_left", "rules.target")

FEATURES: Final = lay_out(
    (
        ("suit_lengths", 1, 4, "count", 1 / 13, "own cards of each suit: clubs, diamonds, hearts, spades"),
        ("honours", HONOURS, 4, "bits", 1, "own ace, king, queen, jack (rows) of each suit"),
        ("jokers_held", 1, 2, "bits", 1, "own little joker, big joker"),
        ("highest", 1, 4, "count", 1 / TOP_RANK, "own highest rank: 1 two ... 13 ace, 14, 15 jokers; 0: void"),
        ("lowest", 1, 4, "count", 1 / TOP_RANK, "own lowest rank, likewise"),
        (
            "sure_tricks",
            1,
            4,
            "count",
            1 / 13,
            "own cards that no card still out can beat within their suit; in a side suit tricks unless ruffed",
        ),
        ("outside", 1, 4, "count", 1 / 15, "cards of each suit that others may still hold, as far as she knows"),
        ("winning_cards", 1, 1, "count", 1 / 13, "own legal cards that would win the trick as it lies"),
        *_copied(VOIDS_SPAN),
        ("bid_counts", SEATS, 1, "count", 1 / 14, "0 not yet, 1 nil (blind or not), n + 1: a bid of n"),
        *_copied(CALLS_SPAN),
        ("trick_counts", SEATS, 1, "count", 1 / 13, "tricks taken"),
        ("needs", TEAMS, 1, "count", 1 / 26, "tricks still wanted for the ordinary bids (R17, R20)"),
        *_copied(NILS_SPAN),
        *_copied(TABLE_SPAN),
        (
            "score_percent",
            TEAMS,
            1,
            "count",
            1 / MOST_PERCENT,
            f"100 + score in per cent of target, rounded down; 0: or less, {MOST_PERCENT}: or more",
        ),
        (
            "bags_left",
            TEAMS,
            1,
            "count",
            1 / MOST_BAGS_LEFT,
            f"bags to the next penalty; 0: no limit, {MOST_BAGS_LEFT}: or more",
        ),
        *_copied(DEALS_SPAN),
        ("shown_suit", 1, 4, "one-hot", 1, "draft: suit of the card she is deciding about (R27)"),
        ("shown_rank", 1, 1, "count", 1 / TOP_RANK, "draft: its rank, as in `highest`; 0: none"),
        ("rejected_lengths", 1, 4, "count", 1 / 13, "draft: cards of each suit that she looked at and discarded (R29)"),
        *_copied(EXCHANGED_SPAN),
        *_copied(PILE_SPAN),
        ("players", 1, 1, "count", 1 / 4, "2 or 4"),
        ("hand_size", 1, 1, "count", 1 / 13, "cards of a hand, tricks of a deal"),
    )
)
"""Few numbers, for small models and for people; not everything known, and of the rules next to nothing."""

SEQUENCE_SIZE: Final = SEQUENCE.size
FEATURES_SIZE: Final = FEATURES.size
SEQUENCE_SCALES: Final = SEQUENCE.scales
FEATURES_SCALES: Final = FEATURES.scales
