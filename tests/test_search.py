"""The agents that search: playouts by the rules, blind to what is hidden, repeatable, exact where they can be."""

from __future__ import annotations

import copy
import itertools
import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from light_agents import LIGHT
from search_positions import (
    POINTS_NORMAL,
    acting,
    in_another_world,
    layouts_left,
    littered,
    played_by,
    rules_of,
    scattered,
    stuffed,
)

from agents.base import ActionArray, Agent, AgentError, KeyArray, decision_keys
from agents.registry import load_agent
from agents.search import agent as agent_module
from agents.search.agent import LEVELS, SearchAgent
from agents.search.playout import playouts
from agents.search.solver.api import NO_LIMIT, solve_moves_at
from agents.search.solver.workspace import new_workspace
from agents.stakes import POINTS
from spades_env.cards import SUIT_MASKS
from spades_env.engine import step
from spades_env.engine.batch import legal_action_list
from spades_env.engine.play import SPADE_MASK
from spades_env.engine.state import PHASE_BID, PHASE_DEAL_OVER, PHASE_PLAY, StateArray
from spades_env.rules import PRESETS, Rules

ROOT = Path(__file__).resolve().parent.parent
NAMES = ("normal", "hard", "expert")


def keys_of(states: StateArray) -> KeyArray:
    """Decision keys of all games."""
    keys = np.empty(len(states), np.uint64)
    decision_keys(states, keys)
    return keys


def moves_of(agent: Agent, states: StateArray) -> ActionArray:
    """What `agent` does in every position."""
    return agent.act(acting(states), keys_of(states))


# --- Playouts -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", [*PRESETS, *range(40)])
def test_a_playout_is_normal_on_views_stepped_by_the_engine(case: str | int) -> None:
    """Record for record; so playouts know the rules by the engine alone, and no seat sees more than her view."""
    states = scattered(rules_of(case), 6, 5)
    ends = states.copy()
    playouts(ends, POINTS)
    assert (ends["phase"] >= PHASE_DEAL_OVER).all()
    for i, position in enumerate(states):
        last = played_by(POINTS_NORMAL, states[i : i + 1])[-1]
        action = int(POINTS_NORMAL.act(acting(last), keys_of(last))[0])
        step.apply(last, 0, action)
        assert last[0].tobytes() == ends[i].tobytes(), position
    assert len(states) > 20


# --- Blind to what is hidden --------------------------------------------------------------------------------


def changed(agent: Agent, states: StateArray, rng: np.random.Generator) -> int:
    """In how many positions something hidden makes a difference: another world, the truth or litter in the view."""
    views, keys = acting(states), keys_of(states)
    other = in_another_world(states, views, int(rng.integers(1 << 30)))
    moves = agent.act(views, keys)
    differs = agent.act(acting(other), keys) != moves
    for peeped in (stuffed(views, states), stuffed(views, other), littered(views, rng)):
        differs |= agent.act(peeped, keys) != moves
    return int(differs.sum())


class Peeks:
    """`normal`, but that she holds back her highest card while the next seat has a spade."""

    name = "peeks"

    def act(self, views: StateArray, keys: KeyArray) -> ActionArray:
        """See `Agent`."""
        moves = POINTS_NORMAL.act(views, keys)
        known = views["known"]
        for i in np.flatnonzero(known["phase"] == PHASE_PLAY):
            rules = known["rules"][i]
            following = (int(known["turn"][i]) + int(rules["step"])) % int(rules["players"])
            if int(known["hands"][i, following]) & SPADE_MASK:
                moves[i] = legal_action_list(known, int(i))[0]
        return moves


HIDDEN_CASES = [*PRESETS, *range(20, 36)]


@pytest.mark.parametrize("name", NAMES)
def test_what_is_hidden_makes_no_difference(name: str) -> None:
    agent, compared = load_agent(LIGHT[name]), 0
    for k, case in enumerate(HIDDEN_CASES):
        states = scattered(rules_of(case), 12, 7, seed=k)
        assert changed(agent, states, np.random.default_rng(k)) == 0, case
        compared += len(states)
    assert compared >= 1000


@pytest.mark.parametrize("case", [case for case in HIDDEN_CASES if case in PRESETS])
def test_one_who_peeks_is_found_out(case: str) -> None:
    assert changed(Peeks(), scattered(rules_of(case), 12, 7), np.random.default_rng(0)) > 5


