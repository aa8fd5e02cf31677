"""The sampler of hidden hands: counts, samples and marginals against enumeration, where a layout is possible if and
only if the engine accepts the whole course of the deal with it. The draft is in test_sampler_draft.py.
"""

from __future__ import annotations

import itertools
import math
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from hidden_positions import (
    Position,
    all_layouts,
    chi_square_z,
    frequencies,
    number_of_layouts,
    pack,
    positions,
    possible,
    small_positions,
)
from random_rules import random_rules, some_rules

from agents.search.sampler import new_plans, sample, sample_worlds, view_marginals
from agents.search.sampler_plan import MAX_BINS, MAX_GROUPS, PLAN
from spades_env.cards import SUIT_MASKS, cards_of, parse_hand
from spades_env.engine import step
from spades_env.engine.kernel import kernel
from spades_env.engine.state import (
    PHASE_BID,
    PHASE_BLIND,
    PHASE_DEAL_OVER,
    PHASE_DRAFT,
    PHASE_EXCHANGE,
    PHASE_PLAY,
    STATE,
    StateArray,
)
from spades_env.game import Game
from spades_env.rules import PRESETS, Rules

ROOT = Path(__file__).resolve().parent.parent

SMALL = (
    Rules(suits=4, ranks=4, hand_size=4),
    Rules(suits=2, ranks=8, hand_size=3),
    Rules(suits=3, ranks=6, hand_size=4, first_trick_spades="forbid"),
    Rules(suits=4, ranks=3, hand_size=3, lead_spades="only_spades_left", blind_nil=True, blind_nil_deficit=None),
    Rules(suits=4, ranks=5, hand_size=4, opening_lead="low_club", turn_direction="counter_clockwise"),
    Rules(suits=4, ranks=5, hand_size=5, opening_lead="low_club", lead_spades="any", first_trick_spades="forbid"),
    Rules(suits=4, ranks=4, hand_size=4, first_trick_spades="forbid", turn_direction="counter_clockwise"),
    Rules(players=2, suits=3, ranks=6, hand_size=5),
)


def count_of(position: Position) -> float:
    return float(sample_worlds(position.views, 0, new_plans(1), np.uint64(0), np.zeros(0, STATE)))


def sampled(position: Position, n: int, key: int = 0) -> StateArray:
    worlds = np.zeros(n, STATE)
    assert sample_worlds(position.views, 0, new_plans(1), np.uint64(key), worlds) > 0
    return worlds


def marginals_of(position: Position) -> npt.NDArray[np.float64]:
    out = np.full((54, 4), np.nan)
    assert view_marginals(position.views, 0, new_plans(1), out) > 0
    return out


# Counts and marginals against the engine's own judgement


def check_counts(rules: Rules, seed: int, deals: int, most: int) -> int:
    """Compare all small positions of some deals; returns how many of them some knowledge has narrowed down."""
    narrowed = 0
    for position in small_positions(rules, seed, deals, most):
        layouts = [layout for layout in all_layouts(position) if possible(position, layout)]
        assert position.truth in layouts
        assert count_of(position) == len(layouts), (rules, position.seat, position.state["actions"])
        narrowed += len(layouts) < number_of_layouts(position)
        hidden, seen = position.hidden(), marginals_of(position)
        expected = frequencies(np.array(layouts))
        np.testing.assert_allclose(seen[:, hidden], expected[:, hidden], rtol=1e-12, atol=1e-12)
        assert (np.delete(seen, hidden, axis=1) == 0).all()
    return narrowed


@pytest.mark.parametrize("rules", SMALL)
def test_counts_and_marginals_equal_enumeration(rules: Rules) -> None:
    assert check_counts(rules, seed=1, deals=6, most=1_000) > 5


def test_counts_and_marginals_equal_enumeration_in_endings() -> None:
    narrowed = sum(check_counts(PRESETS[name], 2, 3, 1_700) for name in ("classic", "table", "modern"))
    assert narrowed > 40
    check_counts(Rules(players=2), 2, 2, 1_700)
    check_counts(PRESETS["classic"].replace(jokers=True, opening_lead="low_club"), 3, 2, 300)


