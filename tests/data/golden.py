"""Golden expectations: the rule text turned by hand into data, for the referee and the fast engine alike.

SCORING and POSITIONS come from the two files beside this one; here are the presets, what is refused, how
text is read, and the way back from a preset and its overrides to a full set of rules.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .golden_positions import POSITIONS, Position
from .golden_scoring import SCORING, ScoringCase

__all__ = [
    "ACCEPTED", "BAD_STARTS", "POSITIONS", "PRESETS", "REFUSED", "SCORING", "BadStart", "Position", "Refusal",
    "ScoringCase", "action_id", "card_id", "cards", "expected", "full_rules",
]  # fmt: skip

CLASSIC: dict[str, Any] = {
    "players": 4,
    "deal": "dealt",
    "target": 500,
    "mercy": None,
    "turn_direction": "clockwise",
    "first_seat": "next",
    "nil_allowed": True,
    "nil_value": 100,
    "blind_nil": False,
    "blind_nil_value": 200,
    "blind_nil_deficit": 100,
    "blind_nil_exchange": 0,
    "jokers": False,
    "lead_spades": "broken",
    "forced_lead_breaks": False,
    "failed_nil": "bags_only",
    "both_nil": "independent",
    "contract": "team",
    "bag_limit": 10,
    "bag_penalty": 100,
    "bag_points": 1,
    "bag_after": "carry",
    "min_bid": 1,
    "max_team_bid": None,
    "opening_lead": "any",
    "first_trick_spades": "allow",
    "draft_second_card_seen": False,
    "max_deals": None,
    "suits": 4,
    "ranks": 13,
    "hand_size": 13,
}
# The matrix of presets; where it has a dash or blind nil is off, the value has no effect.
PRESETS: dict[str, dict[str, Any]] = {
    "classic": CLASSIC,
    "table": CLASSIC | {"target": 300, "turn_direction": "counter_clockwise"},
    "modern": CLASSIC | {"mercy": -200, "blind_nil": True, "blind_nil_deficit": 100},
    "two_player": CLASSIC
    | {
        "players": 2,
        "deal": "draft",
        "blind_nil": True,
        "blind_nil_deficit": None,
        "blind_nil_exchange": 3,
        "forced_lead_breaks": True,
        "failed_nil": "ignored",
    },
}


def full_rules(preset: str, overrides: Mapping[str, Any]) -> dict[str, Any]:
    """Every field of the rules of a golden entry."""
    return {**PRESETS[preset], **overrides}


def card_id(text: str) -> int:
    """R3: the id of a card such as "TD" or "BJ"."""
    if text in ("LJ", "BJ"):
        return {"LJ": 52, "BJ": 53}[text]
    return 13 * "CDHS".index(text[1]) + "23456789TJQKA".index(text[0])


def cards(text: str) -> list[int]:
    """The ids of cards separated by blanks."""
    return [card_id(word) for word in text.split()]


def action_id(text: str) -> int:
    """The id of an action as the golden positions write it."""
    named = {"blind": 68, "look": 69, "keep": 70, "take": 71, "done": 72}
    if text in named:
        return named[text]
    return 54 + int(text[1:]) if text[0] == "b" else card_id(text)


@dataclass(frozen=True)
class Refusal:
    """Rules that must be refused; the message names one of `fields`."""

    id: str
    preset: str
    rules: Mapping[str, Any]
    fields: tuple[str, ...]


R = Refusal
SMALL = {"suits": 2, "ranks": 6, "hand_size": 3}
REFUSED = [
    R("two-player-counter", "two_player", {"turn_direction": "counter_clockwise"}, ("turn_direction",)),
    R("two-player-dealers-left", "two_player", {"first_seat": "dealers_left"}, ("first_seat",)),
    R("two-player-unit", "two_player", {"both_nil": "unit"}, ("both_nil",)),
    R("two-player-individual", "two_player", {"contract": "individual"}, ("contract",)),
    R("two-player-help", "two_player", {"failed_nil": "help_partner"}, ("failed_nil",)),
    R("two-player-cap", "two_player", {"max_team_bid": 10}, ("max_team_bid",)),
    R("two-dealt-exchange", "two_player", {"deal": "dealt"}, ("blind_nil_exchange",)),
    R("four-second-card", "classic", {"draft_second_card_seen": True}, ("draft_second_card_seen",)),
    R("four-exchange", "modern", {"blind_nil_exchange": 1}, ("blind_nil_exchange",)),
    R("four-draft", "classic", {"deal": "draft"}, ("deal", "players")),
    R("individual-help", "classic", {"contract": "individual", "failed_nil": "help_partner"},
      ("contract", "failed_nil")),
    R("individual-unit", "classic", {"contract": "individual", "both_nil": "unit"}, ("contract", "both_nil")),
    R("mercy-0", "classic", {"mercy": 0}, ("mercy",)),
    R("mercy-200", "modern", {"mercy": 200}, ("mercy",)),
    R("target-0", "classic", {"target": 0}, ("target",)),
    R("target-below", "classic", {"target": -500}, ("target",)),
    R("penalty-below-0", "classic", {"bag_penalty": -100}, ("bag_penalty",)),
    R("min-bid-0", "classic", {"min_bid": 0}, ("min_bid",)),
    R("min-bid-14", "classic", {"min_bid": 14}, ("min_bid",)),
    R("cap-1", "classic", {"max_team_bid": 1}, ("max_team_bid",)),
    R("cap-below-two-min-bids", "classic", {"max_team_bid": 7, "min_bid": 4}, ("max_team_bid", "min_bid")),
    R("blind-without-nil", "modern", {"nil_allowed": False}, ("blind_nil", "nil_allowed")),
    R("small-jokers", "classic", {**SMALL, "jokers": True}, ("jokers", "suits", "ranks", "hand_size")),
    R("small-draft", "two_player", {"hand_size": 12}, ("deal", "hand_size")),
    R("small-low-club", "classic", {"suits": 3, "hand_size": 9, "opening_lead": "low_club"},
      ("opening_lead", "suits")),
    R("too-few-cards", "classic", {"suits": 2}, ("hand_size", "suits")),
    R("unknown-value", "classic", {"lead_spades": "sometimes"}, ("lead_spades",)),
    R("unknown-field", "classic", {"spades_lead": "any"}, ("spades_lead",)),
]  # fmt: skip

# Jokers, mercy, `lead_spades`, both first-trick and the bag options work in `two_player`; and some limits.
ACCEPTED: list[tuple[str, dict[str, Any]]] = [
    *((preset, {}) for preset in PRESETS),
    ("two_player", {"jokers": True}),
    ("two_player", {"mercy": -200}),
    ("two_player", {"lead_spades": "only_spades_left"}),
    ("two_player", {"opening_lead": "low_club", "first_trick_spades": "forbid"}),
    ("two_player", {"bag_limit": 0, "bag_penalty": 0, "bag_points": 0, "bag_after": "reset"}),
    ("two_player", {"failed_nil": "bags_only", "draft_second_card_seen": True}),
    ("classic", {"max_team_bid": 8, "min_bid": 4}),
    ("classic", {"min_bid": 13}),
    ("classic", SMALL),
]


@dataclass(frozen=True)
class BadStart:
    """A deal that cannot begin; the message contains `names`."""

    id: str
    names: str
    hands: tuple[str, ...] | None = ("2C", "3C", "4C", "5C")
    pile: str | None = None
    preset: str = "classic"
    rules: Mapping[str, Any] = field(default_factory=lambda: {"hand_size": 1})
    dealer: int = 0
    bags: tuple[int, int] = (0, 0)


DECK = " ".join(rank + suit for suit in "CDHS" for rank in "23456789TJQKA")
SUITS = [" ".join(rank + suit for rank in "23456789TJQKA") for suit in "CDHS"]
JOKERS = {"jokers": True}
BAD_STARTS = [
    BadStart("three-hands", "hands", ("2C", "3C", "4C")),
    BadStart("no-hands", "hands", None),
    BadStart("short-hand", "hand", ("2C", "3C", "4C", "")),
    BadStart("long-hand", "hand", ("2C", "3C", "4C", "5C 6C")),
    BadStart("twice-in-two-hands", "hands", ("2C", "3C", "4C", "2C")),
    BadStart("twice-in-one-hand", "hand", ("2C 2C", "3C 4C", "5C 6C", "7C 8C"), rules={"hand_size": 2}),
    BadStart("not-in-the-small-deck", "hand", ("QH", "KH", "AH", "AC"),
             rules={"suits": 2, "ranks": 3, "hand_size": 1}),
    BadStart("rank-not-in-the-small-deck", "hand", ("QH", "KH", "AH", "2S"),
             rules={"suits": 2, "ranks": 3, "hand_size": 1}),
    BadStart("R2-joker-without-jokers", "hand", ("2C", "3C", "4C", "BJ")),
    BadStart("R2-two-of-hearts-with-jokers", "hand", tuple(SUITS), rules=JOKERS),
    BadStart("pile-for-dealt", "pile", pile=DECK),
    BadStart("draft-without-pile", "pile", None, preset="two_player", rules={}),
    BadStart("draft-with-hands", "pile", ("2C", "3C"), pile=DECK, preset="two_player", rules={}),
    BadStart("draft-51-cards", "pile", None, pile=DECK[:-3], preset="two_player", rules={}),
    BadStart("draft-card-twice", "pile", None, pile=DECK[:-2] + "2C", preset="two_player", rules={}),
    BadStart("draft-jokers-need-their-pack", "pile", None, pile=DECK, preset="two_player", rules=JOKERS),
    BadStart("R6-bags-at-the-limit", "bags", bags=(0, 10)),
    BadStart("bags-below-0", "bags", bags=(-1, 0)),
    BadStart("dealer-4", "dealer", dealer=4),
    BadStart("two-player-dealer-2", "dealer", None, pile=DECK, preset="two_player", rules={}, dealer=2),
]  # fmt: skip


def expected(key: str, value: Any) -> Any:
    """A position's expectation as sets, tuples and ids, to be compared with what a program says."""
    if key in ("legal", "discards"):
        return {action_id(word) for word in value.split()}
    if key in ("hands", "rejected", "thrown"):
        return tuple(set(cards(text)) for text in value)
    if key == "shown":
        return tuple(None if text is None else card_id(text) for text in value)
    return cards(value) if key == "trick" else value
