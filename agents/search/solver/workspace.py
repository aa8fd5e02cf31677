"""The memory a solver works in: one record, allocated once, used for any number of positions, never cleared.

What belongs to one position carries its stamp, so that nothing of an earlier position is ever read. It is a record
and not a tuple of arrays because Numba counts references to every array of a tuple at every call.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from spades_env.engine.state import STATE, Field, StateArray

MAX_TRICKS: Final = 13
MAX_PLIES: Final = 4 * MAX_TRICKS + 1
MAX_SPLITS: Final = (MAX_TRICKS + 1) ** 3
CLASS_BITS: Final = 14
MAX_CLASSES: Final = 1 << CLASS_BITS
TABLE_BITS: Final = 17

# Entries of `counters`.
STAMP, N_CLASSES, NODES = 0, 1, 2

_PLIES = f"({MAX_PLIES},)<i8"
_CLASSES = f"({MAX_CLASSES},)<i8"

# "Position" is a place in turn order, counted from seat 0; cards are in lane form (bits.py).
WORKSPACE_FIELDS: Final[tuple[Field, ...]] = (
    ("counters", "(3,)<i8", "stamp of the position being solved, classes made, cards played by the search"),
    ("hands", "(4,)<i8", "cards held by each position"),
    # A ply each.
    ("mover", _PLIES, "position to act"),
    ("length", _PLIES, "cards in the trick before it"),
    ("best", _PLIES, "best of these cards, -1 at a lead"),
    ("winner", _PLIES, "position that played it, the leader at a lead"),
    ("led", _PLIES, "suit led"),
    ("broken", _PLIES, "1: spades are broken (R14)"),
    ("state", _PLIES, "class of what is undecided"),
    ("card", _PLIES, "card being tried"),
    ("start", _PLIES, "card to try before all others, 0: none"),
    ("first", _PLIES, "cards to try next"),
    ("rest", _PLIES, "cards to try after those"),
    ("order", _PLIES, "bit 0 for `first`, bit 1 for `rest`: from the highest down"),
    ("killer", f"({MAX_PLIES}, 4)<i8", "card that settled the last lead at this ply, by leader; 0: none yet"),
    ("key_a", _PLIES, "at a lead: its key in the table, first word"),
    ("key_b", _PLIES, "second word"),
    ("slot", _PLIES, "entry of the table for it, -1: none"),
    # Classes of what is undecided (classes.py).
    ("roots", f"({MAX_SPLITS}, 2)<i8", "stamp and root class of the question `at least values[k]?`"),
    ("values", f"({MAX_SPLITS},)<f8", "the distinct payoffs in ascending order"),
    ("payoffs", f"({MAX_SPLITS},)<f8", "value of every split of the remaining tricks (payoff.py)"),
    ("level", f"({MAX_SPLITS},)<i8", "classes of the splits while they are built"),
    ("after", f"({MAX_CLASSES}, 4)<i8", "class after the next trick, by the position that wins it"),
    ("won", f"({MAX_CLASSES}, 2)<i8", "by team, bit n: n more tricks for it mean yes, whoever takes which"),
    ("lost", f"({MAX_CLASSES}, 2)<i8", "by team, bit n: they mean no"),
    ("hope", _CLASSES, "chance of a yes if every trick fell to a random position, in 2**-32"),
    ("names", _CLASSES, "what makes a class: tricks left and the four classes after the next"),
    ("slots", f"({4 * MAX_CLASSES},)<i8", "hash table of classes: stamp * MAX_CLASSES + class"),
    # First tricks under special rules (first_trick.py): a record a card.
    ("games", (STATE, (5,)), "positions of the trick; the game itself, then one after each card"),
    ("tried", "(5,)<i8", "cards still to try there, by card id"),
    ("results", "(5,)<f8", "best value so far for the team to act"),
    # Tables.
    ("spare", "(65536,)i1", "sure tricks of a trump holding (bounds.py)"),
    ("table", f"({1 << TABLE_BITS}, 3)<i8", "transposition table: two words of key, stamp * 2 + answer"),
)
WORKSPACE: Final = np.dtype([(name, form) for name, form, _ in WORKSPACE_FIELDS])


def new_workspace() -> StateArray:
    """A workspace, shape (1,), dtype WORKSPACE, about 5 MB; results never depend on what it was used for before."""
    workspace = np.zeros(1, WORKSPACE)
    workspace["spare"][0] = spare_table()
    return workspace


def spare_table() -> npt.NDArray[np.int8]:
    """Sure tricks of a trump holding, int8 (2**16,).

    The index is 1 followed by the spades of one hand (1) and of its opponents (0) from the highest down. The entry is
    the number of own cards that are left over when as many as possible are paired with opponents' higher ones.
    """
    table = np.zeros(1 << 16, np.int8)
    surplus = np.zeros(1 << 16, np.int8)
    for index in range(2, 1 << 16):
        above = index >> 1
        surplus[index] = surplus[above] + (1 if index & 1 else -1)
        table[index] = max(table[above], surplus[index])
    return table
