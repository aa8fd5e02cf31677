"""What an evaluation found: margins, win rates and statistics, made from the log of every deal; and its JSON."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from evaluation.intervals import Interval, mean_interval, pair_win_interval
from evaluation.machine import machine, versions
from evaluation.play import LogArray, Tally
from evaluation.sequential import Stopped
from evaluation.statistics import deal_statistics, match_statistics, seat_statistics
from evaluation.variance.fit import Controls, controlled
from evaluation.variance.gain import ReferenceUse, control_dict
from evaluation.work.definition import code_hash
from spades_env.rules import Rules

SIDES = ("A", "B")
"""The teams of a comparison: of two agents, or of a line-up its seats 0 and 2, and its other seats."""


@dataclass(frozen=True)
class Evaluation:
    """What `evaluate` found; `to_dict` is the JSON contract.

    Attributes:
        agents: names of the agents: A and B, or those of a line-up seat by seat.
        margins, margins_raw: float64 (deals,), points of A minus B in each duplicate deal, the mean of its
            rows (two orientations, or the rotations of a line-up); bags at `bag_price`, and counted as scored.
        log: DEAL_LOG (rows * deals,), ordered by row and deal: first every deal with A as team 0.
        match_results: float64 (matches,), mean result of A in the matches of a pair: 1 won, 1/2 tied, 0 lost.
        match_log: DEAL_LOG, every deal of the matches.
        tallies: of the agents, by `agents`; of a line-up, what one agent did on several seats stands at each.
        rows: how often each deal and match was played.
        half_width_asked, stopped: the half-width asked for, if any, and why the deals ended where they did.
        playouts: for each choice whose luck was measured, 0 for none.
        controls: luck by agent, and what the reference pairs came to; None if neither was asked for.
        reference: who these pairs were, if any.
        deal_seconds: of work on the deals, by all workers.
        alike: an agent against itself, so that every margin is 0 by construction.
    """

    agents: tuple[str, ...]
    rules: Rules
    seed: int
    bag_price: float
    margins: npt.NDArray[np.float64]
    margins_raw: npt.NDArray[np.float64]
    log: LogArray
    match_results: npt.NDArray[np.float64]
    match_log: LogArray
    tallies: tuple[Tally, ...]
    seconds: float
    rows: int = 2
    half_width_asked: float | None = None
    stopped: Stopped = "deals"
    playouts: int = 0
    controls: Controls | None = None
    reference: ReferenceUse | None = None
    deal_seconds: float = 0.0
    alike: bool = False

    @property
    def margin(self) -> Interval:
        """Points per deal, A minus B, bags at `bag_price`; a half-width asked for is that of `controlled_margin`, if
        there are controls."""
        return self._as_stopped(self.margins) if self.controls is None else mean_interval(self.margins)

    @property
    def margin_raw(self) -> Interval:
        """Points per deal, A minus B, bags and penalties counted as scored."""
        return mean_interval(self.margins_raw)

    @property
    def controlled_margins(self) -> npt.NDArray[np.float64] | None:
        """`margins` less the part that controls explain, float64 (deals,); None without any."""
        return None if self.controls is None else controlled(self.margins, self.controls)

    @property
    def controlled_margin(self) -> Interval | None:
        """The margin with what controls explain taken out; None without any."""
        better = self.controlled_margins
        return None if better is None else self._as_stopped(better)

    def _as_stopped(self, values: npt.NDArray[np.float64]) -> Interval:
        """Interval of the mean of `values`, float64 (deals,).

        Where a half-width was asked for, it is never narrower than that: so it covers the truth as often as promised,
        which the narrower one that the deals since the stop would allow does not quite; and deals that all came out
        alike do not show that others would, except of an agent against itself.
        """
        found = mean_interval(values)
        if self.half_width_asked is None or (self.alike and not values.any()):
            return found
        half = max(self.half_width_asked, found.high - found.mean)
        return Interval(found.mean, found.mean - half, found.mean + half)

    @property
    def match_win_rate(self) -> Interval | None:
        """Share of matches that A won, ties as halves; None if none was played."""
        return pair_win_interval(self.match_results, self.rows) if self.match_results.size else None

    def stats(self, side: int) -> dict[str, Any]:
        """Return what happened to A's teams (side 0) or B's (side 1) in the duplicate deals."""
        return deal_statistics(self.log, teams_of(self.log, side), self.bag_price)

    def match_stats(self, side: int) -> dict[str, Any] | None:
        """Return the same for the matches, or None if none was played."""
        if not self.match_log.size:
            return None
        return match_statistics(self.match_log, teams_of(self.match_log, side), self.bag_price)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON; the names are a contract, described in docs/evaluation.md."""
        return {
            "agents": dict(zip(SIDES, self.agents, strict=True)),
            **self._measured(),
            "illegal_actions": sum(tally.illegal for tally in self.tallies),
            "illegal_actions_by_agent": {name: t.illegal for name, t in zip(SIDES, self.tallies, strict=True)},
            "ms_per_decision": {name: t.ms_per_decision for name, t in zip(SIDES, self.tallies, strict=True)},
            **self._happened(),
        }

    def _measured(self) -> dict[str, Any]:
        """Return the fields about figures and what was asked for."""
        win_rate = self.match_win_rate
        return {
            "margin": self.margin.to_dict(),
            "margin_raw": self.margin_raw.to_dict(),
            "control": self._control(),
            "match_win_rate": win_rate.to_dict() if win_rate else None,
            "deals": len(self.margins),
            "matches": len(self.match_results),
            "half_width_asked": self.half_width_asked,
            "stopped": self.stopped,
            "seed": self.seed,
            "bag_price": self.bag_price,
            "rules": self.rules.to_dict(),
            "preset": self.rules.preset_name,
        }

    def _control(self) -> dict[str, Any] | None:
        """Return the margin with what controls explain taken out, what that brought and cost; None without any."""
        margin = self.controlled_margin
        if self.controls is None or margin is None:
            return None
        luck_seconds = sum(tally.luck_seconds for tally in {id(tally): tally for tally in self.tallies}.values())
        seconds = self.deal_seconds, luck_seconds
        return control_dict(self.margins, self.controls, margin, self.playouts, self.reference, seconds)

    def _happened(self) -> dict[str, Any]:
        """Return the fields about both teams, and on what it was measured."""
        return {
            "stats": {"A": self.stats(0), "B": self.stats(1)},
            "match_stats": {"A": self.match_stats(0), "B": self.match_stats(1)},
            "seconds": self.seconds,
            "code": code_hash(),
            "versions": versions(),
            "machine": machine(),
        }


