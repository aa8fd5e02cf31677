"""Orders handed to workers that may be lost at any moment: each is carried out until it is answered, and counts once.

Nothing here knows where workers run or how they are reached (`Hand`); `actors` has those of Ray.
"""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, Protocol

from evaluation.work.backend import AHEAD, BackendError, PoisonedError

MOST_DEATHS: Final = 3
"""Workers that an order may cost before it is given up."""
MOST_FAILED_STARTS: Final = 5
"""Workers in a row that may be lost before they have begun."""
SECONDS_TO_NEXT_START: Final = 1.0
"""After a worker that was lost before it had begun."""
SECONDS_TO_WORD: Final = 60.0
"""Without any worker, after which the log says so."""

_LOG: Final = logging.getLogger(__name__)


class LostError(Exception):
    """A worker that has ended or cannot be reached."""


class Hand(Protocol):
    """A worker somewhere: carries out what it is given, one after the other."""

    def begin(self) -> Future[Any]:
        """Get ready; LostError comes out of the future if the worker is lost, anything else is nobody's chance."""
        ...

    def carry_out(self, order: Any) -> Future[Callable[[], Any]]:
        """Carry out an order; the answer returns its result or raises its error. LostError as above."""
        ...

    def end(self) -> None:
        """End it at once; it may have ended, or never begun."""
        ...


@dataclass(eq=False)
class _Order:
    """An order and its answer.

    Attributes:
        deaths: workers that were lost over it.
        alone: it was lost once, so its worker gets nothing else: if that is lost, too, it is clear over what.
    """

    text: Any
    answer: Future[Any]
    deaths: int = 0
    alone: bool = False


@dataclass(eq=False)
class _Place:
    """A worker's place.

    Attributes:
        ready: it takes orders.
        given: what it has not answered, in order.
        lost: of that, how many orders are known to be lost with it.
    """

    hand: Hand
    ready: bool = False
    given: list[_Order] = field(default_factory=list)
    lost: int = 0


