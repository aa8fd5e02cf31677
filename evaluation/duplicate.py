"""`evaluate` and `evaluate_line_up`: agents on duplicate deals and matches, each played again with the seats changed.

What the cards are worth cancels, so fewer deals tell two agents apart; an agent against itself is exactly 0.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from evaluation.intervals import Interval, mean_interval
from evaluation.line_up import rotations, shares_of
from evaluation.play import DEAL_LOG, Tally
from evaluation.result import Evaluation as Evaluation
from evaluation.result import LineUpEvaluation, margins_of, results_of_matches
from evaluation.sequential import DEFAULT_MAX_DEALS, Stopped, expected_deals, next_look, verdict
from evaluation.starts import FIRST_MATCH as FIRST_MATCH
from evaluation.starts import MAX_GAMES
from evaluation.variance.fit import controlled, controls_of
from evaluation.work.crew import MOST_WORKERS, Crew, Desk, open_crew
from evaluation.work.job import DUPLICATE, AgentSpec, Job, Played, put_together
from evaluation.work.run import Progress, play_all, run
from evaluation.work.store import PartStore
from spades_env.checks import finite_number, whole_number
from spades_env.engine.batch import default_bag_price
from spades_env.rules import Rules, as_rules

MAX_DEALS: Final = MAX_GAMES
MOST_PLAYOUTS: Final = 10_000
MOST_BAG_PRICE: Final = 10_000
DEFAULT_DEALS: Final = 4000

Watch = Callable[[Interval], None]
"""Called with the margin so far while deals are played."""


@dataclass(frozen=True)
class Amount:
    """How much to play, checked: a number of deals, or deals until an interval is narrow; and matches.

    Attributes:
        deals: duplicate deals, of a half-width the most.
        half_width: of the 95 % interval of the margin, in points per deal; None: play all deals.
        playouts: for each choice whose luck is measured; 0: none is.
    """

    deals: int
    half_width: float | None
    matches: int
    playouts: int = 0

    @classmethod
    def of(
        cls, deals: int | None, half_width: float | None, max_deals: int | None, matches: int, playouts: int = 0
    ) -> Amount:
        """Return what is asked for; ValueError names what is no number, out of range or contradicts itself."""
        if half_width is None:
            if max_deals is not None:
                raise ValueError(f"max_deals is {max_deals!r}; allowed without half_width: None, give deals")
            most = whole_number("deals", DEFAULT_DEALS if deals is None else deals, 2, MAX_DEALS)
        else:
            if not finite_number("half_width", half_width) > 0:
                raise ValueError(f"half_width is {half_width!r}; allowed: points per deal, above 0")
            if deals is not None:
                raise ValueError(f"deals is {deals!r}; allowed with half_width: None, it finds out; or max_deals")
            most = whole_number("max_deals", DEFAULT_MAX_DEALS if max_deals is None else max_deals, 2, MAX_DEALS)
        whole_number("luck_playouts", playouts, 0, MOST_PLAYOUTS)
        return cls(most, half_width, whole_number("matches", matches, 0, MAX_DEALS), playouts)


@dataclass(frozen=True)
class Way:
    """How to play, which changes no figure."""

    batch_size: int | None = None
    workers: int = 1
    store: Path | None = None
    progress: Progress | None = None
    watch: Watch | None = None

    def __post_init__(self) -> None:
        if self.batch_size is not None:
            whole_number("batch_size", self.batch_size, 1, MAX_DEALS)
        whole_number("workers", self.workers, 1, MOST_WORKERS)


def evaluate(
    a: AgentSpec,
    b: AgentSpec,
    rules: Rules | str = "classic",
    *,
    deals: int | None = None,
    matches: int = 0,
    seed: int = 0,
    bag_price: float | None = None,
    batch_size: int | None = None,
    progress: Progress | None = None,
    oracles: bool = False,
    workers: int = 1,
    half_width: float | None = None,
    max_deals: int | None = None,
    store: str | Path | None = None,
    luck_playouts: int = 0,
    watch: Watch | None = None,
) -> Evaluation:
    """Compare `a` and `b` (agents, or texts for `load_agent`) on duplicate deals and duplicate matches.

    Every deal starts at 0:0 without bags. `bag_price` is the points of a bag in `margin`, by default its own
    and its share of the penalty, -9 under the presets. With `half_width`, deals are played until the 95 % interval
    of `margin` is as narrow as that on both sides, or to `max_deals`; else `deals` (default 4,000) are.

    `batch_size`, the duplicate deals in a part of the work, and `workers`, the processes that play parts, change
    speed and memory, never the result. Finished parts are kept in the folder `store` and not played again. With
    `oracles`, agents that see all hands are let in (a ceiling). `progress` is told how far it is, `watch` the margin.

    With `luck_playouts`, the luck of agents whose chances are known is measured by so many playouts for each of their
    choices and taken out of `controlled`, whose interval `half_width` is then about (evaluation.variance).
    """
    amount, way = (
        Amount.of(deals, half_width, max_deals, matches, luck_playouts),
        Way(batch_size, workers, _path(store), progress, watch),
    )
    job = pair_job((a, b), as_rules(rules), seed, oracles)
    found = _measured(job, amount, bag_price, way)
    return Evaluation(agents=tuple(found.pop("names")), **found)


def evaluate_line_up(
    line_up: Sequence[AgentSpec],
    rules: Rules | str = "classic",
    *,
    deals: int | None = None,
    matches: int = 0,
    seed: int = 0,
    bag_price: float | None = None,
    batch_size: int | None = None,
    progress: Progress | None = None,
    oracles: bool = False,
    workers: int = 1,
    half_width: float | None = None,
    max_deals: int | None = None,
    store: str | Path | None = None,
    luck_playouts: int = 0,
    watch: Watch | None = None,
) -> LineUpEvaluation:
    """Measure the team of seats 0 and 2 of a line-up, an agent for each seat, against the team of its other seats.

    Every deal is played in all distinct rotations of the line-up around the table, two at least; cards, dealer and
    decision keys stay with the chairs. Line-up A, B, A, B gives the figures of `evaluate(A, B)`. The other arguments
    are those of `evaluate`.
    """
    amount, way = (
        Amount.of(deals, half_width, max_deals, matches, luck_playouts),
        Way(batch_size, workers, _path(store), progress, watch),
    )
    job = line_up_job(line_up, as_rules(rules), seed, oracles)
    found = _measured(job, amount, bag_price, way)
    names, tallies = found.pop("names"), found.pop("tallies")
    numbers = job.rows[0][: len(line_up)]
    return LineUpEvaluation(
        agents=tuple(names[k] for k in numbers),
        tallies=tuple(tallies[k] for k in numbers),
        shares=shares_of(line_up),
        **found,
    )


def check_seed(seed: int) -> int:
    """Raise ValueError, naming it, for what is no seed."""
    return whole_number("seed", seed, 0, 2**63 - 1)


def check_bag_price(price: float) -> float:
    """Return the points of a bag; ValueError, naming it, for what is none or out of all proportion."""
    number = finite_number("bag_price", price)
    if abs(number) > MOST_BAG_PRICE:
        raise ValueError(f"bag_price is {price!r}; allowed: {-MOST_BAG_PRICE:,}..{MOST_BAG_PRICE:,} points")
    return number


def pair_job(agents: Sequence[AgentSpec], rules: Rules, seed: int, oracles: bool = False) -> Job:
    """Return the single deals of two agents."""
    return Job(tuple(agents), rules, DUPLICATE, seed=check_seed(seed), oracles=oracles)


def line_up_job(line_up: Sequence[AgentSpec], rules: Rules, seed: int, oracles: bool = False) -> Job:
    """Return the single deals of a line-up; its agents are those that differ, in the order of their first seats."""
    if len(line_up) != rules.players:
        raise ValueError(f"line_up has {len(line_up)} agents; allowed under these rules: {rules.players}")
    shares = shares_of(line_up)
    seats = sorted(set(shares))
    rows = rotations([seats.index(share) for share in shares])
    return Job(tuple(line_up[seat] for seat in seats), rules, rows, seed=check_seed(seed), oracles=oracles)


def _path(store: str | Path | None) -> Path | None:
    return None if store is None else Path(store)


def _measured(job: Job, amount: Amount, bag_price: float | None, way: Way) -> dict[str, Any]:
    """Play the deals of `job` and its matches; what an Evaluation is made of."""
    price = default_bag_price(job.rules) if bag_price is None else check_bag_price(bag_price)
    matches = Job(job.agents, job.rules, job.rows, "matches", job.seed, oracles=job.oracles)
    job = dataclasses.replace(job, playouts=amount.playouts, bag_price=price if amount.playouts else 0.0)
    desk = Desk((job, matches))
    names = [agent.name for agent in desk.agents(0)]
    rows = len(job.rows)
    begun = time.perf_counter()
    with ExitStack() as stack:
        kept = {
            which.kind: stack.enter_context(PartStore(way.store, which, desk.files()))
            for which, games in ((job, amount.deals), (matches, amount.matches))
            if way.store is not None and games
        }
        crew = stack.enter_context(open_crew(desk, way.workers))
        played, stopped = _play_deals(crew, amount, price, way, kept.get("deals"))
        match_play = _play_matches(crew, amount.matches, way, kept.get("matches"))
    return {
        "names": names,
        "rules": job.rules,
        "seed": job.seed,
        "bag_price": price,
        "margins": margins_of(played.log, rows, price),
        "margins_raw": margins_of(played.log, rows, None),
        "log": played.log,
        "match_results": results_of_matches(match_play.log, amount.matches, rows),
        "match_log": match_play.log,
        "tallies": tuple(one + other for one, other in zip(played.tallies, match_play.tallies, strict=True)),
        "seconds": time.perf_counter() - begun,
        "rows": rows,
        "half_width_asked": amount.half_width,
        "stopped": stopped,
        "playouts": amount.playouts,
        "controls": controls_of(played.log, job.rows, len(job.agents)),
        "deal_seconds": played.seconds,
        "alike": _alike(job),
    }


def _alike(job: Job) -> bool:
    """Tell whether one agent, the same text or object, sits on all seats."""
    return len(set(shares_of(job.agents))) == 1


def _play_deals(crew: Crew, amount: Amount, price: float, way: Way, store: PartStore | None) -> tuple[Played, Stopped]:
    """Play the single deals, to the number asked for or until their interval is narrow enough."""
    job = crew.desk.jobs[0]
    rows, alike = len(job.rows), _alike(job)
    parts, margins = [], np.zeros(0)
    controls = np.zeros((0, len(job.agents)))
    stopped: Stopped | None = "deals"
    for part in run(crew, 0, amount.deals, batch_size=way.batch_size, store=store):
        parts.append(part)
        finished = part.first + part.count
        margins = np.concatenate([margins, margins_of(part.log, rows, price)])
        controls = np.concatenate([controls, controls_of(part.log, job.rows, len(job.agents))])
        values = controlled(margins, controls) if amount.playouts else margins
        total = amount.deals
        if amount.half_width is not None:
            at_look = finished in (amount.deals, next_look(finished - 1))
            stopped = verdict(values, amount.half_width, amount.deals, alike) if at_look else None
            known = stopped is None and finished > 1
            total = expected_deals(values, amount.half_width, amount.deals, alike) if known else finished
        if way.progress is not None:
            way.progress("deals", finished, total)
        if way.watch is not None and finished > 1:
            way.watch(mean_interval(values))
        if amount.half_width is not None and stopped is not None:
            break
    assert stopped is not None
    return put_together(parts, rows), stopped


def _play_matches(crew: Crew, matches: int, way: Way, store: PartStore | None) -> Played:
    """Play the matches, if any."""
    if matches == 0:
        return Played(np.zeros(0, DEAL_LOG), tuple(Tally() for _ in crew.desk.jobs[1].agents), 0.0)
    return play_all(crew, 1, matches, batch_size=way.batch_size, store=store, progress=way.progress)
