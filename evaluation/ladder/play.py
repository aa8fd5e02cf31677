"""One duel of a ladder played: figures as plain values, and how long it will take."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from agents.base import Agent
from agents.registry import load_agent
from evaluation.duplicate import DEFAULT_BATCH, FIRST_MATCH, Progress, evaluate
from evaluation.endings import begin_endings, play_endings, play_to_end
from evaluation.ladder.config import Duel
from evaluation.play import LogArray, Players, Tally, log_deals
from evaluation.statistics import deal_statistics, match_statistics
from spades_env.engine.batch import DEFAULT_MAX_DEALS
from spades_env.engine.state import STATE, StateArray, rules_to_record
from spades_env.engine.step import new_games
from spades_env.rules import Rules

Measured = dict[str, Any]
"""What a duel came to, for JSON; docs/evaluation.md describes the fields."""

SECONDS_A_BATCH: Final = 5.0
"""A batch of slow agents takes about this long, so that the progress bar moves."""
TRIAL_DEALS: Final = 256
"""Deals that a fast agent plays to show how fast."""


def agents_of(duel: Duel) -> list[Agent]:
    """Return the agents of a duel, A first; AgentError says why one is not available."""
    return [load_agent(text) for text in (duel.a, duel.b) if text is not None]


def play_duel(duel: Duel, agents: list[Agent], batch_size: int, progress: Progress | None = None) -> Measured:
    """Play a duel with its `agents`; `batch_size`, the games at a time, decides speed and memory alone."""
    if duel.kind != "deals":
        _warm_up(duel, agents)
    if duel.b is None:
        return _play_alone(duel, agents[0], batch_size, progress)
    if duel.kind == "endings":
        return _play_endings(duel, agents, batch_size, progress)
    # Duplicate evaluation always plays some deals; of matches only the matches are shown.
    deals = duel.kind == "deals"
    found = evaluate(
        agents[0],
        agents[1],
        duel.rules,
        deals=duel.games if deals else 2,
        matches=0 if deals else duel.games,
        seed=duel.seed,
        batch_size=batch_size,
        progress=_only(duel.kind, progress),
    )
    values = found.to_dict()
    return {
        "margin": values["margin"] if deals else None,
        "margin_raw": values["margin_raw"] if deals else None,
        "bag_price": values["bag_price"] if deals else None,
        "win_rate": values["match_win_rate"],
        "stats": values["stats" if deals else "match_stats"],
        **_tallies(found.tallies),
        "seconds": values["seconds"],
    }


def _warm_up(duel: Duel, agents: list[Agent]) -> None:
    """Let every agent choose once near the end of a match: some make tables for it first, which is no deciding."""
    score = (duel.rules.target - 10) // 10 * 10
    states = begin_endings(rules_to_record(duel.rules), duel.seed, 0, 1, (score, score))
    Players(agents, 1).warm_up(states, np.zeros((1, 4), np.int8))


def _only(kind: str, progress: Progress | None) -> Progress | None:
    """Return `progress` for the games that the duel is about."""

    def show(what: str, finished: int, total: int) -> None:
        if progress is not None and what == kind:
            progress(what, finished, total)

    return show


def _play_endings(duel: Duel, agents: list[Agent], batch_size: int, progress: Progress | None) -> Measured:
    """Play a duel of kind "endings"."""
    assert duel.scores is not None
    found = play_endings(
        agents[0],
        agents[1],
        duel.rules,
        starts=duel.games,
        scores=duel.scores,
        seed=duel.seed,
        batch_size=batch_size,
        progress=progress,
    )
    teams = found.log["team_of_a"].astype(np.int64)
    return {
        "margin": None,
        "margin_raw": None,
        "bag_price": None,
        "win_rate": found.win_rate.to_dict(),
        "stats": {"A": match_statistics(found.log, teams), "B": match_statistics(found.log, 1 - teams)},
        **_tallies(found.tallies),
        "seconds": found.seconds,
    }


def _play_alone(duel: Duel, agent: Agent, batch_size: int, progress: Progress | None) -> Measured:
    """Play deals or matches with one agent on every seat, each once; both teams count."""
    players = Players([agent], min(batch_size, duel.games))
    start = time.perf_counter()
    logs = []
    for first in range(0, duel.games, batch_size):
        count = min(batch_size, duel.games - first)
        logs.append(_self_play(players, duel.rules, duel.kind, duel.seed, first, count))
        if progress is not None:
            progress(duel.kind, first + count, duel.games)
    log = np.concatenate(logs)
    both = np.concatenate([log, log])
    both["team_of_a"] = np.repeat(np.array([0, 1], np.int8), log.shape[0])
    statistics = deal_statistics if duel.kind == "deals" else match_statistics
    return {
        "margin": None,
        "margin_raw": None,
        "bag_price": None,
        "win_rate": None,
        "stats": {"A": statistics(both, both["team_of_a"].astype(np.int64)), "B": None},
        **_tallies(players.tallies),
        "seconds": time.perf_counter() - start,
    }


def _self_play(players: Players, rules: Rules, kind: str, seed: int, first: int, count: int) -> LogArray:
    """Play games `first` to `first + count` of a seed: the cards of the duplicate deals and matches of that seed."""
    whole_match = kind == "matches"
    if whole_match and rules.max_deals is None:
        rules = rules.replace(max_deals=DEFAULT_MAX_DEALS)
    states: StateArray = np.zeros(count, STATE)
    new_games(states, rules_to_record(rules), seed, first + (FIRST_MATCH if whole_match else 0))
    line_ups, teams = np.zeros((count, 4), np.int8), np.zeros(count, np.int8)
    numbers = np.arange(first, first + count, dtype=np.int64)
    if first == 0:
        players.warm_up(states, line_ups)
    if whole_match:
        return play_to_end(players, states, line_ups, numbers, teams)
    players.play_deals(states, line_ups)
    return log_deals(states, numbers, teams)


def _tallies(tallies: tuple[Tally, ...]) -> dict[str, Any]:
    """Return illegal actions and milliseconds per decision of A and, if there is one, B."""
    return {
        "illegal_actions": {name: tally.illegal for name, tally in zip("AB", tallies, strict=False)},
        "ms_per_decision": {name: tally.ms_per_decision for name, tally in zip("AB", tallies, strict=False)},
    }


@dataclass
class Costs:
    """How long agents take for a deal, tried out once each; for the time left and the size of batches."""

    _per_deal: dict[str, float] = field(default_factory=dict)

    def seconds_per_game(self, duel: Duel, agents: list[Agent]) -> float:
        """Return about how long a game of the duel takes: both orientations of a deal or a match."""
        texts = [text for text in (duel.a, duel.b) if text is not None]
        for text, agent in zip(texts, agents, strict=True):
            if text not in self._per_deal:
                self._per_deal[text] = _seconds_per_deal(agent)
        a_deal = sum(self._per_deal[text] for text in texts) / len(texts)
        # Two strong teams make about 50 points a deal each; an ending takes two or three deals.
        deals = {"deals": 1.0, "matches": max(1.0, duel.rules.target / 50), "endings": 2.5}[duel.kind]
        return len(texts) * deals * a_deal


def batch_size_for(seconds_per_game: float) -> int:
    """Return how many games to play at a time."""
    return max(4, min(DEFAULT_BATCH, int(SECONDS_A_BATCH / max(seconds_per_game, 1e-9))))


def _seconds_per_deal(agent: Agent) -> float:
    """Return how long `agent` thinks about a deal of the default rules with herself on every seat."""
    seconds = 0.0
    # One deal shows who is slow; who is fast is so in batches, and one deal would say little.
    for deals in (1, TRIAL_DEALS):
        players = Players([agent], deals)
        _self_play(players, Rules(), "deals", 0, 0, deals)
        seconds = players.tallies[0].seconds / deals
        if seconds * TRIAL_DEALS > SECONDS_A_BATCH:
            break
    return seconds
