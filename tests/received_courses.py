"""All that a seat receives while a deal is played, through every environment, the terminal and records.

Each entry plays a `Course` through public interfaces alone, the other seats by script, and returns what one seat was
given from the start on. In another world that looks the same to her, it must be the same (tests/test_received.py).
"""

from __future__ import annotations

import contextlib
import io
import json
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final

import numpy as np
from other_worlds import Course
from pettingzoo.utils.conversions import turn_based_aec_to_parallel
from received import DTYPES, as_bytes
from rich.console import Console
from test_leak import pack
from test_play import NORMAL, Person

from agents.base import KeyArray
from evaluation.play import Players
from spades_cli.replay import _print
from spades_cli.seated.session import Session
from spades_env.actions import DONE, KEEP, action_text
from spades_env.cards import NUM_CARDS, cards_of
from spades_env.engine.batch import IllegalActionError, legal_action_list
from spades_env.engine.state import StateArray
from spades_env.envs.aec import SpadesAECEnv
from spades_env.envs.single import SpadesEnv
from spades_env.envs.vector import SpadesVectorEnv
from spades_env.game import Game
from spades_env.observation import ENCODERS
from spades_env.record import record_for_seat, record_text
from spades_env.render.ansi import table_text
from spades_env.render.scene import scene_of
from spades_env.rules import PRESETS

Told = Callable[[Course, int], bytes]
"""What a seat received in a course."""


class Script:
    """Takes the actions of a course on any seat; beyond its end the lowest legal one. Keeps what it was given."""

    name = "script"

    def __init__(self, actions: Sequence[int]) -> None:
        self._actions = actions
        self.received: list[bytes] = []

    def act(self, views: StateArray, keys: KeyArray) -> np.ndarray:
        self.received.append(views.tobytes())
        known = np.ascontiguousarray(views["known"])
        return np.array([self._action(known, i) for i in range(len(known))], np.int16)

    def _action(self, known: StateArray, i: int) -> int:
        legal, k = legal_action_list(known, i), int(known["n_actions"][i])
        written = k < len(self._actions) and self._actions[k] in legal
        return self._actions[k] if written else legal[0]


def turns(course: Course) -> list[int | None]:
    """Who is to act before each action, and at the end."""
    game = course.start()
    found = [game.turn]
    for action in course.actions:
        game.apply(action)
        found.append(game.turn)
    return found


def own_actions(course: Course, seat: int) -> list[int] | None:
    """Her actions up to her last turn in the course, or to the deal's end; None if it stops before she is asked."""
    asked = turns(course)
    if asked[-1] is not None and seat not in asked:
        return None
    end = len(asked) - 1 if asked[-1] is None else max(k for k, turn in enumerate(asked) if turn == seat)
    return [action for turn, action in zip(asked[:end], course.actions[:end], strict=True) if turn == seat]


# --- PettingZoo -------------------------------------------------------------------------------------------------


class Glass:
    """A window that keeps what it would show."""

    def __init__(self) -> None:
        self.shown: list[str] = []

    def show(self, table: Any, fps: float) -> None:
        self.shown.append(f"{scene_of(table)} {fps}")

    def close(self) -> None:
        """Nothing is open."""


def aec_env(course: Course, seat: int, render_mode: str | None, **options: Any) -> SpadesAECEnv:
    env = SpadesAECEnv(course.rules, episode="deal", render_mode=None, render_seat=seat, **options)
    env.render_mode, env._window = render_mode, Glass() if render_mode == "human" else None  # type: ignore[assignment]
    env.reset(seed=course.seed, options=course.options)
    return env


def aec_gives(env: SpadesAECEnv, seat: int) -> list[Any]:
    """What `seat` can ask the environment for."""
    agent = env.possible_agents[seat]
    found: list[Any] = [env.observe(agent), env.view(agent).views, env.agent_selection, env.agents]
    for each in (env.infos, env.rewards, env.terminations, env.truncations):
        found.append(each.get(agent))
    return [*found, env.last() if env.agent_selection == agent and env.agents else None]


