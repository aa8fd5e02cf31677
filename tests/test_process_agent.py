"""Agents that are programs: what they are told is a view and nothing else, and the examples play as their twins."""

from __future__ import annotations

import copy
import json
import pickle
import re
import shutil
import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from record_games import drafted_game, preset_or_random_rules
from test_leak import CASES, collect, scrambled

import spades_env.envs  # noqa: F401  (registers the environment)
from agents.base import AgentError, decision_keys
from agents.process import ProcessAgent
from agents.process.protocol import REQUEST_FIELDS, legal_masks, read_hello, read_reply, request_lines
from agents.registry import load_agent
from evaluation.duplicate import evaluate
from spades_env.engine import step
from spades_env.engine.batch import sample_actions
from spades_env.engine.state import PHASE_DEAL_OVER, STATE, StateArray, rules_to_record
from spades_env.envs.players import as_player
from spades_env.game import Game, TeamResult, View
from spades_env.rules import PRESETS, Rules
from spades_env.view import empty_views, view_of, views_to_act

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = ROOT / "docs" / "examples" / "agents"
PAGE = (ROOT / "docs" / "external_agents.md").read_text(encoding="utf-8")
PYTHON = Path(sys.executable).as_posix()


def example(program: str, name: str) -> str:
    """The text of an example's agent."""
    return f"process:'{program}' '{(EXAMPLES / name).as_posix()}'"


def requests(views: StateArray, keys: np.ndarray, first_id: int = 0) -> list[bytes]:
    return request_lines(views, keys, legal_masks(views), first_id)


# --- What a request says ------------------------------------------------------------------------------------


def told_view(request: dict[str, Any]) -> View:
    """The view that a request tells, put together from its fields alone."""
    rules, draft, last = Rules.from_dict(request["rules"]), request["draft"], request["last_result"]
    hand = request["hand"]
    if hand is not None:
        hand = hand + [card for _, seat, card in request["plays"] if seat == request["seat"]]
    return View.from_known(
        rules,
        seat=request["seat"],
        dealer=request["dealer"],
        hand=hand,
        actions=[text for _, text in request["calls"]] + [card for _, _, card in request["plays"]],
        scores=request["scores"],
        bags=request["bags"],
        deal=request["deal"],
        match=request["match"],
        shown=draft and draft["shown"],
        rejected=draft["rejected"] if draft else (),
        result=None if last is None else (TeamResult(**last[0]), TeamResult(**last[1])),
    )


def positions_to_decide(rules: Rules, seed: int, count: int) -> StateArray:
    """Games of random play over some deals, at random moments of them, none of them over."""
    states, actions = np.zeros(1, STATE), np.zeros(1, np.int64)
    step.new_games(states, rules_to_record(rules), seed, 0)
    rng, found = np.random.default_rng(seed), []
    for n in range(100_000):
        if len(found) == count:
            break
        if step.is_over(states, 0):
            step.advance(states, 0)
        elif rng.random() < 0.2:
            found.append(states.copy())
        if not step.is_over(states, 0):
            sample_actions(states, np.uint64(seed), n, actions)
            step.apply(states, 0, int(actions[0]))
    return np.concatenate(found)


@given(st.integers(0, 2**32 - 1))
def test_a_request_tells_the_whole_view(seed: int) -> None:
    """Byte for byte (R30): a view put together from the request alone is the seat's view."""
    states = positions_to_decide(preset_or_random_rules(seed), seed, 12)
    views = empty_views(len(states))
    views_to_act(states, views)
    for k, line in enumerate(requests(views, np.zeros(len(states), np.uint64))):
        assert told_view(json.loads(line)).views.tobytes() == views[k : k + 1].tobytes()


