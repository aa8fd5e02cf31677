"""The same cards played with other decision keys: how else the same agents might have played a deal."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from agents.base import ActionArray, Agent, KeyArray, OracleAgent
from evaluation.work.job import Job, Part, put_together
from evaluation.work.part import play_part
from spades_env.engine.kernel import kernel
from spades_env.engine.rng import combine
from spades_env.engine.state import StateArray


@kernel
def _combined(keys: KeyArray, number: int, out: KeyArray) -> None:
    """Fill `out` with the key number `number` of each decision, both uint64 (n,)."""
    for k in range(keys.shape[0]):
        out[k] = combine(keys[k], number)


def other_keys(keys: KeyArray, number: int) -> KeyArray:
    """Return set number `number`, from 1, of other keys for the decisions with `keys`, uint64 (n,)."""
    out = np.empty_like(keys)
    _combined(keys, number, out)
    return out


@dataclass(frozen=True)
class OtherKeys:
    """An agent who draws her chances from another set of keys."""

    agent: Agent
    number: int

    @property
    def name(self) -> str:
        """The agent's."""
        return self.agent.name

    def act(self, views: StateArray, keys: KeyArray) -> ActionArray:
        """Return her actions, see `Agent`."""
        return self.agent.act(views, other_keys(keys, self.number))


@dataclass(frozen=True)
class OracleOtherKeys:
    """The same for one who sees all hands."""

    oracle: OracleAgent
    number: int

    @property
    def name(self) -> str:
        """The oracle's."""
        return self.oracle.name

    def act_on_states(self, states: StateArray, keys: KeyArray) -> ActionArray:
        """Return her actions, see `OracleAgent`."""
        return self.oracle.act_on_states(states, other_keys(keys, self.number))


def with_keys(agent: Agent | OracleAgent, number: int) -> Agent | OracleAgent:
    """Return `agent` with set number `number` of other keys; 0 is the game's own."""
    if number == 0:
        return agent
    return OracleOtherKeys(agent, number) if isinstance(agent, OracleAgent) else OtherKeys(agent, number)


def play_rows(job: Job, agents: Sequence[Agent | OracleAgent], first: int, count: int) -> Part:
    """Play games `first` to `first + count - 1` of `job` with its `agents`, each row with its keys."""
    if not any(job.keys):
        return play_part(job, agents, first, count)
    parts = []
    for number in sorted(set(job.keys)):
        index = [k for k, keys in enumerate(job.keys) if keys == number]
        rows, teams = tuple(job.rows[k] for k in index), tuple(job.teams[k] for k in index)
        some = dataclasses.replace(job, rows=rows, teams=teams, keys=())
        part = play_part(some, [with_keys(agent, number) for agent in agents], first, count)
        part.log["row"] = np.array(index, np.int16)[part.log["row"]]
        parts.append(part)
    whole = put_together(parts, len(job.rows))
    return Part(first, count, whole.log, whole.tallies, whole.seconds)
