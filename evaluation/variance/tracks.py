"""Reference pairs at play: their controls, as far as they are asked for."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, ExitStack

import numpy as np

from evaluation.variance.fit import FloatArray
from evaluation.variance.reference import References, columns_of
from evaluation.work.crew import Crew
from evaluation.work.run import run
from evaluation.work.store import PartStore


class Track(AbstractContextManager["Track"]):
    """The controls of one job of a crew."""

    def __init__(
        self, crew: Crew, job: int, most: int, price: float, *, batch_size: int | None, store: PartStore | None
    ) -> None:
        """`most`: deals that may be asked for; `price`: points of a bag."""
        self._rows, self._price = len(crew.desk.jobs[job].rows), price
        self._parts = run(crew, job, most, batch_size=batch_size, store=store)
        self._values: list[FloatArray] = []
        self._count = 0
        self.seconds = 0.0

    def __exit__(self, *_: object) -> None:
        self._parts.close()

    def first(self, deals: int) -> FloatArray:
        """Return the controls of the first `deals` deals, at least one, float64 (deals, COLUMNS)."""
        while self._count < deals:
            part = next(self._parts)
            self._values.append(columns_of(part.log, self._rows, self._price))
            self._count += part.count
            self.seconds += part.seconds
        self._values = [np.concatenate(self._values)]
        return self._values[0][:deals]


class Tracks(AbstractContextManager["Tracks"]):
    """The controls of all reference pairs, on the evaluated deals and on further ones."""

    def __init__(
        self,
        crew: Crew,
        first_job: int,
        references: References,
        most: int,
        price: float,
        *,
        batch_size: int | None,
        stores: Sequence[PartStore | None],
    ) -> None:
        """The crew's jobs from number `first_job` on are those of `References.jobs`, in its order, as are `stores`."""
        self._references = references
        self._exit = ExitStack()
        self._tracks = [
            self._exit.enter_context(
                Track(
                    crew,
                    first_job + k,
                    (most, references.further(most))[k % 2],
                    price,
                    batch_size=batch_size,
                    store=store,
                )
            )
            for k, store in enumerate(stores)
        ]

    def __exit__(self, *_: object) -> None:
        self._exit.close()

    @property
    def seconds(self) -> float:
        """Of work so far."""
        return sum(track.seconds for track in self._tracks)

    def controls(self, deals: int) -> tuple[FloatArray, FloatArray]:
        """Return the controls of the first `deals` deals and of the further ones that belong to so many.

        Float64 (deals, q) and (m, q); (deals, 0) and (0, 0) without a pair.
        """
        if not self._tracks:
            return np.zeros((deals, 0)), np.zeros((0, 0))
        further = self._references.further(deals)
        own, other = (
            _side_by_side([track.first(n) for track in self._tracks[k::2]]) for k, n in enumerate((deals, further))
        )
        return own, other


def _side_by_side(tables: Sequence[FloatArray]) -> FloatArray:
    """Return tables of all pairs, each float64 (n, c), as one, (n, c * pairs): first the first column of each."""
    result: FloatArray = np.stack(tables, axis=2).reshape(len(tables[0]), -1)
    return result
