"""PoolConfig: who sits at the tables of self-play beside the policy that learns."""

from __future__ import annotations

from pydantic import Field, field_validator, model_validator

from training.section import Section


class PoolConfig(Section):
    """Agents and past policies that sit at some of the tables, so that the policy meets more than itself.

    Past policies, or snapshots, are drawn by prioritised fictitious self-play (Vinyals et al. 2019): the more often
    the policy wins against one, the rarer it is met (`training.league`).
    """

    agents: dict[str, float] = Field(
        {}, description="agents, or policy files, and how often each is taken; none: snapshots alone"
    )
    opponents: float = Field(0.2, ge=0, le=1, description="share of deals with one of them on the other team's seats")
    partners: float = Field(0.0, ge=0, le=1, description="share of deals with one of them on a single seat")
    snapshots: int = Field(0, ge=0, le=1000, description="most past policies of this run among them; 0: none")
    snapshot_every: float = Field(0.05, gt=0, le=1, description="share of training between snapshots")
    snapshot_weight: float = Field(
        1.0, gt=0, description="how often a snapshot is taken, all of them together, beside the weights of `agents`"
    )
    hardness: float = Field(
        2.0,
        ge=0,
        le=100,
        description="p of a snapshot's weight (1 - x)^p, x the policy's share of deals won; 0: all equal",
    )
    result_rate: float = Field(
        0.002, gt=0, le=1, description="share of every deal against a snapshot in the moving average x"
    )

    @field_validator("agents")
    @classmethod
    def _weights(cls, agents: dict[str, float]) -> dict[str, float]:
        if not all(weight > 0 for weight in agents.values()):
            raise ValueError("every weight must be above 0")
        return agents

    @model_validator(mode="after")
    def _shares(self) -> PoolConfig:
        if self.opponents + self.partners > 1:
            raise ValueError("opponents and partners together must be at most 1")
        if not self.agents and not self.snapshots:
            raise ValueError("pool.agents is empty; allowed without pool.snapshots: one agent or more")
        return self
