"""Matches played from the middle: both teams near the target, every start played twice, the teams swapped.

Where single deals cannot tell whether an agent plays for the match, these can.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from agents.base import Agent
from agents.registry import load_agent
from evaluation.duplicate import DEFAULT_BATCH, FIRST_MATCH, Progress, results_of_matches
from evaluation.intervals import Interval, mean_interval
from evaluation.play import IndexArray, LogArray, Players, Tally, log_deals, next_deals
from spades_env.engine.batch import DEFAULT_MAX_DEALS
from spades_env.engine.deal import start_deal
from spades_env.engine.kernel import kernel
from spades_env.engine.rng import below, stream
from spades_env.engine.state import PHASE_MATCH_OVER, STATE, StateArray, rules_to_record
from spades_env.engine.step import new_games
from spades_env.rules import Rules

FIRST_ENDING: Final = 2 * FIRST_MATCH
"""Game number of the first ending: endings share no cards with the single deals and matches of one seed."""
PURPOSE_SCORES: Final = 16
"""Of the engine's streams (spades_env.engine.rng): the scores and bags at which an ending begins."""
MOST_BAGS: Final = 9


@dataclass(frozen=True)
class Endings:
    """What `play_endings` found.

    Attributes:
        results: float64 (starts,), mean result of A in the two matches of a start: 1 won, 1/2 tied, 0 lost.
        log: DEAL_LOG, every deal, first of the matches with A as team 0.
    """

    results: npt.NDArray[np.float64]
    log: LogArray
    tallies: tuple[Tally, Tally]
    seconds: float

    @property
    def win_rate(self) -> Interval:
        """Share of matches that A won, a start's two matches being one observation."""
        return mean_interval(self.results)


def play_endings(
    a: str | Agent,
    b: str | Agent,
    rules: Rules,
    *,
    starts: int,
    scores: tuple[int, int],
    seed: int = 0,
    batch_size: int = DEFAULT_BATCH,
    progress: Progress | None = None,
) -> Endings:
    """Let `a` and `b` play `starts` matches to their end, from `scores` on, each twice with the same cards.

    Each team begins with a multiple of 10 from `scores` (lowest, highest) plus 0 to 9 bags, uniform and
    independent. A start is the same whatever the number of starts and the batch size.
    """
    agents = (load_agent(a), load_agent(b))
    players = Players(agents, 2 * min(batch_size, starts))
    record = rules_to_record(rules if rules.max_deals is not None else rules.replace(max_deals=DEFAULT_MAX_DEALS))
    begun = time.perf_counter()
    logs = []
    for first in range(0, starts, batch_size):
        count = min(batch_size, starts - first)
        half = begin_endings(record, seed, first, count, scores)
        team_of_a = np.repeat(np.array([0, 1], np.int8), count)
        line_ups = (np.arange(4) % 2 != team_of_a[:, None]).astype(np.int8)
        states = np.concatenate([half, half])
        if first == 0:
            players.warm_up(states, line_ups)
        logs.append(play_to_end(players, states, line_ups, np.tile(np.arange(first, first + count), 2), team_of_a))
        if progress is not None:
            progress("endings", first + count, starts)
    log = np.concatenate(logs)
    log = log[np.lexsort((log["deal"], log["game"], log["team_of_a"]))]
    return Endings(
        results=results_of_matches(log, starts),
        log=log,
        tallies=(players.tallies[0], players.tallies[1]),
        seconds=time.perf_counter() - begun,
    )


def begin_endings(record: StateArray, seed: int, first: int, count: int, scores: tuple[int, int]) -> StateArray:
    """Return starts `first` to `first + count` as STATE records, shape (count,), at the beginning of a deal.

    `record`: the rules, dtype RULES, shape (1,).
    """
    states: StateArray = np.zeros(count, STATE)
    new_games(states, record, seed, FIRST_ENDING + first)
    limit = int(record["bag_limit"][0])
    bags = MOST_BAGS if limit == 0 else min(MOST_BAGS, limit - 1)
    _draw_scores(states, scores[0] // 10, scores[1] // 10, bags)
    return states


@kernel
def _draw_scores(states: StateArray, low: int, high: int, most_bags: int) -> None:
    """Give both teams of every game 10 * (low..high) points and 0..most_bags bags, and start the deal with them."""
    for i in range(states.shape[0]):
        game = states[i]
        key = stream(game["key"], 0, 0, PURPOSE_SCORES)
        for team in range(2):
            bags = below(key, 2 * team, most_bags + 1)
            game["bags"][team] = bags
            game["scores"][team] = 10 * (low + below(key, 2 * team + 1, high - low + 1)) + bags
        start_deal(game)


def play_to_end(
    players: Players,
    states: StateArray,
    line_ups: npt.NDArray[np.int8],
    numbers: IndexArray,
    team_of_a: npt.NDArray[np.int8],
) -> LogArray:
    """Play the match of every game of `states`, shape (n,), to its end; the log of all deals, round by round.

    `line_ups`: int8 (n, 4), which of the players sits on each seat; `numbers` and `team_of_a`, shape (n,), are
    written into the log.
    """
    logs = []
    while states.size:
        players.play_deals(states, line_ups)
        logs.append(log_deals(states, numbers, team_of_a))
        going = states["phase"] != PHASE_MATCH_OVER
        states, line_ups = states[going], line_ups[going]
        numbers, team_of_a = numbers[going], team_of_a[going]
        next_deals(states)
    return np.concatenate(logs)