def refusals(env: SpadesAECEnv) -> list[str]:
    """The errors for some actions that are not legal for the seat to act."""
    legal = np.flatnonzero(env.infos[env.agent_selection]["action_mask"])
    said = []
    for action in {0, 25, 51, 53, 54, 72} - set(legal.tolist()):
        try:
            env.step(action)
        except IllegalActionError as error:
            said.append(str(error))
    return said


def through_aec(observation: str, dtype: Any, course: Course, seat: int) -> bytes:
    env = aec_env(course, seat, None, observation=observation, dtype=dtype)
    seen = [aec_gives(env, seat)]
    for action in course.actions:
        if env.agent_selection == env.possible_agents[seat]:
            seen.append(refusals(env))
        env.step(action)
        seen.append(aec_gives(env, seat))
    while env.agents and any(env.terminations.values()):
        env.step(None)
        seen.append(aec_gives(env, seat))
    return as_bytes(seen)


def through_an_illegal_action(course: Course, seat: int) -> bytes:
    """`on_illegal="terminate"`: the seat to act breaks the rules at the end of the course."""
    env = aec_env(course, seat, None, on_illegal="terminate")
    for action in course.actions:
        env.step(action)
    if not any(env.terminations.values()):
        env.step(KEEP if env.game.phase == "exchange" else DONE)
    return as_bytes(aec_gives(env, seat))


def through_rendering(render_mode: str, course: Course, seat: int) -> bytes:
    env = aec_env(course, seat, render_mode)
    seen: list[Any] = []
    for k, action in enumerate(course.actions):
        env.step(action)
        if render_mode == "ansi" or (render_mode == "rgb_array" and k + 1 == len(course.actions)):
            seen.append(env.render())
    return as_bytes([*seen, env._window.shown if env._window is not None else None])


def through_parallel(course: Course, seat: int) -> bytes:
    """PettingZoo's conversion for turn games: every seat gets a tuple of dictionaries each step."""
    env: Any = turn_based_aec_to_parallel(SpadesAECEnv(course.rules, episode="deal"))
    agent = f"player_{seat}"
    seen = [[each[agent] for each in env.reset(seed=course.seed, options=course.options)]]
    for action in course.actions:
        seen.append([each.get(agent) for each in env.step(dict.fromkeys(env.agents, action))])
    return as_bytes(seen)


# --- Gymnasium and stable-baselines3 ------------------------------------------------------------------------------


def sitting(course: Course, seat: int, script: Script) -> dict[str, Any]:
    """Arguments that put the learner on `seat` among scripts."""
    others: dict[str, Any] = {"seat": seat, "opponents": script, "episode": "deal", "on_illegal": "raise"}
    return others if course.rules.players == 2 else others | {"partner": script}


def through_single(observation: str, dtype: Any, course: Course, seat: int) -> bytes:
    own = own_actions(course, seat)
    if own is None:
        return b""
    env = SpadesEnv(course.rules, **sitting(course, seat, Script(course.actions)), observation=observation, dtype=dtype)
    seen: list[Any] = [env.reset(seed=course.seed, options=course.options)]
    for action in own:
        seen.append(refusals(env.table))
        seen += [env.step(action), env.action_masks()]
    return as_bytes(seen)


def through_vector(observation: str, dtype: Any, course: Course, seat: int) -> bytes:
    """Two games; a game that is over starts another, of which nothing is looked at: its cards are dealt anew."""
    own = own_actions(course, seat)
    if own is None:
        return b""
    env = SpadesVectorEnv(
        course.rules,
        num_envs=2,
        observation=observation,
        dtype=dtype,
        **sitting(course, seat, Script(course.actions)),
    )
    seen: list[Any] = [env.reset(seed=[course.seed, course.seed], options=course.options)]
    for action in own:
        rows, rewards, terminated, truncated, infos = env.step(np.full(2, action))
        over = bool(terminated.any() or truncated.any())
        if over:
            infos = {key: value for key, value in infos.items() if "final" in key}
        seen.append([None if over else rows, rewards, terminated, truncated, infos])
    return as_bytes(seen)


