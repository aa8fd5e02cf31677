"""Counts of a part, which add up to those of a dataset: decisions by phase, bids, nils, tricks and margins by agent."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, fields
from typing import Any

import numpy as np

from evaluation.dataset.decisions import Chunk
from evaluation.dataset.spec import DatasetSpec
from spades_env.engine.state import PHASE_DEAL_OVER

HIGHEST_BID = 13


@dataclass
class AgentCounts:
    """Of one agent, over all deals and seats of hers.

    Attributes:
        seats: hands played.
        bids: by number of tricks, 0 to 13; 0 is any nil.
        blind: blind and double nils; nils: any nil; made: of those.
        margin: points per hand, summed: team minus other team, bags priced.
    """

    decisions: int = 0
    explored: int = 0
    seats: int = 0
    bids: list[int] = field(default_factory=lambda: [0] * (HIGHEST_BID + 1))
    blind: int = 0
    nils: int = 0
    made: int = 0
    tricks: int = 0
    margin: float = 0.0

    def __add__(self, other: AgentCounts) -> AgentCounts:
        """Both together."""
        summed: dict[str, Any] = {
            f.name: getattr(self, f.name) + getattr(other, f.name) for f in fields(self) if f.name != "bids"
        }
        return AgentCounts(**summed, bids=[a + b for a, b in zip(self.bids, other.bids, strict=True)])


@dataclass
class Counts:
    """Of some deals. `phases`: decisions by phase; `forced`: decisions with one legal action."""

    rows: int
    deals: int
    phases: list[int]
    forced: int
    agents: list[AgentCounts]

    @classmethod
    def zero(cls, agents: int) -> Counts:
        """Of no deals."""
        return cls(0, 0, [0] * PHASE_DEAL_OVER, 0, [AgentCounts() for _ in range(agents)])

    def __add__(self, other: Counts) -> Counts:
        """Both together."""
        return Counts(
            self.rows + other.rows,
            self.deals + other.deals,
            [a + b for a, b in zip(self.phases, other.phases, strict=True)],
            self.forced + other.forced,
            [a + b for a, b in zip(self.agents, other.agents, strict=True)],
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Counts:
        """Return what `to_dict` was made of; TypeError or ValueError for anything else."""
        agents = [AgentCounts(**agent) for agent in data["agents"]]
        found = cls(data["rows"], data["deals"], list(data["phases"]), data["forced"], agents)
        return Counts.zero(len(agents)) + found


def count_chunk(spec: DatasetSpec, chunk: Chunk) -> Counts:
    """Count one chunk."""
    columns, ends = chunk.columns, chunk.ends
    seats = np.array(spec.job().rows[0][: spec.rules.players])
    legal = np.unpackbits(columns["mask"], axis=1).sum(axis=1)
    agents = []
    for k in range(int(seats.max()) + 1):
        mine = np.flatnonzero(seats == k)
        bids, tricks, nil = ends["bids"][:, mine], ends["tricks"][:, mine], ends["bids"][:, mine] == 0
        hers = columns["agent"] == k
        agents.append(
            AgentCounts(
                decisions=int(hers.sum()),
                explored=int(columns["explored"][hers].sum()),
                seats=int(bids.size),
                bids=np.bincount(bids.ravel(), minlength=HIGHEST_BID + 1).tolist(),
                blind=int(ends["blind"][:, mine].sum()),
                nils=int(nil.sum()),
                made=int((nil & (tricks == 0)).sum()),
                tricks=int(tricks.sum()),
                margin=float(chunk.margins[:, mine % 2].sum(dtype=np.float64)),
            )
        )
    phases = np.bincount(columns["phase"], minlength=PHASE_DEAL_OVER).tolist()
    return Counts(len(legal), len(ends), phases, int((legal == 1).sum()), agents)
