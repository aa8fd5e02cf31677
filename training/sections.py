"""The sections of a training configuration that belong to no module of their own; every field says what it is."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, field_validator

from evaluation.duplicate import MAX_DEALS
from training.section import Section


class NetworkConfig(Section):
    """The policy network."""

    hidden: list[int] = Field([256, 256], min_length=1, max_length=8, description="widths of the shared trunk's layers")
    precision: Literal["auto", "float32", "bfloat16"] = Field(
        "auto", description="of the trunk's products; auto: bfloat16 where the CPU has it in hardware"
    )

    @field_validator("hidden")
    @classmethod
    def _widths(cls, hidden: list[int]) -> list[int]:
        if not all(1 <= width <= 4096 for width in hidden):
            raise ValueError("every width must be 1 to 4096")
        return hidden


class PPOConfig(Section):
    """Proximal policy optimisation (Schulman et al. 2017) on whole deals."""

    games: int = Field(512, ge=1, le=65536, description="deals played in lock-step for every update")
    copies: int = Field(1, ge=1, le=65536, description="of every deal among the games; the others are its baseline")
    shares: int = Field(
        1, ge=1, le=65536, description="parts of those deals that are played apart, at once where there are actors"
    )
    staleness: int = Field(
        0, ge=0, le=1, description="1: play with the weights before the last update, while the learner makes it"
    )
    learners: int = Field(
        1, ge=1, le=64, description="processes that share every gradient step; with device cuda, a GPU for each"
    )
    learning_rate: float = Field(1e-3, gt=0, le=1, description="of Adam at the start")
    final_rate: float = Field(0.1, ge=0, le=1, description="learning rate at the end, as a share of the start's")
    epochs: int = Field(2, ge=1, le=100, description="passes over each collection")
    minibatch: int = Field(1024, ge=1, le=2**31, description="decisions in a gradient step")
    sure: float = Field(1.0, gt=0, le=1, description="cards played with a higher probability are learned from in part")
    sure_share: float = Field(1.0, gt=0, le=1, description="share of those cards that each pass takes")
    clip: float = Field(0.2, gt=0, lt=1, description="clip range of the probability ratio")
    gae_lambda: float = Field(0.95, ge=0, le=1, description="lambda of generalised advantage estimation, gamma is 1")
    value_weight: float = Field(0.5, ge=0, description="weight of the value error")
    bid_weight: float = Field(2.0, gt=0, description="weight of a bid in the loss; a play has 1")
    play_entropy: float = Field(0.01, ge=0, description="weight of the entropy of plays at the start")
    bid_entropy: float = Field(0.02, ge=0, description="weight of the entropy of bids at the start")
    final_entropy: float = Field(0.1, ge=0, le=1, description="entropy weights at the end, as a share of the start's")
    average_rate: float = Field(
        0.0, ge=0, le=1, description="share of the new weights that enters their moving average after every update"
    )
    anchor: float = Field(0.0, ge=0, description="weight of the divergence from the policy of those averaged weights")
    max_grad_norm: float = Field(0.5, gt=0, description="gradients are scaled down to this norm")


class ExploreConfig(Section):
    """Keeps nil alive: plain PPO gives it up within a minute and never finds it again.

    Nothing is assumed about hands: nil is tried in place of a bid of 1, where the policy itself sees a weak hand.
    """

    nil: float = Field(0.3, ge=0, le=1, description="chance at the start to bid nil in place of 1")
    until: float = Field(0.9, gt=0, le=1, description="share of training at which that chance has fallen to 0")
    weight: float = Field(1.0, ge=0, description="weight of such a bid in the loss, as a share of an ordinary bid's")
    floor: float = Field(0.03, ge=0, lt=1, description="a bad such bid counts only where it is at least this likely")
    prior_weight: float = Field(0.01, ge=0, description="weight of the cross-entropy to a fixed spread of bids")


class MatchConfig(Section):
    """Deals of a match: most begin at its scores, and each is worth what it changes of the chance to win the match."""

    share: float = Field(0.8, ge=0, le=1, description="share of deals that begin at a match's standing; others at 0:0")


class CloneConfig(Section):
    """A supervised warm start: choices of a teacher who plays all seats."""

    teacher: str = Field("normal", min_length=1, description="agent to learn from")
    random: float = Field(0.1, ge=0, le=1, description="chance that a card is played at random instead of hers")


class NilsConfig(Section):
    """Nothing but a head that says how likely a nil is made; all other weights stay as they are."""

    force: float = Field(0.1, ge=0, le=1, description="chance that nil is bid in place of what the policy would bid")


class LabelsConfig(Section):
    """Decisions valued by a searching agent, to learn from (expert iteration; Anthony et al. 2017)."""

    teacher: str = Field("hard", min_length=1, description="agent that says what actions are worth")
    player: str = Field("normal", min_length=1, description="agent whose decisions are valued, on all seats")
    random: float = Field(0.05, ge=0, le=1, description="chance that a card is played at random instead")
    bid_share: float = Field(1.0, ge=0, le=1, description="share of bids that are valued")
    play_share: float = Field(0.25, ge=0, le=1, description="share of cards that are valued")
    games: int = Field(500, ge=1, le=65536, description="deals of a shard")
    shards: int = Field(100, ge=1, le=99_999, description="files of decisions")
    seed: int = Field(1, ge=0, lt=2**32, description="decides deals and which decisions are valued")


class DistillConfig(Section):
    """Soft targets from labels."""

    folder: str = Field("runs/labels", min_length=1, description="where the shards are")
    labels: LabelsConfig = LabelsConfig()
    temperature: float = Field(4.0, gt=0, le=1000, description="points that make an action e times as likely")


class BidLabelsConfig(Section):
    """Deals of a policy in which one bid is replaced by every plausible one, and played to the end with each."""

    width: int = Field(2, ge=0, le=13, description="ordinary bids so near to the policy's likeliest one are tried")
    chance: float = Field(0.02, gt=0, le=1, description="so are bids of at least this chance; nil and her own always")
    opponents: str | None = Field(
        None, min_length=1, description="agent on the other team's seats in a share of the deals; none: the policy"
    )
    opponents_share: float = Field(0.1, gt=0, le=1, description="of the deals, where there are opponents")
    games: int = Field(500, ge=1, le=65536, description="deals of a shard, one decision in each")
    shards: int = Field(400, ge=1, le=99_999, description="files of decisions")
    seed: int = Field(1, ge=0, lt=2**32, description="decides the deals")


class BidValuesConfig(Section):
    """What bids are worth to a policy, learned from `start`, and her bids moved to the better ones; no card changes."""

    folder: str = Field("runs/bid_labels", min_length=1, description="where the shards are")
    labels: BidLabelsConfig = BidLabelsConfig()
    held_out: int = Field(10, ge=2, le=1000, description="one of so many deals of each place is kept to measure with")
    fit: float = Field(0.7, gt=0, lt=1, description="share of the run that learns values; the rest moves the bids")
    own_trunk: bool = Field(True, description="values learn features of their own, from the policy's on; no: hers")
    temperature: float = Field(8.0, gt=0, le=1000, description="points that make a bid e times as likely as before")


class EvaluationConfig(Section):
    """Duplicate deals against fixed opponents."""

    every: float = Field(0.1, gt=0, le=1, description="share of training between evaluations")
    deals: int = Field(1000, ge=2, le=MAX_DEALS, description="duplicate deals of each evaluation on the way")
    opponents: list[str] = Field(["conservative", "easy"], min_length=1, description="agents, on the way")
    final_deals: int = Field(4000, ge=2, le=MAX_DEALS, description="duplicate deals of each final evaluation")
    final_matches: int = Field(0, ge=0, le=MAX_DEALS, description="duplicate matches of each final evaluation")
    final_opponents: list[str] = Field(
        ["random", "conservative", "easy"], min_length=1, description="agents, at the end"
    )
    seed: int = Field(20_000, ge=0, lt=2**32, description="of the evaluation deals, which training never sees")
