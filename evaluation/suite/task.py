"""What a task of the suite is, and how one is run with an agent."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from agents.base import ActionArray, Agent, ForeignRulesError, KeyArray
from evaluation.intervals import Interval
from evaluation.play import Players
from evaluation.starts import begin_endings
from spades_env.engine.state import STATE, StateArray, rules_to_record
from spades_env.engine.step import new_games
from spades_env.rules import Rules

REFERENCE: Final = "normal"
"""The agent that plays the frozen roles: `normal` of the version at hand."""
SEED: Final = 20_261_130
"""Of every deal that a task plays; frozen with the tasks' versions."""
SECONDS_A_BATCH: Final = 3.0
TRIAL_DEALS: Final = 128
DEFAULT_BATCH: Final = 1024

Share = Callable[[float], None]
"""Called with the share of a task that is done, 0 to 1."""


class Meter:
    """An agent whose decisions and time are counted; the choices are hers."""

    def __init__(self, agent: Agent) -> None:
        self._agent = agent
        self.decisions, self.seconds = 0, 0.0

    @property
    def name(self) -> str:
        """Hers."""
        return self._agent.name

    def act(self, views: StateArray, keys: KeyArray) -> ActionArray:
        """Return her actions, see `Agent`."""
        begun = time.perf_counter()
        actions = self._agent.act(views, keys)
        self.seconds += time.perf_counter() - begun
        self.decisions += len(views)
        return actions


@dataclass(frozen=True)
class Run:
    """One run of a task.

    Attributes:
        agent: who is measured, for what only she can be asked (beliefs); `player` is she, counted, for all play.
        games: how many of the task's games or positions, the first ones.
        batch_size: games at a time: speed and memory, never the result.
        share: to be called with the share done.
        pool: the other agents of the command, for cross-play.
        text: hers for `load_agent`; None of an agent that is given as an object.
    """

    agent: Agent
    player: Meter
    games: int
    batch_size: int
    share: Share
    pool: tuple[Agent, ...] = ()
    text: str | None = None

    def part(self, k: int, parts: int) -> Share:
        """Return what to call with the share done of part number `k` of so many equal ones."""
        return lambda share: self.share((k + share) / parts)


@dataclass(frozen=True)
class Outcome:
    """What a task found.

    Attributes:
        headline: the task's metric with its 95 % interval; None: it does not apply to the agent, `reason` says why.
        n: independent observations behind the interval.
        illegal: illegal actions of the agent, each replaced by the lowest legal one.
        figures: further plain values, described in docs/benchmark.md.
    """

    headline: Interval | None
    n: int
    illegal: int = 0
    figures: dict[str, Any] = field(default_factory=dict)
    reason: str | None = None


@dataclass(frozen=True)
class Task:
    """A task: what is measured on which frozen games.

    Attributes:
        version: raised whenever the same agent would get other figures for another reason than other opponents.
        definition: what is played and counted, for docs and reports.
        metric, unit: what the headline is.
        rules: as text for tables; `rule_set` are the rules.
        games, of: the size at scale 1, and of what.
        decisions: of the agent, about, per game; for the expected time.
        overhead: seconds per game, about, of what costs time besides the agent's decisions; likewise.
        core: part of the suite `core`; all tasks are in `full`.
        to_the_end: matches are played out: agents make equity tables first, which is not timed.
        uses_pool: the result depends on the other agents of the command.
    """

    id: str
    version: int
    title: str
    definition: str
    metric: str
    unit: str
    higher_is_better: bool
    rules: str
    rule_set: Rules
    games: int
    of: str
    decisions: float
    play: Callable[[Run], Outcome]
    core: bool = True
    to_the_end: bool = False
    uses_pool: bool = False
    overhead: float = 0.0

    @property
    def suites(self) -> tuple[str, ...]:
        """Where the task belongs."""
        return ("core", "full") if self.core else ("full",)

    def games_at(self, scale: float) -> int:
        """Return the size at another scale, at least 2; positions there are no more of than are frozen."""
        games = max(2, round(self.games * scale))
        return min(games, self.games) if self.of.endswith("positions") else games


@dataclass(frozen=True)
class TaskResult:
    """An outcome, what it took and at which scale; `to_dict` is the JSON contract."""

    outcome: Outcome
    scale: float
    games: int
    decisions: int
    act_seconds: float
    seconds: float

    def to_dict(self) -> dict[str, Any]:
        """Return plain values; the names are described in docs/benchmark.md."""
        headline = self.outcome.headline
        return {
            "headline": headline.to_dict() if headline else None,
            "reason": self.outcome.reason,
            "n": self.outcome.n,
            "games": self.games,
            "scale": self.scale,
            "comparable": self.scale == 1.0,
            "figures": self.outcome.figures,
            "illegal_actions": self.outcome.illegal,
            "decisions": self.decisions,
            "ms_per_decision": 1000.0 * self.act_seconds / self.decisions if self.decisions else None,
            "seconds": self.seconds,
        }


def run_task(
    task: Task,
    agent: Agent,
    *,
    scale: float = 1.0,
    batch_size: int = DEFAULT_BATCH,
    share: Share | None = None,
    pool: tuple[Agent, ...] = (),
    text: str | None = None,
) -> TaskResult:
    """Run `task` with `agent`; `scale` times as many games give a quick look, not a comparable result.

    An agent that was not made for the task's rules has no figure; the outcome says why.
    """
    player, games = Meter(agent), task.games_at(scale)
    begun = time.perf_counter()
    try:
        warm_up(agent, task)
        begun = time.perf_counter()
        outcome = task.play(Run(agent, player, games, batch_size, share or (lambda _: None), pool, text))
    except ForeignRulesError as error:
        outcome = Outcome(None, 0, reason=str(error))
    seconds = time.perf_counter() - begun
    return TaskResult(outcome, scale, games, player.decisions, player.seconds, seconds)


def warm_up(agent: Agent, task: Task) -> None:
    """Let `agent` choose once before she is timed: compiling and making tables is no deciding."""
    record = rules_to_record(task.rule_set)
    states: StateArray = np.zeros(1, STATE)
    new_games(states, record, SEED, 0)
    players = Players([agent], 1)
    players.warm_up(states)
    if task.to_the_end:
        score = (task.rule_set.target - 10) // 10 * 10
        players.warm_up(begin_endings(record, SEED, 0, 1, (score, score)))


def seconds_per_decision(agent: Agent) -> float:
    """Return about how long `agent` thinks about a decision, from deals with herself on every seat."""
    meter = Meter(agent)
    # One deal shows who is slow; who is fast is so in batches, and one deal would say little.
    for deals in (1, TRIAL_DEALS):
        states: StateArray = np.zeros(deals, STATE)
        new_games(states, rules_to_record(Rules()), SEED, 0)
        players = Players([meter], deals)
        players.warm_up(states)
        meter.decisions, meter.seconds = 0, 0.0
        players.play_deals(states, np.zeros((deals, 4), np.int8))
        if meter.seconds * TRIAL_DEALS > SECONDS_A_BATCH:
            break
    return meter.seconds / meter.decisions


def batch_size_for(task: Task, seconds_a_decision: float) -> int:
    """Return how many games to play at a time, so that a slow agent's progress is seen."""
    seconds = task.decisions * seconds_a_decision
    return max(4, min(DEFAULT_BATCH, int(SECONDS_A_BATCH / max(seconds, 1e-9))))
