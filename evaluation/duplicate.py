"""`evaluate` and `evaluate_line_up`: agents on duplicate deals and matches, each played again with the seats changed.

What the cards are worth cancels, so fewer deals tell two agents apart; an agent against itself is exactly 0.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

import numpy as np

from evaluation.amount import DEFAULT_DEALS as DEFAULT_DEALS
from evaluation.amount import MAX_DEALS as MAX_DEALS
from evaluation.amount import Amount as Amount
from evaluation.amount import Watch
from evaluation.amount import Way as Way
from evaluation.deals import alike, play_deals
from evaluation.line_up import rotations, shares_of
from evaluation.play import DEAL_LOG, Tally
from evaluation.result import Evaluation as Evaluation
from evaluation.result import LineUpEvaluation, margins_of, results_of_matches
from evaluation.starts import FIRST_MATCH as FIRST_MATCH
from evaluation.variance.gain import ReferenceUse
from evaluation.variance.reference import Pair, References
from evaluation.variance.tracks import Tracks
from evaluation.work.backend import LOCAL, Backend
from evaluation.work.crew import Crew, Desk, open_crew
from evaluation.work.job import DUPLICATE, AgentSpec, Job, Played
from evaluation.work.run import Progress, play_all
from evaluation.work.store import PartStore
from spades_env.checks import finite_number, whole_number
from spades_env.engine.batch import default_bag_price
from spades_env.rules import Rules, as_rules

MOST_BAG_PRICE: Final = 10_000


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
    reference: Sequence[Pair | str] = (),
    reference_plays: int = 1,
    reference_deals: int | None = None,
    watch: Watch | None = None,
    backend: str | Backend = LOCAL,
) -> Evaluation:
    """Compare `a` and `b` (agents, or texts for `load_agent`) on duplicate deals and duplicate matches.

    Every deal starts at 0:0 without bags. `bag_price` is the points of a bag in `margin`, by default its own
    and its share of the penalty, -9 under the presets. With `half_width`, deals are played until the 95 % interval
    of `margin` is as narrow as that on both sides, or to `max_deals`; else `deals` (default 4,000) are.

    `batch_size`, the duplicate deals in a part of the work, `workers`, the processes that play parts, and `backend`,
    where these are (docs/cluster.md), change speed and memory, never the result. Finished parts are kept in the folder
    `store` and not played again. With `oracles`, agents that see all hands are let in (a ceiling). `progress` is told
    how far it is, `watch` the margin.

    With `luck_playouts`, the luck of agents whose chances are known is measured by so many playouts for each of their
    choices and taken out of `controlled_margin`, whose interval `half_width` is then about (evaluation.variance). So is
    what each pair of agents in `reference` (or text "A~B") comes to on the same deals, which it plays
    `reference_plays` times, and on `reference_deals` further ones, by default nine for each evaluated one.
    """
    references = References.of(reference, reference_plays, reference_deals)
    amount = Amount.of(deals, half_width, max_deals, matches, luck_playouts, references)
    way = Way(batch_size, workers, _path(store), progress, watch, Backend.of(backend))
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
    reference: Sequence[Pair | str] = (),
    reference_plays: int = 1,
    reference_deals: int | None = None,
    watch: Watch | None = None,
    backend: str | Backend = LOCAL,
) -> LineUpEvaluation:
    """Measure the team of seats 0 and 2 of a line-up, an agent for each seat, against the team of its other seats.

    Every deal is played in all distinct rotations of the line-up around the table, two at least; cards, dealer and
    decision keys stay with the chairs. Line-up A, B, A, B gives the figures of `evaluate(A, B)`. The other arguments
    are those of `evaluate`.
    """
    references = References.of(reference, reference_plays, reference_deals)
    amount = Amount.of(deals, half_width, max_deals, matches, luck_playouts, references)
    way = Way(batch_size, workers, _path(store), progress, watch, Backend.of(backend))
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
    pairs = amount.references.jobs(job)
    desk = Desk((job, matches, *(of for pair in pairs for of in pair)))
    names = [agent.name for agent in desk.agents(0)]
    rows = len(job.rows)
    begun = time.perf_counter()
    with ExitStack() as stack:
        stores = [stack.enter_context(store) if store else None for store in _stores(desk, amount, way.store)]
        crew = stack.enter_context(open_crew(desk, way.workers, way.backend))
        tracks = stack.enter_context(
            Tracks(crew, 2, amount.references, amount.deals, price, batch_size=way.batch_size, stores=stores[2:])
        )
        deals = play_deals(crew, amount, price, way, stores[0], tracks)
        match_play = _play_matches(crew, amount.matches, way, stores[1])
        use = _use(desk, amount.references, tracks)
    played = deals.played
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
        "stopped": deals.stopped,
        "playouts": amount.playouts,
        "controls": deals.controls,
        "reference": use,
        "deal_seconds": played.seconds,
        "alike": alike(job),
    }


def _stores(desk: Desk, amount: Amount, folder: Path | None) -> Iterator[PartStore | None]:
    """Yield where the parts of each of the desk's jobs are kept; None: nowhere."""
    for k, job in enumerate(desk.jobs):
        needed = folder is not None and (amount.matches > 0 or job.kind == "deals")
        if folder is None or not needed:
            yield None
            continue
        pair, further = divmod(k - 2, 2)
        place = folder if k < 2 else folder / f"reference_{pair + 1}{'_further' if further else ''}"
        yield PartStore(place, job, desk.files())


def _use(desk: Desk, references: References, tracks: Tracks) -> ReferenceUse | None:
    """Return who the reference pairs were."""
    if not references.pairs:
        return None
    names = [tuple(agent.name for agent in desk.agents(2 + 2 * k)) for k in range(len(references.pairs))]
    return ReferenceUse(tuple((a, b) for a, b in names), references.plays, tracks.seconds)


def _play_matches(crew: Crew, matches: int, way: Way, store: PartStore | None) -> Played:
    """Play the matches, if any."""
    if matches == 0:
        return Played(np.zeros(0, DEAL_LOG), tuple(Tally() for _ in crew.desk.jobs[1].agents), 0.0)
    return play_all(crew, 1, matches, batch_size=way.batch_size, store=store, progress=way.progress)
