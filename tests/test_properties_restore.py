"""Properties of keeping games: what is saved and restored has the same future; one game is a row of many.

test_record.py and test_game.py restore to the same bytes; here the restored game is played on, into the next deals.
"""

from __future__ import annotations

import copy
import pickle
from collections import Counter
from collections.abc import Callable

import numpy as np
from hypothesis import strategies as st
from property_games import Plan, few_and_many, for_all, plans
from record_games import again

from spades_env.engine.batch import legal_action_list, step_games
from spades_env.engine.state import MAX_ACTIONS, StateArray
from spades_env.game import Game

FUTURE = 100
"""Actions for which a restored game is played on beside the one that was saved."""


def from_prefix(game: Game) -> Game:
    """The game again from its first cards and all actions of the deal."""
    record = game.to_record()
    cards = {name: record[name] for name in ("hands", "pile") if name in record}
    return Game.from_position(
        game.rules,
        dealer=record["dealer"],
        scores=record["scores"],
        bags=record["bags"],
        actions=game.action_texts,
        seed=record["seed"],
        **cards,
    )


WAYS: dict[str, Callable[[Game], Game]] = {
    "bytes": lambda game: Game.from_bytes(game.to_bytes()),
    "pickle": lambda game: pickle.loads(pickle.dumps(game)),
    "copy": copy.deepcopy,
    "record": lambda game: Game.from_record(again(game.to_record())),
    "prefix": from_prefix,
}


def game_of(plan: Plan) -> Game | None:
    """The planned deal as a `Game`, or None if its scores end the match before it."""
    try:
        return Game(plan.rules, seed=plan.seed, dealer=plan.dealer, scores=plan.scores, bags=plan.bags)
    except ValueError:
        return None


def move(game: Game, byte: int) -> None:
    """The next action, deal or match."""
    if game.match_over:
        game.next_match()
    elif game.deal_over:
        game.next_deal()
    else:
        legal = game.legal_actions()
        game.apply(legal[byte % len(legal)])


def check_restored_futures(example: tuple[Plan, int, bool]) -> Counter[str]:
    """R6: at any point of any deal, restored in any way, the game has the same future: cards, chances and results."""
    plan, stop, to_the_end = example
    game = game_of(plan)
    if game is None:
        return Counter(ended=1)
    for k in range(stop):
        move(game, plan.choices[k % len(plan.choices)])
    while to_the_end and not game.deal_over:
        move(game, plan.choices[-1])
    ways = {name: way for name, way in WAYS.items() if name != "prefix" or game.deal == game.match == 0}
    restored = {name: way(game) for name, way in ways.items()}
    events = Counter({"saved later": int(game.deal > 0), "saved at the end": int(game.deal_over)})
    events["next matches"] -= game.match
    for k in range(FUTURE):
        for name, other in restored.items():
            assert other.legal_actions() == game.legal_actions(), name
            # Hands that are given have no order, so the pack differs where nobody sees it.
            assert other == game if name == "prefix" else other.states.tobytes() == game.states.tobytes(), name
            move(other, plan.choices[k % len(plan.choices)])
        move(game, plan.choices[k % len(plan.choices)])
    events["next matches"] += game.match
    events["next deals"] += game.deal > 0
    return events


@few_and_many
def test_a_restored_game_has_the_same_future(examples: int) -> None:
    strategy = st.tuples(plans(), st.integers(0, 2 * MAX_ACTIONS), st.booleans())
    events = for_all(strategy, check_restored_futures, examples // 4)
    assert min(events[name] for name in ("saved later", "saved at the end", "next matches", "next deals")) > 0, events
    assert events["ended"] < events["examples"] // 2


def step_once(states: StateArray, actions: list[int], whole_match: bool) -> list[np.ndarray]:
    """`step_games` on any rules in one array; what it reported."""
    n = len(states)
    reports = [np.zeros(n, np.float32), np.zeros((n, 2), np.int32), *(np.zeros(n, np.bool_) for _ in range(3))]
    step_games(states, np.array(actions, np.int64), whole_match, float("nan"), *reports)
    return reports


def check_rows(example: tuple[list[Plan], bool]) -> Counter[str]:
    """Games of different rules in one array go as each does in an array of its own."""
    drawn, whole_match = example
    alone = [plan.start() for plan in drawn]
    together = np.concatenate(alone)
    events = Counter[str]()
    for k in range(70):
        actions = []
        for i, plan in enumerate(drawn):
            legal = legal_action_list(together, i)
            assert legal == legal_action_list(alone[i], 0)
            actions.append(legal[plan.choices[k] % len(legal)])
        reported = step_once(together, actions, whole_match)
        singly = [step_once(states, actions[i : i + 1], whole_match) for i, states in enumerate(alone)]
        for i, reports in enumerate(singly):
            for row, all_rows in zip(reports, reported, strict=True):
                assert row[0].tobytes() == all_rows[i].tobytes()
        assert together.tobytes() == b"".join(states.tobytes() for states in alone)
        events["scored"] += int(reported[2].sum())
    events["mixed"] += len({plan.rules for plan in drawn}) > 1
    return events


@few_and_many
def test_a_game_alone_is_a_row_of_many(examples: int) -> None:
    examples //= 4
    events = for_all(st.tuples(st.lists(plans(), min_size=2, max_size=5), st.booleans()), check_rows, examples)
    assert events["mixed"] > examples // 2, events
    assert events["scored"] > examples, events
