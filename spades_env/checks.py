"""Checks of plain arguments: the error names the argument, its value and what is allowed."""

from __future__ import annotations

import math
import operator
from numbers import Real


def whole_number(name: str, value: object, low: int, high: int, error: type[ValueError] = ValueError) -> int:
    """`value`, a Python or NumPy integer, as an int in low..high; bools, floats and text are refused with `error`."""
    try:
        number = None if isinstance(value, bool) else operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        number = None
    if number is None or not low <= number <= high:
        raise error(f"{name} is {value!r}; allowed: an int {low}..{high}")
    return number


def finite_number(name: str, value: object, error: type[ValueError] = ValueError) -> float:
    """`value`, a finite Python or NumPy number, as a float; bools and text are refused with `error`."""
    try:
        number = math.nan if isinstance(value, bool) or not isinstance(value, Real) else float(value)
    except OverflowError:  # an int beyond all floats
        number = math.nan
    if not math.isfinite(number):
        raise error(f"{name} is {value!r}; allowed: a finite number")
    return number
