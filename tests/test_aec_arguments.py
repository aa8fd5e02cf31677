"""The PettingZoo environment's arguments: what `reset` and the constructor take, and how all else is refused."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from test_game import SUITED

import spades_env
from spades_env import IllegalActionError
from spades_env.envs import aec
from spades_env.game import Game, PositionError
from spades_env.game.position import HIGHEST_COUNT
from spades_env.rules import RulesError

# ---------------------------------------------------------------- reset


def test_reset_goes_on_through_the_matches_of_a_seed() -> None:
    env = spades_env.env()
    env.reset(seed=7)
    first = env.game
    env.reset()
    second = env.game
    assert (first.match, second.match) == (0, 1)
    assert second == Game(env.rules, seed=7, match=1)
    env.reset(seed=7)
    assert env.game == first
    env.reset(options={"dealer": 2, "scores": [10, -20], "bags": [1, 2], "deal": 5})
    assert (env.game.dealer, env.game.scores, env.game.bags, env.game.deal) == (2, (10, -20), (1, 2), 5)
    assert env.agent_selection == "player_3"


def test_reset_takes_a_pile() -> None:
    pile = list(range(52))[::-1]
    env = spades_env.env("two_player")
    env.reset(seed=1, options={"pile": pile, "dealer": 0})
    assert env.game.pile == pile
    assert env.possible_agents == ["player_0", "player_1"]


@pytest.mark.parametrize(
    ("seed", "options", "message"),
    [
        (1, {"hand": SUITED}, r"reset option 'hand' does not exist; allowed: hands, pile, dealer"),
        (1, {"options": 2}, r"reset option 'options' does not exist"),
        (1, {"options": True}, r"reset option 'options' does not exist"),
        (1, {"options": 1.0}, r"reset option 'options' does not exist"),
        (1, {"options": 1, "dealer": 0}, r"reset option 'options' does not exist"),
        (1, 5, r"options are 5; allowed: None or a dict with hands, pile, dealer"),
        (1, ["dealer"], r"options are \['dealer'\]; allowed: None or a dict"),
        (1, {7: 1}, r"reset option 7 does not exist"),
        (1, {"hands": 5}, r"hands are 5; allowed: 4 hands, a list by seat"),
        (1, {"hands": np.array(5)}, r"hands are array\(5\); allowed: 4 hands"),
        (1, {"hands": {0: SUITED[0]}}, r"hands are \{.*allowed: 4 hands"),
        (1, {"hands": np.zeros((4, 13), int)}, r"hands\[0\]: card 2C \(id 0\) is given twice"),
        (1, {"hands": np.zeros((4, 13))}, r"hands\[0\]: card .*0\.0.* is no card id"),
        (1, {"scores": {1: 2, 3: 4}}, r"scores are \{1: 2, 3: 4\}; allowed: two ints, team 0 and team 1"),
        (1, {"scores": {1, 3}}, r"scores are \{1, 3\}; allowed: two ints"),
        (1, {"scores": iter((1, 2))}, r"scores are <tuple_iterator .*; allowed: two ints"),
        (1, {"scores": "12"}, r"scores are '12'; allowed: two ints"),
        (1, {"scores": None}, r"scores are None; allowed: two ints"),
        (1, {"scores": np.array([1.0, 2.0])}, r"scores\[0\] is .*1\.0.*; allowed: an int"),
        (1, {"scores": np.array([500, 0])}, r"scores are \(500, 0\); allowed: a match that goes on"),
        (1, {"bags": 3}, r"bags are 3; allowed: two ints"),
        (1, {"deal": 100}, r"deal is 100; allowed: an int 0\.\.99"),
        (1, {"dealer": 9}, r"dealer is 9"),
        (-1, None, r"seed is -1"),
        ("1", None, r"seed is '1'"),
    ],
)
def test_a_refused_reset_changes_nothing(seed: Any, options: Any, message: str) -> None:
    env = spades_env.env()
    env.reset(seed=5)
    before = env.game
    with pytest.raises(PositionError, match=message):
        env.reset(seed=seed, options=options)
    assert env.game == before
    env.reset()
    assert env.game == Game(env.rules, seed=5, match=1)


@pytest.mark.parametrize("pile", [5, set(range(52)), dict.fromkeys(range(52)), np.array(5), itertools.repeat(0)])
def test_a_pile_without_an_order_is_refused(pile: Any) -> None:
    with pytest.raises(PositionError, match=r"^pile(:| is)"):
        spades_env.env("two_player").reset(seed=1, options={"pile": pile})


def test_arrays_are_cards_and_numbers() -> None:
    """Hands as an array of ids, a pile as one, pairs and single numbers of NumPy."""
    env = spades_env.env()
    hands = Game(seed=3).hands
    options = {"hands": np.array(hands), "dealer": np.int8(2), "deal": np.int16(4)}
    options |= {"scores": np.array([10, -20]), "bags": np.array([1, 2], np.uint8)}
    env.reset(seed=np.int64(5), options=options)  # type: ignore[arg-type]
    game = env.game
    assert game.hands == hands
    assert (game.dealer, game.scores, game.bags, game.deal) == (2, (10, -20), (1, 2), 4)
    env = spades_env.env("two_player")
    for pile in (np.arange(52), range(52), iter(range(52))):
        env.reset(options={"pile": pile})
        assert env.game.pile == list(range(52))


def test_the_options_of_api_test_are_none() -> None:
    env = spades_env.env()
    env.reset(seed=5, options={"options": 1})
    assert env.game == Game(env.rules, seed=5)


def test_after_the_last_match_of_a_game_comes_the_next_game(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(aec, "HIGHEST_COUNT", 2)
    env = spades_env.env()
    env.reset(seed=5)
    courses = []
    for _ in range(5):
        courses.append(env.game)
        env.reset()
    numbers = [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1)]
    assert courses == [Game(env.rules, seed=5, game=game, match=match) for game, match in numbers]
    assert HIGHEST_COUNT == 1_000_000


def test_two_first_resets_without_a_seed_differ() -> None:
    games = []
    for _ in range(2):
        env = spades_env.env()
        env.reset()
        games.append(env.game)
    assert games[0].hands != games[1].hands


# ---------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"episode": "round"}, r"episode is 'round'; allowed: 'match', 'deal'"),
        ({"reward": "score"}, r"reward is 'score'; allowed: 'margin', 'points', 'win'"),
        ({"reward": "win", "episode": "deal"}, r"reward='win' is refused with episode='deal'"),
        ({"bag_price": -9}, r"bag_price is refused with episode='match'"),
        ({"bag_price": float("nan"), "episode": "deal"}, r"bag_price is nan; allowed: a finite number"),
        ({"on_illegal": "ignore"}, r"on_illegal is 'ignore'; allowed: 'raise', 'terminate'"),
        ({"illegal_penalty": "big"}, r"illegal_penalty is 'big'; allowed: a finite number"),
        ({"illegal_penalty": True}, r"illegal_penalty is True"),
        ({"illegal_penalty": np.float32("inf")}, r"illegal_penalty is .*inf"),
        ({"illegal_penalty": 10**400}, r"illegal_penalty is an int of 1329 bits"),
        ({"observation": "image"}, r"observation is 'image'; allowed: 'flat', 'sequence', 'features'"),
        ({"dtype": "float64"}, r"dtype is 'float64'; allowed: 'float32', 'uint8'"),
        ({"render_mode": "rgb"}, r"render_mode is 'rgb'; allowed: None, 'ansi', 'rgb_array', 'human'"),
        ({"render_seat": 4}, r"render_seat is 4; allowed: an int 0\.\.3"),
        ({"max_deals": 0}, r"max_deals=0 is not allowed"),
        ({"rules": "klassic"}, r"did you mean 'classic'"),
    ],
)
def test_wrong_arguments_are_refused_by_name(options: dict[str, Any], message: str) -> None:
    with pytest.raises((ValueError, RulesError), match=message):
        spades_env.env(**options)


def test_numbers_of_numpy_are_numbers() -> None:
    env = spades_env.env(
        episode="deal",
        bag_price=np.int64(-4),  # type: ignore[arg-type]
        illegal_penalty=np.float32(-0.5),  # type: ignore[arg-type]
        on_illegal="terminate",
    )
    assert (env._bag_price, env.illegal_penalty) == (-4.0, -0.5)
    assert type(env.illegal_penalty) is float
    env.reset(seed=1)
    agent = env.agent_selection
    env.step(0)
    assert env.rewards[agent] == -0.5


def test_an_unknown_argument_is_refused() -> None:
    with pytest.raises(TypeError, match="rule"):
        spades_env.env(rule="classic")


@pytest.mark.parametrize(
    "use",
    [
        lambda env: env.step(0),
        lambda env: env.observe("player_0"),
        lambda env: env.last(),
        lambda env: env.agent_iter(),
        lambda env: env.state(),
        lambda env: env.agents,
        lambda env: env.num_agents,
        lambda env: env.view("player_0"),
        lambda env: env.game,
    ],
)
def test_nothing_works_before_reset(use: Any) -> None:
    with pytest.raises(AttributeError, match=r"reset\(\) needs to be called before") as error:
        use(spades_env.env())
    assert "'_" not in str(error.value)


@pytest.mark.parametrize("action", [None, 1.0, "AS", True, np.array([1, 2])])
def test_what_is_no_action_is_a_type_error(action: Any) -> None:
    env = spades_env.env(on_illegal="terminate")
    env.reset(seed=1)
    with pytest.raises(TypeError, match=r"player_.: action is .*allowed: an int"):
        env.step(action)
    assert not any(env.terminations.values())


@pytest.mark.parametrize("make", [np.int32, np.int64, np.uint8, np.array])
def test_integers_of_any_kind_are_actions(make: Any) -> None:
    env = spades_env.env()
    env.reset(seed=1)
    env.step(make(57))
    assert env.game.actions == [57]


@pytest.mark.parametrize("use", ["observe", "view", "observation_space", "action_space"])
@pytest.mark.parametrize("agent", ["player_4", "x", 0, None, ["player_0"]])
def test_an_unknown_agent_is_named(use: str, agent: Any) -> None:
    env = spades_env.env()
    env.reset(seed=1)
    with pytest.raises(ValueError, match=r"agent .* does not exist; allowed: player_0, player_1"):
        getattr(env, use)(agent)


@pytest.mark.parametrize("action", [0, 72, 73, -1, 2**70])
def test_illegal_actions_of_any_size(action: int) -> None:
    """A card while bidding, and ids that no action has."""
    env = spades_env.env()
    env.reset(seed=1)
    with pytest.raises(IllegalActionError, match=r"player_\d: seat \d may not do .* legal: 54 \(nil\)"):
        env.step(action)
    assert env.game == Game(env.rules, seed=1)
