"""The encoders `sequence` and `features`: every block against the oracle, the way back, forms, seats, layouts."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from encoder_oracle import expected_features, expected_sequence
from observation_oracle import Witness
from referee_rules import turn_order
from test_observation import moved, positions, walk

import spades_env
from spades_env.engine.batch import SpadesBatch, legal_action_list
from spades_env.engine.state import StateArray
from spades_env.observation import (
    ENCODERS,
    FEATURES,
    FEATURES_SIZE,
    FLAT,
    SEQUENCE,
    SEQUENCE_SIZE,
    TOKENS,
    decode_flat,
    decode_sequence,
    decode_tokens,
    explain,
)
from spades_env.observation.decode import ObservationError
from spades_env.rules import PRESETS
from spades_env.view import empty_views, view_of, views_to_act

ROOT = Path(__file__).resolve().parent.parent
NEW = ("sequence", "features")
Row = npt.NDArray[np.uint8]


def row_of(name: str, states: StateArray, seat: int) -> Row:
    views = empty_views(1)
    view_of(states, 0, seat, views, 0)
    row = np.full((1, ENCODERS[name].layout.size), 99, np.uint8)
    ENCODERS[name].write(views, row)
    return row[0]


# Every block, and the way back


@pytest.mark.parametrize(("name", "oracle"), [("sequence", expected_sequence), ("features", expected_features)])
def test_every_block_equals_the_oracle(name: str, oracle: Any) -> None:
    phases = Counter[str]()
    layout = ENCODERS[name].layout
    for witness, seat in positions(600, seed=21):
        phases[witness.phase_name()] += 1
        row, wanted = row_of(name, witness.states, seat), oracle(witness, seat)
        assert set(wanted) == {b.name for b in layout.blocks}
        for b in layout.blocks:
            assert row[b.slice].tolist() == wanted[b.name], (b.name, seat, witness.rules)
    assert min(phases[phase] for phase in ("blind", "bid", "play", "draft", "exchange", "deal over")) > 30


def test_tokens_say_the_seat_trick_and_order_of_every_card_played() -> None:
    cards = 0
    for witness, seat in positions(120, seed=22):
        order, players = turn_order(witness.rules.to_dict(), seat), witness.rules.players
        wanted = [(card, order.index(who), k // players, k % players) for k, (who, card) in enumerate(witness.plays)]
        tokens = decode_tokens(row_of("sequence", witness.states, seat))
        assert [(t.action, t.seat, t.trick, t.order) for t in tokens if t.kind == "play"] == wanted
        actions = [token for token in tokens if token.when is not None]
        assert [token.when for token in actions] == list(range(len(witness.history)))
        assert [(order[t.seat], t.action) for t in actions if t.action is not None] == [
            (who, action)
            for who, phase, action in witness.history
            if who == seat or phase != "exchange" or action >= 54
        ]
        cards += len(wanted)
    assert cards > 1_500


def test_a_sequence_holds_the_facts_of_the_flat_row() -> None:
    for witness, seat in positions(200, seed=23):
        row = row_of("sequence", witness.states, seat)
        facts = decode_flat(row_of("flat", witness.states, seat))
        assert decode_sequence(row) == facts
        assert decode_sequence((row * SEQUENCE.scales).astype(np.float32)) == facts


def test_explain_knows_the_encoder_by_the_length_of_the_row() -> None:
    for witness, seat in positions(60, seed=24):
        words = explain(row_of("sequence", witness.states, seat))
        assert words.startswith(explain(row_of("flat", witness.states, seat)) + "\nhistory: ")
        features = explain(
            {"observation": row_of("features", witness.states, seat), "action_mask": np.zeros(73, np.int8)}
        )
        assert f"phase: {witness.phase_name()}" in features
        assert features.endswith("legal: nothing")


def test_explain_puts_features_into_words() -> None:
    hands = ["AS KS 2S QD 2D 3D 4D 5D 6D 7D 8D 9D TD", *[None] * 3]
    deck = [c for c in range(52) if spades_env.action_text(c) not in str(hands[0])]
    for seat in range(3):
        hands[seat + 1] = " ".join(spades_env.action_text(c) for c in deck[13 * seat : 13 * seat + 13])
    game = spades_env.Game("classic", hands=hands, dealer=3, scores=(-500, 250), bags=(4, 9), seed=1)
    for action in ("nil", "bid 3", "bid 4"):
        game.apply(action)
    lines = explain(row_of("features", game.states, 0)).splitlines()
    for line in (
        *("suit_lengths: diamonds 10, spades 3", "honours: ace spades, king spades, queen diamonds"),
        *("highest: diamonds Q, spades A", "lowest: diamonds 2, spades 2", "sure_tricks: spades 2"),
        *("outside: clubs 13, diamonds 3, hearts 13, spades 10", "bid_counts: you nil, next 3, partner 4"),
        *("score_percent: own team -100 %, other team 50 %", "bags_left: own team 6, other team 1"),
        *("needs: own team 4, other team 3", "nil_alive: you", "turn: previous", "phase: bid"),
    ):
        assert line in lines


def with_entry(block: str, index: int, value: int) -> Row:
    """A sequence of a game under way with one entry changed."""
    batch = SpadesBatch(1, "classic", seed=5)
    for k in range(9):
        batch.step(batch.sample_actions(3, k))
    row = row_of("sequence", batch.states, 0)
    row[SEQUENCE.offset(block) + index] = value
    return row


@pytest.mark.parametrize(
    ("bad", "named"),
    [
        (np.zeros(SEQUENCE_SIZE + 1, np.uint8), "shape"),
        (np.zeros(SEQUENCE_SIZE, np.int64), "int64"),
        (np.full(SEQUENCE_SIZE, np.nan, np.float32), "byte"),
        (np.zeros(SEQUENCE_SIZE, np.uint8), "'rules.lead_spades'"),
        (with_entry("kind", 2, 9), "'kind' has 9 in token 2; allowed: 1 to 8"),
        (with_entry("who", 2, 0), "'who' has 0"),
        (with_entry("what", 2, 75), "'what' has 75"),
        (with_entry("what", 0, 60), "'what' has action 59 in a token 'hand'"),
        (with_entry("trick", 16, 0), "'trick' and 'order'"),
    ],
)
def test_decoder_names_what_is_wrong(bad: npt.NDArray[np.generic], named: str) -> None:
    with pytest.raises(ObservationError, match=named):
        decode_sequence(bad)


def test_explain_refuses_rows_of_no_encoder() -> None:
    with pytest.raises(ObservationError, match=r"shape \(7,\)"):
        explain(np.zeros(7, np.uint8))
    with pytest.raises(ObservationError, match="'players' has 0"):
        explain(np.zeros(FEATURES_SIZE, np.uint8))


# Tokens and padding


def test_padding_stands_behind_the_tokens_and_is_zero() -> None:
    columns = [b for b in SEQUENCE.blocks if b.width == TOKENS]
    assert len(columns) == 7
    for witness, seat in positions(120, seed=25):
        row = row_of("sequence", witness.states, seat)
        mask = row[SEQUENCE.block("token_mask").slice]
        count = int(mask.sum())
        assert mask.tolist() == [1] * count + [0] * (TOKENS - count)
        for b in columns:
            assert not row[b.slice][count:].any()
            assert (row[b.slice] <= np.rint(1 / b.scale)).all()


def longest_deal() -> Witness:
    """A draft with two double nils, each of which gives up 13 cards."""
    rules = PRESETS["two_player"].replace(blind_nil_exchange=13)
    witness = Witness(rules, np.random.default_rng(26))
    while witness.table.seat_to_act() is not None:
        legal = legal_action_list(witness.states, 0)
        witness.act(68 if 68 in legal else legal[0])
    return witness


def test_the_longest_deal_fills_the_sequence() -> None:
    witness = longest_deal()
    for seat in range(2):
        row = row_of("sequence", witness.states, seat)
        count = int(row[SEQUENCE.block("token_mask").slice].sum())
        assert count == len(witness.history) + len(witness.table.rejected[seat])
        assert len(witness.history) == 80
    assert TOKENS == 80 + 13


def test_a_draft_hides_the_cards_the_other_gave_up() -> None:
    witness = longest_deal()
    for seat in range(2):
        exchanged = [t for t in decode_tokens(row_of("sequence", witness.states, seat)) if t.kind == "exchange"]
        assert [t.action is None for t in exchanged] == [t.seat == 1 for t in exchanged]
        assert len(exchanged) == 26


@pytest.mark.parametrize("name", NEW)
def test_no_block_is_constant(name: str) -> None:
    layout = ENCODERS[name].layout
    rows = np.stack([row_of(name, w.states, seat) for w, seat in positions(300, seed=32)])
    varied = rows.min(axis=0) != rows.max(axis=0)
    assert [b.name for b in layout.blocks if not varied[b.slice].any()] == []


def test_features_say_or_less_and_or_more_at_their_ends() -> None:
    for score, percent in ((-501, 0), (-500, 0), (-499, 0), (-495, 1), (774, 254), (775, 255), (20_000, 255)):
        for limit, bags, left in ((0, 7, 0), (255, 0, 255), (256, 0, 255), (256, 2, 254), (1000, 999, 1)):
            batch = SpadesBatch(1, PRESETS["classic"].replace(bag_limit=limit), seed=6)
            batch.states["scores"][0, 1], batch.states["bags"][0, 1] = score, bags
            row = row_of("features", batch.states, 0)
            assert row[FEATURES.block("score_percent").slice].tolist() == [100, percent]
            assert row[FEATURES.block("bags_left").slice][1] == left


# Forms


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("name", NEW)
def test_batch_single_view_and_float_forms_agree(name: str, preset: str) -> None:
    encoder, batch, n = ENCODERS[name], SpadesBatch(16, preset, seed=27), 16
    rows = np.full((n, encoder.layout.size), 7, np.uint8)
    floats = np.full((n, encoder.layout.size), 7, np.float32)
    views = empty_views(n)
    for k in range(90):
        batch.step(batch.sample_actions(9, k))
        if k % 9:
            continue
        views_to_act(batch.states, views)
        encoder.encode_views(views, rows)
        encoder.write(views, floats)
        assert (floats == rows * encoder.layout.scales).all()
        assert floats.min() >= 0
        assert floats.max() <= 1
        for i in range(n):
            assert (row_of(name, batch.states[i : i + 1], int(batch.turn[i])) == rows[i]).all()


@pytest.mark.parametrize("name", ENCODERS)
def test_an_array_that_does_not_fit_is_refused(name: str) -> None:
    encoder, views = ENCODERS[name], empty_views(3)
    size = encoder.layout.size
    for dtype in (np.uint8, np.float32):
        with pytest.raises(ValueError, match="fewer rows"):
            encoder.write(views, np.zeros((2, size), dtype))
        with pytest.raises(ValueError, match="wrong length"):
            encoder.write(views, np.zeros((3, size - 1), dtype))
    with pytest.raises(ValueError, match="dtype float64; allowed"):
        encoder.write(views, np.zeros((3, size)))


def test_a_record_with_too_many_cards_is_refused() -> None:
    """The index must not leave the block, whatever the record."""
    views = empty_views(1)
    view_of(longest_deal().states, 0, 0, views, 0)
    views["known"]["hands"][0, 0] = (1 << 52) - 1
    with pytest.raises(ValueError, match="more tokens than a deal can have"):
        ENCODERS["sequence"].write(views, np.zeros((1, SEQUENCE_SIZE), np.uint8))


PROGRAM = """
import sys, numpy as np
from spades_env.observation import ENCODERS
from spades_env.engine.state import STATE
from spades_env.view import empty_views, view_of
states = np.frombuffer(sys.stdin.buffer.read(), STATE).copy()
views = empty_views(2 * len(states))
for i in range(len(states)):
    for seat in range(2):
        view_of(states, i, seat, views, 2 * i + seat)
