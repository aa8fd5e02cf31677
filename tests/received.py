"""All that a seat receives at a position, one entry a thing: what tests/test_received.py permutes hidden cards under.

A new encoder, agent, way to render or kernel that observes needs an entry here; the test says which is missing.
Whole episodes through the environments, the terminal and records are in received_courses.py.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any, Final

import numpy as np
from light_agents import SPECS
from test_play import screen_of_view

from agents.base import Agent, AgentError, Believer, KeyArray, KnownPolicy, NilForecaster, Valuer
from agents.process.protocol import legal_masks, request_lines
from agents.registry import load_agent
from agents.search.calibration import CalibrationError
from evaluation.play import gather
from spades_cli.scores import score_table
from spades_cli.seated.answers import AnswerError, parse_answer
from spades_env.actions import NUM_ACTIONS, action_text
from spades_env.engine.batch import illegal_text, legal_action_list
from spades_env.engine.front import write_mask
from spades_env.engine.lockstep import OUTCOME
from spades_env.engine.state import PHASE_BID, PHASE_DEAL_OVER, StateArray, rules_from_record
from spades_env.game import View
from spades_env.observation import ENCODERS, FLAT_SIZE, explain
from spades_env.observation import flat as flat_kernels
from spades_env.observation import seats as seat_kernels
from spades_env.observation import selected as selected_kernels
from spades_env.render.ansi import in_colour, table_text
from spades_env.render.scene import scene_of
from spades_env.rules import Rules
from spades_env.view import empty_views, view_of, views_to_act, write_view_masks

FromView = Callable[[StateArray], bytes]
"""Takes one VIEW, shape (1,)."""
FromState = Callable[[StateArray, int], bytes]
"""Takes one STATE, shape (1,), and the seat."""

DTYPES: Final = ("uint8", "float32")
KEY: Final = np.array([11400714819323198485], np.uint64)
"""The key of every decision: a key tells nothing of the cards, so it stays as it is when they change."""


def as_bytes(thing: Any) -> bytes:
    """Anything that was received as bytes that differ if it does."""
    if isinstance(thing, np.ndarray) and thing.dtype != object:
        return f"{thing.dtype}{thing.shape}".encode() + thing.tobytes()
    if isinstance(thing, np.ndarray):
        return as_bytes(thing.tolist())
    if isinstance(thing, dict):
        return b"{" + b",".join(as_bytes(key) + b":" + as_bytes(value) for key, value in thing.items()) + b"}"
    if isinstance(thing, list | tuple):
        return b"[" + b",".join(map(as_bytes, thing)) + b"]"
    return thing if isinstance(thing, bytes) else repr(thing).encode()


# --- What is made of a view -----------------------------------------------------------------------------------


def row(views: StateArray, encoder: str, dtype: str = "uint8") -> np.ndarray:
    """The row of an encoder, shape (size,)."""
    out = np.empty((1, ENCODERS[encoder].layout.size), dtype)
    ENCODERS[encoder].write(views, out)
    return out[0]


def mask(views: StateArray) -> np.ndarray:
    """Her legal actions, int8 (73,); zeros off turn."""
    out = np.empty((1, NUM_ACTIONS), np.int8)
    write_view_masks(views, out)
    return out[0]


def words(views: StateArray, encoder: str, dtype: str) -> bytes:
    """`explain` of a row, alone and with its mask; features have no scores to put into words alone."""
    observation = {"observation": row(views, encoder, dtype), "action_mask": mask(views)}
    return (explain(observation["observation"]) + explain(observation)).encode()


def facts(views: StateArray) -> bytes:
    """Every public attribute and method without arguments of `View`, but the record itself."""
    view = View(views)
    names = [name for name in dir(View) if not name.startswith("_") and name not in ("views", "from_known")]
    found = {name: getattr(view, name) for name in names}
    return as_bytes({name: value() if callable(value) else value for name, value in found.items()} | {"": repr(view)})


def screen(views: StateArray) -> bytes:
    """What `spades play` shows: the table, the choices, and the answer to everything that might be typed."""
    view = View(views)
    said = [screen_of_view(view)]
    said += [as_bytes([list(column.cells) for column in score_table(view).columns]).decode()]
    if view.turn == view.seat:
        for text in (*map(action_text, range(NUM_ACTIONS)), "0", "1", "99", "xyz", ""):
            try:
                said.append(str(parse_answer(view, text)))
            except AnswerError as error:
                said.append(str(error))
    return "\n".join(said).encode()


def request(views: StateArray) -> bytes:
    """The line that the program of a process agent reads; only the seat to act is asked."""
    if not is_asked(views):
        return b""
    return b"".join(request_lines(views, KEY, legal_masks(views), 0))


def refusal(views: StateArray) -> bytes:
    """Errors for everything that the seat to act may not do."""
    known = np.ascontiguousarray(views["known"])
    if not is_asked(views):
        return b""
    legal = legal_action_list(known, 0)
    return as_bytes([illegal_text(known, 0, action) for action in range(-1, NUM_ACTIONS + 1) if action not in legal])


def is_asked(views: StateArray) -> bool:
    """Whether it is her turn."""
    known = views["known"][0]
    return int(known["phase"]) < PHASE_DEAL_OVER and int(known["turn"]) == int(views["seat"][0])


def picture_of(views: StateArray) -> bytes:
    """The pixels of `rgb_array` and of the window."""
    from spades_env.render.rgb import picture

    return bytes(picture(View(views)).tobytes())


# --- Agents ---------------------------------------------------------------------------------------------------


def thoughts(agent: Agent, views: StateArray) -> bytes:
    """What an agent chooses, and everything else she can be asked (agents/base.py)."""
    if not is_asked(views):
        return b""
    found = [answer(agent.act, views)]
    if isinstance(agent, KnownPolicy):
        found.append(answer(lambda views, key: agent.chances(views), views))
    if isinstance(agent, Believer):
        found.append(answer(agent.beliefs, views))
    if isinstance(agent, Valuer):
        found.append(answer(agent.values, views))
    if isinstance(agent, NilForecaster) and int(views["known"]["phase"][0]) == PHASE_BID:
        found.append(answer(agent.nil_chances, views))
    return as_bytes(found)


def answer(ask: Callable[[StateArray, KeyArray], Any], views: StateArray) -> Any:
    """What she says, or why she cannot: before the end of a draft, under rules that she does not know."""
    try:
        return ask(views.copy(), KEY)
    except (AgentError, CalibrationError) as error:
        return str(error)


@cache
def named(spec: str) -> Agent:
    """An agent, loaded once."""
    return load_agent(spec)


@cache
def policy(rules: Rules, sample: bool) -> Agent:
    """A learned policy with random weights for these rules; its files need an extra."""
    from agents.learned.policy import LearnedAgent
    from agents.learned.weights import input_size, tensor_forms

    rng = np.random.default_rng(3)
    forms = tensor_forms(input_size(rules), (16, 8))
    tensors = {name: rng.normal(0, 0.3, form).astype(np.float32) for name, form in forms.items()}
    return LearnedAgent(tensors, rules, sample=sample)


def named_thoughts(spec: str, views: StateArray) -> bytes:
    return thoughts(named(spec), views)


def policy_thoughts(sample: bool, views: StateArray) -> bytes:
    return thoughts(policy(rules_from_record(views["known"]["rules"][0]), sample), views)


OF_VIEW: Final[dict[str, FromView]] = {
    **{
        f"encoder {name} {dtype}": partial(lambda n, d, v: row(v, n, d).tobytes(), name, dtype)
        for name in ENCODERS
        for dtype in DTYPES
    },
    **{
        f"explain {name} {dtype}": partial(lambda n, d, v: words(v, n, d), name, dtype)
        for name in ENCODERS
        for dtype in DTYPES
    },
    "mask": lambda views: mask(views).tobytes(),
    "View": facts,
    "ansi": lambda views: in_colour(table_text(View(views))).encode(),
    "scene": lambda views: repr(scene_of(View(views))).encode(),
    "spades play": screen,
    "request": request,
    "refusal": refusal,
    **{f"agent {name}": partial(named_thoughts, spec) for name, spec in SPECS.items()},
}
"""Things made of a view; they must not change either if the truth is put back into what the view hides."""

WITH_EXTRAS: Final[dict[str, FromView]] = {
    "rgb_array": picture_of,
    "policy greedy": partial(policy_thoughts, False),
    "policy sampled": partial(policy_thoughts, True),
}
"""The same, for what needs the extras `render` and `train`."""


# --- What kernels make of a state -------------------------------------------------------------------------------


def of_seat(kernel: Any, dtype: str, states: StateArray, seat: int) -> bytes:
    out = np.empty(FLAT_SIZE, dtype)
    kernel(states, 0, seat, out)
    return out.tobytes()


def of_turn(kernel: Any, dtype: str, states: StateArray, seat: int) -> bytes:
    """Kernels that write for the seat to act of every game."""
    if int(states["turn"][0]) != seat:
        return b""
    out = np.empty((1, FLAT_SIZE), dtype)
    kernel(states, out)
    return out.tobytes()


def of_learner(kernel: Any, dtype: str, states: StateArray, seat: int) -> bytes:
    """Kernels that write for the learner of every game, when she is asked or her episode is over."""
    outcomes = np.zeros(1, OUTCOME)
    outcomes["seat"] = seat
    over = int(states["phase"][0]) >= PHASE_DEAL_OVER
    if not over and int(states["turn"][0]) != seat:
        return b""
    outcomes["terminated"] = over
    size = NUM_ACTIONS if dtype == "int8" else FLAT_SIZE
    out = empty_views(1) if dtype == "view" else np.empty((1, size), dtype)
    kernel(states, outcomes, np.zeros(1, np.int64), out)
    return out.tobytes()


def view_bytes(states: StateArray, seat: int) -> bytes:
    return seen_by(states, seat).tobytes()


def seen_by(states: StateArray, seat: int) -> StateArray:
    """The view of `seat`, shape (1,)."""
    views = empty_views(1)
    view_of(states, 0, seat, views, 0)
    return views


def views_asked(states: StateArray, seat: int) -> bytes:
    """Every way in which the seat to act is given her view."""
    if int(states["turn"][0]) != seat or int(states["phase"][0]) >= PHASE_DEAL_OVER:
        return b""
    one, two, three = empty_views(1), empty_views(1), empty_views(1)
    views_to_act(states, one)
    seat_kernels.views_of_games(states, np.zeros(1, np.int64), two)
    gather(states, np.zeros((1, 4), np.int8), 0, np.zeros(1, np.int64), three, np.zeros(1, np.uint64))
    return one.tobytes() + two.tobytes() + three.tobytes()


def observed_games(states: StateArray, seat: int) -> bytes:
    if int(states["turn"][0]) != seat or int(states["phase"][0]) >= PHASE_DEAL_OVER:
        return b""
    out, masks = np.empty((1, FLAT_SIZE), np.uint8), np.empty((1, NUM_ACTIONS), np.int8)
    selected_kernels.observe_games(states, np.zeros(1, np.int64), out, masks)
    return out.tobytes() + masks.tobytes()


def engine_mask(states: StateArray, seat: int) -> bytes:
    out = np.zeros(NUM_ACTIONS, np.int8)
    if int(states["turn"][0]) == seat:
        write_mask(states, 0, out)
    return out.tobytes()


OF_STATE: Final[dict[str, FromState]] = {
    "view_of": view_bytes,
    "views_of_games": views_asked,
    "views_of_learner": partial(of_learner, seat_kernels.views_of_learner, "view"),
    "observe_seat": partial(of_seat, flat_kernels.observe_seat, "uint8"),
    "observe_seat_float32": partial(of_seat, flat_kernels.observe_seat_float32, "float32"),
    "observe_to_act": partial(of_turn, flat_kernels.observe_to_act, "uint8"),
    "observe_to_act_float32": partial(of_turn, flat_kernels.observe_to_act_float32, "float32"),
    "observe_games": observed_games,
    "observe_learner": partial(of_learner, seat_kernels.observe_learner, "uint8"),
    "observe_learner_float32": partial(of_learner, seat_kernels.observe_learner_float32, "float32"),
    "learner_masks": partial(of_learner, seat_kernels.learner_masks, "int8"),
    "write_mask": engine_mask,
}
"""Kernels that take a state and write what one seat may see of it, by name."""
