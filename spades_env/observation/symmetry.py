"""The side suits are interchangeable: permutations of clubs, diamonds and hearts for observations and actions.

Permutation k gives suit s the name SUIT_PERMUTATIONS[k][s]. A row of index permutations gathers: the observation of
the renamed game is `observation[..., index[k]]`. Permutation 0 changes nothing.
"""

from __future__ import annotations

import itertools
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from spades_env.actions import NUM_ACTIONS
from spades_env.cards import CLUBS, NUM_CARDS, SPADES
from spades_env.observation.blocks import FLAT, STATE_LAYOUT, Block, Layout
from spades_env.observation.more_blocks import FEATURES, KIND_REJECTED, SEQUENCE, TOKENS
from spades_env.rules import Rules

Indices = npt.NDArray[np.int64]

SUIT_PERMUTATIONS: Final = tuple((*order, SPADES) for order in itertools.permutations(range(SPADES)))
"""All six, the identity first: entry s is the new name of suit s."""


def _action_map(suits: tuple[int, ...]) -> list[int]:
    """The new id of every action; what is no card of a side suit stays."""
    side = [13 * suits[card // 13] + card % 13 for card in range(13 * SPADES)]
    return [*side, *range(13 * SPADES, NUM_ACTIONS)]


ACTION_MAPS: Final[Indices] = np.array([_action_map(suits) for suits in SUIT_PERMUTATIONS], np.int64)
"""Shape (6, 73): action a of a game is action ACTION_MAPS[k, a] of the game renamed by permutation k."""
ACTION_PERMUTATIONS: Final[Indices] = np.argsort(ACTION_MAPS, axis=1)
"""Shape (6, 73): a mask, or a policy's logits, of the renamed game is `mask[..., ACTION_PERMUTATIONS[k]]`."""


def _columns(block: Block, k: int) -> Indices:
    """For each column of a block of the renamed game: the column it comes from."""
    if block.columns == "cards":
        return ACTION_PERMUTATIONS[k, :NUM_CARDS]
    if block.columns == "suits":
        return np.argsort(SUIT_PERMUTATIONS[k])
    return np.arange(block.width)


def index_permutations(layout: Layout) -> Indices:
    """Shape (6, layout.size): the row of the renamed game is `row[..., result[k]]`."""
    return np.array([_index_permutation(layout, k) for k in range(len(SUIT_PERMUTATIONS))])


def _index_permutation(layout: Layout, k: int) -> Indices:
    starts = [(block, block.offset + block.width * row) for block in layout.blocks for row in range(block.rows)]
    return np.concatenate([start + _columns(block, k) for block, start in starts])


FLAT_PERMUTATIONS: Final = index_permutations(FLAT)
STATE_PERMUTATIONS: Final = index_permutations(STATE_LAYOUT)
FEATURES_PERMUTATIONS: Final = index_permutations(FEATURES)
_SEQUENCE_PERMUTATIONS: Final = index_permutations(SEQUENCE)
"""Of its context alone; the tokens stay where they are."""

# New entries of the block `what`: an action a is a + 1, all others stay as they are.
_WHAT_MAPS: Final = np.tile(np.arange(256, dtype=np.uint8), (len(SUIT_PERMUTATIONS), 1))
_WHAT_MAPS[:, 1 : NUM_ACTIONS + 1] = ACTION_MAPS + 1
_COLUMNS: Final = tuple(block for block in SEQUENCE.blocks if block.width == TOKENS)


def permute_sequence(rows: npt.NDArray[np.uint8], k: int) -> npt.NDArray[np.uint8]:
    """Sequences (..., SEQUENCE_SIZE) of the games renamed by permutation `k`; no index permutation can say them.

    Cards get new ids, and those of her own, which stand in the order of ids, new places among themselves.
    """
    permuted = rows[..., _SEQUENCE_PERMUTATIONS[k]]
    what = SEQUENCE.block("what").slice
    permuted[..., what] = _WHAT_MAPS[k][rows[..., what]]
    kind = rows[..., SEQUENCE.block("kind").slice].astype(np.int64)
    own = (kind > 0) & (kind <= KIND_REJECTED)
    # Own cards come first, by kind and id; the rest keep their places behind them.
    place = np.where(own, 256 * kind + permuted[..., what], 256 * (KIND_REJECTED + 1) + np.arange(TOKENS))
    order = np.argsort(place, axis=-1)
    for column in _COLUMNS:
        permuted[..., column.slice] = np.take_along_axis(permuted[..., column.slice], order, axis=-1)
    return permuted


_BY_NAME: Final = {
    "flat": (FLAT, FLAT_PERMUTATIONS),
    "state": (STATE_LAYOUT, STATE_PERMUTATIONS),
    "features": (FEATURES, FEATURES_PERMUTATIONS),
    "sequence": (SEQUENCE, _SEQUENCE_PERMUTATIONS),
}


def permute_rows(name: str, rows: npt.NDArray[Any], k: int) -> npt.NDArray[Any]:
    """Rows (..., size) of the encoder `name`, "state" among them, uint8 or float32, renamed by permutation `k`."""
    if name not in _BY_NAME:
        raise ValueError(f"encoder is {name!r}; allowed: {', '.join(map(repr, _BY_NAME))}")
    layout, index = _BY_NAME[name]
    if rows.shape[-1:] != (layout.size,):
        raise ValueError(f"rows have shape {rows.shape}; allowed: (..., {layout.size}) for {name!r}")
    if name != "sequence":
        renamed: npt.NDArray[Any] = rows[..., index[k]]
        return renamed
    if rows.dtype == np.uint8:
        return permute_sequence(rows, k)
    whole = np.rint(rows / layout.scales).astype(np.uint8)
    return permute_sequence(whole, k) * layout.scales


def symmetries(rules: Rules) -> tuple[int, ...]:
    """The permutations under which a game of `rules` is again a game of `rules`; others name a pack that is not dealt.

    With jokers the two of clubs is in and those of diamonds and hearts are not (R2); `low_club` singles clubs out; a
    small deck may lack a side suit.
    """
    apart = [set(range(SPADES + 1 - rules.suits))]
    if rules.jokers or rules.opening_lead == "low_club":
        apart.append({CLUBS})
    kept = [all({suits[s] for s in some} == some for some in apart) for suits in SUIT_PERMUTATIONS]
    return tuple(k for k, keep in enumerate(kept) if keep)
