"""Golden deals to score: bids and tricks in, score sheet out, each worked out by hand from the rule text.

Data only: the referee and the fast engine are held to the same entries. The id names the paragraph.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

Line = tuple[int, int, int, int, int]  # of one team: points of contract, bags, nil, penalty; then bags taken
Shared = dict[str, Any]  # fields that several entries have in common


@dataclass(frozen=True)
class ScoringCase:
    """One deal: bids and tricks by seat, everything else by team."""

    id: str
    bids: tuple[int, ...]  # 0 = nil or blind nil
    tricks: tuple[int, ...]
    items: tuple[Line, Line]
    scores: tuple[int, int]  # after the deal
    bags: tuple[int, int]  # after the deal
    preset: str = "classic"
    rules: Mapping[str, Any] = field(default_factory=dict)
    blind: tuple[int, ...] = ()  # the seats whose nil was blind
    scores_before: tuple[int, int] = (0, 0)
    bags_before: tuple[int, int] = (0, 0)
    deals_played: int = 0  # before this deal
    winner: int | None = None
    boston: int | None = None
    truncated: bool = False


S = ScoringCase
HELP = {"failed_nil": "help_partner"}
IGNORED = {"failed_nil": "ignored"}
UNIT = {"both_nil": "unit"}
ALONE = {"contract": "individual"}
SET_60 = (-60, 0, 0, 0, 0)  # a contract of six, set
MADE_60, MADE_80, MADE_100 = (60, 0, 0, 0, 0), (80, 0, 0, 0, 0), (100, 0, 0, 0, 0)

# R23, every worked example of the text.
WORKED = [
    # score 337 and 7 bags, bid 5: takes 7, 8, 9
    S(
        "R23-1",
        (2, 3, 3, 3),
        (3, 3, 4, 3),
        ((50, 2, 0, 0, 2), MADE_60),
        (389, 60),
        (9, 0),
        scores_before=(337, 0),
        bags_before=(7, 0),
    ),
    S(
        "R23-2",
        (2, 3, 3, 2),
        (4, 3, 4, 2),
        ((50, 3, 0, -100, 3), (50, 0, 0, 0, 0)),
        (290, 50),
        (0, 0),
        scores_before=(337, 0),
        bags_before=(7, 0),
    ),
    S(
        "R23-3",
        (2, 2, 3, 2),
        (5, 2, 4, 2),
        ((50, 4, 0, -100, 4), (40, 0, 0, 0, 0)),
        (291, 40),
        (1, 0),
        scores_before=(337, 0),
        bags_before=(7, 0),
    ),
    # bids 3+4: takes 8, 6
    S("R23-4", (3, 3, 4, 3), (4, 3, 4, 2), ((70, 1, 0, 0, 1), SET_60), (71, -60), (1, 0)),
    S("R23-5", (3, 3, 4, 3), (4, 4, 2, 3), ((-70, 0, 0, 0, 0), (60, 1, 0, 0, 1)), (-70, 61), (0, 1)),
    # bids 2+4, takes 4+3
    S("R23-6", (2, 3, 4, 4), (4, 3, 3, 3), ((60, 1, 0, 0, 1), (-70, 0, 0, 0, 0)), (61, -70), (1, 0)),
    # bids 6: takes 8, 5
    S("R23-7", (3, 3, 3, 2), (4, 3, 4, 2), ((60, 2, 0, 0, 2), (50, 0, 0, 0, 0)), (62, 50), (2, 0)),
    S("R23-8", (3, 4, 3, 4), (3, 4, 2, 4), (SET_60, MADE_80), (-60, 80), (0, 0)),
    # nil + 4: takes 0+4, 1+4, 1+3
    S("R23-9", (0, 4, 4, 4), (0, 5, 4, 4), ((40, 0, 100, 0, 0), (80, 1, 0, 0, 1)), (140, 81), (0, 1)),
    S("R23-10", (0, 4, 4, 4), (1, 4, 4, 4), ((40, 1, -100, 0, 1), MADE_80), (-59, 80), (1, 0)),
    S("R23-11", (0, 5, 4, 4), (1, 5, 3, 4), ((-40, 1, -100, 0, 1), (90, 0, 0, 0, 0)), (-139, 90), (1, 0)),
    # blind nil + 5, takes 2+5
    S(
        "R23-12",
        (0, 3, 5, 3),
        (2, 3, 5, 3),
        ((50, 2, -200, 0, 2), MADE_60),
        (-148, 60),
        (2, 0),
        preset="modern",
        blind=(0,),
    ),
    # two_player: bid 7, takes 8; then bids 4, 3, 4 taking 7, 6, 9
    S("R23-13", (7, 5), (8, 5), ((70, 1, 0, 0, 1), (50, 0, 0, 0, 0)), (71, 50), (1, 0), preset="two_player"),
    S("R23-14", (4, 6), (7, 6), ((40, 3, 0, 0, 3), MADE_60), (43, 60), (3, 0), preset="two_player"),
    S(
        "R23-15",
        (3, 7),
        (6, 7),
        ((30, 3, 0, 0, 3), (70, 0, 0, 0, 0)),
        (76, 130),
        (6, 0),
        preset="two_player",
        scores_before=(43, 60),
        bags_before=(3, 0),
    ),
    S(
        "R23-16",
        (4, 4),
        (9, 4),
        ((40, 5, 0, -100, 5), (40, 0, 0, 0, 0)),
        (21, 170),
        (1, 0),
        preset="two_player",
        scores_before=(76, 130),
        bags_before=(6, 0),
    ),
    # West, North, East, South bid 3, 1, 4, 4: North-South need 5, East-West 7
    S("R23-17", (4, 3, 1, 4), (4, 4, 1, 4), ((50, 0, 0, 0, 0), (70, 1, 0, 0, 1)), (50, 71), (0, 1)),
]

# R9, R16-R20: contract, Boston, nil, failed nil.
CONTRACTS_AND_NILS = [
    # the team's sum counts, whoever takes the tricks
    S("R9-sum", (2, 4, 3, 3), (5, 4, 0, 4), ((50, 0, 0, 0, 0), (70, 1, 0, 0, 1)), (50, 71), (0, 1)),
    S("R9-nil-adds-nothing", (0, 3, 5, 4), (0, 4, 6, 3), ((50, 1, 100, 0, 1), (70, 0, 0, 0, 0)), (151, 70), (1, 0)),
    S(
        "R9-both-nil-made",
        (0, 6, 0, 6),
        (0, 7, 0, 6),
        ((0, 0, 200, 0, 0), (120, 1, 0, 0, 1)),
        (200, 121),
        (0, 1),
        boston=1,
    ),
    S(
        "R16-bid-thirteen",
        (6, 1, 7, 0),
        (7, 0, 6, 0),
        ((130, 0, 0, 0, 0), (-10, 0, 100, 0, 0)),
        (130, 90),
        (0, 0),
        boston=0,
    ),
    S("R16-low-bid", (3, 3, 3, 3), (0, 8, 0, 5), (SET_60, (60, 7, 0, 0, 7)), (-60, 67), (0, 7), boston=1),
    S("R16-twelve-is-none", (3, 3, 3, 3), (1, 7, 0, 5), (SET_60, (60, 6, 0, 0, 6)), (-60, 66), (0, 6)),
    S(
        "R16-two-failed-nils",
        (0, 2, 0, 2),
        (6, 0, 7, 0),
        ((0, 13, -200, -100, 13), (-40, 0, 0, 0, 0)),
        (-287, -40),
        (3, 0),
        boston=0,
    ),
    S(
        "R16-two-player",
        (2, 5),
        (0, 13),
        ((-20, 0, 0, 0, 0), (50, 8, 0, 0, 8)),
        (-20, 58),
        (0, 8),
        preset="two_player",
        boston=1,
    ),
    S(
        "R16-small-deck",
        (1, 1, 1, 1),
        (2, 0, 1, 0),
        ((20, 1, 0, 0, 1), (-20, 0, 0, 0, 0)),
        (21, -20),
        (1, 0),
        rules={"hand_size": 3},
        boston=0,
    ),
    S("R17-nil-tricks-apart", (0, 4, 4, 4), (3, 4, 2, 4), ((-40, 3, -100, 0, 3), MADE_80), (-137, 80), (3, 0)),
    S(
        "R18-set-has-no-bags",
        (1, 6, 1, 5),
        (0, 7, 0, 6),
        ((-20, 0, 0, 0, 0), (110, 2, 0, 0, 2)),
        (-20, 112),
        (0, 2),
        boston=1,
    ),
    S("R19-failed-nil", (0, 3, 4, 3), (2, 3, 5, 3), ((40, 3, -100, 0, 3), MADE_60), (-57, 60), (3, 0)),
    S(
        "R19-blind-made",
        (3, 4, 3, 0),
        (4, 5, 4, 0),
        ((60, 2, 0, 0, 2), (40, 1, 200, 0, 1)),
        (62, 241),
        (2, 1),
        preset="modern",
        blind=(3,),
    ),
    S(
        "R19-values",
        (0, 6, 0, 5),
        (0, 7, 1, 5),
        ((0, 1, -100, 0, 1), (110, 1, 0, 0, 1)),
        (-99, 111),
        (1, 1),
        preset="modern",
        rules={"nil_value": 50, "blind_nil_value": 150},
        blind=(2,),
    ),
    S(
        "R19-both-blind-made",
        (0, 6, 0, 7),
        (0, 6, 0, 7),
        ((0, 0, 400, 0, 0), (130, 0, 0, 0, 0)),
        (400, 130),
        (0, 0),
        preset="modern",
        blind=(0, 2),
        boston=1,
    ),
    S("R20-both-failed", (0, 5, 0, 5), (1, 5, 2, 5), ((0, 3, -200, 0, 3), MADE_100), (-197, 100), (3, 0)),
    S("R20-no-help", (5, 3, 0, 4), (4, 3, 1, 5), ((-50, 1, -100, 0, 1), (70, 1, 0, 0, 1)), (-149, 71), (1, 1)),
    S(
        "R20-worth-nothing",
        (0, 4, 4, 4),
        (1, 4, 4, 4),
        ((40, 0, -100, 0, 1), MADE_80),
        (-60, 80),
        (1, 0),
        rules={"bag_points": 0},
    ),
]

# R21: bags and the penalty.
TWO_FAILED_NILS: Shared = {"bids": (0, 2, 0, 2), "tricks": (6, 0, 7, 0), "bags_before": (9, 0), "boston": 0}
FIVE_TAKES_SEVEN: Shared = {"bids": (3, 3, 2, 3), "tricks": (4, 3, 3, 3), "bags_before": (9, 0)}
SET_40 = (-40, 0, 0, 0, 0)
BAGS = [
    S("R21-tenth", (3, 3, 3, 3), (4, 3, 4, 2), ((60, 2, 0, -100, 2), SET_60), (-38, -60), (0, 0), bags_before=(8, 0)),
    S("R21-ninth", (3, 3, 3, 3), (4, 3, 3, 3), ((60, 1, 0, 0, 1), MADE_60), (61, 60), (9, 0), bags_before=(8, 0)),
    S("R21-22-bags", items=((0, 13, -200, -200, 13), SET_40), scores=(-387, -40), bags=(2, 0), **TWO_FAILED_NILS),
    S(
        "R21-22-bags-reset",
        items=((0, 13, -200, -100, 13), SET_40),
        scores=(-287, -40),
        bags=(0, 0),
        rules={"bag_after": "reset"},
        **TWO_FAILED_NILS,
    ),
    S(
        "R21-22-bags-no-limit",
        items=((0, 13, -200, 0, 13), SET_40),
        scores=(-187, -40),
        bags=(22, 0),
        rules={"bag_limit": 0},
        **TWO_FAILED_NILS,
    ),
    S(
        "R21-no-limit-runs-on",
        (3, 3, 3, 3),
        (4, 3, 3, 3),
        ((60, 1, 0, 0, 1), MADE_60),
        (61, 60),
        (38, 10),
        rules={"bag_limit": 0},
        bags_before=(37, 10),
    ),
    S(
        "R21-limit-five",
        (2, 3, 2, 3),
        (5, 3, 2, 3),
        ((40, 3, 0, -100, 3), MADE_60),
        (-57, 60),
        (2, 0),
        rules={"bag_limit": 5},
        bags_before=(4, 0),
    ),
    S(
        "R21-limit-five-twice",
        (2, 1, 2, 1),
        (5, 1, 5, 2),
        ((40, 6, 0, -200, 6), (20, 1, 0, 0, 1)),
        (-154, 21),
        (0, 1),
        rules={"bag_limit": 5},
        bags_before=(4, 0),
    ),
    S(
        "R21-penalty-50",
        (3, 3, 2, 3),
        (4, 4, 2, 3),
        ((50, 1, 0, -50, 1), (60, 1, 0, -50, 1)),
        (1, 11),
        (0, 0),
        rules={"bag_penalty": 50},
        bags_before=(9, 9),
    ),
    S(
        "R21-penalty-0-takes-ten-off",
        items=((50, 2, 0, 0, 2), MADE_60),
        scores=(52, 60),
        bags=(1, 0),
        rules={"bag_penalty": 0},
        **FIVE_TAKES_SEVEN,
    ),
    S(
        "R21-points-0-still-counts",
        items=((50, 0, 0, -100, 2), MADE_60),
        scores=(-50, 60),
        bags=(1, 0),
        rules={"bag_points": 0},
        **FIVE_TAKES_SEVEN,
    ),
    S(
        "R21-reset",
        items=((50, 2, 0, -100, 2), MADE_60),
        scores=(-48, 60),
        bags=(0, 0),
        rules={"bag_after": "reset"},
        **FIVE_TAKES_SEVEN,
    ),
    S(
        "R21-no-limit-no-points",
        (3, 2, 3, 2),
        (5, 2, 4, 2),
        ((60, 0, 0, 0, 3), (40, 0, 0, 0, 0)),
        (60, 40),
        (3, 0),
        rules={"bag_limit": 0, "bag_points": 0},
    ),
    S(
        "R21-tenth-by-a-failed-nil",
        (0, 4, 4, 5),
        (1, 4, 3, 5),
        ((-40, 1, -100, -100, 1), (90, 0, 0, 0, 0)),
        (-239, 90),
        (0, 0),
        bags_before=(9, 0),
    ),
]

# R22: two-player.
TWO_PLAYER = [
    S(
        "R22-failed-nil",
        (0, 6),
        (3, 10),
        ((0, 0, -100, 0, 0), (60, 4, 0, 0, 4)),
        (-100, 64),
        (0, 4),
        preset="two_player",
    ),
    S(
        "R22-failed-double-nil",
        (5, 0),
        (6, 7),
        ((50, 1, 0, 0, 1), (0, 0, -200, 0, 0)),
        (51, -200),
        (1, 0),
        preset="two_player",
        blind=(1,),
    ),
    S(
        "R22-double-nil-made",
        (0, 9),
        (0, 13),
        ((0, 0, 200, 0, 0), (90, 4, 0, 0, 4)),
        (200, 94),
        (0, 4),
        preset="two_player",
        blind=(0,),
        boston=1,
    ),
    S(
        "R22-both-nil",
        (0, 0),
        (0, 13),
        ((0, 0, 100, 0, 0), (0, 0, -100, 0, 0)),
        (100, -100),
        (0, 0),
        preset="two_player",
        boston=1,
    ),
    S(
        "R22-bags-only",
        (0, 6),
        (3, 10),
        ((0, 3, -100, 0, 3), (60, 4, 0, 0, 4)),
        (-97, 64),
        (3, 4),
        preset="two_player",
        rules={"failed_nil": "bags_only"},
    ),
    S("R22-set", (8, 6), (7, 6), ((-80, 0, 0, 0, 0), MADE_60), (-80, 60), (0, 0), preset="two_player"),
]

# R24-R26: the match. 5 against 8, both made exactly, is the deal of most entries.
FIVE_EIGHT: Shared = {
    "bids": (2, 4, 3, 4),
    "tricks": (2, 4, 3, 4),
    "items": ((50, 0, 0, 0, 0), MADE_80),
    "bags": (0, 0),
}
SIX_SET: Shared = {
    "bids": (3, 4, 3, 4),
    "tricks": (2, 4, 3, 4),
    "items": (SET_60, MADE_80),
    "bags": (0, 0),
}
BOTH_SET: Shared = {
    "bids": (3, 5, 3, 4),
    "tricks": (3, 4, 2, 4),
    "items": (SET_60, (-90, 0, 0, 0, 0)),
    "bags": (0, 0),
}
SIXES: Shared = {
    "bids": (3, 3, 3, 3),
    "tricks": (3, 4, 3, 3),
    "items": (MADE_60, (60, 1, 0, 0, 1)),
    "bags": (0, 1),
}
MATCH = [
    S("R24-exactly-500", scores_before=(450, 0), scores=(500, 80), winner=0, **FIVE_EIGHT),
    S("R24-499-goes-on", scores_before=(449, 0), scores=(499, 80), **FIVE_EIGHT),
    S("R24-higher-of-both", scores_before=(455, 440), scores=(505, 520), winner=1, **FIVE_EIGHT),
    S("R24-tie-505", scores_before=(455, 425), scores=(505, 505), **FIVE_EIGHT),
    S("R24-after-a-tie-below-target", scores_before=(505, 505), scores=(445, 415), **BOTH_SET),
    S("R24-after-a-tie-decided", scores_before=(505, 505), scores=(555, 585), winner=1, **FIVE_EIGHT),
    S("R24-table-300", scores_before=(250, 0), scores=(300, 80), winner=0, preset="table", **FIVE_EIGHT),
    S(
        "R24-target-200",
        scores_before=(0, 140),
        scores=(60, 201),
        winner=1,
        preset="table",
        rules={"target": 200},
        **SIXES,
    ),
    S("R24-classic-has-no-mercy", scores_before=(-190, 0), scores=(-250, 80), **SIX_SET),
    S("R25-exactly-200-below", scores_before=(-140, 50), scores=(-200, 130), winner=1, preset="modern", **SIX_SET),
    S("R25-199-goes-on", scores_before=(-139, 50), scores=(-199, 130), preset="modern", **SIX_SET),
    S("R25-mercy-and-target", scores_before=(-150, 430), scores=(-210, 510), winner=1, preset="modern", **SIX_SET),
    S("R25-both-at-mercy", scores_before=(-140, -150), scores=(-200, -240), winner=0, preset="modern", **BOTH_SET),
    S("R25-both-at-mercy-tied", scores_before=(-150, -120), scores=(-210, -210), preset="modern", **BOTH_SET),
    S(
        "R25-by-the-bag-penalty",
        (3, 3, 3, 3),
        (4, 3, 3, 3),
        ((60, 1, 0, -100, 1), MADE_60),
        (-209, 60),
        (0, 0),
        preset="modern",
        scores_before=(-170, 0),
        bags_before=(9, 0),
        winner=1,
    ),
    S(
        "R25-two-player",
        (7, 5),
        (6, 7),
        ((-70, 0, 0, 0, 0), (50, 2, 0, 0, 2)),
        (-110, 52),
        (0, 2),
        preset="two_player",
        rules={"mercy": -100},
        scores_before=(-40, 0),
        winner=1,
    ),
    S("R26-truncated", rules={"max_deals": 3}, deals_played=2, scores=(60, 61), truncated=True, **SIXES),
    S("R26-not-yet", rules={"max_deals": 3}, deals_played=1, scores=(60, 61), **SIXES),
    S(
        "R26-won-in-the-last-deal",
        rules={"max_deals": 3},
        deals_played=2,
        scores_before=(450, 0),
        scores=(500, 80),
        winner=0,
        **FIVE_EIGHT,
    ),
    S(
        "R26-tied-in-the-last-deal",
        rules={"max_deals": 3},
        deals_played=2,
        scores_before=(455, 425),
        scores=(505, 505),
        truncated=True,
        **FIVE_EIGHT,
    ),
]

# "Further options": failed_nil, both_nil, contract.
OPTIONS = [
    S("help-makes-it", (0, 4, 4, 4), (2, 4, 3, 4), ((40, 1, -100, 0, 1), MADE_80), (-59, 80), (1, 0), rules=HELP),
    S(
        "help-still-set",
        (0, 4, 6, 3),
        (1, 4, 4, 4),
        ((-60, 0, -100, 0, 0), (70, 1, 0, 0, 1)),
        (-160, 71),
        (0, 1),
        rules=HELP,
    ),
    S(
        "help-two-nils-failed",
        (0, 5, 0, 5),
        (1, 5, 2, 5),
        ((0, 3, -200, 0, 3), MADE_100),
        (-197, 100),
        (3, 0),
        rules=HELP,
    ),
    S(
        "help-two-nils-one-made",
        (0, 5, 0, 6),
        (0, 5, 2, 6),
        ((0, 2, 0, 0, 2), (110, 0, 0, 0, 0)),
        (2, 110),
        (2, 0),
        rules=HELP,
    ),
    S(
        "help-blind",
        (3, 4, 0, 4),
        (2, 4, 1, 6),
        ((30, 0, -200, 0, 0), (80, 2, 0, 0, 2)),
        (-170, 82),
        (0, 2),
        preset="modern",
        rules=HELP,
        blind=(2,),
    ),
    S(
        "ignored-two-nils",
        (0, 5, 0, 5),
        (1, 5, 2, 5),
        ((0, 0, -200, 0, 0), MADE_100),
        (-200, 100),
        (0, 0),
        rules=IGNORED,
    ),
    S(
        "ignored-surplus-is-bags",
        (0, 4, 4, 4),
        (1, 4, 5, 3),
        ((40, 1, -100, 0, 1), (-80, 0, 0, 0, 0)),
        (-59, -80),
        (1, 0),
        rules=IGNORED,
    ),
    S(
        "unit-made",
        (0, 6, 0, 6),
        (0, 6, 0, 7),
        ((0, 0, 200, 0, 0), (120, 1, 0, 0, 1)),
        (200, 121),
        (0, 1),
        rules=UNIT,
        boston=1,
    ),
    S(
        "unit-one-failed",
        (0, 5, 0, 6),
        (0, 5, 2, 6),
        ((0, 0, -200, 0, 0), (110, 0, 0, 0, 0)),
        (-200, 110),
        (0, 0),
        rules=UNIT,
    ),
    S(
        "unit-one-blind-failed",
        (0, 5, 0, 6),
        (1, 5, 0, 7),
        ((0, 0, -300, 0, 0), (110, 1, 0, 0, 1)),
        (-300, 111),
        (0, 1),
        preset="modern",
        rules=UNIT,
        blind=(0,),
        winner=1,
    ),  # -300 is below the mercy of `modern`
    S(
        "unit-both-blind-made",
        (6, 0, 6, 0),
        (6, 0, 7, 0),
        ((120, 1, 0, 0, 1), (0, 0, 400, 0, 0)),
        (121, 400),
        (1, 0),
        preset="modern",
        rules=UNIT,
        blind=(1, 3),
        boston=0,
    ),
    S("unit-needs-two-nils", (0, 4, 4, 4), (1, 4, 4, 4), ((40, 1, -100, 0, 1), MADE_80), (-59, 80), (1, 0), rules=UNIT),
    S(
        "unit-before-help",
        (0, 5, 0, 6),
        (0, 5, 2, 6),
        ((0, 0, -200, 0, 0), (110, 0, 0, 0, 0)),
        (-200, 110),
        (0, 0),
        rules={**UNIT, **HELP},
    ),
    S(
        "individual-one-set",
        (3, 2, 4, 4),
        (5, 2, 3, 3),
        ((-10, 2, 0, 0, 2), (-20, 0, 0, 0, 0)),
        (-8, -20),
        (2, 0),
        rules=ALONE,
    ),
    S("individual-both-made", (2, 3, 2, 3), (4, 3, 3, 3), ((40, 3, 0, 0, 3), MADE_60), (43, 60), (3, 0), rules=ALONE),
    S(
        "individual-nil-bags",
        (0, 4, 4, 4),
        (1, 4, 5, 3),
        ((40, 2, -100, 0, 2), (0, 0, 0, 0, 0)),
        (-58, 0),
        (2, 0),
        rules=ALONE,
    ),
    S(
        "individual-nil-ignored",
        (0, 4, 4, 4),
        (1, 4, 5, 3),
        ((40, 1, -100, 0, 1), (0, 0, 0, 0, 0)),
        (-59, 0),
        (1, 0),
        rules={**ALONE, **IGNORED},
    ),
    S(
        "individual-team-count",
        (2, 3, 2, 3),
        (4, 3, 3, 3),
        ((40, 3, 0, -100, 3), MADE_60),
        (-57, 60),
        (1, 0),
        rules=ALONE,
        bags_before=(8, 0),
    ),
]

SCORING = WORKED + CONTRACTS_AND_NILS + BAGS + TWO_PLAYER + MATCH + OPTIONS
