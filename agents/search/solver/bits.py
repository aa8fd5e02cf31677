"""Card masks in lanes, 16 bits a suit, and the two instructions that gather and scatter their bits.

Lane form: the cards of suit s lie at bits 16 s to 16 s + 14, the highest bit of a lane is never a card. Spades with
both jokers fill their lane exactly, so that masks stay non-negative int64 and spades are the greatest numbers.
"""

from __future__ import annotations

from typing import Any, Final

import numba
import numpy as np
from llvmlite import ir
from llvmlite.binding import get_host_cpu_features
from numba.core import cgutils
from numba.extending import intrinsic, overload

from spades_env.cards import SUIT_MASKS
from spades_env.engine.kernel import inline_kernel

LANE: Final = 0x7FFF
"""The cards of clubs in lane form; of suit s after a shift by 16 s."""
FIRST_SPADE: Final = 48
SPADE_LANE: Final = LANE << FIRST_SPADE
GUARDS: Final = 1 << 15 | 1 << 31 | 1 << 47
"""Bits between the lanes, which keep the lowest card of a suit apart from the highest of the one below."""

_CLUBS, _DIAMONDS, _HEARTS, _SPADES = SUIT_MASKS
_HAS_BMI2 = bool(get_host_cpu_features().get("bmi2", False))


def extract_bits(source: int, mask: int) -> int:
    """The bits of `source` at the set bits of `mask`, packed together from bit 0."""
    packed, place = 0, 0
    while mask:
        low = mask & -mask
        if source & low:
            packed |= 1 << place
        place += 1
        mask ^= low
    return packed


def deposit_bits(packed: int, mask: int) -> int:
    """The lowest bits of `packed` spread over the set bits of `mask` (undoes `extract_bits`)."""
    spread, place = 0, 0
    while mask:
        low = mask & -mask
        if (packed >> place) & 1:
            spread |= low
        place += 1
        mask ^= low
    return spread


def _instruction(name: str) -> Any:
    """A Numba intrinsic for BMI2's instruction `name`."""

    @intrinsic
    def call(typing_context: Any, source: Any, mask: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            word = ir.IntType(64)
            function = cgutils.get_or_insert_function(builder.module, ir.FunctionType(word, [word, word]), name)
            return builder.call(function, args)

        return numba.int64(numba.int64, numba.int64), codegen

    return call


_pext = _instruction("llvm.x86.bmi.pext.64")
_pdep = _instruction("llvm.x86.bmi.pdep.64")


@overload(extract_bits)
def _extract_compiled(source: Any, mask: Any) -> Any:
    if _HAS_BMI2:

        def implementation(source: Any, mask: Any) -> Any:
            return _pext(np.int64(source), np.int64(mask))

        return implementation
    return extract_bits


@overload(deposit_bits)
def _deposit_compiled(packed: Any, mask: Any) -> Any:
    if _HAS_BMI2:

        def implementation(packed: Any, mask: Any) -> Any:
            return _pdep(np.int64(packed), np.int64(mask))

        return implementation
    return deposit_bits


@inline_kernel
def to_lanes(cards: int) -> int:
    """A mask of card ids in lane form."""
    return (cards & _CLUBS) | (cards & _DIAMONDS) << 3 | (cards & _HEARTS) << 6 | (cards & _SPADES) << 9


@inline_kernel
def lane_of(card: int) -> int:
    """The bit of a card id in lane form; the jokers go on above the ace of spades."""
    return card + 3 * min(card // 13, 3)


@inline_kernel
def lowest_of_runs(cards: int, present: int) -> int:
    """Of `cards`, all in `present`, the lowest of each run of neighbours that no other present card divides."""
    frame = present | GUARDS
    packed = extract_bits(cards, frame)
    return deposit_bits(packed & ~(packed << 1), frame)