@given(st.integers(0, 2**32 - 1))
def test_what_a_request_repeats_agrees_with_the_view(seed: int) -> None:
    states = positions_to_decide(preset_or_random_rules(seed), seed, 12)
    views, keys = empty_views(len(states)), np.empty(len(states), np.uint64)
    views_to_act(states, views)
    decision_keys(states, keys)
    for k, line in enumerate(requests(views, keys, 100)):
        request, view = json.loads(line), View(views[k : k + 1])
        assert tuple(request) == REQUEST_FIELDS
        assert (request["type"], request["id"], request["key"]) == ("decide", 100 + k, str(keys[k]))
        assert (request["seat"], request["phase"], request["first"]) == (view.turn, view.phase, view.first)
        assert request["legal"] == view.legal_texts()
        assert len(request["legal"]) > 0
        assert (request["bids"], request["blind"], request["looked"]) == (view.bids, view.blind, view.looked)
        assert (request["tricks"], request["broken"]) == (view.tricks, view.broken)
        plays = [(seat, card) for _, seat, card in request["plays"]]
        assert plays == [(seat, view.action_texts[len(request["calls"]) + n]) for n, (seat, _) in enumerate(view.plays)]
        assert [trick for trick, _, _ in request["plays"]] == [n // view.players for n in range(len(plays))]
        assert request["trick"] == [list(play) for play in plays[len(plays) - len(view.trick) :]]
        assert (request["draft"] is None) == (view.rules.deal == "dealt")
        if request["draft"]:
            assert request["draft"]["pile_left"] == view.pile_left
            assert request["draft"]["exchanged"] == list(view.exchanged)


def test_calls_name_who_made_them() -> None:
    """Against `Game.turn` as the deal goes, in every preset."""
    for name, seed in ((name, seed) for name in PRESETS for seed in range(4)):
        game, rng, called = Game(name, seed=seed, scores=(-150, 0)), np.random.default_rng(seed), []
        while not game.deal_over:
            view = game.view(game.turn)
            request = json.loads(requests(view.views, np.zeros(1, np.uint64))[0])
            assert [seat for seat, _ in request["calls"]] == called[: len(request["calls"])]
            assert [seat for _, seat, _ in request["plays"]] == called[len(request["calls"]) :]
            called.append(game.turn)
            game.apply(int(rng.choice(game.legal_actions())))


def test_an_exchange_shows_each_her_own_cards() -> None:
    """R28, R29: seat 0 gave up two cards; seat 1 sees when, and how many."""
    game = drafted_game()
    told = [json.loads(requests(game.view(seat).views, np.zeros(1, np.uint64))[0]) for seat in (0, 1)]
    given = [call for call in told[0]["calls"] if len(call[1]) == 2]
    assert [seat for seat, _ in given] == [0, 0]
    assert sorted(card for _, card in given) == sorted(told[0]["draft"]["thrown"])
    hidden = [[0, "?"] if call in given else call for call in told[0]["calls"]]
    assert told[1]["calls"] == hidden
    assert (told[1]["draft"]["thrown"], told[1]["draft"]["exchanged"]) == ([], [2, 0])


@pytest.mark.parametrize("name", CASES)
def test_hidden_cards_do_not_move_a_request(name: str) -> None:
    """R30: what the seat to act cannot know is permuted, and not a byte of her request may change."""
    rules, phases = CASES[name]
    states = collect(rules, tuple(phase for phase in phases if phase < PHASE_DEAL_OVER), 60, seed=5)
    rng, views, key = np.random.default_rng(5), empty_views(1), np.zeros(1, np.uint64)
    moved = 0
    for i in range(len(states)):
        seat = int(states["turn"][i])
        other_world = scrambled(states, i, seat, rng)
        moved += states[i : i + 1].tobytes() != other_world.tobytes()
        view_of(states, i, seat, views, 0)
        told = requests(views, key)
        view_of(other_world, 0, seat, views, 0)
        assert requests(views, key) == told
    assert moved == len(states)


def test_nothing_but_the_view_is_read() -> None:
    """A view with the truth put back into it makes the same request."""
    for rules in PRESETS.values():
        states = positions_to_decide(rules, 3, 60)
        views = empty_views(len(states))
        views_to_act(states, views)
        cheating = views.copy()
        cheating["known"] = states
        keys = np.zeros(len(states), np.uint64)
        # Hidden exchanged cards and the pile stand in fields that only a view's maker may blank.
        if rules.deal == "dealt":
            assert requests(cheating, keys) == requests(views, keys)


# --- The page -----------------------------------------------------------------------------------------------


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)


