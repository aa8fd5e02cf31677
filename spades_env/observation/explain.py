"""What an observation says, in words: `explain` takes a row of any encoder of a view, and knows it by its length."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from spades_env.actions import action_text
from spades_env.cards import RANKS, SUIT_NAMES, card_text
from spades_env.engine.state import PHASE_NAMES
from spades_env.observation.blocks import FLAT_SIZE, SEATS, TEAMS, Block
from spades_env.observation.decode import (
    Facts,
    ObservationError,
    Token,
    bytes_of,
    decode_flat,
    decode_sequence,
    decode_tokens,
)
from spades_env.observation.more_blocks import FEATURES, FEATURES_SIZE, SEQUENCE_SIZE

_SEAT_NAMES: Final = {2: ("you", "opponent"), 4: ("you", "next", "partner", "previous")}


def explain(observation: npt.NDArray[Any] | Mapping[str, npt.NDArray[Any]]) -> str:
    """What a row of "flat", "sequence" or "features" says, or a mapping with it and perhaps "action_mask"."""
    mask: npt.NDArray[Any] | None = None
    if isinstance(observation, Mapping):
        if "observation" not in observation:
            keys = ", ".join(map(repr, observation))
            raise ObservationError(f"mapping has keys {keys}; allowed: 'observation' and 'action_mask'")
        mask = observation.get("action_mask")
        observation = observation["observation"]
    lines = _lines(np.asarray(observation))
    if mask is not None:
        legal = ", ".join(action_text(int(action)) for action in np.flatnonzero(mask))
        lines.append(f"legal: {legal or 'nothing'}")
    return "\n".join(lines)


def _lines(row: npt.NDArray[Any]) -> list[str]:
    """The lines of a row, by its length."""
    if row.shape == (FEATURES_SIZE,):
        return _feature_lines(row)
    if row.shape == (SEQUENCE_SIZE,):
        facts = decode_sequence(row)
        return [*_fact_lines(facts), *_history_lines(facts, decode_tokens(row))]
    if row.shape != (FLAT_SIZE,):
        allowed = f"({FLAT_SIZE},), ({SEQUENCE_SIZE},) or ({FEATURES_SIZE},)"
        raise ObservationError(f"observation has shape {row.shape}; allowed: {allowed}")
    return _fact_lines(decode_flat(row))


def _fact_lines(facts: Facts) -> list[str]:
    return [*_match_lines(facts), *_seat_lines(facts), *_card_lines(facts)]


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


def _history_lines(facts: Facts, tokens: tuple[Token, ...]) -> list[str]:
    """The actions of the deal in order; "?" for a card that the other gave up."""
    names = _SEAT_NAMES[facts.rules.players]
    actions = [
        f"{names[token.seat]} {'?' if token.action is None else action_text(token.action)}"
        for token in tokens
        if token.when is not None
    ]
    return [f"history: {', '.join(actions) or 'nothing'}"]


def _feature_lines(observation: npt.NDArray[Any]) -> list[str]:
    """A line for every block of the features that has something to say."""
    row = bytes_of(observation, FEATURES)
    players = int(row[FEATURES.offset("players")])
    if players not in _SEAT_NAMES:
        raise ObservationError(f"block 'players' has {players}; allowed: 2 or 4")
    texts = ((block.name, _values_text(block, row, players)) for block in FEATURES.blocks)
    return [f"{name}: {text}" for name, text in texts if text]


_RANK_NAMES: Final = ("", *RANKS, "little joker", "big joker")
_COLUMN_NAMES: Final[dict[str, tuple[str, ...]]] = {
    "jokers_held": ("little", "big"),
    "phase": PHASE_NAMES,
    "trick_len": ("0", "1", "2", "3"),
}


def _values_text(block: Block, row: npt.NDArray[np.uint8], players: int) -> str:
    """The entries of a block that are not 0, with the names of their rows and columns."""
    values = row[block.slice].reshape(block.rows, block.width)
    rows, columns = _row_names(block, players), _column_names(block, players)
    told = []
    # A score has no 0 that says nothing.
    for r, c in np.argwhere((values > 0) | (block.name == "score_percent")).tolist():
        place = " ".join(filter(None, (rows[r], columns[c])))
        number = "" if block.encoding in ("bits", "one-hot") and place else _number_text(block.name, int(values[r, c]))
        told.append(" ".join(filter(None, (place, number))))
    return ", ".join(told)


def _number_text(name: str, value: int) -> str:
    """What `value` stands for in the block called `name`."""
    if name in ("highest", "lowest", "shown_rank"):
        return _RANK_NAMES[value] if value < len(_RANK_NAMES) else str(value)
    if name == "bid_counts":
        return "nil" if value == 1 else str(value - 1)
    if name == "score_percent":
        return f"{value - 100} %"
    return str(value)


def _row_names(block: Block, players: int) -> tuple[str, ...]:
    if block.name == "honours":
        return ("ace", "king", "queen", "jack")
    return {1: ("",), TEAMS: ("own team", "other team"), SEATS: _seat_names(players)}[block.rows]


def _column_names(block: Block, players: int) -> tuple[str, ...]:
    if block.columns == "suits":
        return SUIT_NAMES
    if block.width == 1:
        return ("",)
    return _COLUMN_NAMES.get(block.name, _seat_names(players))


def _seat_names(players: int) -> tuple[str, ...]:
    """A name for every relative seat there is room for."""
    return (*_SEAT_NAMES[players], "seat 2", "seat 3")[:SEATS]
