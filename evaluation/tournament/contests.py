"""What a tournament plays as jobs: one for each pair of agents, one for each line-up of mixed teams; and their margins.

All pairs play the same deals, each line-up of mixed teams its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from evaluation.line_up import rotations
from evaluation.play import LogArray
from evaluation.tournament.config import Tournament
from evaluation.tournament.seats import CHAIRS, mixed_line_ups
from evaluation.tournament.strength import FloatArray
from evaluation.work.job import DUPLICATE, Job, Seats

TEAM_GAMES: Final = 5
"""Games that a line-up of mixed teams plays, each in four rotations."""
PURPOSE_DEALS: Final = 4
"""Distinguishes, of one seed, what is drawn here from what the other modules of this folder draw."""


@dataclass(frozen=True)
class Contest:
    """A job, which agents play it, and how many of its games.

    Attributes:
        agents: numbers of the entrants, in the order of the job's agents.
        games: how many of the job's games are played; of a pair, at most.
    """

    job: Job
    agents: tuple[int, ...]
    games: int


def pair_contests(tournament: Tournament) -> list[Contest]:
    """Return a contest for each of `tournament.pairs()`.

    The order of the two in the job is that of their texts, so that it is the same job wherever they stand in the list.
    """
    found = []
    for pair in tournament.pairs():
        agents = tuple(sorted((pair.a, pair.b), key=lambda k: tournament.entrants[k].agent))
        found.append(Contest(_job(tournament, agents, DUPLICATE, tournament.seed), agents, pair.most))
    return found


def team_contests(tournament: Tournament) -> list[Contest]:
    """Return the contests of mixed teams; chairs 0 and 2 of a line-up are the first team."""
    limits = [-(-entrant.max_games // TEAM_GAMES) for entrant in tournament.entrants]
    line_ups = mixed_line_ups(limits, -(-tournament.seat_games // TEAM_GAMES), tournament.seed)
    found = []
    for k, chairs in enumerate(line_ups.tolist()):
        games = min(TEAM_GAMES, tournament.seat_games - k * TEAM_GAMES)
        # A seed of its own: line-ups play other deals than pairs and each other.
        seed = int(np.random.SeedSequence([tournament.seed, PURPOSE_DEALS, k]).generate_state(1, np.uint64)[0] >> 1)
        found.append(Contest(_job(tournament, tuple(chairs), rotations(range(CHAIRS)), seed), tuple(chairs), games))
    return found


def _job(tournament: Tournament, agents: tuple[int, ...], rows: tuple[Seats, ...], seed: int) -> Job:
    texts = tuple(tournament.entrants[k].agent for k in agents)
    return Job(texts, tournament.rules, rows, tournament.kind, seed)


def margins_of(log: LogArray, kind: str, bag_price: float | None) -> FloatArray:
    """Return first team minus second of each game of `log` (dtype DEAL_LOG), float64 (games,), the mean over its rows.

    `log` is ordered by row, game and deal and has every game once for each row. Of deals: points, bags at `bag_price`
    or, without it, as scored. Of matches: 1 won, 0 tied, -1 lost, by the points after the last deal; their mean is the
    share of matches won minus the share lost.
    """
    rows, teams = np.arange(log.shape[0]), log["team_of_a"].astype(np.int64)
    if kind == "matches":
        ends = np.flatnonzero((np.diff(log["game"], append=-1) != 0) | (np.diff(log["row"], append=-1) != 0))
        value = np.sign(log["scores"][rows, teams] - log["scores"][rows, 1 - teams])[ends].astype(np.float64)
    else:
        points = (log["contract"] + log["nil"]).astype(np.float64)
        points += log["bag_points"] + log["penalty"] if bag_price is None else bag_price * log["bags"]
        value = points[rows, teams] - points[rows, 1 - teams]
    margins: FloatArray = value.reshape(int(log["row"].max()) + 1, -1).mean(axis=0)
    return margins
