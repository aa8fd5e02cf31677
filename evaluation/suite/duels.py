"""How the tasks against a frozen opponent are played; duel_tasks.py says which there are."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

import numpy as np

from agents.base import Agent, ForeignRulesError
from agents.registry import load_agent
from evaluation.duplicate import Evaluation, evaluate
from evaluation.endings import play_endings
from evaluation.intervals import mean_interval
from evaluation.play import Players
from evaluation.statistics import deal_statistics, match_statistics
from evaluation.suite.tables import Deal, Split, dealer, margins, play_tables
from evaluation.suite.task import REFERENCE, SEED, Outcome, Run, Share
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
    """Duplicate deals under each of TRANSFER; an agent that refuses some of them has no figure for all."""
    found: dict[str, Evaluation] = {}
    refused: dict[str, ForeignRulesError] = {}
    for k, (name, rules) in enumerate(TRANSFER.items()):
        try:
            found[name] = _duel(run, run.player, REFERENCE, rules, run.games, run.part(k, len(TRANSFER)))
        except ForeignRulesError as error:
            refused[name] = error
    outcome = Outcome(
        headline=None,
        n=run.games,
        illegal=sum(each.tallies[0].illegal for each in found.values()),
        figures={"by_rules": {name: each.margin.to_dict() for name, each in found.items()}},
    )
    if refused:
        first = next(iter(refused.values()))
        return replace(outcome, reason=f"the agent refuses {len(refused)} of {len(TRANSFER)} rule sets: {first}")
    return replace(outcome, headline=mean_interval(np.stack([each.margins for each in found.values()]).mean(axis=0)))
