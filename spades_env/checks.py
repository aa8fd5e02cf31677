"""Checks of plain arguments: the error names the argument, its value and what is allowed."""

from __future__ import annotations

import math
import operator
from numbers import Real

LONGEST_SHOWN = 200
"""Characters of a value in a message."""


def shown(value: object) -> str:
    """`value` for a message: on one line, cut short, and never an error of its own."""
    if isinstance(value, int) and value.bit_length() > 64:
        return f"an int of {value.bit_length()} bits"
    try:
        # A long text is cut before it is written out: what is refused may be of any size.
        text = repr(value[:LONGEST_SHOWN]) if isinstance(value, str | bytes) else repr(value)
    except Exception:  # repr of a stranger's object may raise anything, that of a huge int inside a list does
        return f"a {type(value).__name__}"
    line = " ".join(text.split())
    return line if len(line) <= LONGEST_SHOWN else f"{line[: LONGEST_SHOWN - 3]}..."


def form_of(value: object) -> str:
    """Type and shape of an array, or the type of something else, for messages."""
    dtype, shape = getattr(value, "dtype", None), getattr(value, "shape", None)
    if dtype is None or shape is None:
        return "None" if value is None else f"a {type(value).__name__}"
    return f"{'records' if dtype.names else dtype} of shape {shape}"


def whole_number(name: str, value: object, low: int, high: int, error: type[ValueError] = ValueError) -> int:
    """`value`, a Python or NumPy integer, as an int in low..high; bools, floats and text are refused with `error`."""
    try:
        number = None if isinstance(value, bool) else operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        number = None
    if number is None or not low <= number <= high:
        raise error(f"{name} is {shown(value)}; allowed: an int {low}..{high}")
    return number


def finite_number(name: str, value: object, error: type[ValueError] = ValueError) -> float:
    """`value`, a finite Python or NumPy number, as a float; bools and text are refused with `error`."""
    try:
        number = math.nan if isinstance(value, bool) or not isinstance(value, Real) else float(value)
    except OverflowError:  # an int beyond all floats
        number = math.nan
    if not math.isfinite(number):
        raise error(f"{name} is {shown(value)}; allowed: a finite number")
    return number
