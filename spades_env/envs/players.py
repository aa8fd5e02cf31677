"""Who sits on the seats that do not learn: agents as objects, or by name through the package that knows them.

This room imports no agents: names are looked up among the installed packages, which offer
`spades_env` / `load_agent` as an entry point (ours points at `agents.registry:load_agent`). "random" is built in.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib.metadata import entry_points
from typing import Any, Final, Protocol, cast

import numpy as np
import numpy.typing as npt

from spades_env.checks import shown
from spades_env.engine.lockstep import IndexArray, KeyArray, random_choices
from spades_env.engine.state import StateArray

ENTRY_POINT_GROUP: Final = "spades_env"
ENTRY_POINT_NAME: Final = "load_agent"
DEFAULT_PLAYER: Final = "random"


class Player(Protocol):
    """What an agent must be (agents/base.py says more): batched, and without memory between calls."""

    @property
    def name(self) -> str:
        """Short name for messages."""
        ...

    def act(self, views: StateArray, keys: KeyArray) -> npt.NDArray[Any]:
        """Return a legal action for each of `views`, dtype VIEW, by the keys, uint64; all of shape (n,)."""
        ...


PlayerLike = Player | str | os.PathLike[str]
"""An agent, or what `load_agent` understands: a name with options, a checkpoint's path, "module:attribute"."""


class PlayerError(ValueError):
    """An agent that cannot be had or breaks the protocol; the message says which."""


class RandomPlayer:
    """Any legal action with the same probability, bids included."""

    name = DEFAULT_PLAYER

    def act(self, views: StateArray, keys: KeyArray) -> npt.NDArray[np.int16]:
        """Return actions, int16 of shape (n,)."""
        out = np.empty(len(views), np.int16)
        random_choices(views["known"], keys, out)
        return out


def as_player(field: str, value: object) -> Player:
    """The agent that argument `field` stands for, or an error that names the field."""
    if isinstance(value, str) and value == DEFAULT_PLAYER:
        return RandomPlayer()
    if isinstance(value, str | os.PathLike):
        return as_player(field, _loader(field, value)(value))
    if isinstance(value, type):
        raise PlayerError(f"{field} is the class {value.__name__}; allowed: an instance")
    if hasattr(value, "act_on_states"):
        raise PlayerError(f"{field} is {shown(value)}, which sees the hidden cards; allowed: agents that act on views")
    if not isinstance(getattr(value, "name", None), str) or not callable(getattr(value, "act", None)):
        raise PlayerError(f"{field} is {shown(value)}; allowed: a name, or an object with a name and act(views, keys)")
    return cast("Player", value)


def _loader(field: str, spec: object) -> Callable[[object], object]:
    """The `load_agent` that an installed package offers."""
    found = tuple(entry_points(group=ENTRY_POINT_GROUP, name=ENTRY_POINT_NAME))
    if not found:
        raise PlayerError(
            f"{field} is {spec!r}, but no installed package knows agents by name; allowed: {DEFAULT_PLAYER!r} or an "
            "agent object (after pip install spades-env, or pip install -e . in a checkout, names too)"
        )
    try:
        return cast("Callable[[object], object]", found[0].load())
    except (ImportError, AttributeError) as error:
        raise PlayerError(f"{field} is {spec!r}, but {found[0].value!r} cannot be loaded: {error}") from error


def line_up(
    seat: int,
    players: int,
    *,
    team: bool,
    partner: PlayerLike | None,
    opponents: PlayerLike | tuple[PlayerLike, PlayerLike],
) -> tuple[Player | None, ...]:
    """The agent on each seat, None where the learner sits; what is given by one name is one object."""
    if partner is not None and (players == 2 or team):
        why = "two players have no partners" if players == 2 else "the learner plays both seats of the team"
        raise PlayerError(f"partner is {shown(partner)}; allowed: None, because {why}")
    if team and players == 2:
        raise PlayerError("team is True; allowed with two players: False")
    if isinstance(opponents, tuple | list):
        if players == 2 or len(opponents) != 2:
            wanted = "one agent" if players == 2 else f"one agent, or two: seats {(seat + 1) % 4} and {(seat + 3) % 4}"
            raise PlayerError(f"opponents are {shown(opponents)}; allowed: {wanted}")
        first, second = opponents
    else:
        first = second = opponents
    named: dict[object, Player] = {}
    table: list[Player | None] = [None] * players
    table[(seat + 1) % players] = _once(named, "opponents", first)
    if players == 4:
        table[(seat + 2) % 4] = (
            None if team else _once(named, "partner", DEFAULT_PLAYER if partner is None else partner)
        )
        table[(seat + 3) % 4] = _once(named, "opponents", second)
    return tuple(table)


def _once(named: dict[object, Player], field: str, value: PlayerLike) -> Player:
    """`as_player`, loading each name only once: agents that are one object act in one batch."""
    if not isinstance(value, str | os.PathLike):
        return as_player(field, value)
    if value not in named:
        named[value] = as_player(field, value)
    return named[value]


def choose(player: Player, views: StateArray, keys: KeyArray) -> IndexArray:
    """Actions of `player` as int64, shape (n,), refusing anything that is not one integer a view."""
    actions = np.asarray(player.act(views, keys))
    if actions.shape != keys.shape or not np.issubdtype(actions.dtype, np.integer):
        raise PlayerError(
            f"agent {player.name!r}: act returned {actions.dtype} of shape {actions.shape}; "
            f"allowed: integers of shape {keys.shape}"
        )
    return np.ascontiguousarray(actions, dtype=np.int64)
