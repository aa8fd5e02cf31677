"""One part of a job played: a pure function of the job, its agents and which games."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from agents.base import Agent, AgentError, OracleAgent
from evaluation.play import IndexArray, LogArray, Players, log_deals, next_deals
from evaluation.starts import begin
from evaluation.variance.luck import Luck
from evaluation.work.job import Job, Part
from spades_env.engine.state import PHASE_MATCH_OVER, StateArray
from spades_env.envs.players import PlayerError

AT_ONCE: Final = 2048
"""Most tables in lock-step: more would not be faster, and the states would leave the processor's cache."""

Observer = Callable[[StateArray, LogArray], None]
"""Called with the states of deals just scored and their log, both of shape (n,)."""


class PartError(PlayerError):
    """Games that could not be played; the message says which, and why."""


def warm_up(job: Job, agents: Sequence[Agent | OracleAgent]) -> None:
    """Let every agent decide once without counting it: compiling, or making tables for the end of a match (done near
    its end only), is no deciding."""
    states = begin(job.kind, job.rules, job.seed, 0, 1, job.scores)
    if job.kind == "matches":
        near_end = states.copy()
        near_end["scores"] = (job.rules.target - 10) // 10 * 10
        states = np.concatenate([states, near_end])
    Players(agents, len(states)).warm_up(states)


def play_part(
    job: Job, agents: Sequence[Agent | OracleAgent], first: int, count: int, observe: Observer | None = None
) -> Part:
    """Play games `first` to `first + count - 1` of `job`, at least one, with its `agents`, loaded.

    `observe` is shown every deal when it is scored.
    """
    begun = time.perf_counter()
    step = max(1, AT_ONCE // len(job.rows))
    size = len(job.rows) * min(step, count)
    players = Players(agents, size, Luck(agents, size, job.playouts, job.bag_price) if job.playouts else None)
    logs: list[LogArray] = []
    for start in range(first, first + count, step):
        some = min(step, first + count - start)
        try:
            logs += _play_together(job, players, start, some, observe)
        except (AgentError, PlayerError) as error:
            raise PartError(f"{job.name_of(start, some)}: {error}") from error
    log = np.concatenate(logs)
    log = log[np.lexsort((log["deal"], log["game"], log["row"]))]
    return Part(first, count, log, players.tallies, time.perf_counter() - begun)


def _play_together(job: Job, players: Players, first: int, count: int, observe: Observer | None) -> list[LogArray]:
    """Play some games of all rows in lock-step, one deal or to the end of the match; the logs deal by deal."""
    states = np.tile(begin(job.kind, job.rules, job.seed, first, count, job.scores), len(job.rows))
    rows = np.repeat(np.arange(len(job.rows), dtype=np.int64), count)
    games = np.tile(np.arange(first, first + count, dtype=np.int64), len(job.rows))
    seats, teams = np.array(job.rows, np.int8), np.array(job.teams, np.int8)
    logs = []
    while states.size:
        players.play_deals(states, seats[rows])
        logs.append(_logged(states, games, rows, teams))
        if players.luck is not None:
            logs[-1]["luck"] = players.luck.values[: len(states)]
        if observe is not None:
            observe(states, logs[-1])
        if job.kind == "deals":
            break
        going = states["phase"] != PHASE_MATCH_OVER
        states, games, rows = states[going], games[going], rows[going]
        next_deals(states)
    return logs


def _logged(states: StateArray, games: IndexArray, rows: IndexArray, teams: npt.NDArray[np.int8]) -> LogArray:
    """Return the log of the deals just scored; `teams`, shape (rows,), are A's by row."""
    log = log_deals(states, games, teams[rows])
    log["row"] = rows
    return log
