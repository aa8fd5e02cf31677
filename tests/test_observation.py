"""Observations: every block against the plain-Python oracle, decoding, symmetry, layout (A11), the docs."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from observation_oracle import Witness, bits, expected
from random_rules import some_rules
from referee_rules import turn_order

from spades_env.engine import step
from spades_env.engine.batch import SpadesBatch, legal_action_list
from spades_env.engine.kernel import kernel
from spades_env.engine.state import RULES_FIELDS, STATE, STATE_FIELDS, StateArray, rules_to_record
from spades_env.observation import (
    FLAT,
    FLAT_SCALES,
    FLAT_SIZE,
    GAME_SIZE,
    RULES_OFFSET,
    STATE_LAYOUT,
    STATE_SCALES,
    STATE_SIZE,
    block,
    decode_flat,
    docs,
    encode_state,
    encode_state_float32,
    encode_states_to_act,
    encode_states_to_act_float32,
    encode_views,
    encode_views_float32,
    explain,
    observe_seat,
    observe_seat_float32,
    observe_to_act,
    observe_to_act_float32,
)
from spades_env.observation.decode import Facts, ObservationError, Play
from spades_env.rules import PRESETS, Rules
from spades_env.view import empty_views, views_to_act

ROOT = Path(__file__).resolve().parent.parent
Row = npt.NDArray[np.uint8]


def row_of(states: StateArray, seat: int, i: int = 0) -> Row:
    row = np.full(FLAT_SIZE, 99, np.uint8)
    observe_seat(states, i, seat, row)
    return row


STOPS = {"blind": 0.5, "bid": 0.3, "play": 0.04, "draft": 0.08, "exchange": 0.6, "deal over": 1.0}
"""How likely a deal stops at a position of a phase."""


def walk(deals: int, seed: int) -> list[Witness]:
    """Deals under presets and random rules, each stopped in a phase drawn beforehand, or else at its end."""
    rng = np.random.default_rng(seed)
    witnesses = []
    for k in range(deals):
        phase = list(STOPS)[k % len(STOPS)]
        rules = some_rules(rng)
        while phase == "exchange" and rules.blind_nil_exchange == 0:
            rules = some_rules(rng)
        witness = Witness(rules, rng)
        while witness.table.seat_to_act() is not None:
            if witness.phase_name() == phase and rng.random() < STOPS[phase]:
                break
            legal = legal_action_list(witness.states, 0)
            nil = 54 in legal and rng.integers(4) == 0
            witness.act(54 if nil else legal[rng.integers(len(legal))])
        witnesses.append(witness)
    return witnesses


def positions(deals: int, seed: int) -> list[tuple[Witness, int]]:
    """(witness, seat) of every seat of `walk`."""
    return [(w, seat) for w in walk(deals, seed) for seat in range(w.rules.players)]


# Every block, and the way back


def test_every_block_equals_the_oracle() -> None:
    phases = Counter[str]()
    for witness, seat in positions(750, seed=1):
        phases[witness.phase_name()] += 1
        row, wanted = row_of(witness.states, seat), expected(witness, seat)
        assert set(wanted) == {b.name for b in FLAT.blocks}
        for b in FLAT.blocks:
            assert row[b.slice].tolist() == wanted[b.name], (b.name, seat, witness.rules)
    assert sum(phases.values()) >= 2_000
    assert min(phases[name] for name in ("blind", "bid", "play", "draft", "exchange")) > 30
    assert min(phases[name] for name in ("deal over", "match over")) > 30


def assert_decoded(facts: Facts, witness: Witness, seat: int) -> None:
    table, rules = witness.table, witness.rules
    order = turn_order(rules.to_dict(), seat)
    known = table.knows(seat)
    turn = table.seat_to_act()
    players = rules.players
    plays = [Play(card, order.index(who), k // players, k % players) for k, (who, card) in enumerate(witness.plays)]
    assert facts.rules == rules
    assert set(facts.hand) == (known["hand"] or set())
    assert list(facts.plays) == plays
    assert [(order[p.seat], p.card) for p in facts.table] == table.trick
    assert list(facts.bids) == [table.bids[s] for s in order]
    assert list(facts.blind) == [table.blind[s] for s in order]
    assert list(facts.looked) == [table.looked[s] for s in order]
    assert list(facts.tricks) == [table.tricks[s] for s in order]
    assert facts.scores == (table.scores[seat % 2], table.scores[1 - seat % 2])
    assert facts.bags == (table.bags[seat % 2], table.bags[1 - seat % 2])
    assert facts.broken == table.broken
    assert facts.dealer == order.index(table.dealer)
    assert facts.phase == witness.phase_name()
    assert facts.turn == (None if turn is None else order.index(turn))
    assert facts.deal == table.deals_played
    assert facts.shown == known["shown"]
    assert (set(facts.rejected), set(facts.thrown)) == (known["rejected"], known["thrown"])
    if rules.deal == "draft":
        assert [list(k) for k in facts.kept] == [witness.kept[s] for s in (seat, 1 - seat)]
        assert facts.exchanged == (len(table.thrown[seat]), len(table.thrown[1 - seat]))
        assert facts.pile_left == len(table.pile)


def test_a11_decoder_recovers_the_facts_from_bytes_and_from_floats() -> None:
    floats = np.empty(FLAT_SIZE, np.float32)
    for witness, seat in positions(200, seed=2):
        row = row_of(witness.states, seat)
        assert_decoded(decode_flat(row), witness, seat)
        observe_seat_float32(witness.states, 0, seat, floats)
        assert decode_flat(floats) == decode_flat(row)


def test_explain_says_what_is_there() -> None:
    witness = next(w for w in walk(60, seed=3) if w.table.phase() == "play" and w.table.trick and w.rules.players == 4)
    seat = witness.table.seat_to_act()
    assert seat is not None
    mask = np.zeros(73, np.int8)
    mask[legal_action_list(witness.states, 0)] = 1
    row = row_of(witness.states, seat)
    text = explain({"observation": row, "action_mask": mask})
    hand = next(line for line in text.splitlines() if line.startswith("your hand:"))
    assert len(hand.split()) - 2 == len(witness.table.hands[seat])
    assert "phase: play, to act: you" in text
    assert "legal: " in text
    assert explain(row) == text[: text.index("\nlegal: ")]


@pytest.mark.parametrize(
    ("bad", "named"),
    [
        (np.zeros(FLAT_SIZE + 1, np.uint8), "shape"),
        (np.zeros(FLAT_SIZE, np.int64), "int64"),
        (np.full(FLAT_SIZE, 300.0, np.float32), "byte"),
        (np.full(FLAT_SIZE, np.nan, np.float32), "byte"),
        (np.zeros(FLAT_SIZE, np.uint8), "'rules.lead_spades'"),
        (np.ones(FLAT_SIZE, np.uint8), "'rules.lead_spades'"),
    ],
)
def test_decoder_names_what_is_wrong(bad: npt.NDArray[np.generic], named: str) -> None:
    with pytest.raises(ObservationError, match=named):
        decode_flat(bad)


def test_explain_refuses_a_mapping_without_an_observation() -> None:
    with pytest.raises(ObservationError, match="'obs'"):
        explain({"obs": np.zeros(FLAT_SIZE, np.uint8)})


# One observation in all its forms


@pytest.mark.parametrize("name", PRESETS)
def test_batch_single_view_and_float_forms_agree(name: str) -> None:
    batch = SpadesBatch(24, name, seed=4)
    n = len(batch)
    rows, by_view = np.full((n, FLAT_SIZE), 7, np.uint8), np.full((n, FLAT_SIZE), 8, np.uint8)
    floats, floats_by_view = np.empty((n, FLAT_SIZE), np.float32), np.empty((n, FLAT_SIZE), np.float32)
    views = empty_views(n)
    for k in range(90):
        batch.step(batch.sample_actions(9, k))
        if k % 7:
            continue
        observe_to_act(batch.states, rows)
        observe_to_act_float32(batch.states, floats)
        views_to_act(batch.states, views)
        encode_views(views, by_view)
        encode_views_float32(views, floats_by_view)
        assert (rows == by_view).all()
        assert (floats == floats_by_view).all()
        assert (floats == rows * FLAT_SCALES).all()
        for i in range(n):
            assert (row_of(batch.states, int(batch.turn[i]), i) == rows[i]).all()


def test_an_array_that_is_too_small_is_refused() -> None:
    states, views = SpadesBatch(3).states, empty_views(3)
    for size, dtype, encode, what in (
        (FLAT_SIZE, np.uint8, observe_to_act, states),
        (FLAT_SIZE, np.float32, observe_to_act_float32, states),
        (FLAT_SIZE, np.uint8, encode_views, views),
        (FLAT_SIZE, np.float32, encode_views_float32, views),
        (STATE_SIZE, np.uint8, encode_states_to_act, states),
        (STATE_SIZE, np.float32, encode_states_to_act_float32, states),
    ):
        with pytest.raises(ValueError, match="fewer rows"):
            encode(what, np.zeros((2, size), dtype))
        with pytest.raises(ValueError, match="wrong length"):
            encode(what, np.zeros((3, size - 1), dtype))
    for size, dtype, encode_one in (
        (FLAT_SIZE, np.uint8, observe_seat),
        (FLAT_SIZE, np.float32, observe_seat_float32),
        (STATE_SIZE, np.uint8, encode_state),
        (STATE_SIZE, np.float32, encode_state_float32),
    ):
        with pytest.raises(ValueError, match="wrong length"):
            encode_one(states, 0, 0, np.zeros(size - 1, dtype))


def test_observing_changes_nothing() -> None:
    batch = SpadesBatch(4, "two_player", seed=5)
    before = batch.states.copy()
    for seat in range(2):
        row_of(batch.states, seat)
        encode_state(batch.states, 0, seat, np.empty(STATE_SIZE, np.uint8))
    observe_to_act(batch.states, np.empty((4, FLAT_SIZE), np.uint8))
    assert batch.states.tobytes() == before.tobytes()


PROGRAM = """
import sys, numpy as np
from spades_env.observation import FLAT_SIZE, observe_seat_float32, STATE_SIZE, encode_state, observe_seat
from spades_env.engine.state import STATE
states = np.frombuffer(sys.stdin.buffer.read(), STATE).copy()
for i in range(len(states)):
    row, floats = np.empty(STATE_SIZE, np.uint8), np.empty(FLAT_SIZE, np.float32)
    encode_state(states, i, int(states["turn"][i]), row)
    observe_seat_float32(states, i, 1, floats)
    sys.stdout.buffer.write(row.tobytes() + floats.tobytes())
