"""SpadesBatch and random streams: a game's course depends on seed, game number and actions alone; deals are fair."""

from __future__ import annotations

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from spades_env.engine import front, step
from spades_env.engine.batch import IllegalActionError, SpadesBatch, default_bag_price, legal_action_list
from spades_env.engine.rng import below, unit
from spades_env.engine.state import PHASE_MATCH_OVER, STATE, StateArray, rules_to_record
from spades_env.rules import PRESETS, Rules

PRESET_NAMES = list(PRESETS)


def play(batch: SpadesBatch, steps: int, first: int = 0) -> list[tuple[bytes, ...]]:
    """Play `steps` random decisions chosen from (game number, step) alone; what was reported for every game."""
    told: list[list[bytes]] = [[] for _ in range(len(batch))]
    for k in range(steps):
        actions = np.empty(len(batch), np.int64)
        for i in range(len(batch)):
            legal = legal_action_list(batch.states, i)
            actions[i] = legal[(7919 * (first + i) + 104729 * k) % len(legal)]
        batch.step(actions)
        for i in range(len(batch)):
            flags = (batch.scored[i], batch.terminated[i], batch.truncated[i])
            told[i].append(batch.margins[i].tobytes() + bytes(map(int, flags)))
    return [tuple(entry) for entry in told]


@pytest.mark.parametrize("preset", PRESET_NAMES)
def test_course_does_not_depend_on_batch_size_or_position(preset: str) -> None:
    whole = SpadesBatch(6, preset, seed=11)
    told = play(whole, 150)
    for first, size in ((0, 1), (1, 2), (3, 3)):
        part = SpadesBatch(size, preset, seed=11, first_game=first)
        assert play(part, 150, first) == told[first : first + size]
        assert part.states.tobytes() == whole.states[first : first + size].tobytes()


@pytest.mark.parametrize("preset", PRESET_NAMES)
def test_course_does_not_depend_on_threads(preset: str) -> None:
    def run(states: StateArray) -> None:
        for i in range(len(states)):
            step.play_out(states, i, np.uint64(5), 20)

    alone = SpadesBatch(8, preset, seed=3).states
    run(alone)
    split = SpadesBatch(8, preset, seed=3).states
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(run, (split[:4], split[4:])))
    assert alone.tobytes() == split.tobytes()


def test_same_seed_same_deals_and_other_seed_other_deals() -> None:
    hands = [SpadesBatch(3, seed=seed).states["hands"].tobytes() for seed in (1, 1, 2)]
    assert hands[0] == hands[1] != hands[2]


def test_matches_end_and_go_on_and_single_deals_start_afresh() -> None:
    batch = SpadesBatch(32, "modern", seed=2)
    ended = 0
    for k in range(4000):
        batch.step(batch.sample_actions(1, k), check=False)
        ended += int(batch.terminated.sum() + batch.truncated.sum())
        over = batch.terminated | batch.truncated
        assert (batch.states["scores"][over] == 0).all()
    assert ended > 20
    deals = SpadesBatch(8, seed=2, episode="deal")
    for k in range(57):
        deals.step(deals.sample_actions(1, k))
        assert (deals.scored == deals.terminated).all()
    assert (deals.states["match"] == 1).all()


def test_margins_count_bags_at_their_price_in_deals_and_as_scored_in_matches() -> None:
    for episode in ("deal", "match"):
        batch = SpadesBatch(16, seed=4, episode=episode)  # type: ignore[arg-type]
        for k in range(56):
            batch.step(batch.sample_actions(2, k))
        assert batch.scored.all()
        result = batch.states["result"]
        points = (result["contract"] + result["nil"]).astype(float)
        if episode == "deal":
            points -= 9 * result["bags"]
        else:
            points += result["bag_points"] + result["penalty"]
        assert batch.margins == pytest.approx(points[:, 0] - points[:, 1])


def test_bag_price_follows_the_rules() -> None:
    assert [default_bag_price(rules) for rules in PRESETS.values()] == [-9] * 4
    assert default_bag_price(Rules(bag_limit=0)) == 1
    assert default_bag_price(Rules(bag_limit=5, bag_penalty=50, bag_points=0)) == -10


