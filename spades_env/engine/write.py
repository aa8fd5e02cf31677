"""Writing masks and numbers into rows of bytes: the primitives under every encoder.

`write_bits` is the hot one: compiled, it lets LLVM widen a mask to bytes with a few vector instructions.
"""

from __future__ import annotations

import sys
from typing import Any

import numba
import numpy as np
import numpy.typing as npt
from llvmlite import ir
from numba.extending import intrinsic, overload

Bytes = npt.NDArray[np.uint8]


def write_bits(out: Bytes, offset: int, mask: int, width: int) -> None:
    """Set `out[offset + b]` to bit b of `mask` for b below `width`, a constant from 1 to 63.

    `out` is a contiguous row of bytes with room for all of them; nothing checks that.
    """
    for bit in range(width):
        out[offset + bit] = (mask >> bit) & 1


def _check_bytes(out: Any) -> None:
    if not (isinstance(out, numba.types.Array) and out.layout == "C" and out.dtype.bitwidth == 8):
        raise numba.TypingError(f"out is {out}; allowed: a contiguous array of bytes")


def _store_anywhere(context: Any, builder: Any, out: Any, args: Any, value: Any) -> None:
    """Emit a store of `value` at element args[1] of array args[0], whatever its address is divisible by."""
    data = context.make_array(out)(context, builder, args[0]).data
    place = builder.bitcast(builder.gep(data, [args[1]]), value.type.as_pointer())
    builder.store(value, place).align = 1


@intrinsic(prefer_literal=True)
def _store_bits(typing_context: Any, out: Any, offset: Any, mask: Any, width: Any) -> Any:
    _check_bytes(out)
    if not isinstance(width, numba.types.IntegerLiteral):
        raise numba.TypingError(f"width is {width}; allowed: a constant")
    lanes = width.literal_value

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        bits = builder.bitcast(args[2], ir.VectorType(ir.IntType(1), 64))
        picked = ir.Constant(ir.VectorType(ir.IntType(32), lanes), list(range(lanes)))
        bits = builder.shuffle_vector(bits, ir.Constant(bits.type, ir.Undefined), picked)
        values = builder.zext(bits, ir.VectorType(ir.IntType(8), lanes))
        _store_anywhere(context, builder, out, args, values)
        return context.get_dummy_value()

    return numba.types.void(out, numba.int64, numba.int64, width), codegen


@overload(write_bits, prefer_literal=True)
def _write_bits_compiled(out: Any, offset: Any, mask: Any, width: Any) -> Any:
    def implementation(out: Any, offset: Any, mask: Any, width: Any) -> None:
        _store_bits(out, np.int64(offset), np.int64(mask), width)

    return implementation


def write_int32(out: Bytes, offset: int, value: int) -> int:
    """Write `value` + 2**31 as four bytes, highest first; the index after them."""
    for k, byte in enumerate((value + (1 << 31)).to_bytes(4, "big")):
        out[offset + k] = byte
    return offset + 4


@intrinsic
def _store_int32(typing_context: Any, out: Any, offset: Any, value: Any) -> Any:
    _check_bytes(out)

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        word = builder.trunc(args[2], ir.IntType(32))
        if sys.byteorder == "little":
            word = builder.bswap(word)
        _store_anywhere(context, builder, out, args, word)
        return context.get_dummy_value()

    return numba.types.void(out, numba.int64, numba.int64), codegen


@overload(write_int32)
def _write_int32_compiled(out: Any, offset: Any, value: Any) -> Any:
    def implementation(out: Any, offset: Any, value: Any) -> Any:
        # Four stores of a byte each would not be merged into one.
        _store_int32(out, np.int64(offset), np.int64(value) + (1 << 31))
        return offset + 4

    return implementation