class Dispatcher:
    """Keeps `count` workers busy with at most AHEAD orders each; one thread decides everything."""

    def __init__(self, count: int, hire: Callable[[], Hand]) -> None:
        self._hire = hire
        self._places: list[_Place] = []
        self._waiting: deque[_Order] = deque()
        self._vacant = [0.0] * count
        self._failed_starts = 0
        self.ordered_again = 0
        self._broken: BaseException | None = None
        self._none_since = time.monotonic()
        self._inbox: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._serve, name="dispatcher", daemon=True)
        self._thread.start()

    def order(self, text: Any) -> Future[Any]:
        """Order something, in whatever form hands understand; the future can be cancelled until a worker has it."""
        order = _Order(text, Future())
        self._post(self._take, order)
        return order.answer

    def close(self) -> None:
        """End all workers; orders that are not answered are cancelled."""
        self._inbox.put(None)
        self._thread.join()
        for place in self._places:
            place.hand.end()
        for order in self._waiting:
            order.answer.cancel()

    def _post(self, what: Callable[..., None], *about: Any) -> None:
        """Let the dispatcher's thread do something: futures call back in whatever thread is theirs."""
        self._inbox.put(partial(what, *about))

    def _serve(self) -> None:
        """Do what comes in, and what is due, until it is closed."""
        while True:
            try:
                event = self._inbox.get(timeout=self._seconds_left())
            except queue.Empty:
                event = _nothing
            if event is None:
                return
            try:
                event()
                self._fill_vacancies()
                self._hand_out()
            except Exception as error:  # whoever waits for answers must hear of it
                self._break(error)
            self._say_if_alone()

    def _seconds_left(self) -> float:
        """Seconds to the next thing that is due."""
        now = time.monotonic()
        word = self._none_since + SECONDS_TO_WORD
        return max(0.0, min([word, *self._vacant]) - now) if self._broken is None else SECONDS_TO_WORD

    def _take(self, order: _Order) -> None:
        if self._broken is not None:
            order.answer.set_exception(self._broken)
        else:
            self._waiting.append(order)

    def _fill_vacancies(self) -> None:
        """Hire for every vacancy that is due."""
        now = time.monotonic()
        due = [when for when in self._vacant if when <= now] if self._broken is None else []
        self._vacant = [when for when in self._vacant if when > now]
        for _ in due:
            place = _Place(self._hire())
            self._places.append(place)
            place.hand.begin().add_done_callback(partial(self._post, self._began, place))

    def _began(self, place: _Place, done: Future[Any]) -> None:
        """Note that a worker has begun, or why not."""
        error = done.exception()
        if error is None:
            place.ready = True
            self._failed_starts = 0
            return
        self._leave(place)
        if not isinstance(error, LostError):
            self._break(error)
            return
        self._failed_starts += 1
        if self._failed_starts == MOST_FAILED_STARTS:
            self._break(BackendError(f"{MOST_FAILED_STARTS} workers in a row ended before they had begun ({error})"))
        self._vacant.append(time.monotonic() + SECONDS_TO_NEXT_START)

    def _hand_out(self) -> None:
        """Give waiting orders to those who have least to do."""
        while self._waiting and (place := self._place_for(self._waiting[0])):
            order = self._waiting.popleft()
            if not order.answer.running() and not order.answer.set_running_or_notify_cancel():
                continue
            place.given.append(order)
            place.hand.carry_out(order.text).add_done_callback(partial(self._post, self._answered, place, order))

    def _place_for(self, order: _Order) -> _Place | None:
        """Return who can take an order now, and has least to do."""
        most = 1 if order.alone else AHEAD
        free = [
            place
            for place in self._places
            if place.ready and len(place.given) < most and not any(other.alone for other in place.given)
        ]
        return min(free, key=lambda place: len(place.given), default=None)

    def _answered(self, place: _Place, order: _Order, done: Future[Callable[[], Any]]) -> None:
        """Pass an answer on, once; or begin to mourn a worker."""
        if self._broken is not None:
            return
        error = done.exception()
        if isinstance(error, LostError):
            # Answers of earlier orders may still come: only then it is known what the worker was at.
            place.lost += 1
            place.ready = False
            place.hand.end()
        else:
            place.given.remove(order)
            _pass_on(order.answer, done)
        if place.lost and place.lost == len(place.given):
            self._bury(place, error)

    def _bury(self, place: _Place, error: BaseException | None) -> None:
        """Order again what a worker took with it. `error`: how it was lost.

        The first of that is what it was at, most likely; the answer to it may have been lost on its way, and the next
        order be to blame. Given alone from now on, each is blamed for no other's deeds a second time.
        """
        self._leave(place)
        self._vacant.append(0.0)
        lost = place.given
        lost[0].deaths += 1
        for order in lost:
            order.alone = True
        if lost[0].deaths == MOST_DEATHS:
            poisoned = PoisonedError(
                f"{MOST_DEATHS} workers ended abruptly over it (out of memory, or an agent that ends its process?)"
            )
            poisoned.__cause__ = error
            lost.pop(0).answer.set_exception(poisoned)
        _LOG.warning("a worker ended abruptly; what it was at is ordered again")
        _LOG.info("how it was lost: %s", error)
        self.ordered_again += len(lost)
        self._waiting.extendleft(reversed(lost))

    def _leave(self, place: _Place) -> None:
        """Give up a worker's place."""
        self._places.remove(place)
        place.hand.end()
        if not any(other.ready for other in self._places):
            self._none_since = time.monotonic()

    def _break(self, error: BaseException) -> None:
        """Give everything up."""
        self._broken = error
        orders = [*self._waiting, *(order for place in self._places for order in place.given)]
        self._waiting.clear()
        for order in orders:
            if order.answer.running() or order.answer.set_running_or_notify_cancel():
                order.answer.set_exception(error)

    def _say_if_alone(self) -> None:
        """Say in the log that there has been no worker for a while."""
        now = time.monotonic()
        if any(place.ready for place in self._places):
            self._none_since = now
        elif self._broken is None and now >= self._none_since + SECONDS_TO_WORD:
            self._none_since = now
            _LOG.warning("no worker for %.0f seconds: the cluster has no free processor; waiting", SECONDS_TO_WORD)


def _nothing() -> None:
    """What happens when nothing has come in."""


def _pass_on(answer: Future[Any], done: Future[Callable[[], Any]]) -> None:
    """Pass on what an order came to, a result or an error."""
    try:
        answer.set_result(done.result()())
    except BaseException as error:
        answer.set_exception(error)