# --- Repeatable ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["hard", "expert"])
def test_what_was_searched_before_makes_no_difference(name: str) -> None:
    """The desk is used again and again, by decisions of every kind and rule set."""
    used = load_agent(LIGHT[name])
    for case in (*PRESETS, 3, 4, 5):
        states = scattered(rules_of(case), 4, 6)
        moves = moves_of(used, states)
        assert (moves_of(used, states[::-1])[::-1] == moves).all()
        assert (moves_of(load_agent(LIGHT[name]), states) == moves).all()


def test_another_key_may_change_a_searched_move_and_none_of_normals() -> None:
    states = scattered(PRESETS["classic"], 12, 7)
    views, keys = acting(states), keys_of(states)
    hard = load_agent(LIGHT["hard"])
    assert (hard.act(views, keys + np.uint64(1)) != hard.act(views, keys)).any()
    assert (POINTS_NORMAL.act(views, keys + np.uint64(1)) == POINTS_NORMAL.act(views, keys)).all()


def test_copies_leave_the_desk_behind_and_play_the_same() -> None:
    states = scattered(PRESETS["classic"], 4, 9)
    agent = SearchAgent(worlds=6, draws=2, reads=2, exact=3, objective="points")
    moves = moves_of(agent, states)
    assert "_desk" in vars(agent)
    for made in (pickle.loads(pickle.dumps(agent)), copy.deepcopy(agent), copy.copy(agent)):
        assert made == agent
        assert "_desk" not in vars(made)
        assert (moves_of(made, states) == moves).all()
    assert len(pickle.dumps(agent)) < 1000


def few_moves() -> list[int]:
    """Moves of `normal` and of a small search in a few positions of two presets."""
    moves: list[int] = []
    for preset in ("classic", "two_player"):
        states = scattered(PRESETS[preset], 1, 9)
        for agent in (POINTS_NORMAL, SearchAgent(worlds=3, draws=2, reads=2, exact=2, objective="points")):
            moves += moves_of(agent, states).tolist()
    return moves


