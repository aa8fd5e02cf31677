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
    Layout,
)
from spades_env.observation.more_blocks import FEATURES, FEATURES_SIZE, HIDDEN_CARD, SEQUENCE, SEQUENCE_SIZE, TOKENS

_INTRODUCTION = f"""# Observations, version {OBSERVATION_VERSION}

Generated from `blocks.py` and `more_blocks.py` in `spades_env/observation/` by `python -m spades_env.observation.docs`;
do not edit.

| encoder | bytes | for |
| --- | --- | --- |
| `flat` (default) | {FLAT_SIZE} | networks that take one row; everything a seat knows |
| `sequence` | {SEQUENCE_SIZE} | transformers: the same facts as tokens and a context |
| `features` | {FEATURES_SIZE} | small models and people: a few hand-crafted numbers |
| `state` | {STATE_SIZE} | critics, never players: perfect information |

The environments take the first three as `observation=`, and give the last as `state()`. Elsewhere
`ENCODERS["sequence"].write(views, out)` fills an array of yours, uint8 or float32, with a row for every view.

One observation is a row of bytes (uint8). The float32 form of an entry is byte * scale, so that both hold the same
facts. Size and layout are the same for all rule sets. `explain(observation)` says in words what a row of the first
three holds; `decode_flat` and `decode_sequence` give it as facts.

## The flat encoder

{FLAT_SIZE} bytes; `block("own_hand").slice` cuts a block out.

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

_SEQUENCE_INTRODUCTION = f"""
## The sequence encoder

For transformers: {SEQUENCE_SIZE} bytes. The first seven blocks are columns of a table of {TOKENS} tokens, one number
for each token; feed `kind`, `who`, `what`, `when`, `trick` and `order` to tables of embeddings and add them up.
Behind them stands a context, blocks of the flat row under their own names. `SEQUENCE.block("what").slice` cuts a
block out.

- First come her own cards (`hand`), in a draft the card she is deciding about (`shown`) and those she looked at and
  discarded (`rejected`), each in the order of ids; then every action of the deal in the order it was taken.
- The action of a `play` or `exchange` is a card. What the other gave up (R29) is {HIDDEN_CARD}: an action, but no card.
- `token_mask` is 1 for tokens and 0 for the padding behind them, all of whose entries are 0; torch's
  `key_padding_mask` is its opposite. A batch may be cut to its longest sequence. A deal of four
  seats needs at most 60 tokens, a draft with exchanges {TOKENS}.
- `decode_sequence` gives the same facts as `decode_flat` of the flat row, `decode_tokens` the tokens.
- Use uint8 for tables of embeddings; as float32 the numbers are scaled.

```python
import numpy as np
from spades_env import SpadesBatch
from spades_env.observation import ENCODERS, SEQUENCE
from spades_env.view import empty_views, views_to_act

batch, views = SpadesBatch(64, "classic", seed=1), empty_views(64)
rows = np.empty((64, SEQUENCE.size), np.uint8)
views_to_act(batch.states, views)
ENCODERS["sequence"].write(views, rows)
what = rows[:, SEQUENCE.block("what").slice]
padding = rows[:, SEQUENCE.block("token_mask").slice] == 0
context = rows[:, SEQUENCE.offset("voids") :] * SEQUENCE.scales[SEQUENCE.offset("voids") :]
```
"""

_FEATURES_INTRODUCTION = f"""
## The features encoder

For small models and for people: {FEATURES_SIZE} bytes. It says nothing about who played what and next to nothing about
the rules, so there is no way back to the facts; blocks that stand in the flat row, too, have their names.
`FEATURES.block("sure_tricks").slice` cuts a block out.
"""

_SYMMETRY = """
## Symmetry of the side suits

Clubs, diamonds and hearts are interchangeable: give them new names everywhere and the game is the same. The six
permutations are `SUIT_PERMUTATIONS`, the identity first; permutation k calls suit s `SUIT_PERMUTATIONS[k][s]`.

| what | renamed by permutation k |
| --- | --- |
| row of `flat`, `state`, `features` | `row[..., FLAT_PERMUTATIONS[k]]`, and so on |
| rows of any encoder | `permute_rows("sequence", rows, k)`; a sequence is no mere permutation: own cards are sorted |
| action mask, logits | `mask[..., ACTION_PERMUTATIONS[k]]` |
| action | `ACTION_MAPS[k, action]` |

`symmetries(rules)` lists the permutations that the rules allow. With jokers (the two of clubs is in the pack, the
other two side twos are not) and with `low_club` only those that leave clubs alone; a small deck may lack side suits.
"""

_HEADING = "| offset | length | rows x width | block | encoding | scale | meaning |\n" + "| --- " * 7 + "|"


def _line(block: Block) -> str:
    scale = Fraction(block.scale).limit_denominator(1000)
    return (
        f"| {block.offset} | {block.length} | {block.rows} x {block.width} | `{block.name}` "
        f"| {block.encoding} | {scale} | {block.meaning} |"
    )


def _table(layout: Layout, first: int = 0) -> list[str]:
    """A line for every block from number `first` on, below the heading."""
    return [_HEADING, *(_line(block) for block in layout.blocks[first:])]


def page() -> str:
    """The whole text of docs/observation.md."""
    encodings = [f"- {name}: {meaning}." for name, meaning in ENCODINGS.items()]
    parts = [_INTRODUCTION, *encodings, "", *_table(FLAT)]
    parts += [_SEQUENCE_INTRODUCTION, *_table(SEQUENCE)]
    parts += [_FEATURES_INTRODUCTION, *_table(FEATURES)]
    parts += [_STATE_INTRODUCTION, *_table(STATE_LAYOUT, len(FLAT.blocks)), _SYMMETRY.rstrip()]
    return "\n".join(parts) + "\n"


def main(arguments: list[str]) -> None:
    """Write the page to the path given, docs/observation.md by default."""
    path = Path(arguments[0]) if arguments else Path("docs/observation.md")
    path.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
