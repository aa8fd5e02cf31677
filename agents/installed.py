"""Agents that installed packages offer by name, as entry points of the group `spades_env.agents`.

[project.entry-points."spades_env.agents"]
mybot = "my_package.bots:make"        # makes an agent; called with the options as keywords
"""

from __future__ import annotations

import inspect
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Final

from agents.base import AgentError
from agents.options import split_options
from spades_env.checks import shown
from spades_env.configs import parse_value

GROUP: Final = "spades_env.agents"


def installed_agents() -> dict[str, list[EntryPoint]]:
    """Return the entry points of every name, in order of name; more than one is a clash of packages."""
    found: dict[str, list[EntryPoint]] = {}
    for entry in entry_points(group=GROUP):
        found.setdefault(entry.name, []).append(entry)
    return dict(sorted(found.items()))


def package_of(entry: EntryPoint) -> str:
    """Return the name of the package that offers an entry point."""
    return entry.dist.name if entry.dist is not None else entry.value


def find_installed(name: str) -> EntryPoint | None:
    """Return the entry point of a name, None if there is none; a name that two packages offer is refused."""
    entries = installed_agents().get(name, [])
    if len(entries) > 1:
        packages = " and ".join(sorted(f"{package_of(entry)} ({entry.value})" for entry in entries))
        raise AgentError(f"agent {name!r} is offered by {packages}: uninstall one, or use module:attribute")
    return entries[0] if entries else None


def make_installed(entry: EntryPoint, options: str | None) -> Any:
    """Return what an entry point makes with the options of "key=value,key=value" (None: no options), unchecked.

    Values are read as YAML scalars: 5 is an int, 0.5 a float, true a bool, other text is text.
    """
    maker = load_entry(entry)
    values = {} if options is None else _values(entry.name, options)
    if hasattr(maker, "act") and not isinstance(maker, type):
        if values:
            raise AgentError(f"agent {entry.name!r}: unknown option {next(iter(values))!r}: it has no options")
        return maker
    _check_options(entry, maker, values)
    try:
        return maker(**values)
    except Exception as error:  # somebody else's code may raise anything
        raise AgentError(f"agent {entry.name!r} of {package_of(entry)}: making it failed: {_said(error)}") from error


def load_entry(entry: EntryPoint) -> Any:
    """Return what an entry point names: a callable or an agent."""
    try:
        maker = entry.load()
    except Exception as error:  # importing somebody else's code may raise anything
        raise AgentError(
            f"agent {entry.name!r} of {package_of(entry)}: {entry.value!r} cannot be loaded: {_said(error)}"
        ) from error
    if not callable(maker) and not hasattr(maker, "act"):
        raise AgentError(f"agent {entry.name!r} of {package_of(entry)}: {entry.value!r} makes no agent: {maker!r}")
    return maker


def option_names(maker: Any) -> list[str] | None:
    """Return the keyword options of a callable; None if it takes any, or does not tell."""
    if hasattr(maker, "act") and not isinstance(maker, type):
        return []
    try:
        parameters = inspect.signature(maker).parameters.values()
    except (TypeError, ValueError):  # some callables of other languages have no signature
        return None
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters):
        return None
    named = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return [parameter.name for parameter in parameters if parameter.kind in named]


def _check_options(entry: EntryPoint, maker: Any, values: dict[str, Any]) -> None:
    """Refuse an option that `maker` does not take."""
    known = option_names(maker)
    for key in values:
        if known is not None and key not in known:
            allowed = f"one of {', '.join(known)}" if known else "it has no options"
            raise AgentError(f"agent {entry.name!r}: unknown option {key!r}: {allowed}")


def _values(name: str, options: str) -> dict[str, Any]:
    """Return the options with their values as YAML reads them."""
    values = {}
    for key, text in split_options(name, options).items():
        try:
            values[key] = parse_value(text, key)
        except ValueError as error:
            raise AgentError(f"agent {name!r}: {key}={shown(text)} is not allowed: {error}") from None
    return values


def _said(error: Exception) -> str:
    """An error as one line."""
    return " ".join(f"{type(error).__name__}: {error}".split())
