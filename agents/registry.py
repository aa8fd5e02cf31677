"""`load_agent`: an agent from a name with options, a program, a policy file, or "module:attribute"."""

from __future__ import annotations

import difflib
import importlib
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from agents.base import Agent, AgentError, OracleAgent
from agents.installed import find_installed, installed_agents, make_installed
from agents.options import Options, read_options
from agents.process.agent import FORM, ProcessAgent, is_process_text
from agents.rules.conservative import ConservativeAgent
from agents.rules.easy import DEFAULT_ERROR, EasyAgent
from agents.rules.extremes import HighestAgent, LowestAgent
from agents.rules.normal.agent import NormalAgent
from agents.rules.suit_odds import SuitOddsAgent
from agents.rules.uniform import RandomAgent
from agents.search.agent import level
from agents.search.cheating import CheatingAgent
from spades_env.checks import whole_number
from spades_env.observation.symmetry import SUIT_PERMUTATIONS


def _champion(**options: Any) -> Agent:
    agent: Agent = importlib.import_module("agents.learned.champion").ChampionAgent(**options)
    return agent


def _guided(**options: Any) -> Agent:
    agent: Agent = importlib.import_module("agents.search.guided_agent").GuidedAgent(**options)
    return agent


@dataclass(frozen=True)
class Entry:
    """A named agent: how to make it, and its options: {name: (how to read the text, meaning)}."""

    make: Callable[..., Agent]
    help: str
    options: Options = field(default_factory=dict)


_OBJECTIVE = (str, "points, match or auto (default auto: the match near its end)")


def _renamings(text: str) -> int:
    return whole_number("renamings", int(text), 1, len(SUIT_PERMUTATIONS))


_RENAMINGS = "names of the side suits under which the net is asked, 1 to 6: the mean of its answers counts"
_SEARCH_OPTIONS: Options = {
    "worlds": (int, "worlds in which actions are compared, 2 or more"),
    "exact": (int, "with so many tricks left or fewer worlds are solved exactly, 0..13"),
    "draws": (int, "most uniform worlds drawn for each one kept"),
    "reads": (int, "worlds kept after the bids for each one kept after the plays; 0: plays are not read"),
    "trust": (float, "log-likelihood that a surprising play costs a world, 0 or more"),
    "margin": (float, "standard errors behind the best at which an action is dropped"),
    "doubt": (float, "chance 0..1 that a nil made in a playout is taken to fail, when bids are compared"),
    "nodes": (int, "cards that the solver may play for one world before it is played out instead"),
    "ms": (float, "go on for so many milliseconds a decision; choices then cannot be repeated (default 0: off)"),
    "objective": _OBJECTIVE,
}

AGENTS: Mapping[str, Entry] = {
    "random": Entry(RandomAgent, "uniform over the legal actions, bids included"),
    "conservative": Entry(ConservativeAgent, "a public baseline: bids by honours and spades, plays random cards"),
    "easy": Entry(
        EasyAgent,
        "a beginner: counts her own hand, simple rules, never nil",
        {"error": (float, f"chance 0..1 of a random card (default {DEFAULT_ERROR:g})")},
    ),
    "normal": Entry(
        NormalAgent,
        "the default level: a careful partner by rules, nil and its cover and attack included",
        {"objective": _OBJECTIVE},
    ),
    "hard": Entry(partial(level, "hard"), "searches: about a millisecond a decision on one core", _SEARCH_OPTIONS),
    "expert": Entry(partial(level, "expert"), "the strongest: some 20 ms a decision on one core", _SEARCH_OPTIONS),
    "champion": Entry(
        _champion,
        "a policy trained by self-play, without search: some 120 microseconds a decision",
        {"renamings": (_renamings, f"{_RENAMINGS} (default 6)")},
    ),
    "champion+search": Entry(
        _guided,
        "`expert` guided by `champion`: the policy is a prior for what the search compares",
        {
            **{name: _SEARCH_OPTIONS[name] for name in _SEARCH_OPTIONS if name != "ms"},
            "prior": (float, "points that a nat of the policy's log chance counts, 0 or more"),
            "renamings": (_renamings, f"{_RENAMINGS} (default 6)"),
        },
    ),
    "lowest": Entry(LowestAgent, "a yardstick: the lowest ordinary bid, the card of the lowest rank"),
    "highest": Entry(HighestAgent, "a yardstick: bids aces, kings and long spades, plays the card of the highest rank"),
    "suit_odds": Entry(SuitOddsAgent, "a baseline: bids by the chance that high cards live, nil too; plays as `easy`"),
}
"""Every agent with a name. `load_agent` takes "name" or "name:option=value,option=value"."""

POLICY_OPTIONS: Options = {"renamings": (_renamings, f"{_RENAMINGS} (default 1)")}
"""Options of a policy file or a run's folder, after a colon as those of a name."""


ORACLES: Mapping[str, Callable[[], OracleAgent]] = {"cheating": CheatingAgent}
"""Agents that see all hands, for ceilings; only `load_any` makes them."""


def load_any(spec: str | os.PathLike[str] | Agent | OracleAgent) -> Agent | OracleAgent:
    """Return what `load_agent` returns, or an agent that sees all hands: "cheating", or an object of yours."""
    if isinstance(spec, OracleAgent):
        return spec
    if isinstance(spec, str) and spec in ORACLES:
        return ORACLES[spec]()
    return load_agent(spec)


