"""What is still undecided, as the states of a small automaton that eats one trick after another.

A question "does team 0 get at least v?" has an answer for every split of the tricks. Two splits of the tricks so far
after which every continuation has the same answer are one class; LOST and WON are the classes that no trick can change.
Search positions with the same cards and class are one position, whatever the way there, whatever the payoff.
"""

from __future__ import annotations

import numpy as np

from agents.search.solver.workspace import CLASS_BITS, MAX_CLASSES, N_CLASSES, STAMP
from spades_env.engine.kernel import inline_kernel, kernel

LOST, WON, UNKNOWN = 0, 1, -1
"""The answers; the first two are classes as well."""
_CERTAIN = 1 << 32
_ALL_COUNTS = (1 << 14) - 1
_HASH_FACTOR = 0x1F123BB5A2C94F35


@kernel
def begin_classes(ws: np.void) -> None:
    """Forget the classes of earlier positions; make LOST and WON, which lead to themselves."""
    ws["counters"][STAMP] += 1
    ws["counters"][N_CLASSES] = 2
    for c in range(2):
        for position in range(4):
            ws["after"][c, position] = c
        for team in range(2):
            ws["won"][c, team] = _ALL_COUNTS * c
            ws["lost"][c, team] = _ALL_COUNTS * (1 - c)
        ws["hope"][c] = _CERTAIN * c


@inline_kernel
def deciding_counts(masks: np.ndarray, team: int, left: int, own: int, own_2: int, other: int, other_2: int) -> int:
    """Mask of the trick counts n of `team` that decide a class with `left` tricks to go.

    They are those of the classes after the next trick, n less that one where `team` wins it: after `own` and `own_2`.
    """
    with_trick = int(masks[own, team]) & int(masks[own_2, team])
    without = int(masks[other, team]) & int(masks[other_2, team])
    # No trick at all says nothing about the classes after a trick for `team`; all of them, nothing about the others.
    return (with_trick << 1 | 1) & (without | 1 << left) & _ALL_COUNTS


@inline_kernel
def describe(ws: np.void, new: int, left: int, after_0: int, after_1: int, after_2: int, after_3: int) -> None:
    """Fill in what follows from the definition of the class `new`."""
    ws["after"][new, 0], ws["after"][new, 1] = after_0, after_1
    ws["after"][new, 2], ws["after"][new, 3] = after_2, after_3
    ws["won"][new, 0] = deciding_counts(ws["won"], 0, left, after_0, after_2, after_1, after_3)
    ws["won"][new, 1] = deciding_counts(ws["won"], 1, left, after_1, after_3, after_0, after_2)
    ws["lost"][new, 0] = deciding_counts(ws["lost"], 0, left, after_0, after_2, after_1, after_3)
    ws["lost"][new, 1] = deciding_counts(ws["lost"], 1, left, after_1, after_3, after_0, after_2)
    hopes = int(ws["hope"][after_0]) + int(ws["hope"][after_1]) + int(ws["hope"][after_2]) + int(ws["hope"][after_3])
    ws["hope"][new] = hopes >> 2


@inline_kernel
def class_of(ws: np.void, slots: int, left: int, after_0: int, after_1: int, after_2: int, after_3: int) -> int:
    """The class with `left` tricks to go and these classes after the next one, by the position that wins it.

    `slots` is the last slot to use.
    """
    if after_0 <= WON and after_0 == after_1 and after_0 == after_2 and after_0 == after_3:
        return after_0
    bits = CLASS_BITS
    name = (((left << bits | after_0) << bits | after_1) << bits | after_2) << bits | after_3
    stamp = int(ws["counters"][STAMP])
    slot = ((name * _HASH_FACTOR) >> 40) & slots
    while True:
        entry = int(ws["slots"][slot])
        if entry >> bits != stamp:
            break
        if int(ws["names"][entry & (MAX_CLASSES - 1)]) == name:
            return entry & (MAX_CLASSES - 1)
        slot = (slot + 1) & slots
    new = int(ws["counters"][N_CLASSES])
    ws["counters"][N_CLASSES] = new + 1
    ws["slots"][slot] = stamp << bits | new
    ws["names"][new] = name
    describe(ws, new, left, after_0, after_1, after_2, after_3)
    return new


@inline_kernel
def last_slot(left: int) -> int:
    """Index of the last slot used for positions of `left` tricks: few for few, so that they stay in the cache."""
    return min(4 * MAX_CLASSES, 64 << left) - 1


@kernel
def has_room(ws: np.void, left: int) -> bool:
    """Whether the classes of one more question at `left` tricks fit in, whatever they are."""
    splits = (left + 4) * (left + 3) * (left + 2) * (left + 1) // 24
    return int(ws["counters"][N_CLASSES]) + splits <= min(MAX_CLASSES, last_slot(left) // 2)


@kernel
def root_class(ws: np.void, value: float, left: int, alike_0: bool, alike_1: bool, mirrored: bool) -> int:
    """The class, before the `left` tricks, of the question whether `payoffs` will be at least `value`.

    `alike_0`, `alike_1`: whether partners' tricks were put together (payoff.py); `mirrored`: turn order is 0, 3, 2, 1.
    """
    size, slots = left + 1, last_slot(left)
    for a in range(size):
        for b in range(1 if alike_1 else size - a):
            for c in range(1 if alike_0 else size - a - b):
                split = (a * size + b) * size + c
                ws["level"][split] = WON if ws["payoffs"][split] >= value else LOST
    # Seat 3's tricks are implied, so a trick of hers leaves the index as it is; ascending order keeps the entries of
    # the level before until they have been read.
    for k in range(1, size):
        most = size - k
        for a in range(most):
            for b in range(1 if alike_1 else most - a):
                for c in range(1 if alike_0 else most - a - b):
                    split = (a * size + b) * size + c
                    after_0, after_3 = int(ws["level"][split + size * size]), int(ws["level"][split])
                    after_1 = after_3 if alike_1 else int(ws["level"][split + size])
                    after_2 = after_0 if alike_0 else int(ws["level"][split + 1])
                    if mirrored:
                        after_1, after_3 = after_3, after_1
                    ws["level"][split] = class_of(ws, slots, k, after_0, after_1, after_2, after_3)
    return int(ws["level"][0])
