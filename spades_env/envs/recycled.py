"""Arrays that are new to whoever gets them, in memory that is used again once nobody can see it.

A megabyte that malloc hands out is unmapped when it is freed and mapped again, page by page, at the next step. That
took a third of the time of a step of a thousand games in float32.
"""

from __future__ import annotations

import math
import weakref
from typing import Any, Final

import numpy as np
import numpy.typing as npt

MOST_BLOCKS: Final = 4
"""Blocks of memory kept: what a step writes, what the learner holds of the steps before it, and one to spare."""


class RecycledArrays:
    """Arrays of one shape and dtype, with anything in them.

    An array's memory is taken again only when the array and all its views are gone: views of it hold it, and so do
    tensors that share its memory.
    """

    def __init__(self, shape: tuple[int, ...], dtype: npt.DTypeLike) -> None:
        self._shape, self._dtype = shape, np.dtype(dtype)
        self._blocks: list[tuple[bytearray, weakref.ref[npt.NDArray[Any]]]] = []

    def __reduce__(self) -> tuple[Any, ...]:
        """Copies and pickles start without memory."""
        return RecycledArrays, (self._shape, self._dtype)

    def take(self) -> npt.NDArray[Any]:
        """An array that shares its memory with no other that is alive."""
        for k, (block, last) in enumerate(self._blocks):
            if last() is None:
                array = self._over(block)
                self._blocks[k] = block, weakref.ref(array)
                return array
        if len(self._blocks) == MOST_BLOCKS:
            del self._blocks[0]  # held for long: it is left to whoever holds it
        block = bytearray(math.prod(self._shape) * self._dtype.itemsize)
        array = self._over(block)
        self._blocks.append((block, weakref.ref(array)))
        return array

    def _over(self, block: bytearray) -> npt.NDArray[Any]:
        """An array over the memory of `block`.

        Its base is no array, so NumPy makes it the base of all its views: they keep it alive, not just the memory.
        """
        return np.ndarray(self._shape, self._dtype, buffer=block)
