"""Line-ups: which agent sits where, as text and as rows of seats."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from evaluation.work.job import AgentSpec, Seats

_OPTION: Final = re.compile(r"\s*\w+\s*=")


def split_line_up(text: str) -> tuple[str, ...]:
    """Return the agents of "A,B,A,C".

    Options of an agent have commas of their own, as in "hard:worlds=50,exact=5,easy": what looks like an option,
    name=value, belongs to the agent before it.
    """
    agents: list[str] = []
    for piece in text.split(","):
        if agents and _OPTION.match(piece):
            agents[-1] += f",{piece}"
        else:
            agents.append(piece.strip())
    if not all(agents):
        raise ValueError(f"line_up is {text!r}; allowed: agents with commas between, as easy,normal,easy,normal")
    return tuple(agents)


def shares_of(line_up: Sequence[AgentSpec]) -> tuple[int, ...]:
    """Return for each seat the first seat with the same agent: the same text, or the same object."""
    first: dict[Any, int] = {}
    return tuple(
        first.setdefault(agent if isinstance(agent, str | Path) else id(agent), seat)
        for seat, agent in enumerate(line_up)
    )


def rotations(line_up: Sequence[int]) -> tuple[Seats, ...]:
    """Return the distinct rotations of a line-up of agents' numbers, two at least, as rows of seats.

    Row k is the line-up turned by k seats: its seat j sits on chair (j + k) modulo the number of players.
    """
    players = len(line_up)
    turned = [tuple(line_up[(chair - k) % players] for chair in range(4)) for k in range(players)]
    period = next(k for k in range(1, players + 1) if turned[k % players] == turned[0])
    return tuple((row[0], row[1], row[2], row[3]) for row in turned[: max(2, period)])
