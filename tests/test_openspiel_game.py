"""Spades as a game of OpenSpiel: its own checks, the tree's chances, what a player is shown, solvers against ours."""

from __future__ import annotations

import re
from collections import Counter
from fractions import Fraction
from itertools import permutations
from math import comb
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evaluation.exploit.exact import exact_exploitability
from evaluation.exploit.games import small_game
from evaluation.exploit.nodes import write_keys
from evaluation.exploit.policies import TablePolicy
from spades_env.actions import BLIND_NIL, DONE, LOOK
from spades_env.engine.state import PHASE_EXCHANGE
from spades_env.game import Game
from spades_env.observation.encoders import ENCODERS
from spades_env.rules import Rules
from spades_env.view import empty_views, view_of

pytest.importorskip("pyspiel", reason="OpenSpiel is not installed (pip install open-spiel)")

import pyspiel

from spades_env.envs.openspiel import SpadesGame

DOCS = Path(__file__).resolve().parent.parent / "docs"
TINY = "deal:dealt;blind_nil_exchange:0;suits:2;ranks:2;hand_size:1"
TINY_RULES = Rules.preset("two_player", deal="dealt", blind_nil_exchange=0, suits=2, ranks=2, hand_size=1)
SIX = "deal:dealt;blind_nil_exchange:0;suits:2;ranks:3;hand_size:2"
PARAMETERS: list[dict[str, Any]] = [
    {},
    {"rules": "table", "dealer": 2, "bags_priced": False},
    {"rules": "modern", "score_0": -150, "bags_1": 9, "overrides": "jokers:true"},
    {"rules": "two_player"},
    {"rules": "two_player", "overrides": SIX},
    {"overrides": "suits:2;ranks:4;hand_size:2"},
]


def load(**parameters: Any) -> Any:
    return pyspiel.load_game("spades_env", parameters)


def random_state(game: Any, rng: np.random.Generator, decisions: int | None = None) -> Any:
    """A state after so many decisions of random play, at a decision or the end."""
    state, left = game.new_initial_state(), 10_000 if decisions is None else decisions
    while not state.is_terminal() and (state.is_chance_node() or left):
        if state.is_chance_node():
            outcomes, chances = zip(*state.chance_outcomes(), strict=True)
            state.apply_action(int(rng.choice(outcomes, p=chances)))
        else:
            state.apply_action(int(rng.choice(state.legal_actions())))
            left -= 1
    return state


@pytest.mark.parametrize("parameters", PARAMETERS, ids=str)
def test_openspiel_checks_it(parameters: dict[str, Any]) -> None:
    """Their own test: random play, clones, strings and tensors, serialization, bounds."""
    pyspiel.random_sim_test(load(**parameters), num_sims=2, serialize=True, verbose=False)


