"""Every agent that has a name here: ours, those of installed packages, and the forms that other texts take."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import EntryPoint
from typing import Any, Final

from agents.base import AgentError
from agents.installed import installed_agents, load_entry, option_names, package_of
from agents.process.agent import OPTIONS
from agents.registry import AGENTS, ORACLES, POLICY_OPTIONS

OURS: Final = "spades-env"


@dataclass(frozen=True)
class Listed:
    """An agent's name or form, its options with their meaning ("" if not known), one line about it, its package."""

    name: str
    options: Mapping[str, str]
    help: str
    source: str
    usable: bool = True
    """False: `load_agent` refuses it; `help` says why."""


def list_agents() -> Iterator[Listed]:
    """Yield all agents, ours first. Packages that offer agents are imported; a failing one is told in its line."""
    for name, entry in AGENTS.items():
        yield Listed(name, {key: meaning for key, (_, meaning) in entry.options.items()}, entry.help, OURS)
    for name in ORACLES:
        yield Listed(name, {}, "sees all hands: a ceiling, only where oracles are let in (--oracles)", OURS)
    options = {key: meaning for key, (_, meaning) in OPTIONS.items()}
    yield Listed("process:COMMAND", options, "a program of any language, options as process[limit=2]:COMMAND", OURS)
    policy = {key: meaning for key, (_, meaning) in POLICY_OPTIONS.items()}
    yield Listed(
        "FILE or FOLDER",
        policy,
        "a trained policy: a .safetensors file, or the folder of a run; several joined by +",
        OURS,
    )
    yield Listed("MODULE:ATTRIBUTE", {}, "an agent in Python, or what makes one without arguments", OURS)
    for name, entries in installed_agents().items():
        for found in entries:
            yield _listed(name, found, clash=len(entries) > 1)


def _listed(name: str, entry: EntryPoint, *, clash: bool) -> Listed:
    """The line of an installed package's agent."""
    source = package_of(entry)
    if name in AGENTS or name in ORACLES or name == "process":
        return Listed(name, {}, "not to be had: the name is ours", source, usable=False)
    if clash:
        return Listed(name, {}, "not to be had: more than one package offers the name", source, usable=False)
    try:
        maker = load_entry(entry)
    except AgentError as error:
        return Listed(name, {}, str(error), source, usable=False)
    return Listed(name, dict.fromkeys(option_names(maker) or (), ""), _first_line(maker), source)


def _first_line(maker: Any) -> str:
    """The first line of a docstring."""
    text = inspect.getdoc(maker) or ""
    return text.splitlines()[0] if text else ""