@pytest.mark.slow
def test_counts_and_marginals_equal_enumeration_under_many_rules() -> None:
    rng = np.random.default_rng(4)
    rules = [rules for rules in (random_rules(rng) for _ in range(80)) if rules.deal == "dealt"]
    assert sum(check_counts(each, seed, 3, 4_000) for seed, each in enumerate(rules)) > 200


def test_a_whole_deal_is_counted_as_a_multinomial() -> None:
    """39!/(13!)^3 layouts before the first card; float64 holds the count to its last digits."""
    position = next(positions(PRESETS["classic"], 5, 1))
    assert count_of(position) == pytest.approx(math.factorial(39) / math.factorial(13) ** 3, rel=1e-15)


def test_before_looking_her_own_hand_is_hidden_too() -> None:
    """R10: four hidden hands, and in a small deck the cards out of play as a fifth place for a card."""
    rules = Rules(suits=4, ranks=3, hand_size=2, blind_nil=True, blind_nil_deficit=None)
    position = next(positions(rules, 6, 1))
    assert int(position.views["known"]["phase"][0]) == PHASE_BLIND
    assert position.hidden() == [0, 1, 2, 3]
    assert count_of(position) == math.factorial(12) / (math.factorial(2) ** 4 * math.factorial(4))
    expected = np.zeros((54, 4))
    expected[cards_of(pack(position.state))] = 2 / 12
    np.testing.assert_allclose(marginals_of(position), expected, rtol=1e-14)


def test_a_lead_of_spades_shows_what_it_shows() -> None:
    """R13: who leads an unbroken spade has only spades; the other two then hold all unseen side cards."""
    game = Game.from_position(
        "classic",
        dealer=3,
        hands=[
            "AS KS QS JS TS 9S 8S 7S 6S 5S 4S 3S 2S",
            *(f"A{s} K{s} Q{s} J{s} T{s} 9{s} 8{s} 7{s} 6{s} 5{s} 4{s} 3{s} 2{s}" for s in "CDH"),
        ],
    )
    for action in ("bid 13", "nil", "nil", "nil", "2S"):
        game.apply(action)
    out = np.zeros((54, 4))
    assert view_marginals(game.view(1).views, 0, new_plans(1), out) == math.comb(26, 13)
    assert (out[parse_cards("AS KS 3S"), 0] == 1).all()
    assert (out[parse_cards("AD 2D AH"), 0] == 0).all()
    np.testing.assert_allclose(out[parse_cards("AD 2D AH")][:, [2, 3]], 0.5)


def parse_cards(text: str) -> list[int]:
    return cards_of(parse_hand(text))


# Samples


@pytest.mark.parametrize("rules", SMALL)
def test_samples_are_uniform_over_the_possible_layouts(rules: Rules) -> None:
    """Chi-square over all layouts at three positions each, p > 1e-4 with fixed seeds."""
    tested = 0
    for position in small_positions(rules, 7, 20, 5_000):
        layouts = [layout for layout in all_layouts(position) if possible(position, layout)]
        narrow = len(layouts) < number_of_layouts(position)
        if not 5 <= len(layouts) <= 600 or (tested < 2 and not narrow):
            continue
        n = 60 * len(layouts)
        counts = Counter(tuple(int(hand) for hand in hands) for hands in sampled(position, n, 8)["hands"])
        assert set(counts) <= set(layouts)
        observed = np.array([counts[layout] for layout in layouts], np.float64)
        assert chi_square_z(observed, np.full(len(layouts), n / len(layouts))) < 3.72
        tested += 1
        if tested == 3:
            return
    raise AssertionError(f"only {tested} positions")


def test_samples_agree_with_marginals_in_a_full_deck() -> None:
    """Nobody can enumerate these; the share of worlds with a card in a hand must be its marginal."""
    n, worst, tested = 20_000, 0.0, 0
    for position in positions(PRESETS["classic"], 9, 8, chance=0.15):
        expected = marginals_of(position)[:, position.hidden()]
        share = frequencies(sampled(position, n, 10)["hands"])[:, position.hidden()]
        sigma = np.sqrt(np.maximum(expected * (1 - expected), 0) / n)
        certain = sigma < 1e-9
        assert (share[certain] == np.round(expected[certain])).all()
        if not certain.all():
            worst = max(worst, float((np.abs(share - expected)[~certain] / sigma[~certain]).max()))
        tested += 1
    assert tested > 40
    assert worst < 5.2  # the largest of some 4,000 deviates


