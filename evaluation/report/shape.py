"""Whether plain values have the form that is expected of them; what differs is named by its path."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

NUMBER: Final = (int, float)


@dataclass(frozen=True)
class Maybe:
    """Null, or missing, or of this form."""

    form: Any


@dataclass(frozen=True)
class Each:
    """An object of any keys whose values all have this form."""

    form: Any


class ShapeError(ValueError):
    """Values of another form; the message names the path and what stands there."""


def check_shape(value: Any, form: Any, path: str = "") -> None:
    """Raise ShapeError unless `value` has the form: a type or types, {key: form}, [form], Maybe or Each.

    Keys that the form does not name are let pass: they may have been added since.
    """
    if isinstance(form, Maybe):
        if value is not None:
            check_shape(value, form.form, path)
    elif isinstance(form, Each):
        _of_type(value, dict, path)
        for key, part in value.items():
            check_shape(part, form.form, f"{path}.{key}" if path else key)
    elif isinstance(form, Mapping):
        _of_type(value, dict, path)
        for key, part in form.items():
            if key not in value and not isinstance(part, Maybe):
                raise ShapeError(f"{path or 'the file'} has no field {key!r}")
            check_shape(value.get(key), part, f"{path}.{key}" if path else key)
    elif isinstance(form, list):
        _of_type(value, list, path)
        for k, part in enumerate(value):
            check_shape(part, form[0], f"{path}[{k}]")
    else:
        _of_type(value, form, path)


def fill(value: Any, form: Any) -> None:
    """Put null where a value that has the form lacks a field that may be missing, so that readers need not ask."""
    if isinstance(form, Maybe):
        if value is not None:
            fill(value, form.form)
    elif isinstance(form, Each):
        for part in value.values():
            fill(part, form.form)
    elif isinstance(form, Mapping):
        for key, part in form.items():
            fill(value.setdefault(key, None), part)
    elif isinstance(form, list):
        for part in value:
            fill(part, form[0])


def _of_type(value: Any, types: type | tuple[type, ...], path: str) -> None:
    """Raise unless `value` is of one of the types; a bool is no number, and numbers are finite, ints of 64 bits."""
    allowed = types if isinstance(types, tuple) else (types,)
    good = isinstance(value, allowed) and (not isinstance(value, bool) or bool in allowed)
    if isinstance(value, int) and value.bit_length() > 64:
        raise ShapeError(f"{path or 'the file'} is an int of {value.bit_length()} bits; allowed: up to 64")
    if not good or (isinstance(value, float) and not math.isfinite(value)):
        names = " or ".join({"dict": "object", "NoneType": "null"}.get(t.__name__, t.__name__) for t in allowed)
        shown = repr(value)
        raise ShapeError(
            f"{path or 'the file'} is {shown if len(shown) <= 60 else shown[:57] + '...'}; allowed: {names}"
        )
