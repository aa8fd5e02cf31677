"""One duel of a ladder played: figures as plain values, and how long it will take."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from agents.base import Agent, OracleAgent
from agents.registry import load_agent
from evaluation.intervals import mean_interval, pair_win_interval
from evaluation.ladder.config import Duel
from evaluation.play import LogArray, Tally
from evaluation.result import margins_of, results_of_matches, teams_of
from evaluation.statistics import deal_statistics, match_statistics
from evaluation.work.crew import Crew
from evaluation.work.job import ALONE, DUPLICATE, Job
from evaluation.work.part import play_part, warm_up
from evaluation.work.run import Progress, play_all
from spades_env.engine.batch import default_bag_price
from spades_env.rules import Rules

Measured = dict[str, Any]
"""What a duel came to, for JSON; docs/evaluation.md describes the fields."""

TRIAL_DEALS: Final = 256
"""Deals that a fast agent plays to show how fast."""
TRIAL_SECONDS: Final = 5.0
"""Most seconds that they may be expected to take."""


def job_of(duel: Duel) -> Job:
    """Return what a duel has to play; by one agent alone, each game is played once."""
    agents, rows = ((duel.a,), ALONE) if duel.b is None else ((duel.a, duel.b), DUPLICATE)
    return Job(agents, duel.rules, rows, duel.kind, duel.seed, scores=duel.scores)


def play_duel(
    duel: Duel, crew: Crew, job: int, progress: Progress | None = None, batch_size: int | None = None
) -> Measured:
    """Play a duel, which is job number `job` of the crew; `batch_size`, the games of a part, changes no figure."""
    begun = time.perf_counter()
    played = play_all(crew, job, duel.games, batch_size=batch_size, progress=progress)
    return {
        **_figures(duel, played.log),
        "stats": _statistics(duel, played.log),
        **_tallies(played.tallies),
        "seconds": time.perf_counter() - begun,
    }


def _figures(duel: Duel, log: LogArray) -> dict[str, Any]:
    """Return margins of deals, or the share of wins of matches and endings; nothing by one agent alone."""
    figures = dict.fromkeys(("margin", "margin_raw", "bag_price", "win_rate"))
    if duel.b is None:
        return figures
    if duel.kind == "deals":
        price = default_bag_price(duel.rules)
        margin, raw = (mean_interval(margins_of(log, 2, bags)).to_dict() for bags in (price, None))
        return {**figures, "margin": margin, "margin_raw": raw, "bag_price": price}
    results = results_of_matches(log, duel.games)
    interval = pair_win_interval(results) if duel.kind == "matches" else mean_interval(results)
    return {**figures, "win_rate": interval.to_dict()}


def _statistics(duel: Duel, log: LogArray) -> dict[str, Any]:
    """Return what both agents' teams did; of one agent alone, both teams are hers."""
    statistics = deal_statistics if duel.kind == "deals" else match_statistics
    price = default_bag_price(duel.rules)

    def of(some: LogArray, teams: npt.NDArray[np.int64]) -> dict[str, Any]:
        return statistics(some, teams, price)

    if duel.b is not None:
        return {"A": of(log, teams_of(log, 0)), "B": of(log, teams_of(log, 1))}
    both = np.concatenate([log, log])
    both["team_of_a"] = np.repeat(np.array([0, 1], np.int8), log.shape[0])
    return {"A": of(both, teams_of(both, 0)), "B": None}


def _tallies(tallies: tuple[Tally, ...]) -> dict[str, Any]:
    """Return illegal actions and milliseconds per decision of A and, if there is one, B."""
    return {
        "illegal_actions": {name: tally.illegal for name, tally in zip("AB", tallies, strict=False)},
        "ms_per_decision": {name: tally.ms_per_decision for name, tally in zip("AB", tallies, strict=False)},
    }


@dataclass
class Costs:
    """How long agents take for a deal, tried out once each; for the time left."""

    _per_deal: dict[str, float] = field(default_factory=dict)

    def seconds_per_game(self, duel: Duel) -> float:
        """Return about how long a game of the duel takes on one core: both orientations of a deal or a match."""
        texts = [text for text in (duel.a, duel.b) if text is not None]
        for text in texts:
            if text not in self._per_deal:
                self._per_deal[text] = _seconds_per_deal(load_agent(text))
        a_deal = sum(self._per_deal[text] for text in texts) / len(texts)
        # Two strong teams make about 50 points a deal each; an ending takes two or three deals.
        deals = {"deals": 1.0, "matches": max(1.0, duel.rules.target / 50), "endings": 2.5}[duel.kind]
        return len(texts) * deals * a_deal


def _seconds_per_deal(agent: Agent | OracleAgent) -> float:
    """Return how long `agent` thinks about a deal of the default rules with herself on every seat."""
    job, seconds = Job((agent,), Rules(), ALONE), 0.0
    warm_up(job, [agent])
    # One deal shows who is slow; who is fast is so in batches, and one deal would say little.
    for deals in (1, TRIAL_DEALS):
        seconds = play_part(job, [agent], 0, deals).tallies[0].seconds / deals
        if seconds * TRIAL_DEALS > TRIAL_SECONDS:
            break
    return seconds