def through_sb3(observation: str, dtype: Any, course: Course, seat: int) -> bytes:
    """As `through_vector`, with the native environment of stable-baselines3."""
    from spades_env.envs.sb3 import SpadesVecEnv

    own = own_actions(course, seat)
    if own is None:
        return b""
    env = SpadesVecEnv(
        1, course.rules, observation=observation, dtype=dtype, **sitting(course, seat, Script(course.actions))
    )
    env.seed(course.seed)
    env.set_options(course.options)
    seen: list[Any] = [env.reset(), env.reset_infos]
    for action in own:
        rows, rewards, dones, infos = env.step(np.array([action]))
        seen.append([None if dones.any() else (rows, env.env_method("action_masks")), rewards, dones, infos])
    return as_bytes(seen)


def as_opponent(course: Course, seat: int) -> bytes:
    """The agent on `seat` of the Gymnasium environments: the views she is asked with inside `step`."""
    learner = (seat + 1) % course.rules.players
    own = own_actions(course, learner)
    if own is None:
        return b""
    received = []
    for many in (False, True):
        hers, script = Script(course.actions), Script(course.actions)
        opponents = [hers if (learner + k) % course.rules.players == seat else script for k in (1, 3)]
        options: dict[str, Any] = {"seat": learner, "opponents": opponents[0], "episode": "deal"}
        if course.rules.players == 4:
            options |= {"opponents": tuple(opponents), "partner": script}
        env: Any = (SpadesVectorEnv if many else SpadesEnv)(course.rules, **options)
        env.reset(seed=[course.seed] if many else course.seed, options=course.options)
        for action in own[:-1]:  # what follows the last may be another deal, or go beyond the course
            env.step(np.array([action]) if many else action)
        received.append(hers.received)
    return as_bytes(received)


class Stop(BaseException):
    """The course is at its end."""


class Stopping(Script):
    """Stops an evaluation where the course ends."""

    def _action(self, known: StateArray, i: int) -> int:
        if int(known["n_actions"][i]) >= len(self._actions):
            raise Stop
        return super()._action(known, i)


def in_an_evaluation(course: Course, seat: int) -> bytes:
    """An agent of `spades evaluate` and of all that plays through evaluation/play.py."""
    hers, others = Stopping(course.actions), Stopping(course.actions)
    states = course.start().states.copy()
    line_up = np.ones((1, 4), np.int8)
    line_up[0, seat] = 0
    with contextlib.suppress(Stop):
        Players([hers, others], 1).play_deals(states, line_up)
    return as_bytes(hers.received)


# --- OpenSpiel ----------------------------------------------------------------------------------------------------


def through_openspiel(course: Course, seat: int) -> bytes:
    """The strings, tensors and legal actions of a player, from the deal on; chance draws what the engine drew."""
    import pyspiel

    import spades_env.envs.openspiel  # noqa: F401  # registers the game

    fields, usual = course.rules.to_dict(), PRESETS["classic"].to_dict()
    changed = {name: value for name, value in fields.items() if value != usual[name]}
    overrides = ";".join(f"{name}:{json.dumps(value)}" for name, value in changed.items())
    scores = {"score_0": course.scores[0], "score_1": course.scores[1]}
    table = {"rules": "classic", "overrides": overrides, "dealer": course.dealer, **scores}
    state, game = pyspiel.load_game("spades_env", table).new_initial_state(), course.start()
    for outcome in chance(course, game):
        state.apply_action(outcome)
    seen = [openspiel_gives(state, seat)]
    for action in course.actions:
        actor, before = game.turn or 0, set(game.hands[game.turn or 0])
        game.apply(action)
        state.apply_action(action)
        for card in sorted(set(game.hands[actor]) - before) if state.is_chance_node() else ():
            state.apply_action(card)
        seen.append(openspiel_gives(state, seat))
    return as_bytes(seen)