@dataclass(frozen=True)
class LineUpEvaluation(Evaluation):
    """What `evaluate_line_up` found: A is the team of the line-up's seats 0 and 2, B the other.

    Attributes:
        shares: by seat of the line-up, the first seat that the same agent has: tallies are by agent.
    """

    shares: tuple[int, ...] = ()

    def seat_stats(self, seat: int) -> dict[str, Any]:
        """Return what happened to seat `seat` of the line-up in the duplicate deals; row k turns it by k seats."""
        return seat_statistics(self.log, (seat + self.log["row"].astype(np.int64)) % len(self.agents))

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON; described in docs/evaluation.md."""
        each = [tally for seat, tally in enumerate(self.tallies) if self.shares[seat] == seat]
        return {
            "line_up": list(self.agents),
            **self._measured(),
            "rotations": self.rows,
            "illegal_actions": sum(tally.illegal for tally in each),
            "illegal_actions_by_seat": [tally.illegal for tally in self.tallies],
            "ms_per_decision_by_seat": [tally.ms_per_decision for tally in self.tallies],
            "seat_stats": [self.seat_stats(seat) for seat in range(len(self.agents))],
            **self._happened(),
        }


def teams_of(log: LogArray, side: int) -> npt.NDArray[np.int64]:
    """Return the team of side 0 (A) or 1 (B) in each deal of `log`, int64 (n,)."""
    teams = log["team_of_a"].astype(np.int64)
    return teams if side == 0 else 1 - teams


def margins_of(log: LogArray, rows: int, bag_price: float | None) -> npt.NDArray[np.float64]:
    """Return A minus B of each duplicate deal, float64 (deals,), the mean over its rows.

    `log`: DEAL_LOG (rows * deals,) ordered by row and deal. Without a price bags and penalties are as scored.
    """
    points = (log["contract"] + log["nil"]).astype(np.float64)
    points += log["bag_points"] + log["penalty"] if bag_price is None else bag_price * log["bags"]
    margin = np.where(log["team_of_a"] == 0, points[:, 0] - points[:, 1], points[:, 1] - points[:, 0])
    result: npt.NDArray[np.float64] = margin.reshape(rows, -1).mean(axis=0)
    return result


def results_of_matches(log: LogArray, matches: int, rows: int = 2) -> npt.NDArray[np.float64]:
    """Return the mean result of A in the matches of each pair, float64 (matches,), from their last deals.

    `log` is ordered by row, game and deal. Whoever has more points after the last deal has won, also where the match
    was cut off; equal points tie.
    """
    last = log[np.flatnonzero((np.diff(log["game"], append=-1) != 0) | (np.diff(log["row"], append=-1) != 0))]
    teams = last["team_of_a"].astype(np.int64)
    index = np.arange(last.shape[0])
    ahead = np.sign(last["scores"][index, teams] - last["scores"][index, 1 - teams])
    result: npt.NDArray[np.float64] = ((1.0 + ahead) / 2.0).reshape(rows, matches).mean(axis=0)
    return result
