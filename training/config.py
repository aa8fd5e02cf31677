"""The configuration of a training run: typed, strict, every field documented where it is declared."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Literal

from pydantic import Field, ValidationError, field_validator, model_validator

from agents.learned.champion import shipped_file
from evaluation.duplicate import MAX_DEALS
from spades_env.checks import shown
from spades_env.configs import ConfigError, load_mapping, parse_value
from spades_env.rules import Rules, as_rules
from training.alarms import AlarmsConfig
from training.pool import PoolConfig
from training.section import Section

DEPTH = 4
"""Levels of the file: the configuration, its sections, their fields, lists and rules in these."""

STAGE: Final = "stage:"
"""How `start` names another run below the same folder."""
CHAMPION: Final = "champion"
"""How it names the policies shipped with the package."""
WAYS: Final = ("clone", "distill", "nils", "bid_values", "pool", "opponent")
"""Fields of which a configuration has at most one: ways to learn that are not plain self-play."""
ALONE: Final = ("clone", "distill", "nils", "bid_values")
"""Those of one learner, without copies of deals."""


class TrainingConfigError(ConfigError):
    """A configuration that cannot be used; the message names the field, the value and what is allowed."""


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

    share: float = Field(0.8, ge=0, le=1, description="share of deals that begin in the midst of a match, not at 0:0")


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


class TrainingConfig(Section):
    """A self-play run: one policy plays all seats and learns from each seat's own trajectory."""

    name: str = Field("selfplay", pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$", description="folder below runs/")
    seed: int = Field(1, ge=0, lt=2**32, description="decides deals, choices, initial weights and minibatches")
    rules: str | dict[str, Any] = Field(
        "classic", description="preset, YAML file, or fields over a preset; a file is read once and kept as its fields"
    )
    deals: int = Field(450_000, ge=1, le=10**12, description="deals to learn from")
    opponent: str | None = Field(
        None, min_length=1, description="agent on the other team's seats, never learning; none: the policy itself"
    )
    start: str | None = Field(
        None,
        min_length=1,
        description="policy whose weights to begin with: a file, a run's folder, stage:NAME, the run NAME beside "
        "this one, or champion, the shipped one for these rules; none: random weights",
    )
    pool: PoolConfig | None = Field(
        None, description="agents and past policies at some of the tables; none: the policy alone"
    )
    clone: CloneConfig | None = Field(None, description="learn a teacher's choices; none: by self-play")
    nils: NilsConfig | None = Field(None, description="learn only how likely nils are made, from `start` on; none: no")
    distill: DistillConfig | None = Field(
        None, description="learn from labels of a search; `deals` counts decisions then"
    )
    bid_values: BidValuesConfig | None = Field(
        None, description="learn what bids are worth, from `start` on; `deals` counts decisions then"
    )
    match: MatchConfig | None = Field(
        None, description="deals at the scores of a match, for its equity; none: deals at 0:0, for their points"
    )
    bag_price: float | None = Field(
        None, ge=-100, le=100, description="points of a bag; none: derived from the rules, -9"
    )
    device: str = Field("cpu", pattern=r"^(cpu|cuda(:\d{1,3})?)$", description="cpu, cuda or cuda:N")
    threads: int | None = Field(None, ge=1, le=256, description="CPU threads of torch; none: all cores")
    checkpoint_every: float = Field(0.02, gt=0, le=1, description="share of training between checkpoints")
    network: NetworkConfig = NetworkConfig()
    ppo: PPOConfig = PPOConfig()
    explore: ExploreConfig = ExploreConfig()
    evaluation: EvaluationConfig = EvaluationConfig()
    alarms: AlarmsConfig | None = Field(None, description="what may not come out of an evaluation; none: anything may")

    @model_validator(mode="after")
    def _one_way_to_learn(self) -> TrainingConfig:
        ways = [name for name in WAYS if getattr(self, name) is not None]
        if len(ways) > 1:
            raise ValueError(f"{' and '.join(ways)} are given; allowed: one of {', '.join(WAYS)}")
        copies, games = self.ppo.copies, self.ppo.games
        if games % copies:
            raise ValueError(f"ppo.copies is {copies}; allowed: a divisor of ppo.games, {games}")
        if self.ppo.anchor > 0 and self.ppo.average_rate == 0:
            raise ValueError(f"ppo.anchor is {self.ppo.anchor}; allowed without ppo.average_rate: 0")
        labelled = [way for way in ways if way in ("distill", "bid_values")]
        if self.match is not None and labelled:
            raise ValueError(f"match and {labelled[0]} are given; allowed: one of them, labels are made at 0:0")
        if self.nils is not None and self.start is None:
            raise ValueError("start is none; allowed with nils: the policy whose nils are meant")
        if self.bid_values is not None and self.start is None:
            raise ValueError("start is none; allowed with bid_values: the policy whose bids are meant")
        if copies > 1 and ways and ways[0] in ALONE:
            raise ValueError(f"ppo.copies is {copies}; allowed with {ways[0]}: 1, nothing there needs a baseline")
        self._check_shares(ways)
        self._check_snapshots()
        if self.alarms is not None and self.alarms.on_alarm == "roll_back":
            self._check_roll_back(ways)
        return self

    def _check_shares(self, ways: list[str]) -> None:
        ppo = self.ppo
        tables = ppo.games // ppo.copies
        if tables % ppo.shares:
            raise ValueError(f"ppo.shares is {ppo.shares}; allowed: a divisor of ppo.games / ppo.copies, {tables}")
        fixed = {} if self.policy_plays else {"shares": 1, "staleness": 0}
        fixed |= {"learners": 1} if ways and ways[0] in ALONE else {}
        for name, only in fixed.items():
            if (value := getattr(ppo, name)) != only:
                raise ValueError(f"ppo.{name} is {value}; allowed with {ways[0]}: {only}")
        if ppo.learners > 1 and self.device not in ("cpu", "cuda"):
            raise ValueError(f"device is {self.device!r}; allowed with ppo.learners {ppo.learners}: cpu, cuda")

    def _check_snapshots(self) -> None:
        """Who wins against which snapshot is known to the process of the table alone."""
        if self.pool is None or not self.pool.snapshots:
            return
        for name, only in {"shares": 1, "staleness": 0, "learners": 1}.items():
            if (value := getattr(self.ppo, name)) != only:
                raise ValueError(f"ppo.{name} is {value}; allowed with pool.snapshots: {only}")

    def _check_roll_back(self, ways: list[str]) -> None:
        if ways and ways[0] in ALONE:
            raise ValueError(f"alarms.on_alarm is 'roll_back'; allowed with {ways[0]}: warn, stop")
        if self.ppo.learners > 1:
            raise ValueError(
                f"alarms.on_alarm is 'roll_back'; allowed with ppo.learners {self.ppo.learners}: warn, stop"
            )

    @property
    def policy_plays(self) -> bool:
        """Whether the policy that learns plays the deals that it learns from; the others have them before."""
        return self.clone is None and self.distill is None and self.bid_values is None

    @property
    def learner_threads(self) -> int:
        """CPU threads of torch for each learner."""
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        return self.threads or max(1, cores // self.ppo.learners)

    def start_path(self, runs: Path) -> Path:
        """Where the policy to begin with lies, for a run below `runs`."""
        assert self.start is not None
        if self.start == CHAMPION:
            return shipped_file(self.rule_set())
        name = self.start.removeprefix(STAGE)
        return Path(self.start) if name == self.start else runs / name

    def rule_set(self) -> Rules:
        """The rules as a value."""
        return as_rules(self.rules)


def load_config(path: str | Path, overrides: Sequence[str] = ()) -> TrainingConfig:
    """The configuration in a YAML file with `overrides` ("a.b=value", the value in YAML) on top."""
    data = load_mapping(path, max_depth=DEPTH)
    for override in overrides:
        _set(data, override)
    return config_from(data, str(path))


def config_from(data: Mapping[str, Any], source: str) -> TrainingConfig:
    """`data` as a configuration; the first thing wrong is named with its field."""
    try:
        config = TrainingConfig.model_validate(dict(data))
        rules = as_rules(config.rules)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"])
        value = "" if first["type"] == "extra_forbidden" else f" is {first['input']!r}"
        raise TrainingConfigError(f"{source}: {field}{value}: {first['msg']}") from None
    return config.model_copy(update={"rules": rules.preset_name or rules.to_dict()})


def _set(data: dict[str, Any], override: str) -> None:
    key, equals, text = override.partition("=")
    if not equals or not key.strip():
        raise TrainingConfigError(f"--set {shown(override)}: must be field=value, such as ppo.games=256")
    *sections, last = key.strip().split(".")
    for section in sections:
        inner = data.setdefault(section, {})
        if not isinstance(inner, dict):
            raise TrainingConfigError(f"--set {shown(override)}: {shown(section)} is no section")
        data = inner
    data[last] = parse_value(text, f"--set {shown(override)}", max_depth=DEPTH - len(sections) - 1)
