"""What cheaper agents come to on the same deals, as controls: a deal that is lively for them is so for others.

The mean of such a control is not known. It comes from further deals, many more than are evaluated, which only the
cheap agents play; evaluation.variance.fit has what that error costs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from evaluation.play import LogArray
from evaluation.result import margins_of
from evaluation.starts import MAX_GAMES
from evaluation.variance.fit import FloatArray
from evaluation.work.job import DUPLICATE, AgentSpec, Job
from spades_env.checks import whole_number

FURTHER: Final = 9
"""Further deals for each evaluated one, by default. Nothing that the clock says decides here, so that a result can be
repeated; `best_deals` in the JSON says which number would have been best."""
MOST_PAIRS: Final = 8
MOST_PLAYS: Final = 256
COLUMNS: Final = 4
"""Controls of a pair, see `columns_of`."""
_FURTHER_SEED: Final = 0x52656665
"""Told from the seed itself by this word."""

Pair = tuple[AgentSpec, AgentSpec]


@dataclass(frozen=True)
class References:
    """Pairs of agents that play the evaluated deals besides, and further ones.

    Attributes:
        pairs: (first, second) of each pair, in the places of A and B; none: there is no reference.
        plays: how often a pair plays each deal: with the game's own keys, and with others.
        deals: further deals; None: FURTHER for each evaluated one.
    """

    pairs: tuple[Pair, ...] = ()
    plays: int = 1
    deals: int | None = None

    @classmethod
    def of(cls, pairs: Sequence[Pair | str], plays: int, deals: int | None) -> References:
        """Return what is asked for; ValueError names what is no pair, out of range or contradicts itself."""
        if len(pairs) > MOST_PAIRS:
            raise ValueError(f"reference has {len(pairs)} pairs; allowed: at most {MOST_PAIRS}")
        if not pairs and (plays != 1 or deals is not None):
            name, value = ("reference_plays", plays) if plays != 1 else ("reference_deals", deals)
            raise ValueError(f"{name} is {value!r}; allowed only with a reference")
        whole_number("reference_plays", plays, 1, MOST_PLAYS)
        if deals is not None:
            whole_number("reference_deals", deals, 2, MAX_GAMES)
        return cls(tuple(split_pair(pair) if isinstance(pair, str) else pair for pair in pairs), plays, deals)

    def further(self, deals: int) -> int:
        """Return how many further deals belong to so many evaluated ones."""
        return min(FURTHER * deals, MAX_GAMES) if self.deals is None else self.deals

    def jobs(self, job: Job) -> list[tuple[Job, Job]]:
        """Return for each pair its play of the deals of `job`, and of further deals, drawn with another seed."""
        return [(self._job(pair, job, job.seed), self._job(pair, job, further_seed(job.seed))) for pair in self.pairs]

    def _job(self, pair: Pair, job: Job, seed: int) -> Job:
        keys = tuple(k // 2 for k in range(2 * self.plays))
        return Job(pair, job.rules, DUPLICATE * self.plays, seed=seed, oracles=True, keys=keys)


def split_pair(text: str) -> Pair:
    """Return the agents of "A~B"."""
    agents = tuple(agent.strip() for agent in text.split("~"))
    if len(agents) != 2 or not all(agents):
        raise ValueError(f"reference is {text!r}; allowed: two agents with ~ between, as normal~conservative")
    return agents[0], agents[1]


def further_seed(seed: int) -> int:
    """Return the seed of the further deals."""
    return int(np.random.SeedSequence([seed, _FURTHER_SEED]).generate_state(1, np.uint64)[0] >> np.uint64(1))


def columns_of(log: LogArray, rows: int, price: float) -> FloatArray:
    """Return the controls of a pair in each deal, float64 (deals, COLUMNS), means over the rows.

    Its own margin, bags at `price`; the sum of the squares of the four bids, large where long suits or high cards are
    together; nils bid; and nils failed. `log`: DEAL_LOG (rows * deals,) ordered by row and deal.
    """
    bids = np.maximum(log["bids"].astype(np.float64), 0.0)
    nils = log["bids"] == 0
    counts = ((bids**2).sum(axis=1), nils.sum(axis=1), (nils & (log["tricks"] > 0)).sum(axis=1))
    means = (count.reshape(rows, -1).mean(axis=0) for count in counts)
    return np.stack([margins_of(log, rows, price), *means], axis=1)