def test_an_illegal_action_is_named_and_changes_nothing() -> None:
    batch = SpadesBatch(3, seed=1)
    before = batch.states.tobytes()
    with pytest.raises(IllegalActionError, match=r"game 1: seat \d may not do 5 \(7C\); legal: 54 \(nil\)"):
        batch.step(np.array([54, 5, 54]))
    with pytest.raises(IllegalActionError, match=r"\(no action\)"):
        batch.step(np.array([54, 54, 99]))
    with pytest.raises(IllegalActionError, match=r"\(no action\)"):
        batch.step(np.array([54, 54, 2**64 - 54], np.uint64))
    for bad, message in (
        (np.array([54, 54]), r"shape \(2,\)"),
        (np.array([54.0, 54.0, 54.0]), "actions are float64"),
        (np.array(["54", "54", "54"]), "actions are <U2"),
        (np.array([True, True, True]), "actions are bool"),
        (np.array([10**30] * 3), "actions are object"),
    ):
        with pytest.raises(ValueError, match=message):
            batch.step(bad)
    assert batch.states.tobytes() == before


def test_masks_are_written_into_a_fitting_array_and_no_other() -> None:
    batch = SpadesBatch(3, seed=1)
    out = np.zeros((3, 73), np.int8)
    assert batch.action_masks(out) is out
    assert [list(np.flatnonzero(row)) for row in out] == [legal_action_list(batch.states, i) for i in range(3)]
    frozen = np.zeros((3, 73), np.int8)
    frozen.flags.writeable = False
    for bad in (np.zeros((2, 73), np.int8), np.zeros((3, 73), np.bool_), np.zeros((73, 3), np.int8).T, frozen):
        with pytest.raises(ValueError, match="out is"):
            batch.action_masks(bad)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n": 0}, "n is 0"),
        ({"n": 2.5}, "n is 2.5"),
        ({"n": True}, "n is True"),
        ({"n": 1, "seed": 1.5}, "seed is 1.5"),
        ({"n": 1, "seed": "1"}, "seed is '1'"),
        ({"n": 1, "episode": "deal", "bag_price": True}, "bag_price is True"),
        ({"n": 1, "episode": "game"}, "episode is 'game'"),
        ({"n": 1, "seed": -1}, "seed is -1"),
        ({"n": 1, "first_game": 2**40}, "first_game"),
        ({"n": 1, "rules": "chess"}, "chess"),
        ({"n": 1, "bag_price": -5.0}, "bag_price"),
        ({"n": 1, "episode": "deal", "bag_price": float("nan")}, "bag_price"),
    ],
)
def test_bad_arguments_are_named(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        SpadesBatch(**arguments)  # type: ignore[arg-type]


def test_a_copy_and_a_pickle_go_on_like_the_original() -> None:
    batch = SpadesBatch(4, "modern", seed=6)
    for k in range(30):
        batch.step(batch.sample_actions(1, k))
    copies = [copy.deepcopy(batch), pickle.loads(pickle.dumps(batch))]
    for other in (batch, *copies):
        for k in range(30, 90):
            other.step(other.sample_actions(1, k))
        assert other.states.tobytes() == batch.states.tobytes()
        assert (other.turn == other.states["turn"]).all()


def test_bad_keys_for_sampling_are_named() -> None:
    batch = SpadesBatch(2, seed=1)
    for key in (-1, 2**64, 1.5, "5"):
        with pytest.raises(ValueError, match="key is"):
            batch.sample_actions(key, 0)  # type: ignore[arg-type]


def test_the_global_generators_are_left_alone() -> None:
    np.random.seed(5)
    before = np.random.get_state()[1].tolist()  # type: ignore[index, union-attr]
    play(SpadesBatch(2, seed=1), 60)
    assert np.random.get_state()[1].tolist() == before  # type: ignore[index, union-attr]


def card_positions(deals: int, preset: str) -> np.ndarray:
    """counts[card, place]: how often each card lay at each place of the pack."""
    states = np.zeros(1, STATE)
    step.new_games(states, rules_to_record(PRESETS[preset]), 17, 0)
    counts = np.zeros((52, 52), np.int64)
    places = np.arange(52)
    for deal in range(deals):
        states["deal"] = deal
        front.begin_deal(states, 0)
        counts[states[0]["pile"], places] += 1
    return counts


def chi_square(counts: np.ndarray) -> float:
    """Pearson's statistic against a uniform table, standardised to mean 0 and deviation 1 by its degrees of freedom."""
    expected = counts.sum() / counts.size
    degrees = (counts.shape[0] - 1) * (counts.shape[1] - 1)
    return float((((counts - expected) ** 2 / expected).sum() - degrees) / np.sqrt(2 * degrees))


def test_deals_are_uniform_and_the_bound_catches_a_biased_shuffle() -> None:
    assert abs(chi_square(card_positions(20_000, "classic"))) < 4
    rng = np.random.default_rng(0)
    biased = np.zeros((52, 52), np.int64)
    for _ in range(20_000):
        # The classic mistake: swap every card with any place instead of with one not yet settled.
        pack = np.arange(52)
        for k, other in enumerate(rng.integers(0, 52, 52)):
            pack[k], pack[other] = pack[other], pack[k]
        biased[pack, np.arange(52)] += 1
    assert chi_square(biased) > 20


def test_pairs_of_cards_fall_to_one_hand_as_often_as_they_should() -> None:
    states = np.zeros(4000, STATE)
    step.new_games(states, rules_to_record(PRESETS["classic"]), 23, 0)
    hands = states["hands"]
    bits = (hands[:, :, None] >> np.arange(52)) & 1
    together = np.einsum("nsa,nsb->ab", bits, bits)[np.triu_indices(52, 1)] / 4000
    # 12/51 for every pair; deviations of 1,326 correlated shares stay within five standard errors.
    assert abs(together - 12 / 51).max() < 5 * np.sqrt(12 / 51 * 39 / 51 / 4000)


def test_dealers_are_drawn_evenly() -> None:
    states = np.zeros(8000, STATE)
    step.new_games(states, rules_to_record(PRESETS["classic"]), 29, 0)
    counts = np.bincount(states["dealer"], minlength=4)
    assert abs(counts - 2000).max() < 5 * np.sqrt(8000 * 3 / 16)


def test_a_new_match_draws_its_dealer_whoever_dealt_first_before() -> None:
    """R5, R26: the first dealers of two matches in a row are independent."""
    states = np.zeros(1600, STATE)
    step.new_games(states, rules_to_record(PRESETS["classic"]), 31, 0)
    before = states["dealer"].copy()
    states["phase"] = PHASE_MATCH_OVER
    for i in range(len(states)):
        step.advance(states, i)
    assert (states["match"] == 1).all()
    pairs = np.bincount(4 * before + states["dealer"], minlength=16)
    assert abs(pairs - 100).max() < 5 * np.sqrt(1600 * 15 / 256)


@pytest.mark.parametrize("bound", [1, 2, 3, 7, 52, 1000])
def test_bounded_numbers_are_uniform(bound: int) -> None:
    n = 20_000
    # Uncompiled, an inline kernel leaves the warning that 64 bits wrap around to the kernel that calls it.
    with np.errstate(over="ignore"):
        drawn = np.array([int(below(np.uint64(99), k, bound)) for k in range(n)])
    assert drawn.min() >= 0
    assert drawn.max() < bound
    counts = np.bincount(drawn, minlength=min(bound, 1000))
    expected = n / bound
    assert abs(counts - expected).max() < 6 * np.sqrt(expected) + 1


def test_unit_numbers_are_uniform_in_the_half_open_interval() -> None:
    numbers = np.array([float(unit(np.uint64(7), k)) for k in range(20_000)])
    assert numbers.min() >= 0
    assert numbers.max() < 1
    assert numbers.mean() == pytest.approx(0.5, abs=0.01)
    assert numbers.var() == pytest.approx(1 / 12, abs=0.003)