def example_view() -> View:
    """The position that the page shows: the second trick of the second deal."""
    game = Game("classic", seed=7)
    for cards in (52, 6):
        for tricks in (3, 2, 4, 3):
            game.apply(f"bid {tricks}")
        for _ in range(cards):
            game.apply(game.legal_actions()[-1])
        if game.deal_over:
            game.next_deal()
    assert game.turn is not None
    return game.view(game.turn)


def test_the_exchange_on_the_page_is_what_happens() -> None:
    hello, hello_back, request, reply = blocks("json")
    assert json.loads(hello) == {"type": "hello", "protocol": "spades-agent", "version": 1}
    assert read_hello(hello_back.encode()) == "highest.js"
    view, key = example_view(), np.array([11400714819323198485], np.uint64)
    (line,) = requests(view.views, key, 28)
    assert json.loads(request) == json.loads(line)
    twin = int(load_agent("highest").act(view.views, key)[0])
    assert read_reply(reply.encode(), 28) == view.legal_texts()[view.legal_actions().index(twin)]


def test_line_ends_of_windows_are_understood() -> None:
    assert read_hello(b'{"type": "hello", "protocol": "spades-agent", "version": 1, "name": "bot"}\r\n') == "bot"
    assert read_reply(b'{"id": 3, "action": "AS"}\r\n', 3) == "AS"


def test_the_page_lists_every_field() -> None:
    table = PAGE.partition("## Fields of a request")[2].partition("\n## ")[0]
    names = re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE)
    assert names == list(REQUEST_FIELDS)


# --- The examples play as their twins -----------------------------------------------------------------------


class ByKey:
    """The twin of by_key.py."""

    name = "by_key"

    def act(self, views: StateArray, keys: np.ndarray) -> np.ndarray:
        masks = legal_masks(views)
        choices = [np.flatnonzero(mask) for mask in masks]
        return np.array([legal[int(key) % len(legal)] for legal, key in zip(choices, keys, strict=True)], np.int16)


def same_moves(text: str, twin: Any, preset: str, deals: int) -> None:
    """The program's duplicate deals are its twin's, byte for byte, and it is at fault in nothing."""
    agent = load_agent(text)
    assert isinstance(agent, ProcessAgent)
    with agent:
        played = evaluate(agent, "easy", preset, deals=deals, seed=11)
        assert played.log.tobytes() == evaluate(twin, "easy", preset, deals=deals, seed=11).log.tobytes()
        assert not agent.counts
        assert played.tallies[0].decisions > 20 * deals


@pytest.mark.parametrize("preset", PRESETS)
def test_the_node_example_plays_as_highest(preset: str) -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("Node is not installed")
    same_moves(example(Path(node).as_posix(), "highest.js"), "highest", preset, 20)


@pytest.mark.parametrize("preset", PRESETS)
def test_the_python_example_plays_as_its_twin(preset: str) -> None:
    same_moves(example(PYTHON, "by_key.py"), ByKey(), preset, 20)


@pytest.mark.parametrize(("preset", "deals"), [("classic", 20), ("modern", 2), ("two_player", 2)])
def test_the_shell_example_plays_as_lowest(preset: str, deals: int) -> None:
    if shutil.which("sh") is None or shutil.which("awk") is None:
        pytest.skip("there is no sh, or no awk")
    same_moves(example("sh", "lowest.sh"), "lowest", preset, deals)


def test_every_example_is_played_here() -> None:
    assert {path.name for path in EXAMPLES.iterdir() if path.is_file()} == {"highest.js", "by_key.py", "lowest.sh"}


# --- As any other agent -------------------------------------------------------------------------------------


def some_views(n: int = 8) -> tuple[StateArray, np.ndarray]:
    """Views and keys of `n` bids."""
    states = np.zeros(n, STATE)
    step.new_games(states, rules_to_record(PRESETS["classic"]), 1, 0)
    views, keys = empty_views(n), np.empty(n, np.uint64)
    views_to_act(states, views)
    decision_keys(states, keys)
    return views, keys


