"""How much an evaluation plays, checked, and how it is played, which changes no figure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from evaluation.intervals import Interval
from evaluation.sequential import DEFAULT_MAX_DEALS
from evaluation.starts import MAX_GAMES
from evaluation.variance.reference import References
from evaluation.work.backend import LOCAL, Backend, check_workers
from evaluation.work.run import Progress
from spades_env.checks import finite_number, whole_number

MAX_DEALS: Final = MAX_GAMES
MOST_PLAYOUTS: Final = 10_000
DEFAULT_DEALS: Final = 4000

Watch = Callable[[Interval], None]
"""Called with the margin so far while deals are played."""


@dataclass(frozen=True)
class Amount:
    """How much to play, checked: a number of deals, or deals until an interval is narrow; matches; and controls.

    Attributes:
        deals: duplicate deals, of a half-width the most.
        half_width: of the 95 % interval of the margin, in points per deal; None: play all deals.
        playouts: for each choice whose luck is measured; 0: none is.
        references: pairs that play the deals besides.
    """

    deals: int
    half_width: float | None
    matches: int
    playouts: int = 0
    references: References = field(default_factory=References)

    @classmethod
    def of(
        cls,
        deals: int | None,
        half_width: float | None,
        max_deals: int | None,
        matches: int,
        playouts: int = 0,
        references: References | None = None,
    ) -> Amount:
        """Return what is asked for; ValueError names what is no number, out of range or contradicts itself."""
        if half_width is None:
            if max_deals is not None:
                raise ValueError(f"max_deals is {max_deals!r}; allowed without half_width: None, give deals")
            most = whole_number("deals", DEFAULT_DEALS if deals is None else deals, 2, MAX_DEALS)
        else:
            if not finite_number("half_width", half_width) > 0:
                raise ValueError(f"half_width is {half_width!r}; allowed: points per deal, above 0")
            if deals is not None:
                raise ValueError(f"deals is {deals!r}; allowed with half_width: None, it finds out; or max_deals")
            most = whole_number("max_deals", DEFAULT_MAX_DEALS if max_deals is None else max_deals, 2, MAX_DEALS)
        whole_number("luck_playouts", playouts, 0, MOST_PLAYOUTS)
        matches = whole_number("matches", matches, 0, MAX_DEALS)
        return cls(most, half_width, matches, playouts, references or References())

    @property
    def has_controls(self) -> bool:
        """Whether anything is to be subtracted from the margins."""
        return bool(self.playouts or self.references.pairs)


@dataclass(frozen=True)
class Way:
    """How to play, which changes no figure."""

    batch_size: int | None = None
    workers: int = 1
    store: Path | None = None
    progress: Progress | None = None
    watch: Watch | None = None
    backend: Backend = LOCAL

    def __post_init__(self) -> None:
        if self.batch_size is not None:
            whole_number("batch_size", self.batch_size, 1, MAX_DEALS)
        check_workers(self.workers, self.backend)
