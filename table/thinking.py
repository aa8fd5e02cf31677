"""Agents off the event loop: the quick ones where they are, all others in processes of their own with a time limit.

A search in a thread would not hold the server up, as kernels release the interpreter's lock: on two busy cores, with
`expert` in a thread, the loop was late by 1.7 ms in 95 % of cases, in a process by 2.8. But a process can be ended when
it does not answer, and other people's agents hold the lock.
"""

from __future__ import annotations

import asyncio
import logging
import multiprocessing
from collections.abc import Mapping
from concurrent.futures import TimeoutError as FutureTimeoutError
from functools import cache
from typing import Any, Final

import numpy as np
from pebble import ProcessPool

from agents.base import Agent, AgentError, Believer, KnownPolicy, Valuer, decision_keys
from agents.objective import rows_near_end
from agents.registry import load_agent
from agents.stakes import WIN
from spades_env.engine.batch import legal_action_list
from spades_env.engine.state import StateArray
from spades_env.game import Game
from spades_env.rules import Rules
from spades_env.view import VIEW
from table.equity import Shelf, for_points, missing_table
from table.errors import Refusal

LADDER: Final = ("easy", "normal", "hard", "expert", "champion")
"""Agents that everybody may choose; the command's --agent adds others."""
QUICK: Final = ("easy", "normal")
"""Agents that decide in microseconds: asked on the event loop itself."""
FALLBACK: Final = "easy"
"""Who decides when an agent does not."""
START_SECONDS: Final = 600.0
"""Most seconds that workers take to begin; compiling everything takes a minute or two on an idle machine."""
HINT_LIMITS: Final = 2
"""Time limits that a hint may take, which asks for more than an action."""
QUEUE_LIMITS: Final = 4
"""Time limits after which nobody waits any longer, although the worker may not have turned to the question."""

Question = tuple[bytes, int, str]
"""The view of the seat to act as bytes, the key of the decision, the folder of equity tables."""

log = logging.getLogger("spades.table")


@cache
def agent_of(spec: str) -> Agent:
    """An agent, loaded once a process."""
    return load_agent(spec)


def check_rules(spec: str, rules: Rules) -> None:
    """Refuse an agent that does not play under these rules: `champion` knows those that she was trained for."""
    if not spec.startswith("champion"):
        return
    champion: Any = agent_of("champion")
    try:
        champion.policy_for(Game(rules).view(0).views)
    except AgentError as error:
        raise Refusal("bad_settings", str(error)) from None


def decide(spec: str, view: bytes, key: int, equity: str = "") -> int:
    """The action that an agent chooses; runs in a worker. An illegal one is an AgentError.

    `equity` is the folder of equity tables: for a decision that needs one which is not there she plays for points.
    """
    views, keys = np.frombuffer(view, VIEW).copy(), np.array([key], np.uint64)
    chosen = spec if missing_table(spec, views, equity) is None else for_points(spec)
    action = int(agent_of(chosen).act(views, keys)[0])
    if action not in legal_action_list(np.ascontiguousarray(views["known"]), 0):
        raise AgentError(f"agent {spec!r} chose action {action}, which is not legal")
    return action


def explain(spec: str, view: bytes, key: int, equity: str = "") -> dict[str, Any]:
    """What an agent would do and what she says of it, as plain values; runs in a worker."""
    views, keys = np.frombuffer(view, VIEW).copy(), np.array([key], np.uint64)
    chosen = spec if missing_table(spec, views, equity) is None else for_points(spec)
    agent = agent_of(chosen)
    told: dict[str, Any] = {"agent": spec, "action": decide(chosen, view, key), "values": [], "unit": None}
    legal = legal_action_list(np.ascontiguousarray(views["known"]), 0)
    return told | _values(agent, views, keys, legal) | _beliefs(agent, views, keys)


def _values(agent: Agent, views: StateArray, keys: Any, legal: list[int]) -> dict[str, Any]:
    """Estimates for the legal actions: points or match chances of a searcher, else the chances of a policy."""
    try:
        if isinstance(agent, Valuer):
            row = np.asarray(agent.values(views.copy(), keys))[0]
            near = rows_near_end(views, np.zeros(1, np.int64)) > 0 and getattr(agent, "objective", "") != "points"
            unit, scale = ("win", 1 / WIN) if near or getattr(agent, "objective", "") == "match" else ("points", 1.0)
            return _listed(row * scale, legal, unit)
        if isinstance(agent, KnownPolicy):
            return _listed(np.asarray(agent.chances(views.copy()))[0], legal, "chance")
    except (AgentError, ValueError):
        pass  # she says none here: not under these rules, or not in a draft
    return {}


def _listed(row: Any, legal: list[int], unit: str) -> dict[str, Any]:
    values = [{"action": action, "value": round(float(row[action]), 4)} for action in legal if np.isfinite(row[action])]
    return {"values": values, "unit": unit} if values else {}


def _beliefs(agent: Agent, views: StateArray, keys: Any) -> dict[str, Any]:
    """[card, chances by seat] of every card she has not seen."""
    if not isinstance(agent, Believer):
        return {}
    players = int(views["known"]["rules"]["players"][0])
    try:
        table = np.asarray(agent.beliefs(views.copy(), keys))[0]
    except (AgentError, ValueError):
        return {}
    seen = [card for card in range(table.shape[0]) if table[card].any()]
    return {"beliefs": [[card, [round(float(p), 3) for p in table[card, :players]]] for card in seen]}


