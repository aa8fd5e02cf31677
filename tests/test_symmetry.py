"""Side suits under other names: the encoders of a renamed game give the renamed rows, and play goes on alike."""

from __future__ import annotations

from collections import Counter

import numpy as np
import numpy.typing as npt
import pytest
from observation_oracle import Witness
from referee_rules import deck
from test_observation import walk

from spades_env.engine import step
from spades_env.engine.batch import legal_action_list
from spades_env.engine.state import StateArray
from spades_env.observation import (
    ACTION_MAPS,
    ACTION_PERMUTATIONS,
    ENCODERS,
    FEATURES_PERMUTATIONS,
    FLAT_PERMUTATIONS,
    STATE_LAYOUT,
    STATE_PERMUTATIONS,
    STATE_SIZE,
    SUIT_PERMUTATIONS,
    encode_state,
    permute_rows,
    symmetries,
)
from spades_env.rules import PRESETS, Rules
from spades_env.view import empty_views, view_of

MASKS = ("hands", "played", "rejected", "thrown")
NAMES = (*ENCODERS, "state")


def renamed_mask(mask: int, k: int) -> int:
    return sum(1 << int(ACTION_MAPS[k, card]) for card in range(54) if mask >> card & 1)


def renamed(states: StateArray, k: int) -> StateArray:
    """The game of the one state in `states` with the side suits named by permutation `k`."""
    other = states.copy()
    old, new = states[0], other[0]
    for name in MASKS:
        new[name] = [renamed_mask(int(mask), k) for mask in old[name]]
    new["discards"] = renamed_mask(int(old["discards"]), k)
    new["pile"] = ACTION_MAPS[k][old["pile"]]
    done = int(old["n_actions"])
    new["actions"][:done] = ACTION_MAPS[k][old["actions"][:done]]
    for seat in range(4):
        shown = [suit for suit in range(4) if int(old["voids"][seat]) >> suit & 1]
        new["voids"][seat] = sum(1 << SUIT_PERMUTATIONS[k][suit] for suit in shown)
    return other


def rows_of(name: str, states: StateArray, seat: int) -> npt.NDArray[np.uint8]:
    if name == "state":
        row = np.full(STATE_SIZE, 99, np.uint8)
        encode_state(states, 0, seat, row)
        return row[None]
    views = empty_views(1)
    view_of(states, 0, seat, views, 0)
    rows = np.full((1, ENCODERS[name].layout.size), 99, np.uint8)
    ENCODERS[name].write(views, rows)
    return rows


def mask_of(states: StateArray) -> npt.NDArray[np.int8]:
    mask = np.zeros(73, np.int8)
    mask[legal_action_list(states, 0)] = 1
    return mask


def stopped() -> list[Witness]:
    return walk(150, seed=41)


@pytest.mark.parametrize("name", NAMES)
def test_the_row_of_a_renamed_game_is_the_renamed_row(name: str) -> None:
    met, moved = Counter[int](), 0
    scales = STATE_LAYOUT.scales if name == "state" else ENCODERS[name].layout.scales
    for witness in stopped():
        for k in symmetries(witness.rules):
            other = renamed(witness.states, k)
            for seat in range(witness.rules.players):
                rows, wanted = rows_of(name, witness.states, seat), rows_of(name, other, seat)
                assert (permute_rows(name, rows, k) == wanted).all()
                assert (permute_rows(name, rows * scales, k) == wanted * scales).all()
                met[k] += 1
                moved += (rows != wanted).any()
    assert min(met[k] for k in range(6)) > 80
    assert moved > 400


def test_masks_and_actions_of_a_renamed_game() -> None:
    """Legal actions are the renamed ones, and what follows an action is the renamed position."""
    plays, rng = 0, np.random.default_rng(42)
    for witness in stopped():
        mask = mask_of(witness.states)
        for k in symmetries(witness.rules) if mask.any() else ():
            other = renamed(witness.states, k)
            assert (mask_of(other) == mask[ACTION_PERMUTATIONS[k]]).all()
            action = int(rng.choice(np.flatnonzero(mask)))
            after = witness.states.copy()
            step.apply(after, 0, action)
            step.apply(other, 0, int(ACTION_MAPS[k, action]))
            if witness.phase_name() != "exchange":  # there the engine draws at random, by place
                assert other.tobytes() == renamed(after, k).tobytes()
            plays += action < 54
    assert plays > 50


def test_permutations_are_a_group_with_the_identity_first() -> None:
    for tables in (FLAT_PERMUTATIONS, STATE_PERMUTATIONS, FEATURES_PERMUTATIONS, ACTION_PERMUTATIONS, ACTION_MAPS):
        assert len(tables) == 6
        assert (tables[0] == np.arange(tables.shape[1])).all()
        assert len({row.tobytes() for row in tables}) == 6
        for one in tables:
            for other in tables:
                assert any((one[other] == row).all() for row in tables)
    assert ACTION_MAPS[:, 39:].tolist() == [list(range(39, 73))] * 6


@pytest.mark.parametrize(
    ("rules", "count"),
    [
        *((rules, 6) for rules in PRESETS.values()),
        (Rules(jokers=True), 2),
        (Rules(opening_lead="low_club"), 2),
        (Rules(suits=3, ranks=6, hand_size=4), 2),
        (Rules(suits=2, ranks=8, hand_size=4), 2),
        (Rules(suits=1, ranks=12, hand_size=3), 6),
    ],
)
def test_symmetries_keep_the_pack_and_the_clubs_of_an_opening_lead(rules: Rules, count: int) -> None:
    pack = deck(rules.to_dict())
    kept = {k for k in range(6) if {int(ACTION_MAPS[k, card]) for card in pack} == pack}
    if rules.opening_lead == "low_club":
        kept &= {k for k in range(6) if SUIT_PERMUTATIONS[k][0] == 0}
    assert set(symmetries(rules)) == kept
    assert len(kept) == count


def test_rows_of_no_encoder_are_refused() -> None:
    with pytest.raises(ValueError, match="encoder is 'image'; allowed: 'flat', 'state', 'features', 'sequence'"):
        permute_rows("image", np.zeros((1, 3), np.uint8), 1)
    for name in NAMES:
        with pytest.raises(ValueError, match=rf"rows have shape \(1, 3\); allowed: .*{name}"):
            permute_rows(name, np.zeros((1, 3), np.uint8), 1)


@pytest.mark.parametrize("name", ENCODERS)
def test_rows_may_stand_in_any_array(name: str) -> None:
    rows = np.stack([rows_of(name, witness.states, 0) for witness in walk(12, seed=43)])
    assert rows.ndim == 3
    for k in range(6):
        renamed_rows = permute_rows(name, rows, k)
        assert all((permute_rows(name, row[0], k) == renamed_rows[i, 0]).all() for i, row in enumerate(rows))
