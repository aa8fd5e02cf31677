"""What an agent is, and the key that makes its choices repeatable.

An agent sees VIEW records, one a decision, and never a state; whoever needs the truth is an `OracleAgent`,
a type apart.
"""

from __future__ import annotations

from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from spades_env.checks import form_of
from spades_env.engine.lockstep import decision_key as decision_key
from spades_env.engine.lockstep import decision_keys as decision_keys
from spades_env.engine.state import StateArray
from spades_env.view import VIEW

KeyArray = npt.NDArray[np.uint64]
ActionArray = npt.NDArray[np.int16]
FloatArray = npt.NDArray[np.float64]


class AgentError(ValueError):
    """An agent that does not exist, cannot be loaded or breaks the protocol; the message says which."""


class ForeignRulesError(AgentError):
    """An agent that was not made for the rules of a view; the message says what differs."""


def check_views(views: object, keys: object) -> None:
    """Refuse what no kernel could read: AgentError unless `views` are VIEW (n,) and `keys` uint64 (n,).

    What stands in the views is not looked at: they come from games (`spades_env.view`).
    """
    if not isinstance(views, np.ndarray) or views.dtype != VIEW or views.ndim != 1:
        raise AgentError(f"views are {form_of(views)}; allowed: an array of dtype VIEW and shape (n,)")
    if not isinstance(keys, np.ndarray) or keys.dtype != np.uint64 or keys.shape != views.shape:
        raise AgentError(f"keys are {form_of(keys)}; allowed: uint64 of shape {views.shape}")


@runtime_checkable
class Agent(Protocol):
    """Picks actions for many decisions at once and remembers nothing between calls.

    The choice for a row depends on `views[k]` and `keys[k]` alone, so the same situation and seed give the
    same move in any batch, order and process. Among equally good actions an agent takes the lowest id.
    """

    @property
    def name(self) -> str:
        """Short name for tables and logs."""
        ...

    def act(self, views: StateArray, keys: KeyArray) -> ActionArray:
        """Return a legal action id for every row.

        `views`: dtype VIEW, shape (n,), each of the seat to act; may be overwritten after the call.
        `keys`: uint64, shape (n,), the only randomness to use. Result: int16, shape (n,).
        """
        ...


@runtime_checkable
class OracleAgent(Protocol):
    """Sees everything, for ceilings and teachers. Benchmarks, tables and leak tests refuse it."""

    @property
    def name(self) -> str:
        """Short name for tables and logs."""
        ...

    def act_on_states(self, states: StateArray, keys: KeyArray) -> ActionArray:
        """Return a legal action for every row of `states` (dtype STATE, shape (n,)), int16 of shape (n,)."""
        ...


@runtime_checkable
class KnownPolicy(Protocol):
    """Optional, beside `Agent`: she can say how likely she takes each action, so that her luck can be taken out.

    Her key must be all that decides between the actions, and each must come with exactly the chance she says:
    evaluation/variance rests on it.
    """

    def chances(self, views: StateArray) -> FloatArray:
        """Return the chance of every action id in each of `views` (dtype VIEW, shape (n,)), float64 (n, 73)."""
        ...


@runtime_checkable
class NilForecaster(Protocol):
    """Optional for an agent: says at her bid how likely a nil of hers would be made. The benchmark suite asks."""

    def nil_chances(self, views: StateArray, keys: KeyArray) -> FloatArray:
        """Return for each view the chance 0..1 that she takes no trick if she bids nil now, float64 of shape (n,).

        `views` and `keys` are as for `Agent.act`, each view of the seat to bid. NaN: she cannot say.
        """
        ...


@runtime_checkable
class Believer(Protocol):
    """Optional for an agent: says where she thinks the unseen cards are. The benchmark suite asks."""

    def beliefs(self, views: StateArray, keys: KeyArray) -> FloatArray:
        """Return the probability that each unseen card is with each seat, float64 of shape (n, 54, 4).

        `views` and `keys` are as for `Agent.act`. Rows of cards that are seen are zeros; what the row of an unseen
        card lacks to 1 is the probability that it is out of play.
        """
        ...


@runtime_checkable
class Valuer(Protocol):
    """Optional for an agent: says what her actions are worth, for others to learn from (training/labels.py)."""

    def values(self, views: StateArray, keys: KeyArray) -> FloatArray:
        """Return the expected points (or match chances) of each action to the mover's team, float64 (n, 73).

        `views` and `keys` are as for `Agent.act`. NaN: an action she does not compare, illegal ones among them.
        """
        ...