def chance(course: Course, game: Game) -> Sequence[int]:
    """Chance's outcomes that deal the cards of a course: the pile, or where each card of the pack goes."""
    if course.rules.deal == "draft":
        return course.cards
    players = course.rules.players
    holder = {card: seat for seat, hand in enumerate(game.hands) for card in hand}
    return [holder.get(card, players) for card in cards_of(pack(game.states[0]))]


def openspiel_gives(state: Any, seat: int) -> list[Any]:
    """What the player on `seat` can ask a state for."""
    tensors = [
        np.array(tensor, np.float32)
        for tensor in (state.observation_tensor(seat), state.information_state_tensor(seat))
    ]
    strings = [state.observation_string(seat), state.information_state_string(seat)]
    return [*tensors, *strings, state.legal_actions(seat), state.current_player(), state.rewards(), state.returns()]


# --- The terminal, and records ------------------------------------------------------------------------------------


def illegal_cards(course: Course, seat: int) -> list[int]:
    """For each of her turns the lowest card that she may not name."""
    game, found = course.start(), []
    for action in course.actions:
        if game.turn == seat:
            found.append(min(set(range(NUM_CARDS)) - set(game.legal_actions())))
        game.apply(action)
    return found


def at_the_terminal(course: Course, seat: int) -> bytes:
    """`spades play`: every question, hint, refusal and thing said, to the end of the course."""
    own = own_actions(course, seat)
    if own is None:
        return b""
    answers: list[str | None] = []
    for action, foul in zip(own, illegal_cards(course, seat), strict=False):
        answers += ["?", "h", action_text(foul), "u", "nonsense", action_text(action)]
    person, script = Person([*answers, "h", "q"]), Script(course.actions)
    players = [None if place == seat else script for place in range(course.rules.players)]
    Session(course.start(), players, NORMAL, person, deals=1).run()
    return (person.heard + repr([question.values for question in person.asked])).encode()


def in_her_record(course: Course, seat: int) -> bytes:
    """The record as she may know it, `spades replay` of it, and `spades replay --seat --step` of the whole one."""
    game = course.game()
    record = record_for_seat(game.to_record(meta={"secret": game.hand_texts}), seat)
    console = Console(file=io.StringIO(), width=150)
    _print(console, "deal", record)
    assert isinstance(console.file, io.StringIO)
    step = course.start()
    said = [table_text(step.view(seat))]
    for action in course.actions:
        step.apply(action)
        said += [table_text(step.view(seat)), step.view(seat).action_texts[-1]]
    return as_bytes([record_text(record), console.file.getvalue(), said])


COURSES: Final[dict[str, Told]] = {
    **{f"SpadesAECEnv {name} {dtype}": partial(through_aec, name, dtype) for name in ENCODERS for dtype in DTYPES},
    **{f"SpadesEnv {name} {dtype}": partial(through_single, name, dtype) for name in ENCODERS for dtype in DTYPES},
    **{
        f"SpadesVectorEnv {name} {dtype}": partial(through_vector, name, dtype) for name in ENCODERS for dtype in DTYPES
    },
    "an illegal action": through_an_illegal_action,
    "render ansi": partial(through_rendering, "ansi"),
    "render human": partial(through_rendering, "human"),
    "parallel": through_parallel,
    "opponent": as_opponent,
    "evaluation": in_an_evaluation,
    "spades play": at_the_terminal,
    "record": in_her_record,
}
WITH_EXTRAS: Final[dict[str, Told]] = {
    **{f"SpadesVecEnv {name} {dtype}": partial(through_sb3, name, dtype) for name in ENCODERS for dtype in DTYPES},
    "render rgb_array": partial(through_rendering, "rgb_array"),
    "OpenSpiel": through_openspiel,
}
"""The same, for what needs the extras `train`, `render` and `peers`."""
