"""Golden positions: cards, decisions so far, and what then holds, each worked out by hand from the rule text.

Data only: the referee and the fast engine are held to the same entries. The id names the paragraph. Most
positions are deals of one to six cards each (`hand_size`), which the rules allow for exact work.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Position:
    """One deal up to a decision.

    Cards are text ("TD", "LJ"). Actions are cards, "b0" (nil) to "b13", "blind" (double nil), "look" (also:
    draw without double nil), "keep", "take" (the next card instead), "done". Keys of `expect`, any of them:
      phase, to_act, broken, next_dealer, boston, winner, truncated, match_over, discards_left (a count);
      last_winner (of the last complete trick); legal, discards (cards or actions as one text);
      tricks, bids, blind, hands, sees (has looked at her cards), shown, rejected, thrown: by seat;
      trick (cards played to the trick in progress, in order); items, scores, bags: by team,
      as in ScoringCase.
    """

    id: str
    hands: tuple[str, ...]  # by seat; () for a draft
    dealer: int
    actions: str  # so far
    expect: Mapping[str, Any]
    preset: str = "classic"
    rules: Mapping[str, Any] = field(default_factory=dict)
    pile: str = ""  # for a draft, in drawing order
    drawn: tuple[str, ...] = ()  # cards drawn by each completed exchange, in order
    scores_before: tuple[int, int] = (0, 0)
    bags_before: tuple[int, int] = (0, 0)
    deals_played: int = 0


P = Position
RANKS = "23456789TJQKA"
ORDINARY = " ".join(f"b{number}" for number in range(1, 14))


def bids(first: int, last: int) -> str:
    """The ordinary bids from first to last."""
    return " ".join(f"b{number}" for number in range(first, last + 1))


def suit(letter: str, ranks: str = RANKS) -> str:
    """Cards of one suit."""
    return " ".join(rank + letter for rank in ranks)


ONE, TWO, THREE = {"hand_size": 1}, {"hand_size": 2}, {"hand_size": 3}
FOUR, FIVE, SIX = {"hand_size": 4}, {"hand_size": 5}, {"hand_size": 6}
ONES = "b1 b1 b1 b1 "  # everybody bids one
TINY = ("2C", "3C", "4C", "5C")
FULL = (suit("C"), suit("D"), suit("H"), suit("S"))
LEFT = {"first_seat": "dealers_left"}

# R4-R6: whose turn it is, and who deals next.
SEATS = [
    P("R4-first-bid", TINY, 0, "", {"to_act": 1, "phase": "bid"}, rules=ONE),
    P("R4-second-bid", TINY, 0, "b1", {"to_act": 2, "bids": (None, 1, None, None)}, rules=ONE),
    P("R4-dealer-bids-last", TINY, 0, "b1 b1 b1", {"to_act": 0, "phase": "bid"}, rules=ONE),
    P("R4-first-lead", TINY, 0, ONES, {"to_act": 1, "phase": "play", "legal": "3C"}, rules=ONE),
    P("R4-counter-bid", TINY, 0, "", {"to_act": 3}, preset="table", rules=ONE),
    P("R4-counter-second", TINY, 0, "b1", {"to_act": 2, "bids": (None, None, None, 1)}, preset="table", rules=ONE),
    P("R4-counter-lead", TINY, 0, ONES + "5C", {"to_act": 2, "trick": "5C"}, preset="table", rules=ONE),
    P("R4-left-bid", TINY, 0, "", {"to_act": 1}, preset="table", rules={**ONE, **LEFT}),
    P("R4-left-dealer-second", TINY, 0, "b1", {"to_act": 0}, preset="table", rules={**ONE, **LEFT}),
    P("R4-left-lead", TINY, 0, ONES + "3C 2C", {"to_act": 3}, preset="table", rules={**ONE, **LEFT}),
    P("R4-left-same-clockwise", TINY, 3, "b1", {"to_act": 1}, rules={**ONE, **LEFT}),
    P("R5-next-dealer", TINY, 3, ONES + "2C 3C 4C 5C", {"next_dealer": 0, "phase": "over", "to_act": None}, rules=ONE),
    P(
        "R5-next-dealer-counter",
        TINY,
        0,
        ONES + "5C 4C 3C 2C",
        {"next_dealer": 3, "last_winner": 3},
        preset="table",
        rules=ONE,
    ),
    P(
        "R5-next-dealer-left",
        TINY,
        1,
        ONES + "4C 3C 2C 5C",
        {"next_dealer": 0, "last_winner": 3},
        preset="table",
        rules={**ONE, **LEFT},
    ),
    # both teams bid two of the one trick there is: 20 lost each
    P(
        "R5-passes-after-a-tie",
        TINY,
        3,
        ONES + "2C 3C 4C 5C",
        {"next_dealer": 0, "scores": (480, 480), "winner": None},
        rules=ONE,
        scores_before=(500, 500),
    ),
    P("R23-order", FULL, 0, "b3 b1 b4 b4", {"bids": (4, 3, 1, 4), "phase": "play", "to_act": 1}),
]

# R7-R9: bids.
BIDDING = [
    P("R8-classic", FULL, 3, "", {"legal": "b0 " + ORDINARY}),
    P("R7-need-not-exceed", FULL, 3, "b13", {"legal": "b0 " + ORDINARY, "to_act": 1}),
    P("R7-once-each", FULL, 3, "b2 b2 b2 b2", {"phase": "play", "legal": suit("C")}),
    P("R8-no-nil", FULL, 3, "", {"legal": ORDINARY}, rules={"nil_allowed": False}),
    P("R8-min-bid", FULL, 3, "", {"legal": "b0 " + bids(4, 13)}, rules={"min_bid": 4}),
    P("R8-no-cap-on-all", FULL, 3, "b13 b13 b13", {"legal": "b0 " + ORDINARY}),
    P("R8-cap-first", FULL, 3, "", {"legal": "b0 " + bids(1, 9)}, rules={"max_team_bid": 10}),
    P("R8-cap-opponent", FULL, 3, "b9", {"legal": "b0 " + bids(1, 9)}, rules={"max_team_bid": 10}),
    P("R8-cap-second", FULL, 3, "b9 b1", {"legal": "b0 b1"}, rules={"max_team_bid": 10}),
    P("R8-cap-second-middle", FULL, 3, "b6 b1", {"legal": "b0 b1 b2 b3 b4"}, rules={"max_team_bid": 10}),
    P("R8-cap-partner-nil", FULL, 3, "b0 b1", {"legal": "b0 " + bids(1, 10)}, rules={"max_team_bid": 10}),
    P("R8-cap-min-bid", FULL, 3, "", {"legal": "b0 " + bids(3, 7)}, rules={"max_team_bid": 10, "min_bid": 3}),
    P("R8-cap-tight", FULL, 3, "b5 b0", {"legal": "b0 b5"}, rules={"max_team_bid": 10, "min_bid": 5}),
    P("R8-cap-wide", FULL, 3, "b12 b1", {"legal": "b0 " + ORDINARY}, rules={"max_team_bid": 26}),
    P(
        "R8-cap-partner-blind",
        FULL,
        3,
        "blind look b3 look",
        {"legal": "b0 " + bids(1, 8)},
        preset="modern",
        rules={"max_team_bid": 8, "blind_nil_deficit": None},
    ),
    P("R8-small-deck", ("2C 3C 4C", "2D 3D 4D", "2H 3H 4H", "2S 3S 4S"), 3, "", {"legal": "b0 b1 b2 b3"}, rules=THREE),
    P("R9-both-nil", FULL, 3, "b0 b1 b0 b1", {"bids": (0, 1, 0, 1), "blind": (False,) * 4, "phase": "play"}),
]

# R10: blind nil (case L08 is its first three entries).
BEHIND, AHEAD, NEARLY = (150, 250), (250, 150), (151, 250)
BLIND = [
    P(
        "L08-exactly-100",
        FULL,
        3,
        "",
        {"phase": "blind", "legal": "blind look", "to_act": 0, "sees": (False, True, False, True)},
        preset="modern",
        scores_before=BEHIND,
    ),
    P(
        "L08-99-is-not-enough",
        FULL,
        3,
        "",
        {"phase": "bid", "legal": "b0 " + ORDINARY, "sees": (True,) * 4},
        preset="modern",
        scores_before=NEARLY,
    ),
    P(
        "L08-looked",
        FULL,
        3,
        "look",
        {"phase": "bid", "to_act": 0, "legal": "b0 " + ORDINARY, "sees": (True, True, False, True)},
        preset="modern",
        scores_before=BEHIND,
    ),
    P(
        "L08-on-classic",
        FULL,
        3,
        "",
        {"legal": "blind look"},
        scores_before=BEHIND,
        rules={"blind_nil": True, "blind_nil_deficit": 100},
    ),
    P(
        "L08-team-1-not",
        FULL,
        3,
        "look b3",
        {"phase": "bid", "to_act": 1, "legal": "b0 " + ORDINARY},
        preset="modern",
        scores_before=BEHIND,
    ),
    P(
        "R10-called",
        FULL,
        3,
        "blind",
        {
            "phase": "bid",
            "to_act": 1,
            "bids": (0, None, None, None),
            "blind": (True, False, False, False),
            "sees": (True, True, False, True),
        },
        preset="modern",
        scores_before=BEHIND,
    ),
    P(
        "R10-each-partner-alone",
        FULL,
        3,
        "look b4 b3",
        {"phase": "blind", "to_act": 2, "legal": "blind look"},
        preset="modern",
        scores_before=BEHIND,
    ),
    P(
        "R10-both-partners",
        FULL,
        3,
        "blind b4 blind b3",
        {"phase": "play", "to_act": 0, "bids": (0, 4, 0, 3), "blind": (True, False, True, False)},
        preset="modern",
        scores_before=BEHIND,
    ),
    P(
        "R10-nil-after-look-is-plain",
        FULL,
        3,
        "look b0 b4 blind b3",
        {"bids": (0, 4, 0, 3), "blind": (False, False, True, False)},
        preset="modern",
        scores_before=BEHIND,
    ),
    P(
        "R10-hidden-while-others-act",
        FULL,
        3,
        "b3",
        {"to_act": 1, "phase": "blind", "sees": (True, False, True, False)},
        preset="modern",
        scores_before=AHEAD,
    ),
    P(
        "R10-deficit-none",
        FULL,
        3,
        "",
        {"phase": "blind", "sees": (False,) * 4},
        preset="modern",
        rules={"blind_nil_deficit": None},
    ),
    P(
        "R10-deficit-0-tied",
        FULL,
        3,
        "look",
        {"sees": (True, False, False, False)},
        preset="modern",
        rules={"blind_nil_deficit": 0},
        scores_before=(70, 70),
    ),
    P(
        "R10-two-players-dealt",
        ("2C 3C", "4C 5C"),
        0,
        "blind look",
        {
            "phase": "bid",
            "to_act": 0,
            "legal": "b0 b1 b2",
            "bids": (None, 0),
            "blind": (False, True),
            "sees": (True, True),
        },
        preset="two_player",
        rules={**TWO, "deal": "dealt", "blind_nil_exchange": 0},
    ),
    P(
        "R10-two-players-hidden",
        ("2C 3C", "4C 5C"),
        0,
        "",
        {"phase": "blind", "to_act": 1, "sees": (False, False)},
        preset="two_player",
        rules={**TWO, "deal": "dealt", "blind_nil_exchange": 0},
    ),
]

# R11-R12: following and winning. Seat 0 leads (dealer 3) unless said otherwise.
TRICKS = [
    P(
        "L02",
        ("2C AS 7S KH 4D 2D", "3C 2H 3H 4H 5H 6H", "5S KD QH JH TH 9H", "4C 9D 7H 8H 3D 5D"),
        3,
        ONES + "2C 3C 5S 4C KD 9D",
        {"to_act": 0, "broken": True, "legal": "4D 2D"},
        rules=SIX,
    ),
    P(
        "R11-void-plays-anything",
        ("2C 3C", "4C 5C", "6H 2S", "7C 8C"),
        3,
        ONES + "2C 4C",
        {"legal": "6H 2S"},
        rules=TWO,
    ),
    P("R11-need-not-beat", ("TC 3C", "4C AC", "6H 2S", "7C 8C"), 3, ONES + "TC", {"legal": "4C AC"}, rules=TWO),
    P("R11-need-not-ruff", ("TC 3C", "4C AC", "6H 2S", "7C 8C"), 3, ONES + "TC 4C 6H", {"legal": "7C 8C"}, rules=TWO),
    P("R11-follow-spades", ("AS KS", "3S AC", "6H 2S", "7C 8C"), 3, ONES + "KS", {"legal": "3S"}, rules=TWO),
    P("R12-one-spade", ("AH", "KH", "2S", "QH"), 3, ONES + "AH KH 2S QH", {"last_winner": 2}, rules=ONE),
    P("R12-highest-spade", ("AH", "3S", "2S", "QH"), 3, ONES + "AH 3S 2S QH", {"last_winner": 1}, rules=ONE),
    P("R12-suit-led", ("TH", "9H", "JH", "AC"), 3, ONES + "TH 9H JH AC", {"last_winner": 2}, rules=ONE),
    P("L07", ("9C", "2C", "5C", "AD"), 1, ONES + "5C AD 9C 2C", {"last_winner": 0}, rules=ONE),
    P(
        "R12-winner-leads",
        ("TH 2C", "9H 3C", "JH 4C", "QH 5C"),
        3,
        ONES + "TH 9H JH QH",
        {"to_act": 3, "last_winner": 3, "trick": "", "tricks": (0, 0, 0, 1), "legal": "5C"},
        rules=TWO,
    ),
    P(
        "R12-turn-from-the-winner",
        ("TH 2C", "9H 3C", "JH 4C", "QH 5C"),
        3,
        ONES + "TH 9H JH QH 5C",
        {"to_act": 0, "trick": "5C"},
        rules=TWO,
    ),
    P(
        "R12-no-early-end",
        ("AC KC", "2C 3C", "4C 5C", "6C 7C"),
        3,
        ONES + "AC 2C 4C 6C KC 3C 5C",
        {"to_act": 3, "phase": "play", "legal": "7C", "scores": (0, 0)},
        rules=TWO,
    ),
    # contract 2, both tricks: 20; the others bid 2 and took none: -20
    P(
        "R16-boston",
        ("AC KC", "2C 3C", "4C 5C", "6C 7C"),
        3,
        ONES + "AC 2C 4C 6C KC 3C 5C 7C",
        {
            "phase": "over",
            "to_act": None,
            "legal": "",
            "boston": 0,
            "tricks": (2, 0, 0, 0),
            "scores": (20, -20),
            "items": ((20, 0, 0, 0, 0), (-20, 0, 0, 0, 0)),
            "match_over": False,
        },
        rules=TWO,
    ),
]

# R13: leading spades. MIXED leads from AS and KH, ALL_SPADES from spades alone.
MIXED = ("AS KH", "2H 3H", "4H 5H", "6H 7H")
ALL_SPADES = ("AS KS", "2H 3S", "4H 5H", "6H 7H")
L01_HANDS = ("AC AS 7S KH 4D", "2C 2H 3H 2D 3D", "3C 4H 5H 5D 6D", "4C 6H 7H 7D 8D")
ANY, ONLY_LEFT = {"lead_spades": "any"}, {"lead_spades": "only_spades_left"}
FORCED = {"forced_lead_breaks": True}
LEADS = [
    P("L01", L01_HANDS, 3, ONES + "AC 2C 3C 4C", {"to_act": 0, "broken": False, "legal": "4D KH"}, rules=FIVE),
    P("R13-opening-lead", MIXED, 3, ONES, {"legal": "KH"}, rules=TWO),
    P("R13-all-spades", ALL_SPADES, 3, ONES, {"legal": "AS KS"}, rules=TWO),
    P("R13-any", MIXED, 3, ONES, {"legal": "AS KH"}, preset="table", rules={**TWO, **ANY, **LEFT}),
    P("R13-any-clockwise", MIXED, 3, ONES, {"legal": "AS KH"}, rules={**TWO, **ANY}),
    P("R13-only-left-all-spades", ALL_SPADES, 3, ONES, {"legal": "AS KS"}, rules={**TWO, **ONLY_LEFT}),
    P("R13-only-left-mixed", MIXED, 3, ONES, {"legal": "KH"}, rules={**TWO, **ONLY_LEFT}),
    # seat 2 ruffs, seat 3 overruffs and leads 7D; seat 0 ruffs that and is on lead with AS and KH
    P(
        "R13-broken-may-lead",
        ("AC AS KS KH", "4C 2D 3D 4D", "2S 5D 6D 9D", "3S 7D 8D TD"),
        3,
        ONES + "AC 4C 2S 3S 7D KS 2D 5D",
        {"to_act": 0, "broken": True, "legal": "AS KH"},
        rules=FOUR,
    ),
    P(
        "R13-broken-only-left",
        ("AC AS KS KH", "4C 2D 3D 4D", "2S 5D 6D 9D", "3S 7D 8D TD"),
        3,
        ONES + "AC 4C 2S 3S 7D KS 2D 5D",
        {"to_act": 0, "broken": True, "legal": "KH"},
        rules={**FOUR, **ONLY_LEFT},
    ),
]

# R14: the broken flag. L06 is the case of a forced spade lead by seat 1.
L06_HANDS = ("8S 5C", "9S 6S", "KH QS", "3D 4S")
FLAG = [
    P("L06-lead", L06_HANDS, 0, ONES + "9S", {"broken": True}, rules={**TWO, **FORCED}),
    P(
        "L06-trick",
        L06_HANDS,
        0,
        ONES + "9S QS 4S 8S",
        {"broken": True, "last_winner": 2, "to_act": 2, "legal": "KH"},
        rules={**TWO, **FORCED},
    ),
    P("L06-classic-lead", L06_HANDS, 0, ONES + "9S", {"broken": False}, rules=TWO),
    P("L06-classic-trick", L06_HANDS, 0, ONES + "9S QS 4S 8S", {"broken": False, "last_winner": 2}, rules=TWO),
    P(
        "R14-ruff-at-once",
        ("2C 3C", "4C 5C", "6H 2S", "7C 8C"),
        3,
        ONES + "2C 4C 2S",
        {"broken": True, "trick": "2C 4C 2S"},
        rules=TWO,
    ),
    P("R14-discard-does-not", ("2C 3C", "4C 5C", "6H 2S", "7C 8C"), 3, ONES + "2C 4C 6H", {"broken": False}, rules=TWO),
    P("R14-any-mixed-lead", MIXED, 3, ONES + "AS", {"broken": False}, rules={**TWO, **ANY}),
    P("R14-any-mixed-lead-forced", MIXED, 3, ONES + "AS", {"broken": True}, rules={**TWO, **ANY, **FORCED}),
    P(
        "R14-kept-under-any",
        ("2C 3C", "4C 5C", "6H 2S", "7C 8C"),
        3,
        ONES + "2C 4C 2S",
        {"broken": True},
        rules={**TWO, **ANY},
    ),
    P(
        "R14-kept-under-only-left",
        ("2C 3C", "4C 5C", "6H 2S", "7C 8C"),
        3,
        ONES + "2C 4C 2S",
        {"broken": True},
        rules={**TWO, **ONLY_LEFT},
    ),
    P(
        "R14-two-player-forced-lead",
        ("2S 3C", "AS KS"),
        0,
        "b1 b1 AS",
        {"broken": True, "legal": "2S"},
        preset="two_player",
        rules={**TWO, "deal": "dealt", "blind_nil": False, "blind_nil_exchange": 0},
    ),
    P(
        "R14-void-on-a-spade-lead",
        ("AS KS", "2H 3C", "4H 5H", "6H 7H"),
        3,
        ONES + "AS 2H",
        {"broken": False},
        rules=TWO,
    ),
]

# R2: jokers are the two highest spades. The first deal has one joker each with seats 1 and 3.
JOKERS = {"jokers": True}
JOKER_DEAL = (
    "AS " + suit("C", "23456789TJQK"),
    "LJ " + suit("D", RANKS[1:]),
    "AC " + suit("S", "23456789TJQK"),
    "BJ " + suit("H", RANKS[1:]),
)
BOTH_JOKERS = (JOKER_DEAL[0], "LJ BJ " + suit("D", RANKS[2:]), JOKER_DEAL[2], "3D " + suit("H", RANKS[1:]))
ALL_TRUMPS = (
    "4S 5S 6S 7S 8S 9S TS JS QS KS AS LJ BJ",
    "2S 3S " + suit("C", "23456789TJQ"),
    "KC AC " + suit("D", "3456789TJQK"),
    "AD " + suit("H", RANKS[1:]),
)
WITH_JOKERS = [
    P("L09-follow", JOKER_DEAL, 3, ONES + "AS", {"legal": "LJ"}, rules={**JOKERS, **ANY}),
    P("L09-lead", JOKER_DEAL, 2, ONES, {"to_act": 3, "legal": suit("H", RANKS[1:])}, rules=JOKERS),
    P("L09-big-joker-wins", JOKER_DEAL, 3, ONES + "AS LJ 3S BJ", {"last_winner": 3}, rules={**JOKERS, **ANY}),
    P("L09-not-yet-broken", JOKER_DEAL, 0, ONES + "5D AC", {"broken": False}, rules=JOKERS),
    P("L09-breaks", JOKER_DEAL, 0, ONES + "5D AC BJ", {"broken": True}, rules=JOKERS),
    P("L09-joker-ruffs", JOKER_DEAL, 0, ONES + "5D AC BJ AS", {"last_winner": 3}, rules=JOKERS),
    P("R2-only-spades", ALL_TRUMPS, 3, ONES, {"legal": ALL_TRUMPS[0]}, rules=JOKERS),
    P("R2-joker-lead-is-a-spade-lead", ALL_TRUMPS, 3, ONES + "LJ", {"broken": False, "legal": "2S 3S"}, rules=JOKERS),
    P("R2-joker-lead-breaks", ALL_TRUMPS, 3, ONES + "LJ", {"broken": True}, rules={**JOKERS, **FORCED}),
    P("R2-little-beats-ace", BOTH_JOKERS, 3, ONES + "AS LJ 2S 5H", {"last_winner": 1}, rules={**JOKERS, **ANY}),
]

# opening_lead: low_club. Seat 0 begins (dealer 3).
LOW_CLUB = {"opening_lead": "low_club"}
LOW = [
    P(
        "L05",
        ("TC 8C 6C AH 2S", "3C 2D 3D 4D 5D", "4C 2H 3H 4H 5H", "2C 3S 4S 5S 6S"),
        2,
        ONES + "2C",
        {"to_act": 0, "legal": "6C"},
        rules={**FIVE, **LOW_CLUB},
    ),
    P(
        "low-club-opens",
        ("TC 8C AH", "3C 2D 3D", "4C 2H 3H", "2C 3S 4S"),
        3,
        ONES,
        {"legal": "8C"},
        rules={**THREE, **LOW_CLUB},
    ),
    P(
        "low-club-opener-void",
        ("2S AH 4D", "3C 2D 3D", "4C 2H 3H", "2C 3S 4S"),
        3,
        ONES,
        {"legal": "AH 4D"},
        rules={**THREE, **LOW_CLUB, **ANY},
    ),
    P(
        "low-club-opener-all-spades",
        ("AS KS", "3C 2D", "4C 2H", "2C 3S"),
        3,
        ONES,
        {"legal": "AS KS"},
        rules={**TWO, **LOW_CLUB},
    ),
    P(
        "low-club-opener-spade-breaks",
        ("AS KS", "3C 2D", "4C 2H", "2C 3S"),
        3,
        ONES + "KS",
        {"broken": True, "legal": "3C", "to_act": 1},
        rules={**TWO, **LOW_CLUB},
    ),
    P(
        "low-club-spade-wins",
        ("AS KS", "3C 2D", "4C 2H", "2C 3S"),
        3,
        ONES + "KS 3C 4C 2C",
        {"last_winner": 0, "broken": True},
        rules={**TWO, **LOW_CLUB},
    ),
    P(
        "low-club-before-following",
        ("AH 4D", "5C 3H", "4C 2H", "2C 3S"),
        3,
        ONES + "AH",
        {"to_act": 1, "legal": "5C"},
        rules={**TWO, **LOW_CLUB},
    ),
    P(
        "low-club-highest-club-wins",
        ("AH 4D", "5C 3H", "4C 2H", "2C 3S"),
        3,
        ONES + "AH 5C 4C 2C",
        {"last_winner": 1, "broken": False},
        rules={**TWO, **LOW_CLUB},
    ),
    P(
        "low-club-void-need-not-follow",
        ("AH 4D", "3H 2D", "4C 2H", "2C 3S"),
        3,
        ONES + "AH",
        {"to_act": 1, "legal": "3H 2D"},
        rules={**TWO, **LOW_CLUB},
    ),
    P(
        "low-club-void-no-spade",
        ("2C 4D", "3H 5S", "4C 2H", "5C 3S"),
        3,
        ONES + "2C",
        {"to_act": 1, "legal": "3H"},
        rules={**TWO, **LOW_CLUB},
    ),
    P(
        "low-club-void-all-spades",
        ("2C 4D", "6S 5S", "4C 2H", "5C 3S"),
        3,
        ONES + "2C",
        {"to_act": 1, "legal": "6S 5S"},
        rules={**TWO, **LOW_CLUB},
    ),
    P(
        "low-club-neither-fell",
        ("5H", "AD", "9H", "7H"),
        3,
        ONES + "5H AD 9H 7H",
        {"last_winner": 2},
        rules={**ONE, **LOW_CLUB},
    ),
    P(
        "low-club-only-once",
        ("2C 4D AS", "9C 8C 3H", "4C 2H 3D", "5C 3S 6D"),
        3,
        ONES + "2C 8C 4C 5C",
        {"to_act": 1, "legal": "9C 3H"},
        rules={**THREE, **LOW_CLUB},
    ),
    P(
        "low-club-second-trick-follows",
        ("2C 4D 5H", "9C 8C 3H", "4C 2H 3D", "5C 3S 6D"),
        3,
        ONES + "2C 8C 4C 5C 3H 2H",
        {"to_act": 3, "legal": "3S 6D"},
        rules={**THREE, **LOW_CLUB},
    ),
    P(
        "low-club-two-players",
        ("9C 8C", "AH 4D"),
        0,
        "b1 b1 AH",
        {"to_act": 0, "legal": "8C"},
        preset="two_player",
        rules={**TWO, **LOW_CLUB, "deal": "dealt", "blind_nil": False, "blind_nil_exchange": 0},
    ),
]

# first_trick_spades: forbid.
FORBID = {"first_trick_spades": "forbid"}
VOID = ("AS 7S KH 4D", "2C 5H 6H 7H", "3C 8H 9H TH", "QC 2H 3H 4H")  # seat 3 leads, seat 0 is void in clubs
FIRST_TRICK = [
    P("L03", VOID, 2, ONES + "QC", {"to_act": 0, "legal": "KH 4D"}, rules={**FOUR, **FORBID}),
    P("L04", VOID, 2, ONES + "QC", {"to_act": 0, "legal": "AS 7S KH 4D"}, rules=FOUR),
    P("forbid-leader", MIXED, 3, ONES, {"legal": "KH"}, rules={**TWO, **FORBID, **ANY}),
    P("forbid-leader-all-spades", ALL_SPADES, 3, ONES, {"legal": "AS KS"}, rules={**TWO, **FORBID}),
    P(
        "forbid-void-all-spades",
        ("AS 7S", "2C 5H", "3C 8H", "QC 2H"),
        2,
        ONES + "QC",
        {"legal": "AS 7S"},
        rules={**TWO, **FORBID},
    ),
    P(
        "forbid-spade-still-wins",
        ("AS 7S", "2C 5H", "3C 8H", "QC 2H"),
        2,
        ONES + "QC 7S 2C 3C",
        {"last_winner": 0, "broken": True},
        rules={**TWO, **FORBID},
    ),
    P("forbid-following-a-spade", ALL_SPADES, 3, ONES + "AS", {"to_act": 1, "legal": "3S"}, rules={**TWO, **FORBID}),
    P(
        "forbid-second-trick-lead",
        ("AC AS KH", "2C 5H 6H", "3C 8H 9H", "QC 2H 3H"),
        3,
        ONES + "AC 2C 3C QC",
        {"to_act": 0, "legal": "AS KH"},
        rules={**THREE, **FORBID, **ANY},
    ),
    P(
        "forbid-second-trick-void",
        ("2C 7S 4D", "AC 5H 6H", "3C 8H 9H", "QC 2H 3H"),
        3,
        ONES + "2C AC 3C QC 5H 8H 2H",
        {"to_act": 0, "legal": "7S 4D"},
        rules={**THREE, **FORBID},
    ),
]

# R27-R29: the draft. The pile is the pack in the order of ids, two cards a turn: 2C 3C, 4C 5C, and so on.
DECK = " ".join(suit(letter) for letter in "CDHS")
ALL_KEPT = "keep " * 24  # after each player's first turn
PLAIN = "look keep look keep " + ALL_KEPT
DRAWER = "2C 6C TC AC 5D 9D KD 4H 8H QH 3S 7S JS"  # first drawer, everything kept
OTHER = "4C 8C QC 3D 7D JD 2H 6H TH AH 5S 9S KS"
DISCARDS = "3C 5C 7C 9C JC KC 2D 4D 6D 8D TD QD AD 3H 5H 7H 9H JH KH 2S 4S 6S 8S TS QS AS"
# 5 tricks for seat 1, 8 for seat 0, who wins the 1st, 2nd, 6th to 8th and the last three
WHOLE_DEAL = "QC AC KD 3D 9D JD AH 4H 7D 5D TH QH TC 8C 6C 4C 2C 5S KS 3S 9S JS 8H 6H 7S 2H"


def draft(id: str, actions: str, expect: Mapping[str, Any], *, dealer: int = 0, **others: Any) -> Position:
    """A two_player position drawn from the pack in order."""
    return Position(id, (), dealer, actions, expect, preset="two_player", pile=DECK, **others)


DRAFT = [
    draft(
        "R28-asked-first",
        "",
        {
            "phase": "blind",
            "to_act": 0,
            "legal": "blind look",
            "shown": (None, None),
            "hands": ("", ""),
            "sees": (True, True),
        },
    ),
    draft("R27-looks", "look", {"phase": "draft", "to_act": 0, "legal": "keep take", "shown": ("2C", None)}),
    draft(
        "R27-kept",
        "look keep",
        {
            "phase": "blind",
            "to_act": 1,
            "hands": ("2C", ""),
            "discards": "3C",
            "rejected": ("", ""),
            "shown": (None, None),
        },
    ),
    draft("R27-not-kept", "look take", {"to_act": 1, "hands": ("3C", ""), "discards": "2C", "rejected": ("2C", "")}),
    draft(
        "R27-alternate",
        "look keep look take",
        {
            "phase": "draft",
            "to_act": 0,
            "hands": ("2C", "5C"),
            "discards": "3C 4C",
            "rejected": ("", "4C"),
            "shown": ("6C", None),
        },
    ),
    draft("R27-dealer-draws-first", "look", {"to_act": 1, "shown": (None, "2C")}, dealer=1),
    draft("R27-no-double-nil", "", {"phase": "draft", "to_act": 0, "shown": ("2C", None)}, rules={"blind_nil": False}),
    draft(
        "R27-last-turn", "look keep look keep " + "keep " * 23, {"phase": "draft", "to_act": 1, "shown": (None, "KS")}
    ),
    draft(
        "R27-drafted",
        PLAIN,
        {
            "phase": "bid",
            "to_act": 1,
            "legal": "b0 " + ORDINARY,
            "hands": (DRAWER, OTHER),
            "discards": DISCARDS,
            "shown": (None, None),
        },
    ),
    draft("R27-dealer-bids-second", PLAIN + "b5", {"phase": "bid", "to_act": 0, "bids": (None, 5)}),
    draft("R27-other-leads", PLAIN + "b5 b7", {"phase": "play", "to_act": 1, "legal": "4C 8C QC 3D 7D JD 2H 6H TH AH"}),
    draft(
        "R27-other-leads-dealer-1",
        PLAIN + "b5 b7",
        {"phase": "play", "to_act": 0, "bids": (5, 7), "hands": (OTHER, DRAWER)},
        dealer=1,
    ),
    draft(
        "R27-whole-deal",
        PLAIN + "b5 b7 " + WHOLE_DEAL,
        {
            "phase": "over",
            "tricks": (8, 5),
            "broken": True,
            "items": ((70, 1, 0, 0, 1), (50, 0, 0, 0, 0)),
            "scores": (71, 50),
            "bags": (1, 0),
            "next_dealer": 1,
            "last_winner": 0,
            "winner": None,
            "boston": None,
        },
    ),
    draft(
        "R29-second-card-seen",
        "look keep look take",
        {"rejected": ("3C", "4C")},
        rules={"draft_second_card_seen": True},
    ),
    draft(
        "R28-called",
        "blind",
        {"phase": "draft", "to_act": 0, "bids": (0, None), "blind": (True, False), "shown": ("2C", None)},
    ),
    draft(
        "R28-not-behind", "", {"phase": "draft", "to_act": 0}, rules={"blind_nil_deficit": 100}, scores_before=(0, 99)
    ),
    draft("R28-behind", "", {"phase": "blind", "to_act": 0}, rules={"blind_nil_deficit": 100}, scores_before=(0, 100)),
    draft("R28-drew", "look keep look keep", {"phase": "draft", "to_act": 0, "blind": (False, False)}),
    draft(
        "R28-exchange",
        "blind keep look keep " + ALL_KEPT,
        {"phase": "exchange", "to_act": 0, "legal": DRAWER + " done"},
    ),
    draft(
        "R28-thrown",
        "blind keep look keep " + ALL_KEPT + "KD 7S",
        {"phase": "exchange", "to_act": 0, "thrown": ("KD 7S", ""), "legal": "2C 6C TC AC 5D 9D 4H 8H QH 3S JS done"},
    ),
    draft(
        "R28-done-at-none",
        "blind keep look keep " + ALL_KEPT + "done",
        {"phase": "bid", "to_act": 1, "hands": (DRAWER, OTHER), "discards": DISCARDS},
    ),
    draft(
        "R28-done-at-one",
        "blind keep look keep " + ALL_KEPT + "KD done",
        {"phase": "bid", "to_act": 1, "thrown": ("KD", ""), "discards_left": 25},
        drawn=("3C",),
    ),
    draft(
        "R28-three-are-done",
        "blind keep look keep " + ALL_KEPT + "KD 7S JS",
        {"phase": "bid", "to_act": 1, "thrown": ("KD 7S JS", ""), "discards_left": 23},
        drawn=("3C 5C 2D",),
    ),
    draft(
        "R28-caller-has-no-bid-step",
        "blind keep look keep " + ALL_KEPT + "done b4",
        {"phase": "play", "to_act": 1, "bids": (0, 4), "blind": (True, False)},
    ),
    draft(
        "R28-second-calls",
        "look keep blind keep " + ALL_KEPT,
        {"phase": "exchange", "to_act": 1, "legal": OTHER + " done"},
    ),
    draft("R28-first-bidder-called", "look keep blind keep " + ALL_KEPT + "done", {"phase": "bid", "to_act": 0}),
    draft(
        "R28-both-called",
        "blind keep blind keep " + ALL_KEPT + "KD done",
        {"phase": "exchange", "to_act": 1, "discards_left": 25, "thrown": ("KD", "")},
        drawn=("3C",),
    ),
    draft(
        "R28-both-done",
        "blind keep blind keep " + ALL_KEPT + "KD done KS 4C 9S",
        {
            "phase": "play",
            "to_act": 1,
            "bids": (0, 0),
            "blind": (True, True),
            "discards_left": 22,
            "thrown": ("KD", "KS 4C 9S"),
        },
        drawn=("3C", "5C AS QS"),
    ),
    draft(
        "R28-drawer-exchanges-first", "blind keep blind keep " + ALL_KEPT, {"phase": "exchange", "to_act": 1}, dealer=1
    ),
    draft(
        "R28-no-exchange",
        "blind keep blind keep " + ALL_KEPT,
        {"phase": "play", "to_act": 1},
        rules={"blind_nil_exchange": 0},
    ),
    draft(
        "R28-not-offered-no-exchange",
        "keep " * 26,
        {"phase": "bid", "to_act": 1, "discards": DISCARDS},
        rules={"blind_nil": False},
    ),
    draft(
        "R28-exchange-of-one",
        "blind keep look keep " + ALL_KEPT + "KD",
        {"phase": "bid", "to_act": 1, "discards_left": 25},
        rules={"blind_nil_exchange": 1},
        drawn=("AS",),
    ),
]

# R24-R26 and the small deck, played out. Seat 0 bids one and takes it, all others bid nil: 110 to 200.
NILS = "b1 b0 b0 b0 "
HEARTS_AND_SPADES = {"suits": 2, "ranks": 3, "hand_size": 1}  # Q, K and A of hearts and of spades
ENDS = [
    P(
        "R24-won",
        ("AC", "2C", "3C", "4C"),
        3,
        NILS + "AC 2C 3C 4C",
        {
            "scores": (500, 200),
            "winner": 0,
            "match_over": True,
            "truncated": False,
            "items": ((10, 0, 100, 0, 0), (0, 0, 200, 0, 0)),
        },
        rules=ONE,
        scores_before=(390, 0),
    ),
    P(
        "R24-goes-on",
        ("AC", "2C", "3C", "4C"),
        3,
        NILS + "AC 2C 3C 4C",
        {"scores": (499, 200), "winner": None, "match_over": False, "truncated": False},
        rules=ONE,
        scores_before=(389, 0),
    ),
    P(
        "R26-truncates",
        ("AC", "2C", "3C", "4C"),
        3,
        NILS + "AC 2C 3C 4C",
        {"winner": None, "truncated": True},
        rules={**ONE, "max_deals": 4},
        deals_played=3,
    ),
    P(
        "R26-one-more",
        ("AC", "2C", "3C", "4C"),
        3,
        NILS + "AC 2C 3C 4C",
        {"winner": None, "truncated": False},
        rules={**ONE, "max_deals": 4},
        deals_played=2,
    ),
    P(
        "R21-last-card-takes-the-penalty",
        ("AC", "2C", "3C", "4C"),
        3,
        "b0 b1 b1 b0 AC 2C 3C 4C",
        {"scores": (-209, 90), "bags": (0, 4), "items": ((-10, 1, -100, -100, 1), (-10, 0, 100, 0, 0))},
        rules=ONE,
        bags_before=(9, 4),
    ),
    P("small-deck", ("KH", "QH", "AH", "QS"), 3, ONES, {"legal": "KH", "phase": "play"}, rules=HEARTS_AND_SPADES),
    P("small-deck-bids", ("KH", "QH", "AH", "QS"), 3, "", {"legal": "b0 b1"}, rules=HEARTS_AND_SPADES),
    P(
        "small-deck-spade-wins",
        ("KH", "QH", "AH", "QS"),
        3,
        ONES + "KH QH AH QS",
        {"last_winner": 3, "boston": 1},
        rules=HEARTS_AND_SPADES,
    ),
]

POSITIONS = [
    *SEATS, *BIDDING, *BLIND, *TRICKS, *LEADS, *FLAG, *WITH_JOKERS, *LOW, *FIRST_TRICK, *DRAFT, *ENDS,
]  # fmt: skip
