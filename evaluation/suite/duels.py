"""Tasks that set the agent against a frozen opponent: every deal or match twice, the teams swapped."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from agents.base import Agent
from agents.registry import load_agent
from evaluation.duplicate import Evaluation, evaluate
from evaluation.endings import play_endings
from evaluation.intervals import mean_interval
from evaluation.play import Players
from evaluation.statistics import deal_statistics, match_statistics
from evaluation.suite.tables import Deal, Split, dealer, margins, play_tables
from evaluation.suite.task import REFERENCE, SEED, Outcome, Run, Share, Task
from evaluation.work.run import Progress
from spades_env.engine.state import StateArray
from spades_env.rules import Rules

CLASSIC: Final = Rules()
TABLE: Final = Rules.preset("table")
ENDING_SCORES: Final = (350, 490)
BAGS: Final = (6, 9)
"""Bags with which a team begins a deal of bag_control: lowest and highest."""
TRANSFER: Final[dict[str, Rules]] = {
    "table": TABLE,
    "modern": Rules.preset("modern"),
    "classic, jokers": Rules(jokers=True),
    "table, no bag penalty": Rules.preset("table", bag_limit=0),
    "classic, no nil": Rules(nil_allowed=False),
    "classic, nil 50": Rules(nil_value=50),
    "classic, spades led at any time": Rules(lead_spades="any"),
    "classic, failed nil helps partner": Rules(failed_nil="help_partner"),
    "classic, individual contracts": Rules(contract="individual"),
    "classic, low club first": Rules(opening_lead="low_club", first_trick_spades="forbid"),
}
"""Rule sets of the task transfer, by the text that tables show."""
CONSERVATIVE_SHARE: Final = 0.4
"""Of the deals of one_deal, also played against `conservative`."""


def _of(kind: str, share: Share) -> Progress:
    """Return a progress callback of `evaluate` that reports the games of one kind."""

    def show(what: str, finished: int, total: int) -> None:
        if what == kind:
            share(finished / total)

    return show


def _duel(run: Run, a: Agent, b: str, rules: Rules, deals: int, share: Share) -> Evaluation:
    """Evaluate `a` against the named agent on the task's duplicate deals."""
    return evaluate(a, b, rules, deals=deals, seed=SEED, batch_size=run.batch_size, progress=_of("deals", share))


def _margin_outcome(found: Evaluation, **figures: Any) -> Outcome:
    """The margin as headline; beside it the margin as scored and what both sides did."""
    return Outcome(
        headline=found.margin,
        n=len(found.margins),
        illegal=found.tallies[0].illegal,
        figures={
            "margin_raw": found.margin_raw.to_dict(),
            "stats": found.stats(0),
            "opponent_stats": found.stats(1),
            **figures,
        },
    )


def bid_only(run: Run) -> Outcome:
    """Her bids, the reference's cards."""
    table = Split(run.player, load_agent(REFERENCE))
    return _margin_outcome(_duel(run, table, REFERENCE, CLASSIC, run.games, run.share))


def play_only(run: Run) -> Outcome:
    """The reference's bids, her cards."""
    table = Split(load_agent(REFERENCE), run.player)
    return _margin_outcome(_duel(run, table, REFERENCE, CLASSIC, run.games, run.share))


def one_deal(run: Run) -> Outcome:
    """Whole deals against the reference, and some against `conservative`."""
    found = _duel(run, run.player, REFERENCE, CLASSIC, run.games, run.part(0, 2))
    fewer = max(2, round(run.games * CONSERVATIVE_SHARE))
    other = _duel(run, run.player, "conservative", CLASSIC, fewer, run.part(1, 2))
    outcome = _margin_outcome(found, conservative=other.margin.to_dict(), conservative_deals=fewer)
    return Outcome(outcome.headline, outcome.n, outcome.illegal + other.tallies[0].illegal, outcome.figures)


def two_player(run: Run) -> Outcome:
    """Two-player deals, draft included."""
    return _margin_outcome(_duel(run, run.player, REFERENCE, Rules.preset("two_player"), run.games, run.share))


def match(run: Run) -> Outcome:
    """Whole matches to the target of `table`."""
    found = evaluate(
        run.player,
        REFERENCE,
        TABLE,
        deals=2,
        matches=run.games,
        seed=SEED,
        batch_size=run.batch_size,
        progress=_of("matches", run.share),
    )
    figures = {"stats": found.match_stats(0), "opponent_stats": found.match_stats(1)}
    return Outcome(found.match_win_rate, run.games, found.tallies[0].illegal, figures)


def endings(run: Run) -> Outcome:
    """Matches from the middle."""
    found = play_endings(
        run.player,
        REFERENCE,
        CLASSIC,
        starts=run.games,
        scores=ENDING_SCORES,
        seed=SEED,
        batch_size=run.batch_size,
        progress=lambda _, finished, total: run.share(finished / total),
    )
    teams = found.log["team_of_a"].astype(np.int64)
    figures = {"stats": match_statistics(found.log, teams), "opponent_stats": match_statistics(found.log, 1 - teams)}
    return Outcome(found.win_rate, run.games, found.tallies[0].illegal, figures)


def with_bags(deal: Deal, games: int) -> Deal:
    """Return the deals with BAGS on both teams' sheets, drawn for each team by itself."""
    bags = np.random.default_rng([SEED, 1]).integers(BAGS[0], BAGS[1] + 1, size=(games, 2))

    def deal_with_bags(first: int, count: int) -> StateArray:
        states = deal(first, count)
        states["bags"] = bags[first : first + count]
        return states

    return deal_with_bags


def bag_control(run: Run) -> Outcome:
    """Deals that begin close to the bag penalty, as scored."""
    players = Players([run.player, load_agent(REFERENCE)], 2 * run.batch_size)
    deal = with_bags(dealer(CLASSIC), run.games)
    log = play_tables(players, [(0, 1, 0, 1), (1, 0, 1, 0)], deal, run.games, run.batch_size, run.share)
    points = margins(log, None)
    teams = np.repeat(np.array([0, 1]), run.games)
    flat = log.reshape(-1)
    rows = np.arange(len(flat))
    figures: dict[str, Any] = {}
    for prefix, of in (("", teams), ("opponent_", 1 - teams)):
        stats = deal_statistics(flat, of)
        figures[f"{prefix}stats"] = stats
        figures[f"{prefix}bags_per_deal"] = stats["bags_per_deal"]
        figures[f"{prefix}penalty_per_deal"] = float(flat["penalty"][rows, of].mean())
        figures[f"{prefix}set_rate"] = stats["set_rate"]
    return Outcome(mean_interval((points[0] - points[1]) / 2.0), run.games, players.tallies[0].illegal, figures)


def transfer(run: Run) -> Outcome:
    """Duplicate deals under each of TRANSFER."""
    found = [
        _duel(run, run.player, REFERENCE, rules, run.games, run.part(k, len(TRANSFER)))
        for k, rules in enumerate(TRANSFER.values())
    ]
    by_rules = {name: each.margin.to_dict() for name, each in zip(TRANSFER, found, strict=True)}
    return Outcome(
        headline=mean_interval(np.stack([each.margins for each in found]).mean(axis=0)),
        n=run.games,
        illegal=sum(each.tallies[0].illegal for each in found),
        figures={"by_rules": by_rules},
    )


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
