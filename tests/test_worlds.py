"""The worlds of a search: chosen by how well they fit bids and plays, with the formulas and the truth beside them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hidden_positions import all_layouts, frequencies, possible, small_positions
from search_positions import POINTS_NORMAL, acting, played_by, rules_of, scattered
from test_agents import deals

from agents.search.calibration import Calibration, UniformLayouts, WeightedWorlds, calibrate
from agents.search.effort import Desk, Effort, new_desk
from agents.search.likelihood import bid_fit, rewind, surprises
from agents.search.worlds import UNIFORM_SHARE, choose, effective_size, kept_worlds
from benchmarks.beliefs import bids_and_plays, bids_only, views_at
from spades_env.engine.kernel import kernel
from spades_env.engine.state import PHASE_PLAY, STATE, StateArray
from spades_env.engine.step import apply_action
from spades_env.rules import PRESETS, Rules


@kernel
def kept(views: StateArray, i: int, key: np.uint64, effort: Effort, desk: Desk) -> bool:
    """`kept_worlds` of a view."""
    return kept_worlds(views[i]["known"], key, effort, desk)


@kernel
def replayed(states: StateArray, i: int, game: StateArray) -> None:
    """Rewind game `i` to its opening lead in `game[0]` and play its cards again."""
    game[0] = states[i]
    rewind(states[i], states[i], game[0])
    for k in range(int(states[i]["first_play"]), int(states[i]["n_actions"])):
        apply_action(game[0], int(states[i]["actions"][k]))


@kernel
def opening(states: StateArray, i: int, game: StateArray) -> None:
    """Game `i` rewound to its opening lead."""
    game[0] = states[i]
    rewind(states[i], states[i], game[0])


@kernel
def surprising(states: StateArray, i: int, seat: int, game: StateArray) -> int:
    """Surprises for `seat` in the play of game `i` with the hands that were held."""
    game[0] = states[i]
    rewind(states[i], states[i], game[0])
    return surprises(states[i], game[0], seat)


@kernel
def log_weight(views: StateArray, i: int, worlds: StateArray, n: int, trust: float) -> float:
    """Log-likelihood of bids and plays in `views[i]` with the hands of `worlds[n]`, which is spoilt."""
    known, seat = views[i]["known"], int(views[i]["seat"])
    fit = bid_fit(known, worlds[n], seat)
    rewind(known, worlds[n], worlds[n])
    return fit - trust * surprises(known, worlds[n], seat)


# --- Choosing in proportion ---------------------------------------------------------------------------------


def test_worlds_are_chosen_in_proportion_to_their_weights() -> None:
    """Systematic resampling: every world comes as often as its share of the places, rounded up or down."""
    logs = np.log(np.array([0.05, 0.3, 1e-9, 0.15, 0.35, 0.15]))
    shares = np.exp(logs) / np.exp(logs).sum()
    places, streams = 14, 4000
    total, first = np.zeros(6), np.zeros(6)
    for stream in range(streams):
        weights, chosen = logs - 700.0, np.full(places, -1)  # a constant says nothing, however small
        choose(weights, 6, np.uint64(stream), chosen)
        counts = np.bincount(chosen, minlength=6)
        assert (np.abs(counts - places * shares) < 1).all()
        total += counts
        first[chosen[0]] += 1
    assert total / streams == pytest.approx(places * shares, abs=0.03)
    # The order is random: the first place alone is drawn by the weights, too.
    assert first / streams == pytest.approx(shares, abs=4 * 0.5 / math.sqrt(streams))


def test_only_the_worlds_drawn_are_chosen_from() -> None:
    chosen = np.zeros(50, np.int64)
    choose(np.array([0.0, 0.0, 99.0]), 2, np.uint64(1), chosen)
    assert np.bincount(chosen).tolist() == [25, 25]


@pytest.mark.parametrize("seed", range(5))
def test_effective_size_by_its_formula(seed: int) -> None:
    """(sum of weights)^2 / sum of their squares, of the first so many; unchanged by a factor."""
    logs = np.random.default_rng(seed).normal(0, seed, 40)
    weights = np.exp(logs[:30])
    assert effective_size(logs, 30) == pytest.approx(weights.sum() ** 2 / (weights**2).sum())
    assert effective_size(logs - 5000.0, 30) == pytest.approx(effective_size(logs, 30))
    assert effective_size(np.zeros(40), 30) == 30


@pytest.mark.parametrize("trust", [0.0, 0.7, 2.0])
def test_worlds_kept_are_the_posterior(trust: float) -> None:
    """Endings with few layouts: shares of the worlds kept against the weights of all layouts, enumerated.

    One world in UNIFORM_SHARE is kept whatever its weight.
    """
    effort = Effort(worlds=3000, exact=0, draws=16, reads=4, trust=trust, margin=3.0, doubt=0.0, nodes=1)
    desk, compared, moved = new_desk(effort), 0, 0.0
    for position in small_positions(PRESETS["classic"], 8, 12, 400):
        state, views = position.state, acting(position.state)
        if state["phase"][0] != PHASE_PLAY or position.seat != state["turn"][0] or len(position.unseen()) < 4:
            continue
        layouts = np.array([each for each in all_layouts(position) if possible(position, each)])
        worlds = np.repeat(state, len(layouts))
        worlds["hands"] = layouts
        logs = np.array([log_weight(views, 0, worlds, n, trust) for n in range(len(worlds))])
        weighted, uniform = frequencies(layouts, np.exp(logs - logs.max())), frequencies(layouts)
        expected = weighted + (uniform - weighted) / UNIFORM_SHARE
        assert kept(views, 0, np.uint64(compared), effort, desk)
        found = frequencies(desk.hands[desk.chosen])
        assert np.abs(found - expected).max() < 0.05
        moved = max(moved, float(np.abs(uniform - expected).max()))
        compared += 1
    assert compared > 10
    assert moved > 0.2


# --- Reading the plays --------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", [*PRESETS, *range(30)])
def test_going_back_and_playing_again_ends_where_it_began(case: str | int) -> None:
    """Record for record: hands, plays, voids, tricks, leaders, the broken flag, whose turn it is."""
    states = scattered(rules_of(case), 8, 5)
    states = states[states["phase"] == PHASE_PLAY]
    game = np.zeros(1, STATE)
    for i in range(len(states)):
        replayed(states, i, game)
        assert game[0].tobytes() == states[i].tobytes()
        opening(states, i, game)
        for field in ("trick", "trick_len", "broken", "voids", "tricks", "played"):
            assert not game[field].any()
        assert game["turn"][0] == game["leaders"][0, 0] == states["first"][i]
        assert (game["hands"][0] == states["hands"][i] | states["played"][i]).all()
    assert len(states) > 10


@pytest.mark.parametrize("case", [*PRESETS, *range(12)])
def test_normal_surprises_nobody_and_random_play_does(case: str | int) -> None:
    rules, game = rules_of(case), np.zeros(1, STATE)
    normal = np.concatenate(played_by(POINTS_NORMAL, deals(rules, 6)))
    normal = normal[normal["phase"] == PHASE_PLAY]
    assert len(normal) > 30
    for i in range(0, len(normal), 5):
        for seat in range(rules.players):
            assert surprising(normal, i, seat, game) == 0
    last = scattered(rules, 30, 1)
    last = last[(last["phase"] == PHASE_PLAY) & (last["trick"] == rules.hand_size - 1)]
    counts = [surprising(last, i, seat, game) for i in range(len(last)) for seat in range(rules.players)]
    if rules.hand_size == 13:
        assert np.mean(counts) > 3
    assert np.mean(counts) > 0.3


def test_ones_own_cards_do_not_surprise() -> None:
    """What `seat` played herself is left out of her count, and is all that the others' counts have more."""
    states = scattered(PRESETS["classic"], 10, 1)
    states = states[(states["phase"] == PHASE_PLAY) & (states["trick"] == 12) & (states["trick_len"] == 0)]
    game = np.zeros(1, STATE)
    for i in range(len(states)):
        counts = [surprising(states, i, seat, game) for seat in range(4)]
        everybody = surprising(states, i, 4, game)
        assert sum(everybody - count for count in counts) == everybody > 0


