"""What a search thinks of the hidden cards, said aloud: chances of a nil, and places of unseen cards.

For reports, never for play: a search itself needs worlds, not chances.
"""

from __future__ import annotations

import numpy as np

from agents.base import FloatArray, KeyArray
from agents.search.calibration import Weigh, WeightedWorlds
from agents.search.effort import Desk, Effort
from agents.search.likelihood import bid_fit, rewind, surprises
from agents.search.playout import play_on
from agents.search.worlds import kept_worlds
from agents.stakes import Stakes
from spades_env.actions import FIRST_BID
from spades_env.cards import NUM_CARDS
from spades_env.engine.kernel import kernel
from spades_env.engine.state import PHASE_BID, STATE, StateArray
from spades_env.engine.step import apply_action
from spades_env.view import empty_views, view_of, write_view

BELIEF_WORLDS = 1000
"""Worlds behind a search's beliefs: more than it plays out, so that few worlds do not pass for little knowledge."""


@kernel
def weigh(views: StateArray, i: int, worlds: StateArray, trust: float, game: StateArray, out: FloatArray) -> None:
    """Fill `out`, shape (n,), with the log-likelihood of `worlds` as the search reckons it; `game`: one STATE record.

    With `trust` 0 plays are not read.
    """
    known, seat = views[i]["known"], int(views[i]["seat"])
    for n in range(worlds.shape[0]):
        out[n] = bid_fit(known, worlds[n], seat)
        if trust > 0.0:
            game[0] = known
            rewind(known, worlds[n], game[0])
            out[n] -= trust * surprises(known, game[0], seat)


def bids_and_plays(trust: float) -> Weigh:
    """Weights by the bids, and by the plays as far as `trust` says."""
    game = np.zeros(1, STATE)

    def weights(views: StateArray, i: int, worlds: StateArray, out: FloatArray) -> None:
        weigh(views, i, worlds, trust, game, out)

    return weights


def search_beliefs(views: StateArray, keys: KeyArray, trust: float) -> FloatArray:
    """See `agents.base.Believer`: BELIEF_WORLDS worlds for each view, weighted by bids and plays."""
    out = np.zeros((len(views), NUM_CARDS, 4))
    # Blanked again, as a search does: worlds are copies of a view, and what a seat in them reads must not be the truth.
    known, view = np.ascontiguousarray(views["known"]), empty_views(1)
    for row in range(len(views)):
        view_of(known, row, int(views["seat"][row]), view, 0)
        method = WeightedWorlds(bids_and_plays(trust), BELIEF_WORLDS, seed=int(keys[row] >> np.uint64(1)))
        method(view, 0, out[row])
    return out


@kernel
def write_nil_shares(
    views: StateArray, keys: KeyArray, effort: Effort, points: Stakes, desk: Desk, out: FloatArray
) -> None:
    """Fill `out`, float64 (n,), with the share of the search's worlds in which the seat to bid makes nil.

    The deal is played on by `normal`; a nil made counts as failed with chance `effort.doubt`, as in the search.
    NaN where she is not at a bid or no world can be drawn.
    """
    for row in range(views.shape[0]):
        out[row] = np.nan
        write_view(views[row]["known"], int(views[row]["seat"]), desk.views[0])
        known = desk.views[0]["known"]
        if int(known["phase"]) != PHASE_BID or not kept_worlds(known, keys[row], effort, desk):
            continue
        seat, made = int(known["turn"]), 0
        for k in range(effort.worlds):
            desk.states[1] = known
            for other in range(4):
                desk.states[1]["hands"][other] = desk.hands[desk.chosen[k], other]
            apply_action(desk.states[1], FIRST_BID)
            play_on(desk.states[1], points)
            made += 1 if int(desk.states[1]["tricks"][seat]) == 0 else 0
        out[row] = (1.0 - effort.doubt) * made / effort.worlds