"""


def test_the_encoders_give_the_same_bytes_without_jit() -> None:
    states = np.concatenate([w.states for w in walk(60, seed=6)])
    plain = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        input=states.tobytes(),
        capture_output=True,
        check=True,
        cwd=ROOT,
        env={**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": str(ROOT)},
    ).stdout
    compiled = b""
    for i in range(len(states)):
        row, floats = np.empty(STATE_SIZE, np.uint8), np.empty(FLAT_SIZE, np.float32)
        encode_state(states, i, int(states["turn"][i]), row)
        observe_seat_float32(states, i, 1, floats)
        compiled += row.tobytes() + floats.tobytes()
    assert plain == compiled


# Symmetry: a policy plays any seat and either direction unchanged

BY_SEAT = {name for name, form, _ in STATE_FIELDS if str(form).startswith("(4,)")}
BY_TEAM = {name for name, form, _ in STATE_FIELDS if str(form).startswith("(2,)")} - {"_pad"}
SEATS_IN = ("dealer", "first", "turn")


def moved(states: StateArray, to: list[int]) -> StateArray:
    """A copy of the one state in `states` in which seat s has become seat to[s]."""
    other = states.copy()
    old, new = states[0], other[0]
    players = int(old["rules"]["players"])
    for seat in range(players):
        for name in BY_SEAT:
            new[name][to[seat]] = old[name][seat]
    for team in range(2):
        for name in BY_TEAM:
            new[name][to[team] % 2] = old[name][team]
    for name in SEATS_IN:
        new[name] = to[int(old[name])]
    for trick in range(int(old["trick"]) + 1):
        new["leaders"][trick] = to[int(old["leaders"][trick])]
    return other


def test_a11_turning_the_table_by_one_seat_changes_nothing() -> None:
    assert {"hands", "bids", "tricks"} <= BY_SEAT
    assert {"scores", "bags", "thrown"} <= BY_TEAM
    for witness, seat in positions(150, seed=7):
        players = witness.rules.players
        turned = moved(witness.states, [(s + 1) % players for s in range(players)])
        assert (row_of(witness.states, seat) == row_of(turned, (seat + 1) % players)).all()


def test_the_mirrored_table_differs_in_the_direction_alone() -> None:
    met = 0
    for witness, seat in positions(150, seed=8):
        if witness.rules.players == 2 or witness.rules.turn_direction != "clockwise":
            continue
        mirrored = moved(witness.states, [0, 3, 2, 1])
        mirrored[0]["rules"]["step"] = 3
        changed = np.flatnonzero(row_of(witness.states, seat) != row_of(mirrored, -seat % 4))
        assert [FLAT.describe(int(k)) for k in changed] == ["rules.step[0]"]
        met += 1
    assert met > 100


# The state encoder


def test_state_encoder_holds_every_hidden_card() -> None:
    for witness, seat in positions(150, seed=9):
        row = np.full(STATE_SIZE, 99, np.uint8)
        encode_state(witness.states, 0, seat, row)
        floats = np.empty(STATE_SIZE, np.float32)
        encode_state_float32(witness.states, 0, seat, floats)
        assert (floats == row * STATE_SCALES).all()
        assert (row[:FLAT_SIZE] == row_of(witness.states, seat)).all()
        table, order = witness.table, turn_order(witness.rules.to_dict(), seat)
        hands = row[STATE_LAYOUT.block("hands").slice].reshape(4, 54)
        held = [table.hands[s] for s in order] + [set()] * (4 - len(order))
        assert hands.tolist() == [bits(hand) for hand in held]
        draft = witness.rules.deal == "draft"
        wanted = {
            "pile": [table.pile.index(c) + 1 if c in table.pile else 0 for c in range(54)],
            "discards": bits(table.draft_discards),
            "other_rejected": bits(table.rejected[1 - seat] if draft else ()),
            "other_thrown": bits(table.thrown[1 - seat] if draft else ()),
        }
        for name, entries in wanted.items():
            assert row[STATE_LAYOUT.block(name).slice].tolist() == entries


def test_state_encoder_takes_the_seats_to_act_of_a_batch() -> None:
    batch = SpadesBatch(6, "modern", seed=10)
    for k in range(17):
        batch.step(batch.sample_actions(3, k))
    rows, floats = np.empty((6, STATE_SIZE), np.uint8), np.empty((6, STATE_SIZE), np.float32)
    encode_states_to_act(batch.states, rows)
    encode_states_to_act_float32(batch.states, floats)
    one = np.empty(STATE_SIZE, np.uint8)
    for i in range(6):
        encode_state(batch.states, i, int(batch.turn[i]), one)
        assert (one == rows[i]).all()
    assert (floats == rows * STATE_SCALES).all()


# The layout (A11)


def test_a11_layout_is_a_gapless_table_of_named_blocks() -> None:
    for layout in (FLAT, STATE_LAYOUT):
        assert len({b.name for b in layout.blocks}) == len(layout.blocks)
        end = 0
        for b in layout.blocks:
            assert b.offset == end
            assert b.length == b.rows * b.width > 0
            assert (layout.scales[b.slice] == np.float32(b.scale)).all()
            end = b.slice.stop
        assert layout.size == len(layout.scales) == end
    assert STATE_LAYOUT.blocks[: len(FLAT.blocks)] == FLAT.blocks
    assert GAME_SIZE == block("shown").offset < RULES_OFFSET == block("rules.target").offset
    assert [b.name for b in FLAT.blocks if b.offset >= RULES_OFFSET] == [
        f"rules.{name}" for name, _, _ in RULES_FIELDS if name != "_pad"
    ]
    assert FLAT.describe(block("tricks").offset + 14 * 2 + 5) == "tricks[2][5]"
    with pytest.raises(KeyError, match=r"'hand'.*own_hand"):
        block("hand")
    with pytest.raises(IndexError, match=str(FLAT_SIZE)):
        FLAT.describe(FLAT_SIZE)


def test_documentation_is_current() -> None:
    page = (ROOT / "docs" / "observation.md").read_text(encoding="utf-8")
    assert page == docs.page(), "run: python -m spades_env.observation.docs"


@kernel
def span_of_play(states: StateArray, deals: int, key: np.uint64, low: Row, high: Row, row: Row) -> None:
    """Play `deals` random deals in every game; note the lowest and highest value of every entry, any seat."""
    for i in range(states.shape[0]):
        decisions = 0
        for _ in range(deals):
            over = False
            while not over:
                for seat in range(int(states[i]["rules"]["players"])):
                    observe_seat(states, i, seat, row)
                    for k in range(row.shape[0]):
                        low[k] = min(low[k], row[k])
                        high[k] = max(high[k], row[k])
                over = step.is_over(states, i)
                if not over:
                    step.apply(states, i, step.random_action(states[i], key, decisions))
                    decisions += 1
            step.advance(states, i)


class Span:
    """Lowest and highest value that every entry of an observation has taken."""

    def __init__(self) -> None:
        self.low = np.full(FLAT_SIZE, 255, np.uint8)
        self.high = np.zeros(FLAT_SIZE, np.uint8)

    def play(self, rules: Rules, games: int, deals: int) -> None:
        states = np.zeros(games, STATE)
        step.new_games(states, rules_to_record(rules), 11, 0)
        span_of_play(states, deals, np.uint64(12), self.low, self.high, np.empty(FLAT_SIZE, np.uint8))

    def see(self, row: Row) -> None:
        np.minimum(self.low, row, out=self.low)
        np.maximum(self.high, row, out=self.high)

    def constant(self) -> set[str]:
        """Names of the entries that have had one value only."""
        return {FLAT.describe(int(k)) for k in np.flatnonzero(self.low == self.high)}

    def all_constant(self) -> set[str]:
        """Names of the blocks all of whose entries have had one value only."""
        varied = self.low != self.high
        return {b.name for b in FLAT.blocks if not varied[b.slice].any()}


ALIKE_IN_ALL_PRESETS = {
    *("nil_allowed", "nil_value", "blind_nil_value", "jokers", "lead_spades", "dealers_left"),
    *("both_nil_unit", "individual", "bag_limit", "bag_penalty", "bag_points", "bag_reset"),
    *("min_bid", "max_team_bid", "low_club", "forbid_first_spades", "second_seen", "max_deals"),
    *("suits", "ranks", "hand_size"),
}
"""Rules with the same value in every preset; which of them vary is a matter of options."""


def test_a11_no_block_is_constant_over_random_play_of_all_presets() -> None:
    span = Span()
    for rules in PRESETS.values():
        span.play(rules.replace(max_deals=20), games=25, deals=20)
    assert span.all_constant() == {f"rules.{name}" for name in ALIKE_IN_ALL_PRESETS}


def extremes() -> list[StateArray]:
    """States that random play hardly reaches: the largest counts and numbers there are, one after another."""
    found = []

    def put(*fields: str, value: int) -> None:
        states = np.zeros(1, STATE)
        step.new_games(states, rules_to_record(PRESETS["modern"]), 1, 0)
        target = states[0]
        for field in fields[:-1]:
            target = target[field]
        target[fields[-1]] = value
        found.append(states)

    for tricks in (12, 13):
        put("tricks", value=tricks)
    for bid in (12, 13):
        put("bids", value=bid)
        found[-1]["bids"][0, :2] = 13
    for number in ("scores", "bags", "deal"):
        for shift in range(31):
            put(number, value=1 << shift)
            found[-1]["rules"]["bag_limit"] = 0  # so many bags only without a limit
    for name, value in (
        *(("target", 10**6), ("nil_value", 100_000), ("blind_nil_value", 100_000), ("bag_limit", 1_000)),
        *(("bag_penalty", 100_000), ("blind_nil_deficit", 10**6), ("max_deals", 10**6)),
    ):
        for smaller in (0, 1, 100, 1_000):
            put("rules", name, value=value - smaller)
    return found


TOO_SMALL_FOR_THE_TOP_BYTES = {
    *("rules.target[0]", "rules.nil_value[0]", "rules.blind_nil_value[0]", "rules.bag_penalty[0]"),
    *("rules.bag_limit[0]", "rules.bag_limit[1]", "rules.max_deals[0]"),
}
"""Bytes of numbers that the rules keep below 2**24 or 2**16."""
LOWEST_OF_THEIR_SUITS = {"winning[13]", "winning[26]"}
"""The twos of diamonds and hearts beat no card; that of clubs does under low_club."""


def test_every_entry_varies_somewhere() -> None:
    span, rng = Span(), np.random.default_rng(13)
    for _ in range(200):
        span.play(some_rules(rng), games=2, deals=5)
    span.play(Rules(opening_lead="low_club"), games=100, deals=40)
    for jokers in (False, True):
        span.play(PRESETS["two_player"].replace(jokers=jokers, blind_nil_exchange=13), games=100, deals=20)
    for row in (row_of(states, seat) for states in extremes() for seat in range(4)):
        span.see(row)
    assert span.constant() == TOO_SMALL_FOR_THE_TOP_BYTES | LOWEST_OF_THEIR_SUITS
