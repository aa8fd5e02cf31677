"""What a seat can know when all others are `normal`: their bids and plays read exactly.

`normal` draws no random numbers, so a layout of the hidden cards is possible if and only if she would have bid and
played in it what the other seats did, and all possible layouts are equally likely. They are drawn uniformly among
those that fit the cards seen, and the others thrown away.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from agents.rules.normal.agent import normal_action
from agents.search.sampler import prepare, sample
from agents.stakes import POINTS, Stakes
from spades_env.engine.deal import clear_deal, open_deal
from spades_env.engine.kernel import kernel
from spades_env.engine.state import PHASE_BID, PHASE_PLAY, STATE, StateArray
from spades_env.engine.step import apply_action
from spades_env.view import write_view

Hands = npt.NDArray[np.int64]
NO_SEAT: Final = -1


@kernel
def is_possible(known: np.void, world: np.void, seat: int, game: np.void, stakes: Stakes) -> bool:
    """Whether `normal` on all seats but `seat`, dealt the hands of `world`, would have acted as in `known`.

    `game`, a STATE record, is overwritten.
    """
    game["rules"] = known["rules"]
    game["scores"] = known["scores"]
    game["bags"] = known["bags"]
    game["dealer"] = known["dealer"]
    game["n_actions"] = 0
    clear_deal(game)
    for other in range(4):
        game["hands"][other] = int(world["hands"][other]) | int(known["played"][other])
    open_deal(game)
    for k in range(int(known["n_actions"])):
        action = int(known["actions"][k])
        if int(game["turn"]) != seat and normal_action(game, -1, stakes) != action:
            return False
        apply_action(game, action)
    return True


@kernel
def played_otherwise(states: StateArray, scratch: StateArray, stakes: Stakes) -> int:
    """Return how many of `states` have a course that `normal`, in all seats, would not have bid and played so.

    `scratch`: one STATE record, overwritten.
    """
    count = 0
    for i in range(states.shape[0]):
        if not is_possible(states[i], states[i], NO_SEAT, scratch[0], stakes):
            count += 1
    return count


@kernel
def possible_worlds(
    states: StateArray,
    i: int,
    plans: StateArray,
    key: np.uint64,
    most: int,
    views: StateArray,
    scratch: StateArray,
    stakes: Stakes,
    out: Hands,
) -> tuple[int, int]:
    """Fill `out`, int64 (n, 4), with the hands of possible worlds for the seat to act in `states[i]`.

    At most `most` worlds are drawn. Returns (worlds found, worlds drawn). `views`: one VIEW record, `scratch`: two
    STATE records, `plans`: one PLAN record, all overwritten.
    """
    seat = int(states[i]["turn"])
    write_view(states[i], seat, views[0])
    known = views[0]["known"]
    if prepare(known, seat, plans[0]) == 0.0:
        return 0, 0
    scratch[0] = known
    found, drawn = 0, 0
    while drawn < most and found < out.shape[0]:
        sample(plans[0], key, drawn, scratch[0])
        drawn += 1
        if is_possible(known, scratch[0], seat, scratch[1], stakes):
            for other in range(4):
                out[found, other] = scratch[0]["hands"][other]
            found += 1
    return found, drawn


@kernel
def play_normal(states: StateArray, phase: int, count: int, stakes: Stakes) -> None:
    """Let `normal` act in every game of `states` until `phase` has come and `count` actions of it are taken."""
    for i in range(states.shape[0]):
        game = states[i]
        while int(game["phase"]) < phase:
            apply_action(game, normal_action(game, -1, stakes))
        for _ in range(count):
            if int(game["phase"]) == phase:
                apply_action(game, normal_action(game, -1, stakes))


def bids_made(states: StateArray, count: int) -> None:
    """Let `normal` make `count` bids in every game of `states`, which are at the first bid."""
    play_normal(states, PHASE_BID, count, POINTS)


def cards_played(states: StateArray, count: int) -> None:
    """Let `normal` bid and play `count` cards in every game of `states`."""
    play_normal(states, PHASE_PLAY, count, POINTS)


def scratch_states() -> StateArray:
    """Two STATE records to work in."""
    return np.zeros(2, STATE)
