"""`EquityTable`: the chance to win a match under one set of rules, and `equity_table`, which makes and remembers it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

from agents.base import AgentError
from agents.equity.grid import grid_of
from agents.equity.lookup import TableArray, match_equity, one_more_bag
from agents.equity.outcomes import Outcomes, Progress, sample_outcomes
from agents.equity.solve import solve
from spades_env.checks import whole_number
from spades_env.engine.state import StateArray, rules_to_record
from spades_env.rules import Rules, as_rules

DEFAULT_AGENT: Final = "normal:objective=points"
DEFAULT_DEALS: Final = 6000
REMEMBERED: Final = 8
"""Most tables that a process keeps, a few megabytes each."""

Pair = tuple[int, int]


@dataclass(frozen=True, eq=False)
class EquityTable:
    """Chances to win a match; `values` and `grid` go to the kernel `match_equity`.

    Attributes:
        rules: the rules it holds for; `max_deals` plays no part and is None.
        values: float32 (levels, levels, bag nodes, bag nodes), see `lookup`.
        grid: one GRID record, shape (1,).
        agent, deals, seed: whose deals the outcomes are a sample of, how many, under which seed.
        outcomes: how many of them the table was made from, the rarest having been thinned out.
        sweeps, change: how often the table was gone over, and the largest change of the last time.
    """

    rules: Rules
    values: TableArray
    grid: StateArray
    agent: str
    deals: int
    seed: int
    outcomes: int
    sweeps: int
    change: float

    def probability(self, scores: Pair, bags: Pair = (0, 0), dealer: int = 0) -> float:
        """Chance that team 0 wins at these scores and bags of both teams; `dealer` is the next dealer's seat or team.

        1 or 0 if the scores end the match (R24, R25).
        """
        most_bags = self.rules.bag_limit - 1 if self.rules.bag_limit else 2**31 - 1
        score_0, score_1 = (whole_number("scores", score, -(2**31), 2**31 - 1, AgentError) for score in scores)
        bags_0, bags_1 = (whole_number("bags", count, 0, most_bags, AgentError) for count in bags)
        team = whole_number("dealer", dealer, 0, 3, AgentError) % 2
        return float(match_equity(self.values, self.grid, score_0, score_1, bags_0, bags_1, team))

    def fair_probability(self, scores: Pair, bags: Pair = (0, 0)) -> float:
        """The mean of `probability` over both teams dealing next."""
        return (self.probability(scores, bags, 0) + self.probability(scores, bags, 1)) / 2

    def bag_price(self, scores: Pair, bags: Pair = (0, 0)) -> float:
        """Points that one more bag is worth to team 0, its own points and a penalty that it brings included.

        Measured by what ten points more or fewer change; NaN where they change nothing.
        """
        score, count = one_more_bag(rules_to_record(self.rules), scores[0], bags[0])
        gain = self.fair_probability((score, scores[1]), (count, bags[1])) - self.fair_probability(scores, bags)
        more = self.fair_probability((scores[0] + 10, scores[1]), bags)
        fewer = self.fair_probability((scores[0] - 10, scores[1]), bags)
        return 20.0 * gain / (more - fewer) if more > fewer else math.nan


def make_table(rules: Rules, outcomes: Outcomes, progress: Progress | None = None) -> EquityTable:
    """The table for `rules` if every deal ends as one of `outcomes`."""
    rules = rules.replace(max_deals=None)
    values, sweeps, change = solve(rules, outcomes, progress)
    values.flags.writeable = False
    return EquityTable(
        rules,
        values,
        grid_of(rules),
        outcomes.agent,
        outcomes.deals,
        outcomes.seed,
        outcomes.share.size,
        sweeps,
        change,
    )


_tables: dict[tuple[Rules, str, int, int], EquityTable] = {}


def equity_table(
    rules: Rules | str,
    agent: str = DEFAULT_AGENT,
    *,
    deals: int = DEFAULT_DEALS,
    seed: int = 0,
    progress: Progress | None = None,
) -> EquityTable:
    """The table for `rules` from `deals` that `agent` plays with herself; made once in a process, in seconds."""
    rules = as_rules(rules).replace(max_deals=None)
    key = (rules, agent, deals, seed)
    if key not in _tables:
        remember(make_table(rules, sample_outcomes(rules, agent, deals, seed, progress), progress))
    return _tables[key]


def remember(table: EquityTable) -> None:
    """Let `equity_table` give this table, which was made elsewhere, for its rules, agent, deals and seed."""
    while len(_tables) >= REMEMBERED:
        _tables.pop(next(iter(_tables)))
    _tables[(table.rules, table.agent, table.deals, table.seed)] = table


def is_remembered(rules: Rules) -> bool:
    """Whether this process has the table that agents play by under `rules`."""
    return (rules.replace(max_deals=None), DEFAULT_AGENT, DEFAULT_DEALS, 0) in _tables