def warm(specs: tuple[str, ...]) -> None:
    """Load agents and let each explain herself once, so that nobody waits for a compiler at the table.

    One that fails here is left to fail, and to be replaced, at each of her decisions.
    """
    game = Game("classic", seed=1)
    keys = np.zeros(1, np.uint64)
    decision_keys(game.states, keys)
    for spec in specs:
        try:
            explain(spec, game.view(game.turn or 0).views.tobytes(), int(keys[0]))
        except Exception as error:  # other people's code may raise anything
            log.warning("agent %s does not begin: %s", spec, type(error).__name__)


class Thinkers:
    """Who is asked for decisions. `specs` is {name: what `load_agent` takes} of the agents that may be asked for.

    The time limit counts from when a worker turns to a question. A worker that begins first loads its agents and
    compiles what is not compiled yet: until then `ready` is False, and questions wait.
    """

    def __init__(self, specs: Mapping[str, str], *, shelf: Shelf, workers: int = 1, time_limit: float = 5.0) -> None:
        self.specs, self.time_limit, self._shelf = specs, time_limit, shelf
        slow = tuple(spec for name, spec in specs.items() if name not in QUICK)
        self.ready = not slow
        context = multiprocessing.get_context("spawn")
        self._pool = ProcessPool(max_workers=workers, context=context, initializer=warm, initargs=(slow,))

    def start(self) -> None:
        """Get ready: quick agents at once, the workers in the background."""
        warm(QUICK)
        if not self.ready:
            self._start_workers()

    def _start_workers(self) -> None:
        """Let the workers begin; if they have not after START_SECONDS, nobody waits for that any longer."""
        begun = asyncio.wrap_future(self._pool.schedule(warm, args=((),)))
        begun.add_done_callback(_looked_at)
        begun.add_done_callback(self._begin)
        asyncio.get_running_loop().call_later(START_SECONDS, self._begin)

    def _begin(self, *_: Any) -> None:
        self.ready = True

    def close(self) -> None:
        """End the workers, whatever they do."""
        self._shelf.close()
        self._pool.stop()
        self._pool.join()

    def is_quick(self, name: str) -> bool:
        """Whether the agent answers on the spot."""
        return name in QUICK

    def decide_now(self, name: str, game: Game) -> int:
        """The action of a quick agent."""
        question = self._question(name, game)
        try:
            return decide(name, *question)
        except AgentError as error:
            log.warning("agent %s: %s; the first legal action is taken", name, type(error).__name__)
            return game.legal_actions()[0]

    async def decide(self, name: str, game: Game) -> int:
        """The action of any agent; of FALLBACK, with a line in the log, if she fails or takes too long."""
        if self.is_quick(name):
            return self.decide_now(name, game)
        question, fallback = self._question(name, game), self.decide_now(FALLBACK, game)
        try:
            return int(await self._ask(decide, name, question, self.time_limit))
        except (TimeoutError, FutureTimeoutError):
            log.warning("agent %s: no answer in %g s; %s decides", name, self.time_limit, FALLBACK)
        except asyncio.CancelledError:
            raise
        except Exception as error:  # other people's code may raise anything
            log.warning("agent %s: %s; %s decides", name, type(error).__name__, FALLBACK)
        return fallback

    async def explain(self, name: str, game: Game) -> dict[str, Any]:
        """What an agent says of the decision that `game` waits for."""
        limit = HINT_LIMITS * self.time_limit
        if self.is_quick(name):
            return explain(name, *self._question(name, game))
        try:
            return dict(await self._ask(explain, name, self._question(name, game), limit))
        except asyncio.CancelledError:
            raise
        except (TimeoutError, FutureTimeoutError):
            raise Refusal("no_answer", f"{name} did not answer in {limit:g} s") from None
        except Exception as error:
            raise Refusal("no_answer", f"{name}: {type(error).__name__}") from None

    def _question(self, name: str, game: Game) -> Question:
        """What a worker is asked; a table that she would need is ordered."""
        keys = np.zeros(1, np.uint64)
        decision_keys(game.states, keys)
        views = game.view(game.turn or 0).views
        missing = missing_table(self.specs.get(name, name), views, self._shelf.folder)
        if missing is not None:
            self._shelf.request(missing)
        return views.tobytes(), int(keys[0]), self._shelf.folder

    async def _ask(self, function: Any, name: str, question: Question, limit: float) -> Any:
        """Put a question to a worker. Who stops waiting does not end the worker, which others wait for, too."""
        future = self._pool.schedule(function, args=(self.specs.get(name, name), *question), timeout=limit)
        answer = asyncio.wrap_future(future)
        answer.add_done_callback(_looked_at)
        while not self.ready and not answer.done():
            await asyncio.wait({answer}, timeout=1.0)
        return await asyncio.wait_for(asyncio.shield(answer), limit * QUEUE_LIMITS)


def _looked_at(done: asyncio.Future[Any]) -> None:
    """An answer that nobody waits for any longer is no error."""
    if not done.cancelled():
        done.exception()
