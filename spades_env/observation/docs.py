"""Writes docs/observation.md from the layout tables: `python -m spades_env.observation.docs [path]`.

A test compares the file with `page()`, so the two cannot drift apart.
"""

from __future__ import annotations

import sys
from fractions import Fraction
from pathlib import Path

from spades_env.observation.blocks import (
    ENCODINGS,
    FLAT,
    FLAT_SIZE,
    GAME_SIZE,
    OBSERVATION_VERSION,
    RULES_OFFSET,
    STATE_LAYOUT,
    STATE_SIZE,
    Block,
)

_INTRODUCTION = f"""# Observations, version {OBSERVATION_VERSION}

Generated from `spades_env/observation/blocks.py` by `python -m spades_env.observation.docs`; do not edit.

One observation is a row of {FLAT_SIZE} bytes (`flat`, uint8). The float32 form of an entry is byte * scale,
so that both hold the same facts. Size and layout are the same for all rule sets.
`block("own_hand").slice` cuts a block out, `explain(observation)` says in words what a row holds,
`decode_flat(observation)` gives it as facts.

- Seats are relative: 0 is the observer, then in turn order; a policy plays any seat and either turn direction
  unchanged. With two players rows 2 and 3 stay 0. Blocks of two rows are (own team, other team).
- Cards stand in the order of their ids: clubs 0-12, diamonds 13-25, hearts 26-38, spades 39-51, little
  joker 52, big joker 53; inside a suit from the 2 up. The entries of the jokers are for `jokers` only.
- A row holds what the seat may know (R30) and nothing else; it is made from a VIEW, which holds no more. The
  legal actions are not in it: they are the action mask, which is all zeros for a seat that is not to act.
- The first {GAME_SIZE} entries are enough where the rules are fixed and nothing is drafted, the first
  {RULES_OFFSET} where the rules are fixed: a network may read a prefix.
- The four bytes of an int32 are exact, and poor food for a network; `score_steps`, `bags_to_penalty` and
  `deals_left` say nearly the same in steps.
- `OBSERVATION_VERSION` rises when a name, a place, an encoding or a meaning changes; checkpoints carry it.
"""

_STATE_INTRODUCTION = f"""
## The state encoder

For critics and analysis, never for players: {STATE_SIZE} bytes, the {FLAT_SIZE} of the flat observation of a
reference seat and behind them what is hidden from her. The environment's `state()` has seat 0 as the
reference. Not in it: the random numbers that decide later deals and which discards an exchange draws.
"""

_HEADING = "| offset | length | rows x width | block | encoding | scale | meaning |\n" + "| --- " * 7 + "|"


def _line(block: Block) -> str:
    scale = Fraction(block.scale).limit_denominator(1000)
    return (
        f"| {block.offset} | {block.length} | {block.rows} x {block.width} | `{block.name}` "
        f"| {block.encoding} | {scale} | {block.meaning} |"
    )


def page() -> str:
    """The whole text of docs/observation.md."""
    encodings = [f"- {name}: {meaning}." for name, meaning in ENCODINGS.items()]
    flat = [_line(block) for block in FLAT.blocks]
    hidden = [_line(block) for block in STATE_LAYOUT.blocks[len(FLAT.blocks) :]]
    parts = [_INTRODUCTION, *encodings, "", _HEADING, *flat, _STATE_INTRODUCTION, _HEADING, *hidden]
    return "\n".join(parts) + "\n"


def main(arguments: list[str]) -> None:
    """Write the page to the path given, docs/observation.md by default."""
    path = Path(arguments[0]) if arguments else Path("docs/observation.md")
    path.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