def test_a_game_string_names_it() -> None:
    overrides = "deal:dealt;blind_nil_exchange:0;ranks:4;hand_size:3"
    game = pyspiel.load_game(f"spades_env(rules=two_player,overrides={overrides})")
    assert game.num_players() == 2
    again = pyspiel.load_game(str(game))
    assert again.new_initial_state().table.rules == game.new_initial_state().table.rules
    assert again.new_initial_state().table.rules.ranks == 4


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"rules": "clasic"}, "clasic"),
        ({"overrides": "suits=2"}, "overrides has 'suits=2'"),
        ({"overrides": "suit:2"}, "did you mean 'suits'"),
        ({"overrides": "suits:[1"}, "a plain value"),
        ({"dealer": 4}, "dealer is 4"),
        ({"score_0": 500}, "scores are"),
        ({"bags_0": 10}, r"bags\[0\] is 10"),
        ({"nonsense": 1}, "nonsense"),
    ],
)
def test_wrong_parameters_are_refused(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(Exception, match=message):
        load(**parameters)


# --- Chance -------------------------------------------------------------------------------------------------


def chances_of_deals(state: Any, chance: Fraction, found: Counter[Any]) -> None:
    """Add up the chance of every deal below `state`, by (dealer, hands)."""
    if not state.is_chance_node():
        record = state.states[0]
        found[int(record["dealer"]), *record["hands"].tolist()] += chance  # type: ignore[assignment]
        return
    for outcome, probability in state.chance_outcomes():
        part = Fraction(probability).limit_denominator(100)
        chances_of_deals(state.child(outcome), chance * part, found)


def test_every_deal_is_once_in_the_tree_and_as_likely_as_any_other() -> None:
    """R5, R6: 6 cards to two hands of 2: 90 deals by 2 dealers."""
    found: Counter[Any] = Counter()
    chances_of_deals(load(rules="two_player", overrides=SIX).new_initial_state(), Fraction(1), found)
    assert len(found) == 2 * comb(6, 2) * comb(4, 2)
    assert set(found.values()) == {Fraction(1, 180)}


def test_a_draft_pile_is_any_order_of_the_pack() -> None:
    """R27."""
    state = load(rules="two_player", dealer=0).new_initial_state()
    for left in range(52, 0, -1):
        outcomes, chances = zip(*state.chance_outcomes(), strict=True)
        assert len(outcomes) == left
        assert np.allclose(chances, 1 / left)
        state.apply_action(outcomes[(7 * left) % left])
    assert sorted(state.states["pile"][0].tolist()) == list(range(52))


def exchanging(give: int, seed: int) -> Any:
    """A draft whose dealer called double nil, after she has given up `give` cards and is done."""
    rng = np.random.default_rng(seed)
    state = load(rules="two_player", dealer=0).new_initial_state()
    while state.is_chance_node():
        outcomes = [outcome for outcome, _ in state.chance_outcomes()]
        state.apply_action(int(rng.choice(outcomes)))
    while int(state.states["phase"][0]) != PHASE_EXCHANGE:
        calls = {0: BLIND_NIL, 1: LOOK}
        legal = state.legal_actions()
        state.apply_action(calls[state.current_player()] if BLIND_NIL in legal else int(rng.choice(legal)))
    for _ in range(give):
        state.apply_action(state.legal_actions()[0])
    if give < 3:
        state.apply_action(DONE)
    return state


@pytest.mark.parametrize("give", [0, 1, 2, 3])
def test_chance_draws_what_an_exchange_brings(give: int) -> None:
    """R28: one card for each given up, without replacement from the discards; the other seat learns how many."""
    for seed in range(3):
        state = exchanging(give, seed)
        thrown, discards = int(state.states["thrown"][0, 0]), int(state.states["discards"][0])
        assert discards.bit_count() == 26
        assert thrown.bit_count() == give
        others = {state.information_state_string(1)}
        drawn = 0
        for left in range(26, 26 - give, -1):
            assert state.is_chance_node()
            outcomes = dict(state.chance_outcomes())
            assert outcomes == {card: 1 / left for card in range(52) if (discards & ~drawn) >> card & 1}
            card = list(outcomes)[3]
            drawn |= 1 << card
            state.apply_action(card)
            others.add(state.information_state_string(1))
        assert not state.is_chance_node()
        assert int(state.states["hands"][0, 0]).bit_count() == 13
        assert int(state.states["discards"][0]) == discards & ~drawn
        assert others == {state.information_state_string(1)}
        told = state.information_state_string(0).split("drew ")[1].split(";")[0]
        assert len(told.split()) == give
        piece = state.information_state_tensor(0)[2 + 2 + 54 + 13 * 2 * 54 :][:54]
        assert sum(1 << card for card in np.flatnonzero(piece).tolist()) == drawn


# --- Play and returns ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("priced", [True, False])
def test_a_deal_is_that_of_the_engine(priced: bool) -> None:
    """Same seats, legal actions and points as `Game` with the same cards."""
    rng = np.random.default_rng(4)
    for _ in range(5):
        state = random_state(load(rules="modern", score_1=-120, bags_0=9, bags_priced=priced), rng, 0)
        dealer, hands = int(state.states["dealer"][0]), state.states["hands"][0].tolist()
        cards = [[card for card in range(52) if hand >> card & 1] for hand in hands]
        game = Game.from_position("modern", dealer=dealer, hands=cards, scores=(0, -120), bags=(9, 0))
        while not state.is_terminal():
            assert state.current_player() == game.turn
            assert state.legal_actions() == game.legal_actions()
            action = int(rng.choice(game.legal_actions()))
            state.apply_action(action)
            game.apply(action)
        assert game.result is not None
        points = [r.points if not priced else r.contract + r.nil - 9 * r.bags for r in game.result]
        margin = points[0] - points[1]
        assert state.returns() == [margin, -margin, margin, -margin]
        assert state.legal_actions() == []


def test_margins_are_within_the_bounds_of_the_game() -> None:
    """Both extremes of the smallest games, by hand: R17-R21 under `classic` with one card each."""
    game = load(overrides="suits:2;ranks:2;hand_size:1")
    state = game.new_initial_state()
    for place in (0, 0, 1, 2, 3):  # dealer South; KH to South, AH to West, KS to North, AS to East
        state.apply_action(place)
    for bid in (55, 55, 54, 54):  # West 1, North 1, East nil, South nil
        state.apply_action(bid)
    while not state.is_terminal():
        state.apply_action(state.legal_actions()[0])
    # East's nil takes the trick. South and North: 1 set (-10), nil made (+100). West and East: 1 set (-10), nil lost
    # (-100), a bag (-9).
    assert state.returns() == [209.0, -209.0, 209.0, -209.0]
    assert game.max_utility() >= 209.0


# --- What a player is shown ---------------------------------------------------------------------------------


@pytest.mark.parametrize("parameters", PARAMETERS, ids=str)
def test_strings_tell_states_apart_as_tensors_do(parameters: dict[str, Any]) -> None:
    game = load(**parameters)
    rng = np.random.default_rng(1)
    by_string: dict[str, bytes] = {}
    for decisions in (0, 1, 2, 3, 5, 9, 30) * 4:
        state = random_state(game, rng, decisions)
        for player in range(game.num_players()):
            tensor = np.array(state.information_state_tensor(player), np.float32).tobytes()
            assert by_string.setdefault(state.information_state_string(player), tensor) == tensor
    assert len(set(by_string.values())) == len(by_string) > 20


def test_the_observation_is_the_flat_encoders() -> None:
    rng = np.random.default_rng(2)
    state = random_state(load(rules="modern"), rng, 20)
    for player in range(4):
        views = empty_views(1)
        view_of(state.states, 0, player, views, 0)
        row = np.empty((1, ENCODERS["flat"].layout.size), np.float32)
        ENCODERS["flat"].write(views, row)
        tensor = np.array(state.observation_tensor(player), np.float32)
        assert tensor[:4].tolist() == [float(seat == player) for seat in range(4)]
        assert np.array_equal(tensor[4:], row[0])


def test_hidden_cards_change_nothing() -> None:
    """R30: with the hands of the three others passed around before the deal, South is shown the same."""
    game = load(dealer=1)
    rng = np.random.default_rng(3)
    state = random_state(game, rng, 0)
    places = state.history()
    shown = set()
    for order in permutations((1, 2, 3)):
        other = game.new_initial_state()
        for place in places:
            other.apply_action(place if place == 0 else order[place - 1])
        for bid in (57, 57):
            other.apply_action(bid)
        shown.add((other.information_state_string(0), bytes(np.array(other.information_state_tensor(0), np.uint8))))
        shown.add((other.observation_string(0), bytes(np.array(other.observation_tensor(0), np.float32))))
    assert len(shown) == 2


def test_cards_are_not_shown_before_the_look() -> None:
    """R10."""
    state = random_state(load(rules="modern", score_0=-150, dealer=3), np.random.default_rng(5), 0)
    assert state.legal_actions() == [BLIND_NIL, LOOK]
    before = state.information_state_string(0)
    assert "A" not in before.partition(";")[2].replace("dealer", "")
    assert not np.any(state.information_state_tensor(0)[8 : 8 + 54])
    state.apply_action(LOOK)
    assert np.sum(state.information_state_tensor(0)[8 : 8 + 54]) == 13


def test_other_observation_types_are_refused() -> None:
    game = load()
    for public, private in ((False, "SINGLE_PLAYER"), (True, "ALL_PLAYERS"), (True, "NONE")):
        kind = pyspiel.IIGObservationType(
            public_info=public, perfect_recall=True, private_info=getattr(pyspiel.PrivateInfoType, private)
        )
        with pytest.raises(ValueError, match="observation type is another"):
            SpadesGame.make_py_observer(game, kind)
    with pytest.raises(ValueError, match="observation parameters are"):
        SpadesGame.make_py_observer(game, None, {"a": 1})


# --- Algorithms ---------------------------------------------------------------------------------------------


def table_of_policy(game: Any, policy: Any) -> dict[int, np.ndarray]:
    """An OpenSpiel policy by the keys of our information sets: slots are places among the legal actions."""
    table: dict[int, np.ndarray] = {}
    waiting = [game.new_initial_state()]
    width = TINY_RULES.hand_size + 1
    while waiting:
        state = waiting.pop()
        if state.is_terminal():
            continue
        if not state.is_chance_node():
            key = np.empty(1, np.int64)
            write_keys(state.states, key)
            chances = policy.action_probabilities(state)
            row = [chances.get(action, 0.0) for action in state.legal_actions()]
            table[int(key[0])] = np.array(row + [0.0] * (width - len(row)))
        waiting += [state.child(action) for action in state.legal_actions()]
    return table


def test_cfr_and_exploitability_agree_with_ours() -> None:
    """A policy of their CFR+ is as exploitable by their best response as by ours, and comes near an equilibrium."""
    from open_spiel.python import policy as policies
    from open_spiel.python.algorithms import exploitability

    game = load(rules="two_player", overrides=TINY)
    ours = small_game(TINY_RULES)
    uniform = exploitability.exploitability(game, policies.UniformRandomPolicy(game))
    assert uniform == pytest.approx(exact_exploitability("random", ours).exploitability, abs=1e-9)
    solver = pyspiel.CFRPlusSolver(game)
    for _ in range(5):
        solver.evaluate_and_update_policy()
    average = solver.average_policy()

    class Average(policies.Policy):
        def action_probabilities(self, state: Any, player_id: int | None = None) -> dict[int, float]:
            return average.action_probabilities(state)

    theirs = exploitability.exploitability(game, Average(game, [0, 1]))
    found = exact_exploitability(TablePolicy("CFR+", ours, table_of_policy(game, average)), ours).exploitability
    assert found == pytest.approx(theirs, abs=1e-9)
    assert 0.0 <= theirs < uniform / 2


@pytest.mark.slow
def test_exploitability_of_two_6_agrees_with_ours() -> None:
    from open_spiel.python import policy as policies
    from open_spiel.python.algorithms import exploitability

    game = load(rules="two_player", overrides=SIX)
    theirs = exploitability.exploitability(game, policies.UniformRandomPolicy(game))
    assert theirs == pytest.approx(exact_exploitability("random", "two_6").exploitability, abs=1e-9)


@pytest.mark.parametrize("page", ["wrappers.md", "small_games.md"])
def test_examples_of_the_pages(page: str) -> None:
    blocks = re.findall(r"(?ms)^```python\n(.*?)^```$", (DOCS / page).read_text(encoding="utf-8"))
    ours = [block for block in blocks if "pyspiel" in block or page == "small_games.md"]
    assert ours
    for block in ours:
        exec(compile(block, page, "exec"), {})


def test_tree_search_plays_it() -> None:
    from open_spiel.python.algorithms import mcts

    game = load(rules="two_player", overrides=SIX)
    rng = np.random.RandomState(1)
    bot = mcts.MCTSBot(game, 2.0, 20, mcts.RandomRolloutEvaluator(1, rng), random_state=rng)
    state = random_state(game, np.random.default_rng(6), 0)
    while not state.is_terminal():
        action = bot.step(state)
        assert action in state.legal_actions()
        state.apply_action(action)
    assert sum(state.returns()) == 0