for name in ("sequence", "features"):
    rows = np.empty((len(views), ENCODERS[name].layout.size), np.uint8)
    ENCODERS[name].write(views, rows)
    sys.stdout.buffer.write(rows.tobytes())
"""


def test_the_encoders_give_the_same_bytes_without_jit() -> None:
    states = np.concatenate([w.states for w in walk(60, seed=28)])
    out = [
        subprocess.run(
            [sys.executable, "-c", PROGRAM],
            input=states.tobytes(),
            capture_output=True,
            check=True,
            cwd=ROOT,
            env={**os.environ, "NUMBA_DISABLE_JIT": flag, "PYTHONPATH": str(ROOT)},
        ).stdout
        for flag in ("0", "1")
    ]
    assert len(out[0]) == 120 * (SEQUENCE_SIZE + FEATURES_SIZE)
    assert out[0] == out[1]


# Seats, directions, layouts


@pytest.mark.parametrize("name", NEW)
def test_turning_the_table_by_one_seat_changes_nothing(name: str) -> None:
    for witness, seat in positions(90, seed=29):
        players = witness.rules.players
        turned = moved(witness.states, [(s + 1) % players for s in range(players)])
        assert (row_of(name, witness.states, seat) == row_of(name, turned, (seat + 1) % players)).all()


@pytest.mark.parametrize(("name", "differs"), [("sequence", ["rules.step[0]"]), ("features", [])])
def test_the_mirrored_table_differs_in_the_direction_alone(name: str, differs: list[str]) -> None:
    met = 0
    for witness, seat in positions(90, seed=30):
        if witness.rules.players == 2 or witness.rules.turn_direction != "clockwise":
            continue
        mirrored = moved(witness.states, [0, 3, 2, 1])
        mirrored[0]["rules"]["step"] = 3
        changed = np.flatnonzero(row_of(name, witness.states, seat) != row_of(name, mirrored, -seat % 4))
        assert [ENCODERS[name].layout.describe(int(k)) for k in changed] == differs
        met += 1
    assert met > 60


@pytest.mark.parametrize("layout", [SEQUENCE, FEATURES])
def test_layout_is_a_gapless_table_of_named_blocks(layout: Any) -> None:
    assert len({b.name for b in layout.blocks}) == len(layout.blocks)
    end = 0
    for b in layout.blocks:
        assert b.offset == end
        assert b.length == b.rows * b.width > 0
        assert (layout.scales[b.slice] == np.float32(b.scale)).all()
        end = b.slice.stop
    assert layout.size == end
    flat = {b.name: b for b in FLAT.blocks}
    for b in layout.blocks:
        if b.name in flat:
            same = flat[b.name]
            assert (b.rows, b.width, b.encoding, b.scale, b.meaning) == (
                *(same.rows, same.width, same.encoding, same.scale),
                same.meaning,
            )


def test_the_example_of_the_page_runs() -> None:
    code = (ROOT / "docs" / "observation.md").read_text(encoding="utf-8").split("```python\n", 1)[1].split("```", 1)[0]
    names: dict[str, Any] = {}
    exec(compile(code, "docs/observation.md", "exec"), names)
    assert names["what"].shape == names["padding"].shape == (64, TOKENS)
    assert ((names["what"] == 0) == names["padding"]).all()
    assert names["context"].shape == (64, SEQUENCE_SIZE - 7 * TOKENS)


def test_the_encoders_can_be_told_apart_by_length() -> None:
    sizes = [encoder.layout.size for encoder in ENCODERS.values()]
    assert len(set(sizes)) == len(sizes)


# The environments


@pytest.mark.parametrize("dtype", ["uint8", "float32"])
@pytest.mark.parametrize("name", NEW)
def test_the_environment_gives_the_row_of_the_view(name: str, dtype: Any) -> None:
    env = spades_env.env("two_player", observation=name, dtype=dtype, episode="deal")
    env.reset(seed=31)
    rng = np.random.default_rng(31)
    rows = 0
    for agent in env.agent_iter():
        seen, _, over, _, info = env.last()
        row = np.empty((1, ENCODERS[name].layout.size), dtype)
        ENCODERS[name].write(env.unwrapped.view(agent).views, row)
        assert (seen["observation"] == row[0]).all()
        assert env.observation_space(agent).contains(seen)
        rows += 1
        env.step(None if over else int(rng.choice(np.flatnonzero(info["action_mask"]))))
    assert rows > 54
