"""Nothing hidden in anything that a seat receives (R30): one list of things, and other worlds that look the same.

tests/test_leak.py permutes hidden cards under views, masks and the environment; here every encoder, agent, picture,
message, environment and record stands in a registry, and one that is missing there fails a test. Worlds are of two
kinds: cards moved wherever a card can be hidden (`scrambled`), and deals that the engine itself plays to the same
course (`other_world`).
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import pkgutil
from collections import Counter
from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np
import pytest
import received
import received_courses
from other_worlds import TABLES, Course, course_of, other_world
from received import DTYPES, OF_STATE, OF_VIEW, seen_by
from received_courses import COURSES, Told
from search_positions import stuffed
from test_leak import scrambled

import agents.base
import spades_env.envs
import spades_env.observation
from agents.registry import AGENTS
from spades_cli.seated.screen import Screen
from spades_env.engine.state import PHASE_NAMES, StateArray
from spades_env.envs.aec import RENDER_MODES
from spades_env.envs.spaces import DTYPES as ALL_DTYPES
from spades_env.envs.spaces import OBSERVATIONS
from spades_env.observation import ENCODERS

EXTRAS = {
    **{"rgb_array": "pygame", "render rgb_array": "pygame"},
    **{"policy greedy": "safetensors", "policy sampled": "safetensors", "OpenSpiel": "pyspiel"},
}


def installed(things: Mapping[str, Any]) -> dict[str, Any]:
    """Those whose library is installed; the native environment of stable-baselines3 needs that."""
    needs = {name: EXTRAS.get(name, "stable_baselines3") for name in things}
    return {name: things[name] for name in things if importlib.util.find_spec(needs[name]) is not None}


VIEWED = OF_VIEW | installed(received.WITH_EXTRAS)
PLAYED = COURSES | installed(received_courses.WITH_EXTRAS)


# --- The comparison -----------------------------------------------------------------------------------------------


@cache
def courses(name: str, count: int, seed: int) -> tuple[tuple[Course, int, Course], ...]:
    """`count` courses of a table, each with a seat and another world that looks the same to her."""
    rng = np.random.default_rng(seed)
    found: list[tuple[Course, int, Course]] = []
    for k in range(4 * count):
        course = course_of(TABLES[name], seed * 10_000 + k, float(rng.random()))
        seat = int(rng.integers(course.rules.players))
        other = other_world(course, seat, rng)
        if other is not None:
            found.append((course, seat, other))
        if len(found) == count:
            return tuple(found)
    raise AssertionError(f"only {len(found)} of {count} courses have another world")


def same_but_for_hidden(views: StateArray, states: StateArray) -> StateArray:
    """The view with the truth put back in wherever she sees nothing, but for two things that only its maker may blank.

    They are her own hand before she has looked, and what the other seat gave up, which stands in the history.
    """
    found, seat = stuffed(views, states), int(views["seat"][0])
    found["known"]["actions"] = views["known"]["actions"]
    found["known"]["hands"][0, seat] = views["known"]["hands"][0, seat]
    return found


def leaks_at(name: str, count: int, seed: int, things: Mapping[str, Any]) -> tuple[Counter[str], Counter[str]]:
    """Comparisons made and differences found at `count` positions of a table, by thing."""
    made, differ = Counter[str](), Counter[str]()
    rng = np.random.default_rng(seed)
    for course, seat, other in courses(name, count, seed):
        states, views = course.game().states, seen_by(course.game().states, seat)
        worlds = [scrambled(states, 0, seat, rng), other.game().states]
        for thing, make in things.items():
            if thing in OF_STATE:
                told, again = make(states, seat), [make(world, seat) for world in worlds]
            else:
                told = make(views)
                again = [make(seen_by(world, seat)) for world in worlds]
                again += [make(same_but_for_hidden(views, world)) for world in (states, *worlds)]
            made[thing] += len(again)
            differ[thing] += sum(each != told for each in again)
    return made, differ


def leaks_in(name: str, count: int, seed: int, things: Mapping[str, Told]) -> tuple[Counter[str], Counter[str]]:
    """The same for whole courses through environments, terminal and records."""
    made, differ = Counter[str](), Counter[str]()
    for course, seat, other in courses(name, count, seed):
        for thing, play in things.items():
            told = play(course, seat)
            made[thing] += told != b""
            differ[thing] += play(other, seat) != told
    return made, differ


def check(made: Counter[str], differ: Counter[str], least: int) -> None:
    print(f"{made.total()} comparisons: " + ", ".join(f"{thing} {n}" for thing, n in made.items()))
    assert differ.total() == 0, {thing: n for thing, n in differ.items() if n}
    assert min(made.values()) >= least, made


THINKING = [thing for thing in VIEWED if thing.split()[0] in ("agent", "policy")]
SHOWN = {thing: make for thing, make in VIEWED.items() if thing not in THINKING} | OF_STATE


@pytest.mark.parametrize("name", TABLES)
def test_nothing_hidden_in_anything_made_for_a_seat(name: str) -> None:
    check(*leaks_at(name, 12, 1, SHOWN), least=24)


@pytest.mark.parametrize("thing", THINKING)
def test_nothing_hidden_moves_an_agent(thing: str) -> None:
    """Her choice, and what she says of chances, nils and hidden cards, where she has any."""
    for name in TABLES:
        check(*leaks_at(name, 12, 1, {thing: VIEWED[thing]}), least=24)


@pytest.mark.parametrize("name", TABLES)
def test_nothing_hidden_in_anything_received_in_a_deal(name: str) -> None:
    check(*leaks_in(name, 4, 2, PLAYED), least=1)


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("name", TABLES)
def test_nothing_hidden_in_many_positions_and_deals(name: str) -> None:
    """Run with -s to see how many comparisons of which thing were made."""
    check(*leaks_at(name, 100, 3, VIEWED | OF_STATE), least=200)
    check(*leaks_in(name, 20, 4, PLAYED), least=5)


@pytest.mark.parametrize("objective", ["normal:objective=match", "hard:worlds=6,draws=2,reads=2,objective=match"])
def test_nothing_hidden_moves_an_agent_that_plays_for_the_match(objective: str) -> None:
    """The one thing that an agent reads beside her view is a table of match equity, of public facts."""
    thing = {"match": lambda views: received.named_thoughts(objective, views)}
    check(*leaks_at("classic", 60, 5, thing), least=60)


def test_every_phase_is_met_with_something_hidden() -> None:
    phases, changed = Counter[str](), 0
    for name in TABLES:
        for course, seat, other in courses(name, 30, 6):
            one, two = course.game(), other.game()
            phases[PHASE_NAMES[int(one.states["phase"][0])]] += 1
            changed += (one.hands != two.hands) or course.cards != other.cards
            assert one.action_texts == two.action_texts or course.rules.deal == "draft"
            assert seen_by(one.states, seat).tobytes() == seen_by(two.states, seat).tobytes()
    assert changed == 30 * len(TABLES)
    assert min(phases[phase] for phase in ("blind", "bid", "play", "draft", "exchange")) > 3, phases


# --- Nothing is missing from the lists ----------------------------------------------------------------------------


def kernels_that_observe() -> set[str]:
    """Functions of spades_env.observation that write for the caller what somebody sees, of games in an array."""
    found = set()
    for module in pkgutil.iter_modules(spades_env.observation.__path__):
        room = importlib.import_module(f"spades_env.observation.{module.name}")
        for name, thing in vars(room).items():
            function = getattr(thing, "py_func", thing)
            if getattr(function, "__module__", "") == room.__name__ and callable(function):
                parameters = inspect.signature(function).parameters if not inspect.isclass(function) else {}
                if "states" in parameters or "views" in parameters:
                    found.add(name)
    return found


def test_every_encoder_and_kernel_is_on_the_list() -> None:
    assert set(OBSERVATIONS) == set(ENCODERS)
    assert set(DTYPES) == set(ALL_DTYPES)
    rows = {f"{kind} {name} {dtype}" for kind in ("encoder", "explain") for name in ENCODERS for dtype in DTYPES}
    assert rows <= set(OF_VIEW)
    encoders = {encoder.encode_views.__name__ for encoder in ENCODERS.values()} | {"encode_views_float32"}
    perfect = {"encode_state", "encode_state_float32", "encode_states_to_act", "encode_states_to_act_float32"}
    assert kernels_that_observe() == encoders | perfect | (set(OF_STATE) - {"view_of", "write_mask"})


def test_every_agent_and_all_that_she_can_be_asked_is_on_the_list() -> None:
    asked = {"Agent", "KnownPolicy", "Believer", "NilForecaster", "Valuer"}
    protocols = {name for name, thing in vars(agents.base).items() if getattr(thing, "_is_protocol", False)}
    assert protocols - {"Protocol", "OracleAgent"} == asked <= set(vars(received))
    assert {f"agent {name}" for name in AGENTS} == {name for name in OF_VIEW if name.startswith("agent ")}


ROOMS = {"aec", "players", "recycled", "registration", "sb3", "single", "spaces", "vector", "openspiel"}
"""Modules of spades_env.envs; of the last a state is no environment with `step`, and the list has it by its name."""


def test_every_environment_with_every_encoder_is_on_the_list() -> None:
    listed, found = COURSES | received_courses.WITH_EXTRAS, {"SpadesVecEnv"}
    assert {module.name for module in pkgutil.iter_modules(spades_env.envs.__path__)} == ROOMS
    for module in ROOMS - {"sb3", "openspiel"}:
        room = importlib.import_module(f"spades_env.envs.{module}")
        for thing in vars(room).values():
            if inspect.isclass(thing) and thing.__module__ == room.__name__ and hasattr(thing, "step"):
                found.add(thing.__name__)
    for name in found:
        assert {f"{name} {encoder} {dtype}" for encoder in ENCODERS for dtype in DTYPES} <= set(listed), name
    assert "OpenSpiel" in listed


def test_every_render_mode_and_screen_is_on_the_list() -> None:
    listed = COURSES | received_courses.WITH_EXTRAS
    assert {f"render {mode}" for mode in RENDER_MODES} == {name for name in listed if name.startswith("render ")}
    shown = {name for name in vars(Screen) if not name.startswith("_")}
    assert shown == {"card", "cards", "hand", "choice", "name", "headline", "scores", "seats", "draft", "trick"}