def test_more_requests_than_go_at_a_time_and_mixed_rules() -> None:
    states = np.concatenate([positions_to_decide(rules, 2, 80) for rules in PRESETS.values()])
    views, keys = empty_views(len(states)), np.empty(len(states), np.uint64)
    views_to_act(states, views)
    decision_keys(states, keys)
    with ProcessAgent(example(PYTHON, "by_key.py").removeprefix("process:")) as agent:
        assert agent.act(views, keys).tolist() == ByKey().act(views, keys).tolist()
        assert agent.act(views[:0], keys[:0]).shape == (0,)
        assert agent.act(views[5:6], keys[5:6]).tolist() == ByKey().act(views[5:6], keys[5:6]).tolist()


def act_here(agent: ProcessAgent) -> tuple[str, list[int]]:
    """What a worker does with an agent that came to it as a pickle."""
    with agent:
        return agent.name, agent.act(*some_views()).tolist()


def test_a_spawned_worker_starts_a_process_of_its_own() -> None:
    views, keys = some_views()
    agent = load_agent(example(PYTHON, "by_key.py"))
    assert isinstance(agent, ProcessAgent)
    with agent, ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        assert pool.submit(act_here, agent).result(120) == ("by_key.py", ByKey().act(views, keys).tolist())


def test_copies_and_pickles_leave_the_process_behind() -> None:
    agent = ProcessAgent(example(PYTHON, "by_key.py").removeprefix("process:"), limit=5, restarts=7)
    with agent:
        agent.start()
        for other in (copy.copy(agent), copy.deepcopy(agent), pickle.loads(pickle.dumps(agent))):
            assert (repr(other), other._client) == (repr(agent), None)
            assert other.name == "by_key.py"
            assert other._client is None


def test_an_environment_takes_the_text() -> None:
    text = example(PYTHON, "by_key.py")
    assert as_player("opponents", text).name == "by_key.py"
    env = gymnasium.make("spades_env/Spades-v0", opponents=text, episode="deal")
    twin = gymnasium.make("spades_env/Spades-v0", opponents=ByKey(), episode="deal")
    for one in (env, twin):
        one.reset(seed=4)
    over = False
    while not over:
        mask = env.unwrapped.action_masks()
        assert (twin.unwrapped.action_masks() == mask).all()
        action = int(mask.argmax())
        got, expected = env.step(action), twin.step(action)
        assert (got[0]["observation"] == expected[0]["observation"]).all()
        over = got[2] or got[3]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("process", "is not complete: process:COMMAND or process[limit=SECONDS"),
        ("process:", "is not complete"),
        ("process: ", "is not complete"),
        ("process[limit=2]", "is not complete"),
        ("process[limit=2:node x.js", "is not complete"),
        ("process[]:node x.js", "option '' must be key=value"),
        ("process[limit=0]:node x.js", "limit is 0.0; allowed: seconds for a decision, above 0"),
        ("process[limit=nan]:node x.js", "limit is nan; allowed: a finite number"),
        ("process[limit=soon]:node x.js", "limit='soon' is not allowed: seconds for a decision"),
        (
            "process[start=1e9]:node x.js",
            "start is 1000000000.0; allowed: seconds to say hello, above 0, at most 86400",
        ),
        ("process[restarts=-1]:node x.js", "restarts is -1; allowed: an int 0..1000000"),
        ("process[limt=2]:node x.js", "unknown option 'limt': one of limit, start, restarts"),
        ("process[limit=2,limit=3]:node x.js", "option 'limit' is given twice"),
        ("process:'node x.js", "is no command line: No closing quotation"),
        ("process:no_such_program_here x", "cannot be started: no program 'no_such_program_here' is found"),
    ],
)
def test_texts_that_are_wrong_are_refused_in_one_line(text: str, message: str) -> None:
    with pytest.raises(AgentError) as refused:
        load_agent(text)
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)
