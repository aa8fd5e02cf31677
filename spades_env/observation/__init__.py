"""Observations: named blocks, the encoders that fill them from a view, and the way back to facts."""

from spades_env.observation.blocks import (
    FLAT,
    FLAT_SCALES,
    FLAT_SIZE,
    GAME_SIZE,
    OBSERVATION_VERSION,
    RULES_OFFSET,
    STATE_LAYOUT,
    STATE_SCALES,
    STATE_SIZE,
    Block,
    Layout,
    block,
)
from spades_env.observation.decode import Facts, Play, decode_flat, explain
from spades_env.observation.flat import (
    encode_flat,
    encode_views,
    encode_views_float32,
    observe_seat,
    observe_seat_float32,
    observe_to_act,
    observe_to_act_float32,
)
from spades_env.observation.state_encoder import (
    encode_state,
    encode_state_float32,
    encode_states_to_act,
    encode_states_to_act_float32,
)

__all__ = [
    "FLAT",
    "FLAT_SCALES",
    "FLAT_SIZE",
    "GAME_SIZE",
    "OBSERVATION_VERSION",
    "RULES_OFFSET",
    "STATE_LAYOUT",
    "STATE_SCALES",
    "STATE_SIZE",
    "Block",
    "Facts",
    "Layout",
    "Play",
    "block",
    "decode_flat",
    "encode_flat",
    "encode_state",
    "encode_state_float32",
    "encode_states_to_act",
    "encode_states_to_act_float32",
    "encode_views",
    "encode_views_float32",
    "explain",
    "observe_seat",
    "observe_seat_float32",
    "observe_to_act",
    "observe_to_act_float32",
]