def load_agent(spec: str | os.PathLike[str] | Agent | OracleAgent) -> Agent:
    """Return the agent that `spec` stands for; an agent is returned as it is.

    Text is, in this order: a name of `AGENTS`, with options after a colon; "process:COMMAND", a program of any
    language; a name that an installed package offers (agents/installed.py), with options too; a policy file (one
    that ends in .safetensors, or a folder), or several joined by "+" that decide together, with options too;
    "module:attribute", another package's agent or a callable that makes one.
    """
    if not isinstance(spec, str | os.PathLike):
        return _checked(spec, f"{spec!r}")
    text = os.fspath(spec)
    name, colon, rest = text.partition(":")
    if text in ORACLES:
        raise AgentError(f"agent {text!r} sees the hidden cards: only where oracles are let in (--oracles)")
    if name in AGENTS:
        return _make(name, read_options(name, rest, AGENTS[name].options) if colon else {})
    if is_process_text(text):
        return _start_process(text)
    if (not colon or "=" in rest) and (entry := find_installed(name)) is not None:
        return _checked(make_installed(entry, rest if colon else None), f"{text!r}")
    paths, options = split_policy(text)
    if paths:
        return _load_policy(paths, read_options("+".join(paths), options, POLICY_OPTIONS) if options else {})
    if colon and "=" not in rest and name and rest:
        return _import_agent(text, name, rest)
    raise AgentError(f"agent {text!r} does not exist: {_allowed(name)}")


def policy_paths(text: str) -> list[str]:
    """The files or folders in a policy's text without options: one, or several joined by "+"; none in other texts."""
    parts = [text] if os.path.exists(text) else text.split("+")
    return parts if all(part.endswith(".safetensors") or os.path.isdir(part) for part in parts) else []


def split_policy(text: str) -> tuple[list[str], str]:
    """The files or folders in a policy's text, and its options, "" for none; of any other text no files."""
    path, _, options = text.rpartition(":")
    if "=" in options and policy_paths(path) and not os.path.exists(text):
        return policy_paths(path), options
    return policy_paths(text), ""


def _allowed(name: str) -> str:
    """Return the nearest name as a suggestion, or everything that an agent's text may be."""
    names = [*AGENTS, *(other for other in installed_agents() if other not in AGENTS)]
    close = difflib.get_close_matches(name, names, n=1)
    if close:
        return f"did you mean {close[0]!r}?"
    return f"one of {', '.join(names)}, a policy file (.safetensors) or a run's folder, module:attribute, or {FORM}"


def _make(name: str, options: dict[str, Any]) -> Agent:
    try:
        return AGENTS[name].make(**options)
    except AgentError as error:
        raise AgentError(f"agent {name!r}: {error}") from None


def _start_process(text: str) -> Agent:
    """Return the agent of a program, which has been started and said hello."""
    agent = ProcessAgent.from_text(text)
    agent.start()
    return agent


def _load_policy(paths: list[str], options: dict[str, Any]) -> Agent:
    """Return the policy in the files; only here are the learned agents and their libraries imported."""
    for path in paths:
        if not Path(path).exists():
            raise AgentError(f"agent {path!r}: there is no such file")
    try:
        policy = importlib.import_module("agents.learned.policy")
    except ModuleNotFoundError as error:
        raise AgentError(
            f"agent {paths[0]!r} is a policy file and needs {error.name!r}, which is not installed: "
            "pip install 'spades-env[train]'"
        ) from error
    return _checked(policy.load_policy(paths, **options), f"{'+'.join(paths)!r}")


def _import_agent(text: str, module: str, attribute: str) -> Agent:
    """Return `attribute` (dots allowed) of `module`, called without arguments if it makes an agent."""
    if os.getcwd() not in sys.path:
        # Last, so that a folder of the user's called like one of our packages shadows nothing.
        sys.path.append(os.getcwd())
    try:
        found: Any = importlib.import_module(module)
    except (Exception, SystemExit) as error:  # somebody else's code may raise anything, or mean to end the program
        raise AgentError(f"agent {text!r}: cannot import module {module!r}: {_told(error)}") from error
    for part in attribute.split("."):
        if not hasattr(found, part):
            raise AgentError(f"agent {text!r}: module {module!r} has no {attribute!r}")
        found = getattr(found, part)
    if isinstance(found, type) or (callable(found) and not hasattr(found, "act")):
        try:
            found = found()
        except (Exception, SystemExit) as error:
            raise AgentError(
                f"agent {text!r}: calling {attribute!r} without arguments failed: {_told(error)}"
            ) from error
    return _checked(found, f"{text!r}")


def _told(error: BaseException) -> str:
    """Return an error of somebody else's code on one line; its kind, where that says more than the message."""
    message = " ".join(str(error).split())
    return message if isinstance(error, ImportError) and message else f"{type(error).__name__}: {message}".rstrip(": ")


def _checked(found: Any, what: str) -> Agent:
    """Return `found` if it follows the `Agent` protocol; one that looks at states is refused by name."""
    if isinstance(found, type):
        raise AgentError(f"agent {what} is a class: give an instance")
    if isinstance(found, OracleAgent):
        raise AgentError(f"agent {what} sees the hidden cards (OracleAgent): only agents that act on views")
    if not isinstance(found, Agent) or not isinstance(found.name, str):
        raise AgentError(f"agent {what} is no agent: needs a name and act(views, keys), see agents.base.Agent")
    return found
