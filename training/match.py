"""Match play in training: deals that begin at the scores of a match, and are worth what they change of its equity.

The situations are those of matches whose deals end like an agent's at 0:0 (`agents.equity`); which one a deal has is a
function of its game's key, as its cards are.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from agents.equity.grid import is_decided
from agents.equity.lookup import TableArray, match_equity
from agents.equity.outcomes import Outcomes, sample_outcomes
from agents.equity.table import DEFAULT_AGENT, DEFAULT_DEALS, EquityTable, equity_table
from agents.learned.weights import Tensors
from spades_env.engine.deal import start_deal
from spades_env.engine.kernel import kernel
from spades_env.engine.rng import below, combine, unit
from spades_env.engine.scoring import bag_penalty
from spades_env.engine.state import PHASE_DEAL_OVER, StateArray, rules_to_record
from spades_env.observation.blocks import FLAT_SCALES, block
from spades_env.rules import Rules

MATCHES: Final = 4096
"""Matches whose deals are the situations."""
LONGEST: Final = 40
"""Deals of such a match at most; fewer where the rules have a limit."""
KEY: Final = 0x3A7C4
"""Stream of a game that decides where in a match its deal is."""

FIRST_WEIGHT: Final = "trunk.layers.0.weight"
FIRST_BIAS: Final = "trunk.layers.0.bias"
MATCH_BLOCKS: Final = ("scores", "score_steps", "bags", "bags_to_penalty", "deal", "deals_left")
"""Blocks of the flat observation that are the same in every deal at 0:0."""

SITUATION: Final = np.dtype([("scores", "<i4", 2), ("bags", "<i4", 2), ("deal", "<i4"), ("dealer", "<i4")])
"""Before a deal: scores and bags of both teams, number of the deal in its match, team of the dealer."""


class MatchStakes:
    """Where in a match the deals of a run begin, and what a standing is worth."""

    def __init__(self, rules: Rules, share: float, seed: int) -> None:
        """`share` of the deals begin in the midst of a match, the others at 0:0."""
        self._record = rules_to_record(rules)
        self._share = share
        self._table = equity_table(rules)
        self.situations = situations_of(rules, sample_outcomes(rules, DEFAULT_AGENT, DEFAULT_DEALS, 0), seed)
        self.scale = points_scale(self._table)

    def begin(self, states: StateArray) -> None:
        """Let the deals of `states`, newly dealt at 0:0, begin where in a match their keys say; the cards are new."""
        begin_within(states, self.situations, self._share)

    def worth(self, states: StateArray) -> npt.NDArray[np.float32]:
        """What the standing is worth to team 0, (n,), before or after a deal: 1 is what 100 points are at 0:0."""
        chances = np.zeros(len(states))
        write_equities(states, self._table.values, self._table.grid, chances)
        return np.asarray(chances * self.scale, np.float32)


def points_scale(table: EquityTable) -> float:
    """Hundreds of points at the start of a match that a change of its equity by 1 amounts to."""
    return 1 / (table.fair_probability((50, 0)) - table.fair_probability((0, 50)))


def situations_of(rules: Rules, outcomes: Outcomes, seed: int) -> npt.NDArray[np.void]:
    """The standings before every deal of `MATCHES` matches whose deals end as `outcomes` do, SITUATION (n,)."""
    longest = LONGEST if rules.max_deals is None else min(LONGEST, rules.max_deals)
    found = np.zeros((MATCHES, longest), SITUATION)
    deals = np.zeros(MATCHES, np.int64)
    draws = np.random.default_rng([seed, KEY]).random((MATCHES, longest + 1))
    ends = outcomes.share.cumsum()
    table = equity_table(rules)
    play_matches(
        rules_to_record(rules), table.grid, outcomes.points, outcomes.bags, ends / ends[-1], draws, found, deals
    )
    return found[np.arange(longest) < deals[:, None]]


def open_to_scores(tensors: Tensors, observation: npt.NDArray[np.uint8]) -> Tensors:
    """The weights of a policy that only knows 0:0, changed so that it plays every score as it plays that.

    What it learned of inputs that never changed, as in `observation`, uint8 (n_inputs,) at 0:0, goes into the biases;
    training at other scores then begins with weights of 0 for them.
    """
    weight, bias = tensors[FIRST_WEIGHT].copy(), tensors[FIRST_BIAS].copy()
    for name in MATCH_BLOCKS:
        inputs = block(name).slice
        bias += weight[:, inputs] @ (observation[inputs] * FLAT_SCALES[inputs])
        weight[:, inputs] = 0
    return tensors | {FIRST_WEIGHT: weight, FIRST_BIAS: bias}


@kernel
def play_matches(
    rules: StateArray,
    grid: StateArray,
    points: npt.NDArray[np.int64],
    bags: npt.NDArray[np.int64],
    ends: npt.NDArray[np.float64],
    draws: npt.NDArray[np.float64],
    found: StateArray,
    deals: npt.NDArray[np.int64],
) -> None:
    """Fill found[m] with the standings of match m, and deals[m] with their number.

    `points`, `bags`: of an outcome, (k, 2), the dealer's team first; `ends`: shares of outcomes, summed up; `draws`:
    for each match the first dealer's team, then every deal's outcome, uniform in [0, 1).
    """
    for m in range(found.shape[0]):
        dealer = 0 if draws[m, 0] < 0.5 else 1
        for d in range(found.shape[1]):
            now = found[m, d]
            now["deal"] = d
            now["dealer"] = dealer
            deals[m] = d + 1
            if d + 1 == found.shape[1]:
                break
            outcome = min(np.searchsorted(ends, draws[m, d + 1], side="right"), ends.shape[0] - 1)
            following = found[m, d + 1]
            for team in range(2):
                side = 0 if team == dealer else 1
                penalty, left = bag_penalty(rules[0], int(now["bags"][team]) + bags[outcome, side])
                gain = points[outcome, side] + int(rules[0]["bag_points"]) * bags[outcome, side] + penalty
                following["scores"][team] = int(now["scores"][team]) + gain
                following["bags"][team] = left
            if is_decided(grid[0], int(following["scores"][0]), int(following["scores"][1])):
                break
            dealer = 1 - dealer


@kernel
def begin_within(states: StateArray, situations: StateArray, share: float) -> None:
    """Start a deal anew in a share of `states`, each at one of `situations`, which its key decides."""
    for i in range(states.shape[0]):
        game = states[i]
        key = combine(game["key"], KEY)
        if unit(key, 0) >= share:
            continue
        standing = situations[below(key, 1, situations.shape[0])]
        for team in range(2):
            game["scores"][team] = standing["scores"][team]
            game["bags"][team] = standing["bags"][team]
        game["deal"] = standing["deal"]
        # The dealer drawn for the game stays where the team is right: then every seat of it deals equally often.
        if int(game["dealer"]) % 2 != int(standing["dealer"]):
            game["dealer"] = (int(game["dealer"]) + 1) % int(game["rules"]["players"])
        start_deal(game)


@kernel
def write_equities(states: StateArray, table: TableArray, grid: StateArray, out: npt.NDArray[np.float64]) -> None:
    """Fill out[i] with the chance of team 0 to win the match of `states[i]`, before or after its deal."""
    for i in range(states.shape[0]):
        game = states[i]
        rules = game["rules"]
        dealer = int(game["dealer"])
        if int(game["phase"]) >= PHASE_DEAL_OVER:
            dealer = (dealer + int(rules["step"])) % int(rules["players"])
        scores, bags = game["scores"], game["bags"]
        out[i] = match_equity(table, grid, int(scores[0]), int(scores[1]), int(bags[0]), int(bags[1]), dealer % 2)
