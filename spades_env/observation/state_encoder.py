"""The state encoder: perfect information for critics and analysis, never part of what a player observes.

A row is the flat observation of a reference seat, then everything hidden from her, seat-relative to her.
The environment's `state()` takes seat 0 as the reference.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from spades_env.cards import NUM_CARDS
from spades_env.engine.kernel import inline_kernel, kernel
from spades_env.engine.state import StateArray
from spades_env.engine.write import Bytes, write_bits
from spades_env.observation.blocks import STATE_LAYOUT, STATE_SCALES, STATE_SIZE
from spades_env.observation.flat import Floats, check_rows, encode_flat, scale_row, wrapped
from spades_env.view import VIEW, write_view

_HANDS: Final = STATE_LAYOUT.offset("hands")
_PILE: Final = STATE_LAYOUT.offset("pile")
_DISCARDS: Final = STATE_LAYOUT.offset("discards")
_OTHER_REJECTED: Final = STATE_LAYOUT.offset("other_rejected")
_OTHER_THROWN: Final = STATE_LAYOUT.offset("other_thrown")


@inline_kernel
def write_hidden(game: np.void, me: int, out: Bytes) -> None:
    """The blocks behind the flat ones: all hands, and in a draft the pile and what was put away face down."""
    rules = game["rules"]
    players, step = int(rules["players"]), int(rules["step"])
    seat = me
    for r in range(players):
        write_bits(out, _HANDS + NUM_CARDS * r, int(game["hands"][seat]), NUM_CARDS)
        seat = wrapped(seat + step, players)
    if int(rules["draft"]) == 1:
        drawn = int(game["pile_pos"])
        for k in range(drawn, 52):
            out[_PILE + int(game["pile"][k])] = k - drawn + 1
        write_bits(out, _DISCARDS, int(game["discards"]), NUM_CARDS)
        write_bits(out, _OTHER_REJECTED, int(game["rejected"][1 - me]), NUM_CARDS)
        write_bits(out, _OTHER_THROWN, int(game["thrown"][1 - me]), NUM_CARDS)


@kernel
def encode_state(states: StateArray, i: int, seat: int, out: Bytes) -> None:
    """Perfect information of game `i`, reference `seat`, into `out`, uint8 of shape (STATE_SIZE,)."""
    check_rows(1, out.shape[0], 1, STATE_SIZE)
    view = np.empty(1, VIEW)[0]
    write_view(states[i], seat, view)
    encode_flat(view, out)
    write_hidden(states[i], seat, out)


@kernel
def encode_state_float32(states: StateArray, i: int, seat: int, out: Floats) -> None:
    """Like `encode_state`, into float32 of shape (STATE_SIZE,)."""
    check_rows(1, out.shape[0], 1, STATE_SIZE)
    row = np.empty(STATE_SIZE, np.uint8)
    encode_state(states, i, seat, row)
    scale_row(row, STATE_SCALES, out)


@kernel
def encode_states_to_act(states: StateArray, out: Bytes) -> None:
    """Perfect information of all games, the seats to act as references; uint8 of shape (n, STATE_SIZE)."""
    check_rows(out.shape[0], out.shape[1], states.shape[0], STATE_SIZE)
    for i in range(states.shape[0]):
        encode_state(states, i, int(states[i]["turn"]), out[i])


@kernel
def encode_states_to_act_float32(states: StateArray, out: Floats) -> None:
    """Like `encode_states_to_act`, into float32 of shape (n, STATE_SIZE)."""
    check_rows(out.shape[0], out.shape[1], states.shape[0], STATE_SIZE)
    row = np.empty(STATE_SIZE, np.uint8)
    for i in range(states.shape[0]):
        encode_state(states, i, int(states[i]["turn"]), row)
        scale_row(row, STATE_SCALES, out[i])