def test_a_card_that_may_be_with_three_seats_is_there_a_third_of_the_time() -> None:
    """A public product's sampler put a card of true probability 1/3 in one hand 87 % of the time."""
    position = next(positions(PRESETS["classic"], 11, 1))
    share = frequencies(sampled(position, 30_000, 12)["hands"])[position.unseen()][:, position.hidden()]
    assert share.shape == (39, 3)
    assert np.abs(share - 1 / 3).max() < 0.014  # five standard errors


def check_worlds(position: Position, worlds: StateArray) -> None:
    """Sizes, cards conserved, voids kept, own hand and all else untouched, and the world can be played on."""
    known, hidden = position.views["known"], position.hidden()
    everything = [name for name in STATE.names or () if name != "hands"]
    unseen = sum(1 << card for card in position.unseen())
    for world in worlds:
        hands = [int(hand) for hand in world["hands"]]
        assert [hand.bit_count() for hand in hands] == [hand.bit_count() for hand in position.truth]
        assert sum(hand.bit_count() for hand in hands) == sum(hands).bit_count()
        assert all(hands[seat] & ~unseen == 0 for seat in hidden)
        assert all(hands[seat] == int(known["hands"][0, seat]) for seat in range(4) if seat not in hidden)
        for seat, suit in itertools.product(hidden, range(4)):
            if int(known["voids"][0, seat]) >> suit & 1:
                assert hands[seat] & SUIT_MASKS[suit] == 0
        assert all((world[name] == known[name][0]).all() for name in everything)
    if int(known["phase"][0]) < PHASE_DEAL_OVER:
        playable = worlds.copy()
        step.play_out(playable, 0, np.uint64(0), 1)
        assert int(playable["result"]["scored"][0]) == 1


@pytest.mark.parametrize("seed", range(3))
def test_worlds_are_sound_over_random_play(seed: int) -> None:
    """R30: also the true layout is among those counted."""
    rng, seen = np.random.default_rng(seed), 0
    for _ in range(25):
        rules = some_rules(rng)
        if rules.deal == "draft":
            continue
        for position in positions(rules, seed, 1, chance=0.3):
            assert count_of(position) >= 1
            assert possible(position, position.truth)
            worlds = sampled(position, 5, seed)
            check_worlds(position, worlds)
            for world in worlds:
                hands = [int(hand) for hand in world["hands"]]
                assert possible(position, (hands[0], hands[1], hands[2], hands[3]))
            seen += 1
    assert seen > 100


def test_the_truth_turns_up() -> None:
    """With few layouts left, every one of them is met, the true one too."""
    for position in small_positions(PRESETS["modern"], 13, 3, 40):
        worlds = {tuple(int(hand) for hand in hands) for hands in sampled(position, 2_000)["hands"]}
        assert position.truth in worlds
        assert len(worlds) == count_of(position)


# Repeatable


def test_a_world_depends_on_what_is_known_on_the_key_and_on_its_number() -> None:
    """Not on what a plan was used for before, nor on how many worlds are asked for; nor on the truth, which is gone."""
    dirty = new_plans(1)
    dirty.view(np.uint8)[:] = 0x5A
    last = None
    for position in positions(PRESETS["classic"], 14, 2, chance=0.5):
        worlds, again = np.zeros(20, STATE), np.zeros(7, STATE)
        sample_worlds(position.views, 0, new_plans(1), np.uint64(15), worlds)
        sample_worlds(position.views.copy(), 0, dirty, np.uint64(15), again)
        assert worlds[:7].tobytes() == again.tobytes()
        if count_of(position) > 1e6:
            assert len({world["hands"].tobytes() for world in worlds}) == 20
            assert worlds[0]["hands"].tobytes() != sampled(position, 1, 16)[0]["hands"].tobytes()
            assert worlds[0].tobytes() != last
            last = worlds[0].tobytes()