def test_without_compiling_the_moves_are_the_same() -> None:
    code = "import sys; sys.path[:0] = ['tests', '.']; import test_search; print(test_search.few_moves())"
    plain = subprocess.run(
        [sys.executable, "-W", "error::RuntimeWarning", "-c", code],
        cwd=ROOT,
        env=os.environ | {"NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert plain.returncode == 0, plain.stderr
    assert plain.stdout.strip() == str(few_moves())


# --- Exact --------------------------------------------------------------------------------------------------


WORKSPACE = new_workspace()


def exact_values(states: StateArray, i: int) -> dict[int, float]:
    """What every legal card is worth to the team of the seat to act, by the solver."""
    values = np.zeros(54)
    solve_moves_at(states, i, WORKSPACE, POINTS, NO_LIMIT, values)
    sign = 1.0 if int(states["turn"][i]) % 2 == 0 else -1.0
    return {card: sign * float(values[card]) for card in legal_action_list(states, i)}


ALL_DEALT = Rules(players=2, suits=2, ranks=8, hand_size=8)
"""Two hands that are the whole pack: each seat knows the other's cards from the start."""


def show_voids(states: StateArray) -> None:
    """Let everybody know which suits the others do not hold, as if they had shown it."""
    for suit, mask in enumerate(SUIT_MASKS):
        states["voids"] |= ((states["hands"] & mask) == 0).astype(np.int8) << suit


@pytest.mark.parametrize(
    "rules", [ALL_DEALT, ALL_DEALT.replace(lead_spades="any", bag_limit=3), PRESETS["classic"], PRESETS["table"]]
)
def test_where_one_layout_is_left_the_move_is_the_solvers(rules: Rules) -> None:
    agent = SearchAgent(worlds=2, draws=1, reads=1, exact=8, objective="points")
    states = scattered(rules, 8 if rules.players == 2 else 150, 1)
    states = states[(states["phase"] == PHASE_PLAY) & (states["trick"] >= (0 if rules.players == 2 else 9))]
    show_voids(states)
    states = states[np.array(layouts_left(acting(states))) == 1.0]
    moves, mattered = moves_of(agent, states), 0
    for i, move in enumerate(moves):
        values = exact_values(states, i)
        assert values[int(move)] == max(values.values())
        mattered += len(set(values.values())) > 1
    assert mattered >= (20 if rules.players == 2 else 5)


# --- With a clock -------------------------------------------------------------------------------------------


class Batches:
    """In the place of `search_row`: notes batch numbers and the worlds that were drawn."""

    def __init__(self) -> None:
        self.numbers: list[int] = []
        self.worlds: list[bytes] = []
        self._search = agent_module.search_row

    def __call__(self, views: Any, row: int, key: Any, batch: int, *rest: Any) -> int:
        left = self._search(views, row, key, batch, *rest)
        self.numbers.append(batch)
        self.worlds.append(rest[-1].hands.tobytes())
        return left


@pytest.fixture
def batches(monkeypatch: pytest.MonkeyPatch) -> Batches:
    """What an anytime search did."""
    found = Batches()
    monkeypatch.setattr(agent_module, "search_row", found)
    return found


def anytime(ms: float) -> SearchAgent:
    """A search in small batches that drops candidates only if they are behind in every world alike."""
    return SearchAgent(worlds=16, draws=1, reads=1, exact=2, margin=1e9, objective="points", ms=ms)


@pytest.mark.parametrize("case", [*PRESETS, 1, 5])
def test_with_no_time_to_speak_of_there_is_one_batch(case: str | int, batches: Batches) -> None:
    """And a legal move in every phase, decisions without a search among them."""
    states = scattered(rules_of(case), 4, 5)
    for i, move in enumerate(moves_of(anytime(1e-9), states)):
        assert step.is_legal(states, i, int(move))
    assert 5 < len(batches.numbers) <= len(states)
    assert set(batches.numbers) == {0}


def test_with_time_there_are_more_batches_of_other_worlds(batches: Batches) -> None:
    states = scattered(PRESETS["classic"], 3, 20)
    states = states[(states["phase"] == PHASE_BID) | (states["phase"] == PHASE_PLAY)]
    moves_of(anytime(1e-9), states)  # compiled by now
    batches.numbers.clear()
    batches.worlds.clear()
    moves = moves_of(anytime(200.0), states)
    assert all(step.is_legal(states, i, int(move)) for i, move in enumerate(moves))
    assert max(batches.numbers) >= 2
    starts = [k for k, number in enumerate(batches.numbers) if number == 0] + [len(batches.numbers)]
    for start, end in itertools.pairwise(starts):
        assert batches.numbers[start:end] == list(range(end - start))
    assert len(set(batches.worlds)) == len(batches.worlds)


# --- Options ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "parts"),
    [
        ("worlds=1", ("worlds", "1", "2..100000")),
        ("worlds=1.5", ("worlds='1.5'", "2 or more")),
        ("draws=0", ("draws", "0", "1..1000")),
        ("reads=-1", ("reads", "-1", "0..1000")),
        ("exact=14", ("exact", "14", "0..13")),
        ("trust=-1", ("trust=-1", "0 or more")),
        ("margin=nan", ("margin", "nan", "finite")),
        ("doubt=1.5", ("doubt=1.5", "0..1")),
        ("objective=foo", ("objective='foo'", "auto, points, match")),
        ("ms=-1", ("ms=-1", "0 or more")),
        ("ms=nan", ("ms", "nan", "finite")),
        ("ms=inf", ("ms", "inf", "finite")),
        ("level=expert", ("'level'", "worlds, exact, draws")),
    ],
)
@pytest.mark.parametrize("name", ["hard", "expert"])
def test_options_that_cannot_be_are_refused(name: str, options: str, parts: tuple[str, ...]) -> None:
    with pytest.raises(AgentError) as caught:
        load_agent(f"{name}:{options}")
    assert repr(name) in str(caught.value)
    for part in parts:
        assert part in str(caught.value)


def test_names_tell_the_options_that_are_not_the_levels_own() -> None:
    assert load_agent("hard").name == "hard"
    worlds = LEVELS["expert"]["worlds"]
    assert load_agent(f"expert:worlds={worlds}").name == "expert"
    assert load_agent(f"hard:worlds={worlds}").name == f"hard:worlds={worlds}"
    for spec in ("hard:worlds=200,trust=0.5", "expert:worlds=90,exact=0", "hard:objective=match,ms=20"):
        agent = load_agent(spec)
        assert load_agent(agent.name) == agent
        assert set(agent.name.partition(":")[2].split(",")) == set(spec.partition(":")[2].split(","))
