"""Itemised results and the match so far that somebody tells or forges: what real deals bring is taken, all else not."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from random_rules import some_rules
from test_game import SUITED, play_on

from spades_env.engine.state import StateArray
from spades_env.game import Game, PositionError, TeamResult, View
from spades_env.game.position import HIGHEST_COUNT, HIGHEST_TOTAL
from spades_env.game.result import checked_result, most_points
from spades_env.game.storage import StorageError, pack_state
from spades_env.observation import FLAT_SIZE, observe_seat
from spades_env.rules import PRESETS, Rules

NOTHING = TeamResult(0, 0, 0, 0, 0, boston=False)
CLASSIC = (TeamResult(50, 100, 2, -100, 2, boston=False), TeamResult(-40, -100, 3, 0, 3, boston=False))
"""A nil made beside a contract of 5 with 2 bags over the limit; another failed beside a contract that was set."""


def bags_below_limit(rules: Rules, rng: np.random.Generator) -> tuple[int, int]:
    most = rules.bag_limit or 20
    return int(rng.integers(most)), int(rng.integers(most))


def test_every_result_of_real_deals_is_taken() -> None:
    """Random play under random rules; the result, the bytes and a view that is told it (R16-R22)."""
    rng, chance = np.random.default_rng(1), random.Random(1)
    penalties = bostons = 0
    for seed in range(250):
        rules = some_rules(rng)
        game = Game(rules, seed=seed, bags=bags_below_limit(rules, rng))
        play_on(game, chance)
        result = game.result
        assert result is not None
        assert checked_result(game.rules, result) == result
        assert max(abs(part.points) for part in result) <= most_points(rules)
        assert Game.from_bytes(game.to_bytes()) == game
        game.next_match() if game.match_over else game.next_deal()
        assert Game.from_bytes(game.to_bytes()) == game
        penalties += any(part.penalty for part in result)
        bostons += any(part.boston for part in result)
    assert penalties > 10
    assert bostons > 0


BAD_RESULTS: list[tuple[Any, str]] = [
    (5, r"result is 5; allowed: two TeamResult values, by team"),
    ((CLASSIC[0],), r"result is \(TeamResult.*; allowed: two TeamResult"),
    ({0: CLASSIC[0], 1: CLASSIC[1]}, r"result is \{.*; allowed: two TeamResult"),
    ((CLASSIC[0], (50, 0, 0, 0, 0, False)), r"result is .*; allowed: two TeamResult"),
    ((replace(CLASSIC[0], contract="x"), CLASSIC[1]), r"result\[0\]\.contract is 'x'; allowed: an int"),
    ((replace(CLASSIC[0], contract=0.7), CLASSIC[1]), r"result\[0\]\.contract is 0\.7; allowed: an int"),
    ((replace(CLASSIC[0], contract=True), CLASSIC[1]), r"result\[0\]\.contract is True"),
    ((replace(CLASSIC[0], contract=55), CLASSIC[1]), r"result\[0\]\.contract is 55; allowed: a multiple of 10"),
    ((CLASSIC[0], replace(CLASSIC[1], contract=-270)), r"result\[1\]\.contract is -270; .* in -260\.\.260"),
    ((CLASSIC[0], replace(CLASSIC[1], contract=2**40)), r"result\[1\]\.contract is 1099511627776; allowed: an int"),
    ((replace(CLASSIC[0], nil=50), CLASSIC[1]), r"result\[0\]\.nil is 50; allowed: -200, -100, 0, 100, 200"),
    ((replace(CLASSIC[0], bags=14, bag_points=14), CLASSIC[1]), r"result\[0\]\.bags is 14; allowed: an int 0\.\.13"),
    ((replace(CLASSIC[0], bags=-1, bag_points=-1), CLASSIC[1]), r"result\[0\]\.bags is -1; allowed: an int 0\.\.13"),
    ((replace(CLASSIC[0], bag_points=3), CLASSIC[1]), r"result\[0\]\.bag_points is 3; allowed: bags \* 1"),
    ((replace(CLASSIC[0], penalty=100), CLASSIC[1]), r"result\[0\]\.penalty is 100; allowed with 2 bags: 0, -100"),
    ((replace(CLASSIC[0], penalty=-200), CLASSIC[1]), r"result\[0\]\.penalty is -200; allowed with 2 bags: 0, -100"),
    ((NOTHING, replace(NOTHING, penalty=-100)), r"result\[1\]\.penalty is -100; allowed with 0 bags: 0 "),
    ((replace(CLASSIC[0], boston=1), CLASSIC[1]), r"result\[0\]\.boston is 1; allowed: True or False"),
    ((replace(CLASSIC[0], contract=90), CLASSIC[1]), r"contracts made and bags for 14 tricks; allowed: 13"),
    ((replace(NOTHING, boston=True), replace(NOTHING, boston=True)), r"boston of one team and tricks of the other"),
    ((replace(CLASSIC[0], boston=True), CLASSIC[1]), r"boston of one team and tricks of the other"),
    ((replace(NOTHING, contract=10), replace(NOTHING, boston=True)), r"boston of one team and tricks of the other"),
]


@pytest.mark.parametrize(("result", "message"), BAD_RESULTS)
def test_a_view_is_told_no_impossible_result(result: Any, message: str) -> None:
    told: dict[str, Any] = {"seat": 0, "dealer": 3, "hand": SUITED[0], "deal": 1}
    assert View.from_known(**told, result=CLASSIC).result == CLASSIC
    with pytest.raises(PositionError, match=message):
        View.from_known(**told, result=result)


@pytest.mark.parametrize(
    ("rules", "bags", "penalties"),
    [
        ({"bag_limit": 0}, 3, [0]),
        ({}, 10, [-100]),
        ({}, 9, [0, -100]),
        ({"bag_limit": 5}, 11, [-200, -300]),
        ({"bag_limit": 5, "bag_after": "reset"}, 11, [-100]),
        ({"bag_limit": 1}, 2, [-200]),
    ],
)
def test_penalties_are_those_that_some_count_below_the_limit_brings(
    rules: dict[str, Any], bags: int, penalties: list[int]
) -> None:
    for penalty in range(-400, 101, 50):
        told = (replace(NOTHING, bags=bags, bag_points=bags, penalty=penalty), NOTHING)
        if penalty in penalties:
            assert checked_result(Rules(**rules), told) == told
        else:
            with pytest.raises(PositionError, match=r"result\[0\]\.penalty is"):
                checked_result(Rules(**rules), told)


# ---------------------------------------------------------------- forged bytes with a right checksum


def running(rules: Any = "classic") -> Game:
    """A game in the middle of its second deal."""
    game, rng = Game(rules, seed=3), random.Random(3)
    play_on(game, rng)
    game.next_deal()
    play_on(game, rng, 25)
    assert game.phase == "play"
    return game


def put(name: str, value: Any) -> Callable[[StateArray], None]:
    def change(states: StateArray) -> None:
        target, field = (states["result"], name.removeprefix("result.")) if "." in name else (states, name)
        target[field] = value

    return change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (put("bags", (10, 0)), r"bags\[0\] is 10; allowed: 0\.\.9"),
        (put("bags", (0, 11)), r"bags\[1\] is 11; allowed: 0\.\.9"),
        (put("bags", (999_999, 0)), r"bags\[0\] is 999999; allowed: 0\.\.9"),
        (put("bags", (0, -1)), r"bags\[1\] is -1; allowed: 0\.\.9"),
        (put("scores", (-(2**31), 0)), r"scores\[0\] is -2147483648 before the deal; allowed in deal 1"),
        (put("scores", (0, -1_001_800)), r"scores\[1\] is -1001800 before the deal"),
        (put("result.contract", (10**9, 0)), r"result\[0\]\.contract is 1000000000"),
        (put("result.nil", (0, 1)), r"result\[1\]\.nil is 1"),
        (put("result.penalty", (0, 7)), r"result\[1\]\.penalty is 7"),
        (put("result.boston", 7), r"result has scored 1 and boston 7"),
        (put("result.boston", -2), r"result has scored 1 and boston -2"),
        (put("result.scored", 5), r"result has scored 5 and boston -1"),
        (put("result.scored", -1), r"result has scored -1"),
        (put("result.scored", 0), r"its result is that of no deal scored"),
        (put("deal", 0), r"it has a result in the first deal of its first match"),
        (put("deal", HIGHEST_COUNT + 1), r"its deal cannot be"),
        (put("deal", -1), r"its deal cannot be"),
        (put("match", HIGHEST_COUNT + 1), r"its match cannot be"),
        (put("match", -1), r"its match cannot be"),
    ],
)
def test_a_match_that_no_deals_lead_to_is_refused(change: Callable[[StateArray], None], message: str) -> None:
    states = running().states.copy()
    Game.from_bytes(pack_state(states))
    change(states)
    with pytest.raises(StorageError, match=message):
        Game.from_bytes(pack_state(states))


def test_a_result_before_the_first_deal_is_refused() -> None:
    states = Game(seed=1).states.copy()
    states["result"]["contract"][0, 0] = 50
    with pytest.raises(StorageError, match="result is that of no deal scored"):
        Game.from_bytes(pack_state(states))


@pytest.mark.parametrize("rules", PRESETS)
def test_forged_results_of_a_deal_that_is_over_are_refused(rules: str) -> None:
    game = Game(rules, seed=3)
    play_on(game, random.Random(3))
    for name, value in (("scores", (2**31 - 1, 0)), ("bags", (10, 0)), ("result.nil", (0, 7)), ("result.scored", 0)):
        states = game.states.copy()
        put(name, value)(states)
        with pytest.raises(StorageError, match="impossible"):
            Game.from_bytes(pack_state(states))


def test_bags_without_a_limit_run_on() -> None:
    """R21: `bag_limit: 0` counts bags over all deals; more than there were tricks is refused."""
    rules = Rules(bag_limit=0)
    states = Game(rules, bags=(1_000_000, 7)).states.copy()
    assert Game.from_bytes(pack_state(states)).bags == (1_000_000, 7)
    states["bags"] = (1_000_014, 7)
    with pytest.raises(StorageError, match=r"bags\[0\] is 1000014; allowed: 0\.\.1000013"):
        Game.from_bytes(pack_state(states))


# ---------------------------------------------------------------- counters


@pytest.mark.parametrize("name", ["deal", "match"])
def test_numbers_of_deals_and_matches_end_at_a_million(name: str) -> None:
    numbers: dict[str, Any] = {name: HIGHEST_COUNT}
    game = Game({"max_deals": 1} if name == "match" else "classic", seed=1, **numbers)
    play_on(game, random.Random(1))
    assert Game.from_bytes(game.to_bytes()) == game
    with pytest.raises(PositionError, match=rf"next_{name} is called in {name} 1000000; allowed before 1000000"):
        game.next_match() if name == "match" else game.next_deal()
    with pytest.raises(PositionError, match=rf"{name} is {2**31 - 1}; allowed: an int 0\.\.1000000"):
        Game(**{name: 2**31 - 1})


def test_scores_end_before_they_would_wrap() -> None:
    game = Game(seed=1)
    play_on(game, random.Random(1))
    game.states["scores"] = (0, -HIGHEST_TOTAL - 1)
    with pytest.raises(PositionError, match=r"next_deal is called at scores \(0, -2000000001\); allowed up to"):
        game.next_deal()


@pytest.mark.parametrize("bags", [10, 11, 999_999])
def test_no_encoder_writes_outside_its_row(bags: int) -> None:
    """Bags that no kernel leaves behind, written into the record from outside."""
    game = Game(seed=1)
    game.states["bags"] = (0, bags)
    with pytest.raises(ValueError, match=r"bags of a game are at their limit or above"):
        observe_seat(game.states, 0, 0, np.zeros(FLAT_SIZE, np.uint8))
