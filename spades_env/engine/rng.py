"""Counter-based random numbers: the n-th number of a stream is a function of (key, n); nothing has a position to lose.

A key is a hash of what the numbers are for: (seed, game) name a game; match, deal and purpose are hashed on top. The
mixing function is the finalizer of SplitMix64 (Steele, Lea and Flood 2014).
"""

from __future__ import annotations

from typing import Final

import numpy as np

from spades_env.engine.kernel import inline_kernel, kernel

PURPOSE_DEALER: Final = 1
PURPOSE_SHUFFLE: Final = 2
PURPOSE_EXCHANGE: Final = 3
PURPOSE_AGENT: Final = 8

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_SHIFT_30, _SHIFT_27, _SHIFT_31, _SHIFT_32 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(32)
_LOW_32 = np.uint64(0xFFFFFFFF)
_TWO_32 = np.uint64(1 << 32)
_ONE = np.uint64(1)


@inline_kernel
def mix(x: np.uint64) -> np.uint64:
    """A bijection of 64-bit words that passes for random on consecutive inputs."""
    x = (x ^ (x >> _SHIFT_30)) * _MIX_1
    x = (x ^ (x >> _SHIFT_27)) * _MIX_2
    return x ^ (x >> _SHIFT_31)


@inline_kernel
def combine(key: np.uint64, value: int) -> np.uint64:
    """A new key for the stream `value` (a non-negative integer) under `key`."""
    return mix(mix(key + _GOLDEN) ^ (np.uint64(value) * _GOLDEN + _ONE))


@inline_kernel
def draw(key: np.uint64, n: int) -> np.uint64:
    """The `n`-th 64-bit random word of the stream `key`."""
    return mix(key + np.uint64(n + 1) * _GOLDEN)


@inline_kernel
def below(key: np.uint64, n: int, bound: int) -> int:
    """The `n`-th number of stream `key` as a integer in [0, bound), exactly uniform (Lemire 2019)."""
    limit = np.uint64(bound)
    word = draw(key, n)
    product = (word & _LOW_32) * limit
    low = product & _LOW_32
    if low < limit:
        threshold = (_TWO_32 - limit) % limit
        while low < threshold:
            word = mix(word + _GOLDEN)
            product = (word & _LOW_32) * limit
            low = product & _LOW_32
    return int(np.int64(product >> _SHIFT_32))


@kernel
def unit(key: np.uint64, n: int) -> float:
    """The `n`-th number of stream `key` as a float64 in [0, 1), with 53 random bits."""
    return np.float64(draw(key, n) >> np.uint64(11)) * (1.0 / 9007199254740992.0)


@kernel
def game_key(seed: int, game: int) -> np.uint64:
    """The key of game number `game` under the user's `seed`."""
    return combine(combine(np.uint64(0), seed), game)


@kernel
def stream(key: np.uint64, match: int, deal: int, purpose: int) -> np.uint64:
    """The stream of one purpose in one deal of a game; no draw for one purpose shifts another."""
    return combine(combine(combine(key, match), deal), purpose)
