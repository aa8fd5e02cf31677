"""A job cut into parts, handed to a crew, and collected in order; where the cuts are never changes a result."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Mapping
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Future, wait
from typing import Final

from evaluation.sequential import next_look
from evaluation.work.backend import PoisonedError
from evaluation.work.crew import Crew
from evaluation.work.job import Part, Played, put_together
from evaluation.work.part import PartError
from evaluation.work.store import Kept, PartStore

SECONDS_A_PART: Final = 2.0
"""A part takes about this long, so that progress shows and little is lost with a part."""
FIRST_SIZE, MOST_GROWTH, MOST_GAMES = 4, 8, 2**15
"""Games of the first part, how much larger the next may be, and the most."""

Progress = Callable[[str, int, int], None]
"""Called with the kind of games, how many are finished, and how many there are."""


class Pace:
    """How many games to put into a part: as many as were asked for, or as many as take SECONDS_A_PART."""

    def __init__(self, batch_size: int | None) -> None:
        self._fixed = batch_size
        self.size = FIRST_SIZE if batch_size is None else batch_size

    def note(self, part: Part) -> None:
        """Learn from a part how fast games are played."""
        if self._fixed is None:
            wanted = SECONDS_A_PART * part.count / max(part.seconds, 1e-9)
            self.size = max(1, min(int(wanted), MOST_GROWTH * part.count, MOST_GAMES))


class _Cuts:
    """Which part comes next: one that is kept, or a new one, up to the next look and the next kept part."""

    def __init__(self, games: int, kept: tuple[Kept, ...], pace: Pace) -> None:
        self._games, self._pace = games, pace
        self._kept = deque(sorted(kept, key=lambda part: (part.first, -part.count)))
        self.first = 0

    def next(self) -> tuple[int, int, Kept | None] | None:
        """Return (first, count, the kept part or None), or None after the last game."""
        if self.first >= self._games:
            return None
        end = min(self._games, next_look(self.first))
        # Parts that reach over an end were kept by a run that asked for more games: they are of no use here.
        while self._kept and (self._kept[0].first < self.first or self._over(self._kept[0])):
            self._kept.popleft()
        first, found = self.first, None
        if self._kept and self._kept[0].first == first:
            found = self._kept.popleft()
            self.first = first + found.count
        else:
            limit = min(end, self._kept[0].first) if self._kept else end
            self.first = min(limit, first + self._pace.size)
        return first, self.first - first, found

    def _over(self, part: Kept) -> bool:
        return part.first + part.count > min(self._games, next_look(part.first))


def run(
    crew: Crew, job: int, games: int, *, batch_size: int | None = None, store: PartStore | None = None
) -> Generator[Part]:
    """Yield games 0 to `games - 1` of job number `job` of the crew's desk, in parts, in order.

    No part reaches over a look of `evaluation.sequential`. Parts in `store` are taken from there, all others are put
    into it as soon as they are finished. Whoever has enough just stops asking.
    """
    pace = Pace(batch_size)
    cuts = _Cuts(games, store.kept if store else (), pace)
    flying: dict[Future[Part], tuple[int, int]] = {}
    ready: dict[int, Part | Kept] = {}
    most = crew.in_flight
    at = 0
    try:
        while at < games:
            while len(flying) < most and len(ready) < 4 * most and at not in ready and (cut := cuts.next()):
                first, count, kept = cut
                if kept is not None:
                    ready[first] = kept
                else:
                    flying[_submit(crew, job, (first, count), flying)] = first, count
            if at not in ready:
                for future in wait(flying, return_when=FIRST_COMPLETED).done:
                    part = _result(crew, job, future, flying)
                    pace.note(part)
                    if store:
                        store.save(part)
                    ready[part.first] = part
            while at in ready:
                found = ready.pop(at)
                at += found.count
                yield _loaded(found, store)
    finally:
        for future in flying:
            future.cancel()


def play_all(
    crew: Crew,
    job: int,
    games: int,
    *,
    batch_size: int | None = None,
    store: PartStore | None = None,
    progress: Progress | None = None,
) -> Played:
    """Return games 0 to `games - 1`, at least one, of job number `job`, put together."""
    which = crew.desk.jobs[job]
    parts = []
    for part in run(crew, job, games, batch_size=batch_size, store=store):
        parts.append(part)
        if progress is not None:
            progress(which.kind, part.first + part.count, games)
    return put_together(parts, len(which.rows))


def _loaded(part: Part | Kept, store: PartStore | None) -> Part:
    """Return a part, a kept one from the store it came from."""
    if isinstance(part, Part):
        return part
    assert store is not None
    return store.load(part)


def _submit(crew: Crew, job: int, cut: tuple[int, int], flying: Mapping[Future[Part], tuple[int, int]]) -> Future[Part]:
    """Order a part from the crew."""
    try:
        return crew.submit(job, *cut)
    except BrokenExecutor as error:
        raise _lost(crew, job, [*flying.values(), cut]) from error


def _result(crew: Crew, job: int, future: Future[Part], flying: dict[Future[Part], tuple[int, int]]) -> Part:
    """Return what came out of a future."""
    try:
        part = future.result()
    except PoisonedError as error:
        which = crew.desk.jobs[job]
        raise PartError(f"{which.name_of(*flying[future])} of seed {which.seed}: {error}") from error
    except BrokenExecutor as error:
        raise _lost(crew, job, list(flying.values())) from error
    del flying[future]
    return part


def _lost(crew: Crew, job: int, games: list[tuple[int, int]]) -> PartError:
    """The error of a crash, which names all games that were being played."""
    names = ", ".join(crew.desk.jobs[job].name_of(*some) for some in sorted(games))
    return PartError(
        f'{names}: a worker process ended abruptly (out of memory, or a script without if __name__ == "__main__"?)'
    )
