"""`generate`: make a dataset, or go on with one; in this process or in several, with the same bytes."""

from __future__ import annotations

import multiprocessing
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Future, wait
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeVar

from evaluation.dataset.card import card_of
from evaluation.dataset.counts import Counts
from evaluation.dataset.decisions import Tick
from evaluation.dataset.part import make_part
from evaluation.dataset.spec import DatasetError, DatasetSpec
from evaluation.dataset.store import DatasetStore, Entry, write_part
from evaluation.work.backend import AHEAD, LOCAL, Backend, PoisonedError, check_workers, open_workers
from evaluation.work.crew import Desk

R = TypeVar("R")

POLL_SECONDS: Final = 0.2

Progress = Callable[[int, int], None]
"""Called with the decisions made so far, those found included, and an estimate of all of them."""


def generate(
    spec: DatasetSpec,
    folder: str | Path,
    *,
    command: str = "",
    workers: int = 1,
    backend: str | Backend = LOCAL,
    progress: Progress | None = None,
) -> Counts:
    """Make the dataset of `spec` in `folder`, a part after the other, or go on where an interrupted run stopped.

    `command` is written into it. The bytes are the same for any number of workers of any backend and any interruptions.
    """
    backend = Backend.of(backend)
    check_workers(workers, backend)
    desk = Desk([spec.job()])
    agents = desk.agents(0)
    definition = spec.definition(desk.files())
    with DatasetStore(Path(folder), definition, command) as store:
        missing = [part for part in range(spec.parts) if part not in store.entries]
        meter = _Meter(spec, store.entries, progress)
        work = _Work(spec, definition, store.command, store.folder)
        if (workers == 1 and backend.is_local) or not missing:
            made: Iterator[Entry] = (work.make(agents, part, meter.tick) for part in missing)
        elif backend.is_local:
            made = _together(work, desk, missing, workers, meter)
        else:
            made = _elsewhere(work, desk, missing, workers, backend)
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
        data, entry = self.play(agents, part, tick)
        write_part(self.folder, data, entry)
        return entry

    def play(self, agents: Sequence[Any], part: int, tick: Tick | None = None) -> tuple[bytes, Entry]:
        """Make one part; what its file will hold."""
        data, counts = make_part(self.spec, agents, self.definition, self.command, part, tick)
        return data, Entry.of(part, data, counts)

    def name_of(self, part: int) -> str:
        """The part in words, for messages."""
        first, count = self.spec.deals_of(part)
        return f"part {part}, deals {first}..{first + count - 1} of seed {self.spec.seed}"


_at_work: tuple[_Work, Sequence[Any], Tick | None] | None = None
"""In a worker: what it makes, its agents, and whom it tells of decisions made."""


def _begin(work: _Work, expected: dict[str, str], counter: Any = None) -> None:
    """In a worker: load the agents; `counter` of this machine is told of decisions."""
    global _at_work

    def tick(decisions: int) -> None:
        with counter.get_lock():
            counter.value += decisions

    _at_work = work, Desk([work.spec.job()], expected).agents(0), None if counter is None else tick


def _make(part: int) -> Entry:
    """In a worker of this machine: make a part and write its file."""
    assert _at_work is not None
    work, agents, tick = _at_work
    assert tick is not None
    return work.make(agents, part, tick)


def _send(part: int) -> tuple[bytes, Entry]:
    """In a worker elsewhere: make a part, for whoever ordered it to write."""
    assert _at_work is not None
    work, agents, _ = _at_work
    return work.play(agents, part)


def _together(work: _Work, desk: Desk, missing: list[int], workers: int, meter: _Meter) -> Iterator[Entry]:
    """Yield the missing parts as processes of this machine, who write the files, finish them."""
    counter = multiprocessing.get_context("spawn").Value("q", 0)
    seen = 0
    with open_workers(LOCAL, workers, _begin, (work, desk.expected(), counter)) as crew:
        for made in _finished(work, crew.submit, _make, missing, AHEAD * workers):
            now = counter.value
            meter.tick(now - seen)
            seen = now
            yield from made


def _elsewhere(work: _Work, desk: Desk, missing: list[int], workers: int, backend: Backend) -> Iterator[Entry]:
    """Yield the missing parts as workers that may have no folder in common with this process send them."""
    arguments = (work, desk.expected())
    with open_workers(backend, workers, _begin, arguments, agents=desk.texts()) as crew:
        for made in _finished(work, crew.submit, _send, missing, AHEAD * workers):
            for data, entry in made:
                write_part(work.folder, data, entry)
                yield entry


def _finished(
    work: _Work, submit: Callable[..., Future[R]], make: Callable[[int], R], missing: list[int], most: int
) -> Iterator[list[R]]:
    """Order the missing parts, at most `most` at a time; yield those just finished, every POLL_SECONDS or sooner."""
    waiting = deque(missing)
    flying: dict[Future[R], int] = {}
    while waiting or flying:
        try:
            while waiting and len(flying) < most:
                part = waiting.popleft()
                flying[submit(make, part)] = part
            done = wait(flying, timeout=POLL_SECONDS, return_when=FIRST_COMPLETED).done
            made = [_result(work, future, flying) for future in done]
        except BrokenExecutor as error:
            raise DatasetError(f"parts {sorted(flying.values())}: a worker process ended abruptly") from error
        yield made


def _result(work: _Work, future: Future[R], flying: dict[Future[R], int]) -> R:
    """Return what came out of a future."""
    try:
        result = future.result()
    except PoisonedError as error:
        raise DatasetError(f"{work.name_of(flying[future])}: {error}") from error
    del flying[future]
    return result


def _total(entries: dict[int, Entry], agents: int) -> Counts:
    """Return the counts of all parts, summed in their order."""
    total = Counts.zero(agents)
    for part in sorted(entries):
        total += Counts.from_dict(entries[part].counts)
    return total
