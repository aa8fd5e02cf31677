"""What a dataset is made of, as plain values; equal values give equal bytes, however it is made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from evaluation.duplicate import check_bag_price, check_seed
from evaluation.line_up import shares_of
from evaluation.starts import MAX_GAMES
from evaluation.work.definition import PLAYING_SOURCES, definition_of, hash_of_sources
from evaluation.work.job import Job, texts_of
from spades_env.checks import finite_number, whole_number
from spades_env.engine.batch import default_bag_price
from spades_env.game.game import RulesLike
from spades_env.observation.blocks import OBSERVATION_VERSION
from spades_env.observation.encoders import ENCODERS, Encoder
from spades_env.rules import Rules, as_rules

NO_ENCODER: Final = "none"
ENCODER_NAMES: Final = (*ENCODERS, NO_ENCODER)
DEFAULT_PART_DEALS: Final = 1024
"""57,000 decisions, 3 MB with flat observations: a moment of a rule bot's, about a minute of `hard`'s."""
MOST_PART_DEALS: Final = 2**20
DEFAULT_LICENCE: Final = "MIT"

SOURCES: Final = (
    *PLAYING_SOURCES,
    ("evaluation", "dataset/columns.py"),
    ("evaluation", "dataset/decisions.py"),
    ("evaluation", "dataset/part.py"),
)
"""Packages and files of theirs that decide the bytes of a part."""


class DatasetError(ValueError):
    """A dataset that cannot be made or read; the message says what is allowed."""


@dataclass(frozen=True)
class DatasetSpec:
    """Single deals from 0:0, numbered from 0, with an agent on every seat.

    Attributes:
        line_up: texts of agents: one for all seats, or one for each seat.
        encoder: of the observations; "none" keeps masks and actions only.
        epsilon: share of decisions taken at random among the legal ones instead of by the agent.
        bag_price: points of a bag in `margin`; None: the rules' own (-9 in the presets).
        part_deals: deals in a file; what is lost with a crash, never what comes out.
        licence: of the data, for the card.
    """

    line_up: tuple[str, ...]
    deals: int
    rules: Rules
    seed: int = 0
    encoder: str = "flat"
    epsilon: float = 0.0
    bag_price: float | None = None
    part_deals: int = DEFAULT_PART_DEALS
    licence: str = DEFAULT_LICENCE

    def __post_init__(self) -> None:
        players = self.rules.players
        if len(self.line_up) not in (1, players):
            raise DatasetError(f"line_up has {len(self.line_up)} agents; allowed: 1 or {players}, one for each seat")
        whole_number("deals", self.deals, 1, MAX_GAMES, DatasetError)
        whole_number("part_deals", self.part_deals, 1, MOST_PART_DEALS, DatasetError)
        check_seed(self.seed)
        if self.encoder not in ENCODER_NAMES:
            raise DatasetError(f"encoder is {self.encoder!r}; allowed: {', '.join(ENCODER_NAMES)}")
        if not 0.0 <= finite_number("epsilon", self.epsilon, DatasetError) <= 1.0:
            raise DatasetError(f"epsilon is {self.epsilon!r}; allowed: 0..1")
        if self.bag_price is None:
            object.__setattr__(self, "bag_price", default_bag_price(self.rules))
        check_bag_price(self.price)
        if not self.licence.strip() or len(self.licence) > 100 or not self.licence.isprintable():
            raise DatasetError(f"licence is {self.licence!r}; allowed: a name on one line, as MIT or CC-BY-4.0")

    @property
    def price(self) -> float:
        """Points of a bag."""
        assert self.bag_price is not None
        return float(self.bag_price)

    @property
    def writer(self) -> Encoder | None:
        """The encoder, None without one."""
        return ENCODERS.get(self.encoder)

    @property
    def parts(self) -> int:
        """Number of files."""
        return -(-self.deals // self.part_deals)

    def deals_of(self, part: int) -> tuple[int, int]:
        """First deal of a part, and how many."""
        first = part * self.part_deals
        return first, min(self.part_deals, self.deals - first)

    def job(self) -> Job:
        """The deals as a job: its agents are the distinct ones, its one row says who sits where."""
        line_up = self.line_up * self.rules.players if len(self.line_up) == 1 else self.line_up
        agents = tuple(dict.fromkeys(line_up))
        row = [agents.index(line_up[first]) for first in shares_of(line_up)]
        seats = [row[seat % self.rules.players] for seat in range(4)]
        return Job(agents, self.rules, ((seats[0], seats[1], seats[2], seats[3]),), seed=self.seed)

    def definition(self, files: Mapping[str, str]) -> dict[str, Any]:
        """Everything that decides the bytes; `files`: a hash of the files behind an agent's text, see `Desk.files`."""
        job = self.job()
        play = definition_of(job, files)
        return {
            "agents": texts_of(job),
            "line_up": list(job.rows[0][: self.rules.players]),
            **{name: play[name] for name in ("files", "rules", "seed", "spades_env")},
            "deals": self.deals,
            "encoder": self.encoder,
            "observation_version": OBSERVATION_VERSION,
            "observation_size": self.writer.layout.size if self.writer else 0,
            "epsilon": float(self.epsilon),
            "bag_price": self.price,
            "part_deals": self.part_deals,
            "licence": self.licence,
            "code": hash_of_sources(SOURCES),
        }


def dataset_spec(
    line_up: str | tuple[str, ...], deals: int, rules: RulesLike = "classic", **fields: Any
) -> DatasetSpec:
    """A spec from an agent's text or a line-up, and rules as `as_rules` takes them."""
    return DatasetSpec((line_up,) if isinstance(line_up, str) else tuple(line_up), deals, as_rules(rules), **fields)
