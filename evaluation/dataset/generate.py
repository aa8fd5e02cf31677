"""`generate`: make a dataset, or go on with one; in this process or in several, with the same bytes."""

from __future__ import annotations

import multiprocessing
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Future, wait
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from evaluation.dataset.card import card_of
from evaluation.dataset.counts import Counts
from evaluation.dataset.decisions import Tick
from evaluation.dataset.part import make_part
from evaluation.dataset.spec import DatasetError, DatasetSpec
from evaluation.dataset.store import DatasetStore, Entry, write_part
from evaluation.work.crew import MOST_WORKERS, Desk
from evaluation.work.processes import Workers
from spades_env.checks import whole_number

POLL_SECONDS: Final = 0.2
AHEAD: Final = 2
"""Parts in flight for each worker, so that none waits for orders."""

Progress = Callable[[int, int], None]
"""Called with the decisions made so far, those found included, and an estimate of all of them."""


def generate(
    spec: DatasetSpec,
    folder: str | Path,
    *,
    command: str = "",
    workers: int = 1,
    progress: Progress | None = None,
) -> Counts:
    """Make the dataset of `spec` in `folder`, a part after the other, or go on where an interrupted run stopped.

    `command` is written into it. The bytes are the same for any number of workers and any interruptions.
    """
    whole_number("workers", workers, 1, MOST_WORKERS)
    desk = Desk([spec.job()])
    agents = desk.agents(0)
    definition = spec.definition(desk.files())
    with DatasetStore(Path(folder), definition, command) as store:
        missing = [part for part in range(spec.parts) if part not in store.entries]
        meter = _Meter(spec, store.entries, progress)
        work = _Work(spec, definition, store.command, store.folder)
        if workers == 1 or not missing:
            made: Iterator[Entry] = (work.make(agents, part, meter.tick) for part in missing)
        else:
            made = _together(work, desk.expected(), missing, workers, meter)
        for entry in made:
            store.note(entry)
            meter.finished(entry)
        total = _total(store.entries, len(agents))
        store.finish(card_of(definition, store.command, total, store.entries))
    return total


class _Meter:
    """Decisions made so far, and how many there will be by those of the parts that are finished."""

    def __init__(self, spec: DatasetSpec, entries: dict[int, Entry], progress: Progress | None) -> None:
        rules = spec.rules
        self._deals, self._progress = spec.deals, progress
        # A first guess: a bid and the cards, and before them a draft.
        self._a_deal = rules.players * (rules.hand_size + 1.0) + (26 if rules.deal == "draft" else 0)
        self._rows = self._finished_deals = self._in_flight = 0
        for entry in entries.values():
            self._add(entry)
        self._show()

    def finished(self, entry: Entry) -> None:
        """Note a part that has been made."""
        self._in_flight = max(0, self._in_flight - entry.counts["rows"])
        self._add(entry)
        self._show()

    def tick(self, decisions: int) -> None:
        """Note decisions of parts that are not finished."""
        self._in_flight += decisions
        self._show()

    def _add(self, entry: Entry) -> None:
        self._rows += entry.counts["rows"]
        self._finished_deals += entry.counts["deals"]
        self._a_deal = self._rows / self._finished_deals

    def _show(self) -> None:
        if self._progress is not None:
            done = self._rows + self._in_flight
            self._progress(done, max(done, round(self._a_deal * self._deals)))


@dataclass(frozen=True)
class _Work:
    """All that a process must know to make parts."""

    spec: DatasetSpec
    definition: dict[str, Any]
    command: str
    folder: Path

    def make(self, agents: Sequence[Any], part: int, tick: Tick) -> Entry:
        """Make one part and write its file."""
        data, counts = make_part(self.spec, agents, self.definition, self.command, part, tick)
        entry = Entry.of(part, data, counts)
        write_part(self.folder, data, entry)
        return entry


_at_work: tuple[_Work, Sequence[Any], Tick] | None = None
"""In a worker: what it makes, its agents, and whom it tells of decisions made."""


def _begin(work: _Work, expected: dict[str, str], counter: Any) -> None:
    """In a worker: load the agents."""
    global _at_work

    def tick(decisions: int) -> None:
        with counter.get_lock():
            counter.value += decisions

    _at_work = work, Desk([work.spec.job()], expected).agents(0), tick


def _make(part: int) -> Entry:
    """In a worker: make a part."""
    assert _at_work is not None
    work, agents, tick = _at_work
    return work.make(agents, part, tick)


def _together(
    work: _Work, expected: dict[str, str], missing: list[int], workers: int, meter: _Meter
) -> Iterator[Entry]:
    """Yield the missing parts as workers finish them."""
    waiting = deque(missing)
    flying: dict[Future[Entry], int] = {}
    counter = multiprocessing.get_context("spawn").Value("q", 0)
    seen = 0
    with Workers(workers, _begin, (work, expected, counter)) as crew:
        while waiting or flying:
            try:
                while waiting and len(flying) < AHEAD * workers:
                    part = waiting.popleft()
                    flying[crew.submit(_make, part)] = part
                done = wait(flying, timeout=POLL_SECONDS, return_when=FIRST_COMPLETED).done
                made = [(future.result(), flying.pop(future)) for future in done]
            except BrokenExecutor as error:
                raise DatasetError(f"parts {sorted(flying.values())}: a worker process ended abruptly") from error
            now = counter.value
            meter.tick(now - seen)
            seen = now
            yield from (entry for entry, _ in made)


def _total(entries: dict[int, Entry], agents: int) -> Counts:
    """Return the counts of all parts, summed in their order."""
    total = Counts.zero(agents)
    for part in sorted(entries):
        total += Counts.from_dict(entries[part].counts)
    return total
