"""Tasks that set the agent against a frozen opponent: every deal or match twice, the teams swapped."""

from __future__ import annotations

from typing import Final

from evaluation.suite.duels import (
    BAGS,
    CLASSIC,
    CONSERVATIVE_SHARE,
    ENDING_SCORES,
    TABLE,
    TRANSFER,
    bag_control,
    bid_only,
    endings,
    match,
    one_deal,
    play_only,
    transfer,
    two_player,
)
from evaluation.suite.task import Task
from spades_env.rules import Rules

_TWICE: Final = "Every deal is played twice with the same cards, dealer and decision keys, the teams swapped."
_PRICE: Final = "Points per deal, bags at their own points and their share of the penalty (−9)."

DUELS: Final = (
    Task(
        id="bid_only",
        version=1,
        title="Bidding alone",
        definition=(
            "The agent bids for both seats of a team and `normal` plays their cards; the other team is all `normal`. "
            f"{_TWICE} {_PRICE} `normal` is exactly 0."
        ),
        metric="margin",
        unit="points per deal",
        higher_is_better=True,
        rules="classic",
        rule_set=CLASSIC,
        games=2000,
        of="duplicate deals",
        decisions=4,
        play=bid_only,
    ),
    Task(
        id="play_only",
        version=1,
        title="Card play alone",
        definition=(
            "`normal` bids for all seats; the agent plays the cards of one team, `normal` those of the other. "
            f"{_TWICE} {_PRICE} `normal` is exactly 0."
        ),
        metric="margin",
        unit="points per deal",
        higher_is_better=True,
        rules="classic",
        rule_set=CLASSIC,
        games=1000,
        of="duplicate deals",
        decisions=52,
        play=play_only,
    ),
    Task(
        id="bag_control",
        version=1,
        title="Bags close to the penalty",
        definition=(
            f"Single deals against `normal` in which both teams begin with {BAGS[0]} to {BAGS[1]} bags, each count "
            f"drawn by itself, scores 0:0. {_TWICE} Points as scored, penalties included; bags, penalties and sets per "
            "deal stand beside. `normal` is exactly 0."
        ),
        metric="margin as scored",
        unit="points per deal",
        higher_is_better=True,
        rules="classic",
        rule_set=CLASSIC,
        games=1000,
        of="duplicate deals",
        decisions=56,
        play=bag_control,
    ),
    Task(
        id="one_deal",
        version=1,
        title="One deal, bids and cards",
        definition=(
            f"Single deals from 0:0 against `normal`. {_TWICE} {_PRICE} The same against `conservative` on the first "
            f"{CONSERVATIVE_SHARE:.0%} of the deals stands beside. `normal` is exactly 0."
        ),
        metric="margin",
        unit="points per deal",
        higher_is_better=True,
        rules="classic",
        rule_set=CLASSIC,
        games=1500,
        of="duplicate deals",
        decisions=78,
        play=one_deal,
    ),
    Task(
        id="match",
        version=1,
        title="Match to the target",
        definition=(
            "Matches to 300 under `table` against `normal`, each twice with the same sequence of deals, the teams "
            "swapped. Share of matches won, a tie as half, with Wilson's interval for pairs. `normal` is exactly 50 %."
        ),
        metric="matches won",
        unit="share",
        higher_is_better=True,
        rules="table",
        rule_set=TABLE,
        games=300,
        of="duplicate matches",
        decisions=260,
        play=match,
        to_the_end=True,
    ),
    Task(
        id="endings",
        version=1,
        title="Endings by the score",
        definition=(
            f"Matches to 500 against `normal` that begin with {ENDING_SCORES[0]} to {ENDING_SCORES[1]} points (a "
            "multiple of 10) and 0 to 9 bags for each team, each start twice, the teams swapped. Share of matches won: "
            "few deals decide, so it shows who plays for the match. `normal` is exactly 50 %."
        ),
        metric="matches won",
        unit="share",
        higher_is_better=True,
        rules="classic",
        rule_set=CLASSIC,
        games=600,
        of="duplicate matches",
        decisions=80,
        play=endings,
        to_the_end=True,
    ),
    Task(
        id="two_player",
        version=1,
        title="Two-player Spades",
        definition=f"Single deals from 0:0 under `two_player` against `normal`. {_TWICE} {_PRICE}",
        metric="margin",
        unit="points per deal",
        higher_is_better=True,
        rules="two_player",
        rule_set=Rules.preset("two_player"),
        games=1000,
        of="duplicate deals",
        decisions=56,
        play=two_player,
        core=False,
    ),
    Task(
        id="transfer",
        version=1,
        title="Transfer between rule sets",
        definition=(
            "Single deals from 0:0 against `normal` under each of these rules: " + "; ".join(TRANSFER) + f". {_TWICE} "
            "Points per deal, bags at their own points and their share of the penalty in force; the mean over the rule "
            "sets, which stand beside one by one."
        ),
        metric="margin, mean over rule sets",
        unit="points per deal",
        higher_is_better=True,
        rules="various",
        rule_set=TABLE,
        games=200,
        of="duplicate deals per rule set",
        decisions=56 * len(TRANSFER),
        play=transfer,
        core=False,
    ),
)
