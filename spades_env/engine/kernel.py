"""The decorator under which every compiled function of the project stands, and the bit primitives.

Kernels are compiled lazily, cached on disk and free of Python objects. With ``NUMBA_DISABLE_JIT=1`` they are
ordinary Python functions, which is the debugger's door and what the mutation tests use.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any, ParamSpec, TypeVar, cast

import numba
import numpy as np
from llvmlite import ir
from llvmlite.binding import get_host_cpu_features
from numba.core import cgutils
from numba.extending import intrinsic, overload

from spades_env.engine.sources import sources_hash

P = ParamSpec("P")
R = TypeVar("R")

JIT_ENABLED: bool = not numba.config.DISABLE_JIT


def stamped(dispatcher: Any) -> Any:
    """`dispatcher` with a cache that is thrown away when a source file changes that it may be compiled from.

    Numba looks at a kernel's own file alone, though constants and callees of other files are compiled into it: after
    an update of some files it would go on with the old ones, and nobody would notice.
    """
    index: Any = getattr(getattr(dispatcher, "_cache", None), "_cache_file", None)
    if hasattr(index, "_source_stamp"):
        index._source_stamp = (index._source_stamp, sources_hash(Path(dispatcher.py_func.__code__.co_filename)))
    return dispatcher


def kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Compile `function` with Numba (cached, no Python objects); without JIT let its integers wrap around silently."""
    if JIT_ENABLED:
        return cast("Callable[P, R]", stamped(numba.njit(cache=True, nogil=True)(function)))

    @wraps(function)
    def plain(*args: P.args, **kwargs: P.kwargs) -> R:
        # The random numbers multiply modulo 2**64, which NumPy scalars would otherwise warn about.
        with np.errstate(over="ignore"):
            return function(*args, **kwargs)

    return plain


def inline_kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Like `kernel`, for tiny helpers that LLVM must inline into their callers; without JIT the bare function."""
    if JIT_ENABLED:
        return cast("Callable[P, R]", stamped(numba.njit(cache=True, nogil=True, forceinline=True)(function)))
    return function


def popcount(mask: int) -> int:
    """Number of set bits of a non-negative `mask`."""
    return int(mask).bit_count()


def lowest_bit(mask: int) -> int:
    """Index of the lowest set bit of `mask`, which must not be 0."""
    return (int(mask) & -int(mask)).bit_length() - 1


def highest_bit(mask: int) -> int:
    """Index of the highest set bit of a non-negative `mask`, which must not be 0."""
    return int(mask).bit_length() - 1


@intrinsic
def _ctpop(typing_context: Any, mask: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.ctpop(args[0])

    return numba.int64(numba.int64), codegen


@intrinsic
def _cttz(typing_context: Any, mask: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.cttz(args[0], context.get_constant(numba.boolean, True))

    return numba.int64(numba.int64), codegen


@intrinsic
def _ctlz(typing_context: Any, mask: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.ctlz(args[0], context.get_constant(numba.boolean, True))

    return numba.int64(numba.int64), codegen


@overload(popcount)
def _popcount_compiled(mask: Any) -> Any:
    def implementation(mask: Any) -> Any:
        return _ctpop(np.int64(mask))

    return implementation


@overload(lowest_bit)
def _lowest_bit_compiled(mask: Any) -> Any:
    def implementation(mask: Any) -> Any:
        return _cttz(np.int64(mask))

    return implementation


@overload(highest_bit)
def _highest_bit_compiled(mask: Any) -> Any:
    def implementation(mask: Any) -> Any:
        return 63 - _ctlz(np.int64(mask))

    return implementation


def nth_bit(mask: int, n: int) -> int:
    """Index of the `n`-th (from 0) lowest set bit of `mask`; `n` must be below its number of set bits."""
    for _ in range(n):
        mask &= mask - 1
    return lowest_bit(mask)


@intrinsic
def _pdep(typing_context: Any, source: Any, mask: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        word = ir.IntType(64)
        function = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(word, [word, word]), "llvm.x86.bmi.pdep.64"
        )
        return builder.call(function, args)

    return numba.int64(numba.int64, numba.int64), codegen


# BMI2's "deposit bits" finds the bit without a loop whose length nobody can predict (1.5x on random play).
_HAS_PDEP = bool(get_host_cpu_features().get("bmi2", False))


@overload(nth_bit)
def _nth_bit_compiled(mask: Any, n: Any) -> Any:
    if _HAS_PDEP:

        def implementation(mask: Any, n: Any) -> Any:
            return _cttz(_pdep(np.int64(1) << np.int64(n), np.int64(mask)))

    else:

        def implementation(mask: Any, n: Any) -> Any:
            for _ in range(n):
                mask &= mask - 1
            return _cttz(np.int64(mask))

    return implementation


@kernel
def _probe(number: int) -> int:
    """Nothing; whether it has to be compiled tells whether this machine has a cache of kernels."""
    return number


def is_compiled() -> bool:
    """Whether kernels come from the cache on disk, or run without JIT; no more than once False in a process."""
    probe: Any = _probe
    if not JIT_ENABLED or probe.signatures:
        return True
    probe(0)
    return bool(probe.stats.cache_hits)