def test_marginals_leave_the_plan_ready_to_sample() -> None:
    for position in positions(PRESETS["classic"], 17, 1):
        plans, out = new_plans(1), np.zeros((54, 4))
        view_marginals(position.views, 0, plans, out)
        worlds = np.zeros(3, STATE)
        sample_prepared(plans, np.uint64(18), position.views, worlds)
        assert worlds.tobytes() == sampled(position, 3, 18).tobytes()


@kernel
def sample_prepared(plans: StateArray, key: np.uint64, views: StateArray, worlds: StateArray) -> None:
    from_plan = plans[0]
    for n in range(worlds.shape[0]):
        worlds[n] = views[0]["known"]
        sample(from_plan, key, n, worlds[n])


# Refused


def test_inconsistent_information_has_no_layout() -> None:
    """A count of 0, and no world is written."""
    position = next(each for each in positions(PRESETS["classic"], 19, 1) if int(each.state["trick"][0]) == 6)
    assert count_of(position) > 0
    seat, other = position.seat, (position.seat + 1) % 4
    for field, place, value in (
        ("voids", other, 0b1111),
        ("hands", seat, 0),
        ("hands", seat, int(position.state["hands"][0, seat]) | int(position.state["hands"][0, other])),
        ("played", other, int(position.state["played"][0, other]) | int(position.state["hands"][0, seat])),
        ("played", other, int(position.state["played"][0, (other + 1) % 4])),
    ):
        wrong = Position(position.start, position.state, position.views.copy())
        wrong.views["known"][field][0, place] = value
        worlds = np.zeros(2, STATE)
        assert sample_worlds(wrong.views, 0, new_plans(1), np.uint64(0), worlds) == 0, field
        assert not worlds.tobytes().strip(b"\0")


def test_suits_that_nobody_can_hold_have_no_layout() -> None:
    position = next(each for each in positions(PRESETS["classic"], 20, 1) if int(each.state["trick"][0]) == 2)
    position.views["known"]["voids"][0] = 0b0001
    assert any(card < 13 for card in position.unseen())
    assert count_of(position) == 0


def test_incomplete_hands_are_refused() -> None:
    """In the draft (R27) hands are not there yet; in an exchange (R28) that of who is naming cards is not."""
    rules = PRESETS["two_player"]
    for position in itertools.chain.from_iterable(positions(rules, seed, 1) for seed in range(4)):
        phase = int(position.state["phase"][0])
        supported = phase not in (PHASE_BLIND, PHASE_DRAFT)
        if phase == PHASE_EXCHANGE:
            supported = position.seat == int(position.state["turn"][0])
        assert (count_of(position) > 0) == supported


# Layout and the plain Python way


def test_plan_has_no_hidden_padding() -> None:
    assert sum(PLAN[name].itemsize for name in PLAN.names or ()) == PLAN.itemsize
    assert PLAN.itemsize % 8 == 0
    assert (MAX_BINS, MAX_GROUPS) == (5, 8)


def test_without_jit_the_same_worlds() -> None:
    """`NUMBA_DISABLE_JIT=1`: the plain Python functions give the same numbers."""
    compiled = subprocess.run([sys.executable, __file__], capture_output=True, text=True, env=_environment("0"))
    plain = subprocess.run([sys.executable, __file__], capture_output=True, text=True, env=_environment("1"))
    assert compiled.stdout == plain.stdout, plain.stderr
    assert len(plain.stdout.splitlines()) > 20


def _environment(disabled: str) -> dict[str, str]:
    paths = os.pathsep.join((str(ROOT), str(ROOT / "tests")))
    return {**os.environ, "NUMBA_DISABLE_JIT": disabled, "PYTHONPATH": paths}


def _print_some_worlds() -> None:
    for name, rules in (("modern", PRESETS["modern"]), ("low club", SMALL[2]), ("draft", PRESETS["two_player"])):
        for position in positions(rules, 21, 1, chance=0.4):
            if int(position.state["phase"][0]) in (PHASE_BID, PHASE_PLAY):
                hands = sampled(position, 2, 22)["hands"].tolist()
                print(name, count_of(position), hands, marginals_of(position).sum(axis=0).tolist())


if __name__ == "__main__":
    _print_some_worlds()