# --- Better than uniform ------------------------------------------------------------------------------------


def report(trick: int, deals_played: int, worlds: int) -> tuple[Calibration, Calibration, Calibration]:
    """Beliefs at the start of a trick of deals that `normal` plays: uniform, by the bids, by bids and plays."""
    views, states = views_at(POINTS_NORMAL, PRESETS["classic"], trick, deals_played, seed=5)
    methods = UniformLayouts(), WeightedWorlds(bids_only, worlds), WeightedWorlds(bids_and_plays(0.7), worlds)
    uniform, bids, plays = (calibrate(views, states, method) for method in methods)
    return uniform, bids, plays


def test_bids_and_plays_tell_where_cards_are() -> None:
    uniform, bids, plays = report(trick=5, deals_played=100, worlds=6_000)
    assert uniform.cards.sum() == bids.cards.sum() == plays.cards.sum()
    assert bids.log_loss < uniform.log_loss - 0.01
    assert plays.log_loss < bids.log_loss - 0.03


@pytest.mark.slow
@pytest.mark.parametrize("trick", [0, 3, 8])
def test_beliefs_are_better_and_about_right(trick: int) -> None:
    """More deals: lower log-loss, and what is thought likely comes true about as often as predicted."""
    uniform, bids, plays = report(trick, 400, 10_000)
    assert bids.log_loss < uniform.log_loss - 0.01
    assert plays.log_loss < bids.log_loss - 0.03 if trick else plays.log_loss == bids.log_loss
    rows = [row for row in plays.table if row.pairs]
    off = sum(abs(row.observed - row.predicted) * row.pairs for row in rows) / sum(row.pairs for row in rows)
    assert off < 0.1


def test_in_a_small_deck_worlds_are_drawn_too() -> None:
    """The tables know hands of 13 alone; weights for others must be numbers all the same."""
    rules = Rules(suits=4, ranks=4, hand_size=4)
    states = scattered(rules, 20, 1)
    states = states[states["phase"] == PHASE_PLAY]
    views, worlds = acting(states), states.copy()
    weights = [log_weight(views, i, worlds, i, 0.7) for i in range(len(states))]
    assert np.isfinite(weights).all()
