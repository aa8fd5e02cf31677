"""VIEW: what one seat may know (R30), as a record: the state with everything hidden blanked out.

Because the layout is the state's own, every kernel that asks about the acting seat or about public facts works on a
view too, and a bot that fills in the unknown cards plays on with the engine's own rules.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from spades_env.cards import NUM_CARDS
from spades_env.engine.kernel import kernel
from spades_env.engine.state import HIDDEN, PHASE_DRAFT, STATE, Field, StateArray
from spades_env.engine.step import legal_parts, write_action_mask

VIEW_FIELDS: Final[tuple[Field, ...]] = (
    ("seat", "i1", "whose view this is"),
    ("shown", "i1", "draft: the card she is deciding about (R27), else HIDDEN"),
    ("_pad", "(6,)i1", "zeros"),
    ("known", STATE, "the state with the unknown blanked: other hands 0, pile HIDDEN, key 0"),
)
VIEW: Final = np.dtype([(name, form) for name, form, _ in VIEW_FIELDS])


@kernel
def blank_exchange(known: np.void, seat: int) -> None:
    """Hide which cards the other seat gave up; how many stays known (R28, R29)."""
    end = int(known["first_play"])
    if end == 0:
        end = int(known["n_actions"])
    dealer = int(known["dealer"])
    of_dealer = int(known["exchanged"][dealer])
    count = 0
    for k in range(end):
        if int(known["actions"][k]) < NUM_CARDS:
            giver = dealer if count < of_dealer else 1 - dealer
            count += 1
            if giver != seat:
                known["actions"][k] = HIDDEN


@kernel
def write_view(game: np.void, seat: int, view: np.void) -> None:
    """Fill `view` with what `seat` knows of `game` (R30)."""
    view["seat"] = seat
    view["shown"] = HIDDEN
    view["known"] = game
    known = view["known"]
    known["key"] = 0
    for other in range(4):
        if other != seat or int(game["looked"][seat]) == 0:
            known["hands"][other] = 0
    for k in range(52):
        known["pile"][k] = HIDDEN
    if int(game["rules"]["draft"]) == 1:
        other = 1 - seat
        known["discards"] = 0
        known["rejected"][other] = 0
        known["thrown"][other] = 0
        if int(game["phase"]) == PHASE_DRAFT and int(game["turn"]) == seat:
            view["shown"] = game["pile"][int(game["pile_pos"])]
        blank_exchange(known, seat)


@kernel
def view_of(states: StateArray, i: int, seat: int, views: StateArray, k: int) -> None:
    """Fill `views[k]` (dtype VIEW) with what `seat` knows of game `i`."""
    write_view(states[i], seat, views[k])


@kernel
def views_to_act(states: StateArray, views: StateArray) -> None:
    """Fill `views[i]` for the seat to act of every game; both arrays have shape (n,)."""
    for i in range(states.shape[0]):
        write_view(states[i], int(states[i]["turn"]), views[i])


def empty_views(n: int) -> StateArray:
    """Zeroed views, shape (n,), dtype VIEW."""
    return np.zeros(n, VIEW)


@kernel
def write_view_masks(views: StateArray, out: np.ndarray) -> None:
    """Legal actions of the seat of every view, int8 of shape (n, 73); zeros where she is not to act."""
    for k in range(views.shape[0]):
        known = views[k]["known"]
        if int(known["turn"]) == int(views[k]["seat"]):
            cards, calls = legal_parts(known)
            write_action_mask(cards, calls, out[k])
        else:
            write_action_mask(0, 0, out[k])
