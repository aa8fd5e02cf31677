"""`evaluate`: two agents on duplicate deals and matches, each played twice, the teams swapped.

What the cards are worth cancels, so fewer deals tell two agents apart; an agent against itself is exactly 0.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from agents.base import Agent, OracleAgent
from agents.registry import load_agent, load_any
from evaluation.intervals import Interval, mean_interval, pair_win_interval
from evaluation.machine import machine, versions
from evaluation.play import LogArray, Players, Tally, log_deals, next_deals
from evaluation.statistics import deal_statistics, match_statistics
from spades_env.checks import finite_number, whole_number
from spades_env.engine.batch import DEFAULT_MAX_DEALS, default_bag_price
from spades_env.engine.state import PHASE_MATCH_OVER, STATE, StateArray, rules_to_record
from spades_env.engine.step import new_games
from spades_env.rules import Rules, as_rules

FIRST_MATCH: Final = 1 << 30
"""Game number of the first match: matches and single deals of one seed never share cards."""
MAX_DEALS: Final = FIRST_MATCH - 1
DEFAULT_DEALS: Final = 4000
DEFAULT_BATCH: Final = 1024

Progress = Callable[[str, int, int], None]
"""Called with ("deals" or "matches", finished so far, total); both orientations count as one."""


@dataclass(frozen=True)
class Evaluation:
    """What `evaluate` found; `to_dict` is the JSON contract.

    Attributes:
        margins, margins_raw: float64 (deals,), points of A minus B in each duplicate deal, the mean of its
            two orientations; bags at `bag_price`, and counted as scored.
        log: DEAL_LOG (2 * deals,), first every deal with A as team 0, then every deal with A as team 1.
        match_results: float64 (matches,), mean result of A in a pair of matches: 1 won, 1/2 tied, 0 lost.
        match_log: DEAL_LOG, every deal of the matches.
    """

    agents: tuple[str, str]
    rules: Rules
    seed: int
    bag_price: float
    margins: npt.NDArray[np.float64]
    margins_raw: npt.NDArray[np.float64]
    log: LogArray
    match_results: npt.NDArray[np.float64]
    match_log: LogArray
    tallies: tuple[Tally, Tally]
    seconds: float

    @property
    def margin(self) -> Interval:
        """Points per deal, A minus B, bags at `bag_price`."""
        return mean_interval(self.margins)

    @property
    def margin_raw(self) -> Interval:
        """Points per deal, A minus B, bags and penalties counted as scored."""
        return mean_interval(self.margins_raw)

    @property
    def match_win_rate(self) -> Interval | None:
        """Share of matches that A won, ties as halves; None if none was played."""
        return pair_win_interval(self.match_results) if self.match_results.size else None

    def stats(self, side: int) -> dict[str, Any]:
        """Return what happened to A's teams (side 0) or B's (side 1) in the duplicate deals."""
        return deal_statistics(self.log, _teams(self.log, side))

    def match_stats(self, side: int) -> dict[str, Any] | None:
        """Return the same for the matches, or None if none was played."""
        return match_statistics(self.match_log, _teams(self.match_log, side)) if self.match_log.size else None

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON; the names are a contract, described in docs/evaluation.md."""
        win_rate = self.match_win_rate
        return {
            "agents": {"A": self.agents[0], "B": self.agents[1]},
            "margin": self.margin.to_dict(),
            "margin_raw": self.margin_raw.to_dict(),
            "match_win_rate": win_rate.to_dict() if win_rate else None,
            "deals": len(self.margins),
            "matches": len(self.match_results),
            "seed": self.seed,
            "bag_price": self.bag_price,
            "rules": self.rules.to_dict(),
            "preset": self.rules.preset_name,
            "illegal_actions": sum(tally.illegal for tally in self.tallies),
            "illegal_actions_by_agent": {name: t.illegal for name, t in zip("AB", self.tallies, strict=True)},
            "ms_per_decision": {name: t.ms_per_decision for name, t in zip("AB", self.tallies, strict=True)},
            "stats": {"A": self.stats(0), "B": self.stats(1)},
            "match_stats": {"A": self.match_stats(0), "B": self.match_stats(1)},
            "seconds": self.seconds,
            "versions": versions(),
            "machine": machine(),
        }


def evaluate(
    a: str | Agent | OracleAgent,
    b: str | Agent | OracleAgent,
    rules: Rules | str = "classic",
    *,
    deals: int = DEFAULT_DEALS,
    matches: int = 0,
    seed: int = 0,
    bag_price: float | None = None,
    batch_size: int = DEFAULT_BATCH,
    progress: Progress | None = None,
    oracles: bool = False,
) -> Evaluation:
    """Compare `a` and `b` (agents, or texts for `load_agent`) on duplicate deals and duplicate matches.

    Every deal starts at 0:0 without bags. `bag_price` is the points of a bag in `margin`, by default its own
    and its share of the penalty, -9 under the presets. `batch_size`, the duplicate deals played at a time,
    changes speed and memory, never the result. With `oracles`, agents that see all hands are let in (a ceiling).
    """
    rules = as_rules(rules)
    check_numbers(deals, matches, seed, batch_size, bag_price)
    price = default_bag_price(rules) if bag_price is None else float(bag_price)
    agents = [load_any(spec) if oracles else load_agent(spec) for spec in (a, b)]
    players = Players(agents, 2 * min(batch_size, max(deals, matches)))
    start = time.perf_counter()
    log = _play_all(players, rules, seed, 0, deals, batch_size, progress)
    match_rules = rules if rules.max_deals is not None else rules.replace(max_deals=DEFAULT_MAX_DEALS)
    match_log = _play_all(players, match_rules, seed, FIRST_MATCH, matches, batch_size, progress)
    return Evaluation(
        agents=(agents[0].name, agents[1].name),
        rules=rules,
        seed=seed,
        bag_price=price,
        margins=_duplicate_margins(log, price),
        margins_raw=_duplicate_margins(log, None),
        log=log,
        match_results=results_of_matches(match_log, matches),
        match_log=match_log,
        tallies=(players.tallies[0], players.tallies[1]),
        seconds=time.perf_counter() - start,
    )


