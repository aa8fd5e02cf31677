"""The configuration of a training run: typed, strict, every field documented where it is declared."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from pydantic import Field, ValidationError, model_validator

from agents.learned.champion import shipped_file
from spades_env.checks import shown
from spades_env.configs import ConfigError, load_mapping, parse_value
from spades_env.rules import Rules, as_rules
from training.alarms import AlarmsConfig
from training.pool import PoolConfig
from training.section import Section
from training.sections import (
    BidValuesConfig,
    CloneConfig,
    DistillConfig,
    EvaluationConfig,
    ExploreConfig,
    MatchConfig,
    NetworkConfig,
    NilsConfig,
    PPOConfig,
)

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
        "this one, or champion, the first of the shipped ones for these rules; none: random weights",
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
        raise TrainingConfigError(f"{source}: {_told(error)}") from None
    return config.model_copy(update={"rules": rules.preset_name or rules.to_dict()})


def _told(error: ValidationError) -> str:
    """The first thing wrong, for people."""
    first = error.errors()[0]
    if not first["loc"]:  # of several sections together, and in words of our own, which name field and value
        return str(first["ctx"]["error"])
    field = ".".join(str(part) for part in first["loc"])
    value = "" if first["type"] == "extra_forbidden" else f" is {first['input']!r}"
    return f"{field}{value}: {first['msg']}"


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
