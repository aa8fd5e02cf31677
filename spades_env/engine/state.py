"""The layout of everything the engine knows: ``RULES``, ``RESULT`` and ``STATE`` as aligned NumPy record dtypes.

One game is one ``STATE`` record (the rules are inside it), N games are an array, a checkpoint is its bytes. Lists of
four are by seat (0-3 clockwise), lists of two by team (seat % 2). Padding is explicit: field sizes sum to itemsize.
Small integers are signed, because Numba turns int(uint8) into uint64, which mixes with int64 to float64.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from spades_env.rules import Rules

StateArray = npt.NDArray[np.void]

# Phases: what the seat in `turn` decides next.
PHASE_BLIND: Final = 0
PHASE_BID: Final = 1
PHASE_PLAY: Final = 2
PHASE_DRAFT: Final = 3
PHASE_EXCHANGE: Final = 4
PHASE_DEAL_OVER: Final = 5
PHASE_MATCH_OVER: Final = 6
PHASE_NAMES: Final = ("blind", "bid", "play", "draft", "exchange", "deal over", "match over")

NONE: Final = -(2**31)
"""Stands for "none" in the integer rules `mercy` and `blind_nil_deficit`."""
NO_BID: Final = -1
HIDDEN: Final = -1
"""In `actions` and `pile` of a view: an entry that this seat may not know."""
MAX_ACTIONS: Final = 80
"""Most actions of one deal: 2 double nils + 26 draft choices + 2 x 13 exchanged cards + 26 plays."""

LEAD_BROKEN, LEAD_ANY, LEAD_ONLY_SPADES_LEFT = 0, 1, 2
FAILED_BAGS_ONLY, FAILED_HELP_PARTNER, FAILED_IGNORED = 0, 1, 2

Field = tuple[str, object, str]

RULES_FIELDS: Final[tuple[Field, ...]] = (
    ("target", "<i4", "score that ends the match (R24)"),
    ("mercy", "<i4", "score at or below which a team loses (R25); NONE: no mercy"),
    ("nil_value", "<i4", "points of a nil (R19)"),
    ("blind_nil_value", "<i4", "points of a blind or double nil (R19)"),
    ("blind_nil_deficit", "<i4", "points a team must be behind for blind nil (R10); NONE: always open"),
    ("bag_limit", "<i4", "bags that bring a penalty (R21); 0: no penalty"),
    ("bag_penalty", "<i4", "points taken per full bag_limit (R21)"),
    ("bag_points", "<i4", "points of each bag (R21)"),
    ("max_deals", "<i4", "deals after which the match is truncated (R26); 0: no limit"),
    ("players", "i1", "2 or 4"),
    ("draft", "i1", "1: hands are drafted (R27), 0: dealt (R6)"),
    ("step", "i1", "what is added to a seat, modulo `players`, to find the next one (R4)"),
    ("dealers_left", "i1", "1: first seat is the dealer's left whatever the direction (R4)"),
    ("nil_allowed", "i1", "1: a seat may bid nil (R8)"),
    ("blind_nil", "i1", "1: blind nil or double nil is offered (R10, R28)"),
    ("exchange", "i1", "most cards a double-nil bidder exchanges (R28)"),
    ("jokers", "i1", "1: 2 of hearts and diamonds are replaced by two jokers (R2)"),
    ("lead_spades", "i1", "0 broken, 1 any, 2 only_spades_left (R13)"),
    ("forced_lead_breaks", "i1", "1: a spade lead sets the broken flag (R14)"),
    ("failed_nil", "i1", "0 bags_only (R20), 1 help_partner, 2 ignored (R22)"),
    ("both_nil_unit", "i1", "1: two nils of a team are won or lost together"),
    ("individual", "i1", "1: each seat's bid is made or set by her own tricks"),
    ("bag_reset", "i1", "1: at most one penalty a deal, then no bags are left (R21)"),
    ("min_bid", "i1", "lowest ordinary bid (R8)"),
    ("max_team_bid", "i1", "highest sum of a team's ordinary bids (R8); 0: no cap"),
    ("low_club", "i1", "1: the first trick is led in clubs by rule (opening_lead)"),
    ("forbid_first_spades", "i1", "1: no spade in the first trick unless nothing else is held"),
    ("second_seen", "i1", "1: the card discarded after a keep is looked at (R27)"),
    ("suits", "i1", "suits in the deck, the highest kept"),
    ("ranks", "i1", "ranks in the deck, the highest kept"),
    ("hand_size", "i1", "cards of a hand, tricks of a deal, highest bid"),
    ("_pad", "(6,)i1", "zeros"),
)

RESULT_FIELDS: Final[tuple[Field, ...]] = (
    ("contract", "(2,)<i4", "points for contracts made and set (R18)"),
    ("nil", "(2,)<i4", "points for nils, blind and double nils (R19)"),
    ("bag_points", "(2,)<i4", "points for the bags of this deal (R21)"),
    ("penalty", "(2,)<i4", "points taken for full bag counts, 0 or negative (R21)"),
    ("bags", "(2,)<i4", "bags taken in this deal (R18, R20)"),
    ("boston", "i1", "team that took every trick (R16), else -1"),
    ("scored", "i1", "1 once a deal has been scored since the state was made"),
    ("_pad", "(6,)i1", "zeros"),
)

RULES: Final = np.dtype([(name, form) for name, form, _ in RULES_FIELDS])
RESULT: Final = np.dtype([(name, form) for name, form, _ in RESULT_FIELDS])

STATE_FIELDS: Final[tuple[Field, ...]] = (
    ("key", "<u8", "randomness of this game: a hash of (seed, game); 0 in a view"),
    ("hands", "(4,)<i8", "cards held by each seat, a bit per card id"),
    ("played", "(4,)<i8", "cards each seat has played in this deal"),
    ("discards", "<i8", "draft: face-down discards that an exchange may still draw (R28)"),
    ("rejected", "(2,)<i8", "draft: cards each seat looked at and discarded (R29)"),
    ("thrown", "(2,)<i8", "draft: cards each seat gave up in the exchange (R29)"),
    ("scores", "(2,)<i4", "match scores before this deal, after it once the deal is over"),
    ("bags", "(2,)<i4", "bag counts, likewise"),
    ("match", "<i4", "number of the match in this game, from 0"),
    ("deal", "<i4", "number of the deal in this match, from 0"),
    ("rules", RULES, "the rules in force"),
    ("result", RESULT, "itemised score of the deal scored last"),
    ("actions", f"({MAX_ACTIONS},)i1", "every action of this deal in order"),
    ("pile", "(52,)i1", "draft: the shuffled pile in drawing order"),
    ("leaders", "(14,)i1", "seat that led each trick of this deal so far"),
    ("bids", "(4,)i1", "bid of each seat, 0 any nil, NO_BID before it"),
    ("blind", "(4,)i1", "1: the bid is a blind or double nil"),
    ("looked", "(4,)i1", "1: the seat has seen her cards (R10)"),
    ("asked", "(2,)i1", "draft: 1: the seat has answered the double-nil question (R28)"),
    ("exchanged", "(2,)i1", "draft: cards each seat has given up so far"),
    ("tricks", "(4,)i1", "tricks taken by each seat"),
    ("voids", "(4,)i1", "bit s: the seat has shown by her plays that she holds no card of suit s (public)"),
    ("n_actions", "i1", "entries of `actions`"),
    ("first_play", "i1", "index in `actions` of the opening lead; 0 before it"),
    ("pile_pos", "i1", "draft: next card of the pile"),
    ("dealer", "i1", "dealer of this deal"),
    ("first", "i1", "seat that gets the first card, bids first and leads first (R5)"),
    ("turn", "i1", "seat to act"),
    ("phase", "i1", "one of the PHASE_ constants"),
    ("trick", "i1", "number of the trick in progress, from 0"),
    ("trick_len", "i1", "cards in the trick in progress"),
    ("broken", "i1", "1: spades are broken (R14)"),
    ("winner", "i1", "team that won the match, -1 while nobody has"),
    ("truncated", "i1", "1: the match ended at max_deals (R26)"),
    ("_pad", "(2,)i1", "zeros"),
)

STATE: Final = np.dtype([(name, form) for name, form, _ in STATE_FIELDS])

_LEADS: Final = {"broken": LEAD_BROKEN, "any": LEAD_ANY, "only_spades_left": LEAD_ONLY_SPADES_LEFT}
_FAILED: Final = {
    "bags_only": FAILED_BAGS_ONLY,
    "help_partner": FAILED_HELP_PARTNER,
    "ignored": FAILED_IGNORED,
}


def rules_to_record(rules: Rules) -> StateArray:
    """`rules` as one ``RULES`` record, shape (1,)."""
    record = np.zeros(1, RULES)
    values: dict[str, int] = {
        "target": rules.target,
        "mercy": NONE if rules.mercy is None else rules.mercy,
        "nil_value": rules.nil_value,
        "blind_nil_value": rules.blind_nil_value,
        "blind_nil_deficit": NONE if rules.blind_nil_deficit is None else rules.blind_nil_deficit,
        "bag_limit": rules.bag_limit,
        "bag_penalty": rules.bag_penalty,
        "bag_points": rules.bag_points,
        "max_deals": rules.max_deals or 0,
        "players": rules.players,
        "draft": rules.deal == "draft",
        "step": 1 if rules.turn_direction == "clockwise" else rules.players - 1,
        "dealers_left": rules.first_seat == "dealers_left",
        "nil_allowed": rules.nil_allowed,
        "blind_nil": rules.blind_nil,
        "exchange": rules.blind_nil_exchange,
        "jokers": rules.jokers,
        "lead_spades": _LEADS[rules.lead_spades],
        "forced_lead_breaks": rules.forced_lead_breaks,
        "failed_nil": _FAILED[rules.failed_nil],
        "both_nil_unit": rules.both_nil == "unit",
        "individual": rules.contract == "individual",
        "bag_reset": rules.bag_after == "reset",
        "min_bid": rules.min_bid,
        "max_team_bid": rules.max_team_bid or 0,
        "low_club": rules.opening_lead == "low_club",
        "forbid_first_spades": rules.first_trick_spades == "forbid",
        "second_seen": rules.draft_second_card_seen,
        "suits": rules.suits,
        "ranks": rules.ranks,
        "hand_size": rules.hand_size,
    }
    for name, value in values.items():
        record[name] = value
    return record


def _name(table: dict[str, int], value: int) -> str:
    return next(name for name, code in table.items() if code == value)


def rules_from_record(record: np.void) -> Rules:
    """The `Rules` that a ``RULES`` record stands for (inverse of `rules_to_record`)."""

    def optional(name: str, none: int) -> int | None:
        value = int(record[name])
        return None if value == none else value

    players = int(record["players"])
    return Rules.from_dict(
        {
            "players": players,
            "deal": "draft" if record["draft"] else "dealt",
            "target": int(record["target"]),
            "mercy": optional("mercy", NONE),
            "turn_direction": "clockwise" if int(record["step"]) == 1 else "counter_clockwise",
            "first_seat": "dealers_left" if record["dealers_left"] else "next",
            "nil_allowed": bool(record["nil_allowed"]),
            "nil_value": int(record["nil_value"]),
            "blind_nil": bool(record["blind_nil"]),
            "blind_nil_value": int(record["blind_nil_value"]),
            "blind_nil_deficit": optional("blind_nil_deficit", NONE),
            "blind_nil_exchange": int(record["exchange"]),
            "jokers": bool(record["jokers"]),
            "lead_spades": _name(_LEADS, int(record["lead_spades"])),
            "forced_lead_breaks": bool(record["forced_lead_breaks"]),
            "failed_nil": _name(_FAILED, int(record["failed_nil"])),
            "both_nil": "unit" if record["both_nil_unit"] else "independent",
            "contract": "individual" if record["individual"] else "team",
            "bag_limit": int(record["bag_limit"]),
            "bag_penalty": int(record["bag_penalty"]),
            "bag_points": int(record["bag_points"]),
            "bag_after": "reset" if record["bag_reset"] else "carry",
            "min_bid": int(record["min_bid"]),
            "max_team_bid": optional("max_team_bid", 0),
            "opening_lead": "low_club" if record["low_club"] else "any",
            "first_trick_spades": "forbid" if record["forbid_first_spades"] else "allow",
            "draft_second_card_seen": bool(record["second_seen"]),
            "max_deals": optional("max_deals", 0),
            "suits": int(record["suits"]),
            "ranks": int(record["ranks"]),
            "hand_size": int(record["hand_size"]),
        }
    )
