"""`NormalAgent`: the default level, and `normal_action`, her choice in every phase as a kernel."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from agents.base import ActionArray, FloatArray, KeyArray, check_views
from agents.objective import Objective, checked_objective, for_each_stakes
from agents.rules.normal.bid import bids_blind, normal_bid, own_nil_chance
from agents.rules.normal.card import normal_card
from agents.rules.normal.draft import normal_draft, normal_exchange
from agents.rules.normal.strength import expected_tricks, tables_fit
from agents.stakes import Stakes
from spades_env.actions import BLIND_NIL, FIRST_BID, LOOK
from spades_env.engine.kernel import kernel
from spades_env.engine.state import PHASE_BID, PHASE_BLIND, PHASE_DRAFT, PHASE_EXCHANGE, StateArray


@kernel
def normal_action(known: np.void, shown: int, stakes: Stakes) -> int:
    """Action of the seat to act in a STATE record or the `known` part of her view.

    `shown` is the card to keep or not (a view's field `shown`).
    """
    phase = int(known["phase"])
    if phase == PHASE_BLIND:
        return BLIND_NIL if bids_blind(known, stakes) else LOOK
    if phase == PHASE_DRAFT:
        return normal_draft(known, shown)
    if phase == PHASE_EXCHANGE:
        return normal_exchange(known)
    if phase == PHASE_BID:
        return FIRST_BID + normal_bid(known, stakes)
    return normal_card(known, stakes)


@kernel
def normal_moves(views: StateArray, rows: np.ndarray, stakes: Stakes, out: ActionArray) -> None:
    """`normal_action` for the `rows` of `views`."""
    for row in rows:
        out[row] = normal_action(views[row]["known"], int(views[row]["shown"]), stakes)


@kernel
def write_nil_chances(views: StateArray, out: np.ndarray) -> None:
    """Fill `out`, float64 (n,), with the chance that the seat to bid makes nil; NaN where the tables do not say."""
    for row in range(views.shape[0]):
        known = views[row]["known"]
        rules = known["rules"]
        if int(known["phase"]) == PHASE_BID and tables_fit(rules):
            hand = int(known["hands"][int(known["turn"])])
            out[row] = own_nil_chance(known, expected_tricks(hand, int(rules["players"]), int(rules["jokers"])))
        else:
            out[row] = np.nan


@dataclass(frozen=True, slots=True)
class NormalAgent:
    """The careful partner; `objective`: points, match, or auto, see stakes.py."""

    objective: Objective = "auto"

    def __post_init__(self) -> None:
        checked_objective(self.objective)

    @property
    def name(self) -> str:
        """`normal`, with its option where that is not the default."""
        return "normal" if self.objective == "auto" else f"normal:objective={self.objective}"

    def act(self, views: StateArray, keys: KeyArray) -> ActionArray:
        """Return actions, int16 of shape (n,), for `views` (VIEW) and `keys` (uint64, not used), both of shape (n,)."""
        check_views(views, keys)
        out = np.empty(views.shape[0], np.int16)
        for rows, stakes in for_each_stakes(views, self.objective):
            normal_moves(views, rows, stakes, out)
        return out

    def nil_chances(self, views: StateArray, keys: KeyArray) -> FloatArray:
        """Return what her tables say of a nil, see `agents.base.NilForecaster`; `keys` are not used."""
        out = np.empty(views.shape[0])
        write_nil_chances(views, out)
        return out
