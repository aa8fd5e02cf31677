"""What must come out the same in every process: sections of work, each as a hash. Run as a program it prints them.

As in `PYTHONPATH=.:tests python tests/repeatable.py engine agents`.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

from light_agents import SPECS
from other_worlds import TABLES, course_of
from received import as_bytes, policy
from received_courses import aec_env, aec_gives
from test_agents import situations, views_of

from agents.base import AgentError
from agents.registry import load_agent
from evaluation.duplicate import evaluate, evaluate_line_up
from spades_env.engine.batch import SpadesBatch
from spades_env.envs.vector import SpadesVectorEnv
from spades_env.rules import PRESETS

RULE_BOTS: Final = ("random", "conservative", "easy", "normal", "lowest", "highest", "suit_odds")
"""Agents cheap enough for plain Python."""


def engine() -> Iterator[bytes]:
    """States, rewards and masks of lock-step games under every rule set."""
    for name, rules in TABLES.items():
        batch = SpadesBatch(3, rules, seed=len(name))
        for k in range(130):
            actions = batch.sample_actions(5, k)
            batch.step(actions)
            yield actions.tobytes() + batch.margins.tobytes()
        yield batch.states.tobytes()


def environments() -> Iterator[bytes]:
    """What all seats of the PettingZoo environment get in a deal, and a learner of the vector environment."""
    for name in ("classic", "two_player"):
        course = course_of(TABLES[name], 3, 1.0)
        env = aec_env(course, 0, None, observation="sequence", dtype="uint8")
        for action in course.actions:
            env.step(action)
            yield as_bytes([aec_gives(env, seat) for seat in range(course.rules.players)])
    many = SpadesVectorEnv("modern", num_envs=4, opponents=load_agent("easy"), observation="features", dtype="uint8")
    answer: Any = many.reset(seed=1)
    for _ in range(60):
        masks = many.action_masks()
        yield as_bytes(answer)
        answer = many.step(masks.argmax(axis=1))


def moves_of(names: tuple[str, ...], every: int) -> Iterator[bytes]:
    """Moves of named agents before every so manieth decision of a few deals of every preset."""
    for name in names:
        agent = load_agent(SPECS.get(name, name))
        for preset, rules in PRESETS.items():
            for states in situations(rules, 4, seed=len(preset))[::every]:
                try:
                    yield agent.act(*views_of(states)).tobytes()
                except AgentError as error:  # rules that a trained policy does not know
                    yield str(error).encode()


def rule_bots() -> Iterator[bytes]:
    """Moves of the rule bots in every preset."""
    return moves_of(RULE_BOTS, 5)


def agents() -> Iterator[bytes]:
    """Moves, beliefs and nil forecasts of everybody in AGENTS, and of a policy with random weights."""
    yield from moves_of(tuple(SPECS), 6)
    states = situations(PRESETS["classic"], 4)[2]
    hard = load_agent(SPECS["hard"])
    views, keys = views_of(states)
    yield hard.beliefs(views, keys).tobytes()  # type: ignore[attr-defined]
    yield hard.nil_chances(views, keys).tobytes()  # type: ignore[attr-defined]


def learned() -> Iterator[bytes]:
    """Moves of a policy with random weights, greedy and drawn."""
    for states in situations(PRESETS["modern"], 70)[::9]:
        for sample in (False, True):
            yield policy(PRESETS["modern"], sample).act(*views_of(states)).tobytes()


def evaluations() -> Iterator[bytes]:
    """Duplicate deals, matches and a line-up: logs, and the result as JSON but for its clock and machine."""
    found = evaluate("easy", "normal", "modern", deals=20, matches=3, seed=2)
    yield found.log.tobytes() + found.match_log.tobytes()
    yield json.dumps(without_clock(found.to_dict())).encode()
    four = evaluate_line_up(["easy", "normal", "suit_odds", "conservative"], deals=6, seed=3)
    yield four.log.tobytes()


CLOCK: Final = (
    "seconds",
    "minutes",
    "ms_per_decision",
    "machine",
    "finished",
    "started",
    "deals_per_second",
    "date",
    "speed",
)


def without_clock(thing: Any) -> Any:
    """JSON values without what a clock or the machine says."""
    if isinstance(thing, dict):
        return {k: without_clock(v) for k, v in thing.items() if not any(word in k for word in CLOCK)}
    return [without_clock(v) for v in thing] if isinstance(thing, list) else thing


def training() -> Iterator[bytes]:
    """The weights of a short training of one thread, and its results."""
    from test_training import small, weights

    from training.run import train

    with tempfile.TemporaryDirectory() as folder:
        train(small(), Path(folder))
        yield weights(Path(folder) / "selfplay")
        results = json.loads((Path(folder) / "selfplay" / "results.json").read_text(encoding="utf-8"))
        yield json.dumps(without_clock(results)).encode()


SECTIONS: Final[dict[str, Callable[[], Iterator[bytes]]]] = {
    "engine": engine,
    "environments": environments,
    "rule bots": rule_bots,
    "agents": agents,
    "learned": learned,
    "evaluations": evaluations,
    "training": training,
}


def digest(section: str) -> str:
    """The hash of a section."""
    total = hashlib.sha256()
    for part in SECTIONS[section]():
        total.update(part)
    return total.hexdigest()


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    print(json.dumps({section: digest(section) for section in sys.argv[1:]}))