def check_numbers(deals: int, matches: int, seed: int, batch_size: int, bag_price: float | None) -> None:
    """Raise ValueError, naming it, for what is no number or out of range."""
    for name, value, low, high in (
        ("deals", deals, 2, MAX_DEALS),
        ("matches", matches, 0, MAX_DEALS),
        ("seed", seed, 0, 2**63 - 1),
        ("batch_size", batch_size, 1, MAX_DEALS),
    ):
        whole_number(name, value, low, high)
    if bag_price is not None:
        finite_number("bag_price", bag_price)


def _play_all(
    players: Players,
    rules: Rules,
    seed: int,
    first: int,
    games: int,
    batch_size: int,
    progress: Progress | None,
) -> LogArray:
    """Play games numbered from `first` in both orientations; the log, ordered by orientation, game and deal.

    Those numbered from FIRST_MATCH are matches, the others single deals.
    """
    logs = [log_deals(np.zeros(0, STATE), np.zeros(0, np.int64), np.zeros(0, np.int8))]
    record = rules_to_record(rules)
    for start in range(0, games, batch_size):
        count = min(batch_size, games - start)
        half: StateArray = np.zeros(count, STATE)
        new_games(half, record, seed, first + start)
        states = np.concatenate([half, half])
        numbers = np.tile(np.arange(start, start + count, dtype=np.int64), 2)
        team_of_a = np.repeat(np.array([0, 1], np.int8), count)
        if start == 0:
            players.warm_up(states, _line_ups(team_of_a))
        logs += _play_batch(players, states, numbers, team_of_a, first == FIRST_MATCH)
        if progress is not None:
            progress("matches" if first == FIRST_MATCH else "deals", start + count, games)
    log = np.concatenate(logs)
    return log[np.lexsort((log["deal"], log["game"], log["team_of_a"]))]


def _play_batch(
    players: Players,
    states: StateArray,
    numbers: npt.NDArray[np.int64],
    team_of_a: npt.NDArray[np.int8],
    whole_match: bool,
) -> list[LogArray]:
    """Play one deal of every game of `states`, or its whole match; the logs deal by deal."""
    logs = []
    while states.size:
        players.play_deals(states, _line_ups(team_of_a))
        logs.append(log_deals(states, numbers, team_of_a))
        if not whole_match:
            break
        going = states["phase"] != PHASE_MATCH_OVER
        states, numbers, team_of_a = states[going], numbers[going], team_of_a[going]
        next_deals(states)
    return logs


def _line_ups(team_of_a: npt.NDArray[np.int8]) -> npt.NDArray[np.int8]:
    """Return who sits where, int8 (n, 4): 0, agent A, on the seats of `team_of_a`, shape (n,), else 1, B."""
    line_ups: npt.NDArray[np.int8] = (np.arange(4) % 2 != team_of_a[:, None]).astype(np.int8)
    return line_ups


def _teams(log: LogArray, side: int) -> npt.NDArray[np.int64]:
    """Return the team of side 0 (A) or 1 (B) in each deal of `log`, int64 (n,)."""
    teams = log["team_of_a"].astype(np.int64)
    return teams if side == 0 else 1 - teams


def _duplicate_margins(log: LogArray, bag_price: float | None) -> npt.NDArray[np.float64]:
    """Return A minus B of each duplicate deal, float64 (n,); without a price bags are as scored."""
    points = (log["contract"] + log["nil"]).astype(np.float64)
    points += log["bag_points"] + log["penalty"] if bag_price is None else bag_price * log["bags"]
    margin = points[:, 0] - points[:, 1]
    half = log.shape[0] // 2
    result: npt.NDArray[np.float64] = (margin[:half] - margin[half:]) / 2.0
    return result


def results_of_matches(log: LogArray, matches: int) -> npt.NDArray[np.float64]:
    """Return the mean result of A in the two matches of each pair, float64 (matches,), from their last deals.

    Whoever has more points after the last deal has won, also where the match was cut off; equal points tie.
    """
    pair = log["team_of_a"].astype(np.int64) * matches + log["game"]
    last = log[np.flatnonzero(np.diff(pair, append=-1))]  # one a match, as the log is ordered
    teams = last["team_of_a"].astype(np.int64)
    rows = np.arange(last.shape[0])
    ahead = np.sign(last["scores"][rows, teams] - last["scores"][rows, 1 - teams])
    results = ((1.0 + ahead) / 2.0).reshape(2, matches)
    result: npt.NDArray[np.float64] = results.mean(axis=0)
    return result
