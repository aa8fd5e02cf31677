"""Good input spoiled at random, from a seed: bytes, and values as JSON holds them. What fuzz tests feed to readers."""

from __future__ import annotations

import copy
import json
from typing import Any

import numpy as np

TOKENS = (
    *(b"", b"\x00", b"\xff\xfe", b"\n", b"[" * 2000, b"{" * 50, b"]", b"}", b'"', b"'", b"-1", b"0", b"null", b"true"),
    *(
        b"NaN",
        b"1e999",
        b"-Infinity",
        b"9" * 5000,
        b"0x" + b"f" * 100,
        b"&a [*a]",
        b"<<: *a",
        b"!!bool x",
        b"? ",
        b"- ",
    ),
    *(
        b"!!python/object/apply:os.system [x]",
        b"2020-13-45",
        b"\xed\xa0\x80",
        b"\\ud800",
        b"AS AS",
        b"bid 14",
        b"|",
        b":",
    ),
)
"""Pieces that readers of text and JSON are known to stumble over."""
VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1, 2**31, 2**63, -(2**64), 10**400, 0.5, -0.0, 1e308, -1e308, 5e-324),
    *(float("nan"), float("inf"), "", "x", "\x00", "\ud800", "\x1b[2J", "a" * 5000, "<script>", "AS KS", "bid 3"),
    *([], [[]], {}, {"": None}, [0] * 1000, ["x"], {"mean": 0, "low": 0, "high": 0}, {"A": None, "B": None}),
)
"""Values to stand where others stood."""

Rng = np.random.Generator


def spoiled(data: bytes, rng: Rng) -> bytes:
    """`data` with one to four places changed: bits, bytes, pieces left out, doubled, moved, put in, or cut off."""
    for _ in range(int(rng.integers(1, 5))):
        data = _spoiled_once(data, rng)
    return data


def _spoiled_once(data: bytes, rng: Rng) -> bytes:
    at = int(rng.integers(len(data) + 1))
    end = min(len(data), at + int(rng.integers(1, 40)))
    match int(rng.integers(7)):
        case 0 if data:
            k = int(rng.integers(len(data)))
            return data[:k] + bytes([data[k] ^ 1 << int(rng.integers(8))]) + data[k + 1 :]
        case 1:
            return data[:at] + rng.bytes(end - at) + data[end:]
        case 2:
            return data[:at] + data[end:]
        case 3:
            return data[:end] + data[at:]
        case 4:
            to = int(rng.integers(len(data) + 1))
            return data[:to] + data[at:end] + data[to:]
        case 5:
            return data[:at]
        case _:
            return data[:at] + TOKENS[int(rng.integers(len(TOKENS)))] + data[end if rng.integers(2) else at :]


def spoiled_value(value: Any, rng: Rng) -> Any:
    """A copy of plain values with one to three places changed: replaced, left out, renamed, doubled or made deep."""
    value = copy.deepcopy(value)
    for _ in range(int(rng.integers(1, 4))):
        places = list(_places(value))
        if not places:
            return pick(rng, VALUES)
        holder, key = places[int(rng.integers(len(places)))]
        _spoil_place(holder, key, rng)
    return value


def _spoil_place(holder: Any, key: Any, rng: Rng) -> None:
    """Change what stands in `holder[key]`."""
    match int(rng.integers(8)):
        case 0:
            del holder[key]
        case 1 if isinstance(holder, dict):
            holder[pick(rng, ("", "x", "preset", "format", key + "s"))] = holder.pop(key)
        case 1:
            holder.insert(key, copy.deepcopy(holder[key]))
        case 2:
            for _ in range(int(rng.integers(1, 60))):
                holder[key] = [holder[key]]
        case 3 if isinstance(holder[key], int | float) and abs(holder[key]) < 2**63:
            number = holder[key]
            holder[key] = pick(rng, (-number, number + 1, number * 10**6, float(number), str(number)))
        case _:
            holder[key] = copy.deepcopy(pick(rng, VALUES))


def _places(value: Any) -> Any:
    """Yield (container, key) of everything in a value, at any depth."""
    waiting = [value]
    while waiting:
        holder = waiting.pop()
        keys = list(holder) if isinstance(holder, dict) else range(len(holder)) if isinstance(holder, list) else ()
        for key in keys:
            yield holder, key
            waiting.append(holder[key])


def pick(rng: Rng, values: Any) -> Any:
    """One of `values`."""
    return values[int(rng.integers(len(values)))]


def as_json(value: Any) -> bytes:
    """JSON, which Python lets hold NaN, too."""
    return json.dumps(value).encode("utf-8")
