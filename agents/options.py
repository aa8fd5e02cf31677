"""The options in an agent's text, "key=value,key=value": taken apart, known or refused by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from agents.base import AgentError
from spades_env.checks import shown

Options = Mapping[str, tuple[Callable[[str], Any], str]]
"""{name: (how to read the text, which raises ValueError for what cannot be; meaning)}."""


def split_options(agent: str, text: str) -> dict[str, str]:
    """Return {key: value} of "key=value,key=value", both as text; `agent` is named in errors."""
    values: dict[str, str] = {}
    for pair in text.split(","):
        key, equals, value = (part.strip() for part in pair.partition("="))
        if not equals or not key or not value:
            raise AgentError(f"agent {agent!r}: option {shown(pair)} must be key=value")
        if key in values:
            raise AgentError(f"agent {agent!r}: option {shown(key)} is given twice")
        values[key] = value
    return values


def read_options(agent: str, text: str, known: Options) -> dict[str, Any]:
    """Return the options of "key=value,key=value" as `known` reads them; unknown ones are refused."""
    values: dict[str, Any] = {}
    for key, value in split_options(agent, text).items():
        if key not in known:
            allowed = f"one of {', '.join(known)}" if known else "it has no options"
            raise AgentError(f"agent {agent!r}: unknown option {shown(key)}: {allowed}")
        read, meaning = known[key]
        try:
            values[key] = read(value)
        except ValueError:
            raise AgentError(f"agent {agent!r}: {key}={shown(value)} is not allowed: {meaning}") from None
    return values
