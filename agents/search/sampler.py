"""Worlds: the hidden hands drawn exactly uniformly among all layouts that fit what a seat knows, without rejection.

`prepare` counts the layouts by dynamic programming over groups of exchangeable cards (sampler_plan.py), `sample` draws
how many cards of each group go to each hand in proportion to those counts, and then which ones, all subsets alike.
Counts are float64 sums and products of positive numbers: binomials are exact and the relative error of a count stays
below about 1e-14. That and the 53 bits of a random number in [0, 1) are the only departures from uniformity.

In a draft in which the other seat has exchanged cards (R28), layouts are not equally likely: they are drawn in
proportion to the number of histories that lead to them, see `write_exchange_odds`. What a seat chose to keep, to reject
and to bid tells nothing here; that is for weights (calibration.py). Supported are all phases in which hands are
complete: everything but the draft itself, and the exchange for who is not naming cards.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from agents.search.sampler_plan import BINOMIAL, FITS_REST, OUT_OF_PLAY, write_plan
from agents.search.sampler_plan import PLAN as PLAN
from agents.search.sampler_plan import new_plans as new_plans
from spades_env.cards import NUM_CARDS
from spades_env.engine.kernel import inline_kernel, kernel, nth_bit, popcount
from spades_env.engine.rng import below, combine, unit
from spades_env.engine.state import StateArray

FloatArray = npt.NDArray[np.float64]


@inline_kernel
def needed(plan: np.void, place: int) -> int:
    """Cards that tight bin `place` is short of, 0 where there is no such bin."""
    return int(plan["need"][place]) if place < int(plan["tight"]) else 0


@inline_kernel
def cell_of(plan: np.void, a: int, b: int, c: int) -> int:
    """Place in a level of `table` when tight bins 0, 1, 2 still need a, b and c cards."""
    return (a * (needed(plan, 1) + 1) + b) * (needed(plan, 2) + 1) + c


@inline_kernel
def odds_of(plan: np.void, group: int, x: int) -> float:
    """Ways in which `x` cards of `group` can have come to tight bin 0: 1, but for cards returned by an exchange."""
    if int(plan["returned"]) != group:
        return 1.0
    returned = x + int(plan["returned_seen"])
    return float(plan["odds"][returned]) if returned < 14 else 0.0


@kernel
def last_ways(plan: np.void, a: int, b: int, c: int) -> float:
    """Ways to deal the last group: everything that is needed still must come from it."""
    group = int(plan["groups"]) - 1
    size, allowed = int(plan["size"][group]), int(plan["allowed"][group])
    rest = size - a - b - c
    if rest < 0 or (rest > 0 and allowed & FITS_REST == 0):
        return 0.0
    if (a > 0 and allowed & 1 == 0) or (b > 0 and allowed & 2 == 0) or (c > 0 and allowed & 4 == 0):
        return 0.0
    ways = BINOMIAL[size, a] * BINOMIAL[size - a, b] * BINOMIAL[size - a - b, c]
    return ways * odds_of(plan, group, a)


@kernel
def walk(plan: np.void, group: int, a: int, b: int, c: int, stop: float) -> tuple[float, int, int, int]:
    """Add up the ways to deal `group`, not the last, and all after it, until the sum is above `stop`.

    Returns the sum and the cards of the group that went to tight bins 0, 1, 2 in the last term that is not 0; these
    bins still need a, b and c cards.
    """
    size, allowed = int(plan["size"][group]), int(plan["allowed"][group])
    most_a = min(a, size) if allowed & 1 else 0
    most_b = min(b, size) if allowed & 2 else 0
    most_c = min(c, size) if allowed & 4 else 0
    most_rest = max(0, int(plan["left"][group]) - a - b - c) if allowed & FITS_REST else 0
    level = plan["table"][group]
    total, at_x, at_y, at_z = 0.0, 0, 0, 0
    for x in range(max(0, size - most_rest - most_b - most_c), most_a + 1):
        ways_x = BINOMIAL[size, x] * odds_of(plan, group, x)
        size_y = size - x
        for y in range(max(0, size_y - most_rest - most_c), min(most_b, size_y) + 1):
            ways_y = ways_x * BINOMIAL[size_y, y]
            size_z = size_y - y
            for z in range(max(0, size_z - most_rest), min(most_c, size_z) + 1):
                ways = ways_y * BINOMIAL[size_z, z] * level[cell_of(plan, a - x, b - y, c - z)]
                if ways > 0.0:
                    total, at_x, at_y, at_z = total + ways, x, y, z
                    if total > stop:
                        return total, at_x, at_y, at_z
    return total, at_x, at_y, at_z


@kernel
def fill_level(plan: np.void, group: int, low_a: int, low_b: int, low_c: int) -> None:
    """Fill the level of `table` for dealing `group` and all after it, for every need that can be reached.

    A tight bin's need is at least `low_*` then, and no more is left for the rest than it needs altogether.
    """
    level = plan["table"][group - 1]
    need_a, need_b, need_c = needed(plan, 0), needed(plan, 1), needed(plan, 2)
    left = int(plan["left"][group])
    most_rest = int(plan["left"][0]) - need_a - need_b - need_c
    is_last = group == int(plan["groups"]) - 1
    for a in range(low_a, need_a + 1):
        for b in range(low_b, need_b + 1):
            for c in range(max(low_c, left - a - b - most_rest), need_c + 1):
                if is_last:
                    level[cell_of(plan, a, b, c)] = last_ways(plan, a, b, c)
                else:
                    level[cell_of(plan, a, b, c)] = walk(plan, group, a, b, c, np.inf)[0]


@kernel
def count(plan: np.void) -> float:
    """Fill `left` and `table` from bins and groups; ways to deal all groups to the tight bins and the rest."""
    groups = int(plan["groups"])
    plan["left"][groups] = 0
    for group in range(groups - 1, -1, -1):
        plan["left"][group] = int(plan["left"][group + 1]) + int(plan["size"][group])
    need_a, need_b, need_c = needed(plan, 0), needed(plan, 1), needed(plan, 2)
    if int(plan["left"][0]) < need_a + need_b + need_c:
        return 0.0
    for group in range(groups - 1, 0, -1):
        before_a, before_b, before_c = 0, 0, 0
        for earlier in range(group):
            size, allowed = int(plan["size"][earlier]), int(plan["allowed"][earlier])
            before_a += size if allowed & 1 else 0
            before_b += size if allowed & 2 else 0
            before_c += size if allowed & 4 else 0
        fill_level(plan, group, max(0, need_a - before_a), max(0, need_b - before_b), max(0, need_c - before_c))
    if groups == 1:
        return last_ways(plan, need_a, need_b, need_c)
    return walk(plan, 0, need_a, need_b, need_c, np.inf)[0]


@kernel
def ways_within_rest(plan: np.void) -> float:
    """Ways to divide the rest among its bins, once it is known which cards it gets."""
    cards = 0
    ways = 1.0
    for place in range(int(plan["tight"]), int(plan["bins"])):
        cards += int(plan["need"][place])
        ways *= BINOMIAL[cards, int(plan["need"][place])]
    return ways


@kernel
def prepare(known: np.void, seat: int, plan: np.void) -> float:
    """Fill `plan` (a PLAN record) from the `known` part of the view of `seat`; the number of layouts that fit.

    0 if none does or the phase is not supported: the caller refuses, and `sample` must not be called. After an
    exchange of the other seat (R28) it is the number of ways in which such layouts can have come about.
    """
    plan["total"] = 0.0
    if not write_plan(known, seat, plan):
        return 0.0
    plan["counted"] = count(plan)
    total = float(plan["counted"]) * ways_within_rest(plan)
    if int(known["rules"]["draft"]) == 1 and int(plan["returned"]) < 0:
        total *= float(plan["odds"][int(plan["returned_seen"])])
    plan["total"] = total
    return total


@kernel
def random_subset(cards: int, k: int, key: np.uint64, n: int) -> tuple[int, int]:
    """(a uniformly random subset of `k` of the cards of a mask, the first unused number of stream `key`).

    Uses the numbers of the stream from `n` on; the smaller part is drawn card by card.
    """
    size = popcount(cards)
    left = cards
    for remaining in range(size, size - min(k, size - k), -1):
        left &= ~(1 << nth_bit(left, below(key, n, remaining)))
        n += 1
    return (cards & ~left if 2 * k <= size else left), n


@kernel
def sample(plan: np.void, key: np.uint64, n: int, world: np.void) -> None:
    """Write world number `n` of stream `key` into `world`, a STATE record that is a copy of what is known.

    Only `hands` of the hidden seats are written: that is all that play goes on with. Cards out of play stay unknown.
    """
    key = combine(key, n)
    for place in range(int(plan["bins"])):
        if int(plan["who"][place]) != OUT_OF_PLAY:
            world["hands"][int(plan["who"][place])] = 0
    drawn, rest = 0, 0
    a, b, c = needed(plan, 0), needed(plan, 1), needed(plan, 2)
    last = int(plan["groups"]) - 1
    ways = float(plan["counted"])
    for group in range(last + 1):
        x, y, z = a, b, c
        if group < last:
            _, x, y, z = walk(plan, group, a, b, c, unit(key, drawn) * ways)
            drawn += 1
            a, b, c = a - x, b - y, c - z
            ways = float(plan["table"][group, cell_of(plan, a, b, c)])
        cards = int(plan["cards"][group])
        for place in range(int(plan["tight"])):
            part, drawn = random_subset(cards, (x, y, z)[place], key, drawn)
            world["hands"][int(plan["who"][place])] |= part
            cards &= ~part
        rest |= cards
    for place in range(int(plan["tight"]), int(plan["bins"])):
        if int(plan["who"][place]) != OUT_OF_PLAY:
            part, drawn = random_subset(rest, int(plan["need"][place]), key, drawn)
            world["hands"][int(plan["who"][place])] = part
            rest &= ~part


@kernel
def share_of_bin(plan: np.void, group: int, place: int) -> float:
    """Probability that a given card of `group` lies in tight bin `place`; spoils `table`."""
    need, size = int(plan["need"][place]), int(plan["size"][group])
    if need == 0 or (int(plan["allowed"][group]) >> place) & 1 == 0:
        return 0.0
    returned = int(place == 0 and int(plan["returned"]) == group)
    plan["need"][place] = need - 1
    plan["size"][group] = size - 1
    plan["returned_seen"] = int(plan["returned_seen"]) + returned
    ways = count(plan)
    plan["need"][place] = need
    plan["size"][group] = size
    plan["returned_seen"] = int(plan["returned_seen"]) - returned
    return ways / float(plan["counted"])


@kernel
def write_share(plan: np.void, group: int, seat: int, share: float, out: FloatArray) -> None:
    """Write `share` as the probability of all cards of `group` for `seat`."""
    for card in range(NUM_CARDS):
        if (int(plan["cards"][group]) >> card) & 1 == 1:
            out[card, seat] = share


@kernel
def marginals(plan: np.void, out: FloatArray) -> None:
    """Exact probability that each unseen card is with each hidden seat, from a prepared plan.

    `out`: float64 of shape (54, 4), 0 for cards that are seen and for one's own seat once she has looked; what a row
    of an unseen card lacks to 1 is the probability that the card is out of play.
    """
    out[:] = 0.0
    tight, bins = int(plan["tight"]), int(plan["bins"])
    rest_need = 0
    for place in range(tight, bins):
        rest_need += int(plan["need"][place])
    for group in range(int(plan["groups"])):
        rest = 1.0
        for place in range(tight):
            share = share_of_bin(plan, group, place)
            rest -= share
            write_share(plan, group, int(plan["who"][place]), share, out)
        if int(plan["allowed"][group]) & FITS_REST == 0 or rest_need == 0:
            continue
        for place in range(tight, bins):
            if int(plan["who"][place]) != OUT_OF_PLAY:
                share = max(0.0, rest) * int(plan["need"][place]) / rest_need
                write_share(plan, group, int(plan["who"][place]), share, out)
    count(plan)


@kernel
def prepare_view(views: StateArray, i: int, plans: StateArray) -> float:
    """`prepare` of `views[i]` (dtype VIEW) in `plans[0]`."""
    return prepare(views[i]["known"], int(views[i]["seat"]), plans[0])


@kernel
def sample_worlds(views: StateArray, i: int, plans: StateArray, key: np.uint64, worlds: StateArray) -> float:
    """Fill all of `worlds` (dtype STATE) with worlds number 0, 1, ... of stream `key` for `views[i]`.

    `plans[0]` is overwritten. Returns the number of layouts as `prepare` does; if it is 0, no world is written.
    """
    total = prepare_view(views, i, plans)
    if total > 0.0:
        for n in range(worlds.shape[0]):
            worlds[n] = views[i]["known"]
            sample(plans[0], key, n, worlds[n])
    return total


@kernel
def view_marginals(views: StateArray, i: int, plans: StateArray, out: FloatArray) -> float:
    """`marginals` for `views[i]`; `plans[0]` is overwritten. Returns the number of layouts; if 0, `out` is left."""
    total = prepare_view(views, i, plans)
    if total > 0.0:
        marginals(plans[0], out)
    return total
