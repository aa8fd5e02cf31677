"""A job: agents, who sits where, and under which rules and seed; all games of it are numbered from 0.

A game is a single deal, a match or an ending, played once for each row of seats; game k of a job is the same whoever
plays it, after which others, and in how many parts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from agents.base import Agent, AgentError, OracleAgent
from agents.registry import load_agent, load_any
from evaluation.play import LogArray, Tally
from spades_env.rules import Rules

KINDS: Final = ("deals", "matches", "endings")
"""Single deals from 0:0, whole matches, and matches from the middle on."""

AgentSpec = str | Path | Agent | OracleAgent
"""An agent as text for `load_agent`, or the agent itself."""
Seats = tuple[int, int, int, int]
"""Which of the job's agents sits on each of the seats 0 to 3; with two players the last two say nothing."""

DUPLICATE: Final[tuple[Seats, ...]] = ((0, 1, 0, 1), (1, 0, 1, 0))
"""Agent 0 as team 0, and as team 1."""
ALONE: Final[tuple[Seats, ...]] = ((0, 0, 0, 0),)
"""One agent on every seat."""


@dataclass(frozen=True)
class Job:
    """What is to be played; everything but agents that are objects is plain and can be sent anywhere.

    Attributes:
        rows: every game is played once for each: the same cards, dealer and decision keys, other seats.
        teams: of each row, the team that the log calls A's (`team_of_a`); default: k % 2 for row k, as of a line-up
            that is turned by k seats.
        scores: of endings: lowest and highest score at which they begin.
        oracles: let agents in that see all hands.
        playouts: of single deals, for each choice whose luck is measured (evaluation.variance); 0: it is not.
        bag_price: points of a bag in that luck.
        keys: of each row, which decision keys: 0: the game's own; k: others, made of those and k. Default: 0 for all.
    """

    agents: tuple[AgentSpec, ...]
    rules: Rules
    rows: tuple[Seats, ...] = DUPLICATE
    kind: str = "deals"
    seed: int = 0
    teams: tuple[int, ...] = ()
    scores: tuple[int, int] | None = None
    oracles: bool = False
    playouts: int = 0
    bag_price: float = 0.0
    keys: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"kind is {self.kind!r}; allowed: {', '.join(KINDS)}")
        if (self.scores is None) == (self.kind == "endings"):
            raise ValueError(f"scores is {self.scores!r}; allowed: (lowest, highest) for endings, else None")
        if not self.rows or any(len(row) != 4 or not all(0 <= k < len(self.agents) for k in row) for row in self.rows):
            raise ValueError(f"rows is {self.rows!r}; allowed: rows of four numbers below {len(self.agents)}")
        if self.playouts and self.kind != "deals":
            raise ValueError(f"playouts is {self.playouts!r}; allowed for {self.kind}: 0, luck is that of single deals")
        if not self.teams:
            object.__setattr__(self, "teams", tuple(k % 2 for k in range(len(self.rows))))
        if len(self.teams) != len(self.rows) or not set(self.teams) <= {0, 1}:
            raise ValueError(f"teams is {self.teams!r}; allowed: 0 or 1 for each of {len(self.rows)} rows")
        if self.keys and (len(self.keys) != len(self.rows) or min(self.keys) < 0):
            raise ValueError(f"keys is {self.keys!r}; allowed: 0 or more for each of {len(self.rows)} rows")
        if any(self.keys) and self.playouts:
            raise ValueError(f"keys is {self.keys!r}; allowed where luck is measured: 0 for all rows")

    def name_of(self, first: int, count: int) -> str:
        """The games `first` to `first + count - 1` in words, for messages."""
        return f"{self.kind} {first}..{first + count - 1}"


@dataclass(frozen=True)
class Part:
    """Some games of a job, played.

    Attributes:
        log: DEAL_LOG, every deal of games `first` to `first + count - 1`, ordered by row, game and deal.
        tallies: of each agent of the job.
        seconds: wall time.
    """

    first: int
    count: int
    log: LogArray
    tallies: tuple[Tally, ...]
    seconds: float


@dataclass(frozen=True)
class Played:
    """The games from 0 on of a job, put together: `log` ordered by row, game and deal; `seconds` of work in all."""

    log: LogArray
    tallies: tuple[Tally, ...]
    seconds: float


def put_together(parts: Sequence[Part], rows: int) -> Played:
    """Return consecutive parts, at least one, as if they had been played as one."""
    edges = [np.searchsorted(part.log["row"], np.arange(rows + 1)) for part in parts]
    logs = [part.log[at[row] : at[row + 1]] for row in range(rows) for part, at in zip(parts, edges, strict=True)]
    columns = zip(*(part.tallies for part in parts), strict=True)
    tallies = tuple(sum(column, Tally()) for column in columns)
    return Played(np.concatenate(logs), tallies, sum(part.seconds for part in parts))


def texts_of(job: Job) -> list[str]:
    """Return the texts of a job's agents; AgentError for one that is an object, which no file can say."""
    for agent in job.agents:
        if not isinstance(agent, str | Path):
            name = getattr(agent, "name", agent)
            raise AgentError(f"agent {name!r} is an object; allowed where games are kept: agents given as text")
    return [str(agent) for agent in job.agents]


def load(spec: AgentSpec, oracles: bool) -> Agent | OracleAgent:
    """Return the agent; one that sees all hands only with `oracles`."""
    return load_any(spec) if oracles else load_agent(spec)
