"""`GuidedAgent`: `champion+search`, the search of `expert` with the champion's opinion as a prior."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np

from agents.base import ActionArray, AgentError, FloatArray, KeyArray
from agents.learned.champion import ChampionAgent
from agents.learned.policy import ALL_RENAMINGS, LearnedAgent, load_policy
from agents.objective import for_each_stakes
from agents.search.agent import SearchAgent
from agents.search.guided import Guide, guided_moves, new_guide
from agents.stakes import POINTS
from spades_env.checks import finite_number, whole_number
from spades_env.engine.state import StateArray

NAME = "champion+search"


@dataclass(frozen=True)
class GuidedAgent(SearchAgent):
    """A `SearchAgent` whose candidates start with `prior` points times the log chance that a policy gives them.

    `policy`: a policy file, or the shipped champion's for the rules at the table, asked under `renamings` names of the
    side suits (`LearnedAgent`). Not for two threads at once.
    """

    level: str = "expert"
    worlds: int = 600
    exact: int = 7
    prior: float = 3.0
    renamings: int = ALL_RENAMINGS
    policy: str | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if finite_number("prior", self.prior, AgentError) < 0:
            raise AgentError(f"prior={self.prior!r} is not allowed: 0 or more")
        if self.ms != 0.0:
            raise AgentError(f"ms={self.ms!r} is not allowed for {NAME}: 0, use worlds")
        whole_number("renamings", self.renamings, 1, ALL_RENAMINGS, AgentError)

    @property
    def name(self) -> str:
        """The agent's name, with the options that are not its own."""
        own = {field.name: field.default for field in fields(self)}
        changed = {name: value for name, value in self.__getstate__().items() if value != own[name]}
        return NAME + (":" if changed else "") + ",".join(f"{name}={value}" for name, value in changed.items())

    @cached_property
    def _guides(self) -> dict[str, Guide]:
        """Memory of each policy that has been needed, by its name."""
        return {}

    @cached_property
    def _champion(self) -> ChampionAgent:
        return ChampionAgent(self.renamings)

    @cached_property
    def _policy(self) -> LearnedAgent | None:
        return None if self.policy is None else load_policy(self.policy, renamings=self.renamings)

    def act(self, views: StateArray, keys: KeyArray) -> ActionArray:
        """Return actions, int16 of shape (n,), for `views` (VIEW) and `keys` (uint64), both of shape (n,)."""
        out = np.empty(views.shape[0], np.int16)
        for rows, stakes in for_each_stakes(views, self.objective):
            policy = self._policy or self._champion.policy_for(views[rows])
            if not policy.knows(views[rows]).all():
                policy.act(views[rows], keys[rows])  # says which rules differ
            guide = self._guides.setdefault(policy.name, new_guide(policy.net))
            guided_moves(views, rows, keys, self.effort, float(self.prior), stakes, POINTS, self._desk, guide, out)
        return out

    def values(self, views: StateArray, keys: KeyArray) -> FloatArray:
        """Refused: what she compares is worth and opinion mixed."""
        raise AgentError(f"{NAME} says no values; allowed: hard, expert")

    def __getstate__(self) -> dict[str, Any]:
        """Leave desks and policies out of copies and pickles."""
        return {field.name: getattr(self, field.name) for field in fields(self)}
