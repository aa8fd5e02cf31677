"""Orders and the workers that are lost over them (`evaluation.work.dispatch`), with workers that the tests play."""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import Future, wait
from contextlib import closing, contextmanager
from typing import Any

import pytest

from evaluation.work import dispatch
from evaluation.work.backend import AHEAD, BackendError, PoisonedError
from evaluation.work.dispatch import MOST_DEATHS, MOST_FAILED_STARTS, Dispatcher, LostError


class Actor:
    """A worker that does nothing by itself: the test answers for it, or lets it be lost."""

    def __init__(self, begins: bool = True) -> None:
        self.begun: Future[Any] = Future()
        if begins:
            self.begun.set_result(None)
        self.given: list[tuple[bytes, Future[Any]]] = []
        self.ended = False

    def begin(self) -> Future[Any]:
        return self.begun

    def carry_out(self, order: bytes) -> Future[Any]:
        answer: Future[Any] = Future()
        self.given.append((order, answer))
        return answer

    def end(self) -> None:
        self.ended = True

    def answer(self, result: Any = None, number: int = 0) -> None:
        """Answer the order that was given as number `number` of those not answered, with its text by default."""
        text, answer = self.given.pop(number)
        answer.set_result(lambda: text if result is None else result)

    def lose(self) -> None:
        """End abruptly: what it was given comes to nothing, in whatever order that is noticed."""
        given, self.given = self.given, []
        for _, answer in reversed(given):
            answer.set_exception(LostError("gone"))

    @property
    def texts(self) -> list[bytes]:
        return [text for text, _ in self.given]


@contextmanager
def office(count: int, begins: bool = True) -> Iterator[tuple[Dispatcher, list[Actor]]]:
    """A dispatcher, and the workers that it has hired so far."""
    actors: list[Actor] = []

    def hire() -> Actor:
        actors.append(Actor(begins))
        return actors[-1]

    with closing(Dispatcher(count, hire)) as dispatcher:
        yield dispatcher, actors


def until(happens: Callable[[], Any]) -> None:
    """Wait for what must happen; ten seconds are ample."""
    end = time.monotonic() + 10
    while not happens():
        assert time.monotonic() < end
        time.sleep(0.002)


def test_orders_go_to_whoever_has_least_to_do_and_never_pile_up() -> None:
    with office(2) as (dispatcher, actors):
        answers = [dispatcher.order(b"%d" % k) for k in range(9)]
        until(lambda: sum(len(actor.given) for actor in actors) == 2 * AHEAD)
        assert [actor.texts for actor in actors] == [[b"0", b"2"], [b"1", b"3"]]
        assert not answers[2 * AHEAD].running()
        actors[1].answer()
        until(lambda: actors[1].texts == [b"3", b"4"])
        assert answers[1].result() == b"1"
        assert sum(len(actor.given) for actor in actors) == 2 * AHEAD


def test_what_has_been_cancelled_is_not_given() -> None:
    with office(1) as (dispatcher, actors):
        answers = [dispatcher.order(b"%d" % k) for k in range(4)]
        until(lambda: actors and len(actors[0].given) == AHEAD)
        assert [answer.cancel() for answer in answers] == [False, False, True, True]
        actors[0].answer()
        actors[0].answer()
        last = dispatcher.order(b"last")
        until(lambda: actors[0].texts == [b"last"])
        assert not last.done()


def test_a_lost_worker_loses_and_doubles_nothing() -> None:
    """What had been answered counts; the rest is ordered again, first, in order, one by one, from another worker."""
    with office(1) as (dispatcher, actors):
        answers = [dispatcher.order(b"%d" % k) for k in range(4)]
        until(lambda: actors and len(actors[0].given) == AHEAD)
        actors[0].answer("first")
        until(lambda: actors[0].texts == [b"1", b"2"])
        actors[0].lose()
        for text in (b"1", b"2", b"3"):
            until(lambda text=text: len(actors) == 2 and actors[1].texts == [text])
            actors[1].answer()
        assert actors[0].ended
        assert [answer.result(10) for answer in answers] == ["first", b"1", b"2", b"3"]


def test_an_answer_that_comes_after_the_loss_of_its_worker_is_the_only_one() -> None:
    """The second order is known to be lost before the answer of the first arrives: the first is not given again."""
    with office(1) as (dispatcher, actors):
        answers = [dispatcher.order(b"0"), dispatcher.order(b"1")]
        until(lambda: actors and len(actors[0].given) == AHEAD)
        actors[0].given.pop()[1].set_exception(LostError("gone"))
        until(lambda: actors[0].ended)
        assert len(actors) == 1
        actors[0].answer()
        until(lambda: len(actors) == 2 and actors[1].texts == [b"1"])
        assert answers[0].result(10) == b"0"
        actors[1].answer()
        assert answers[1].result(10) == b"1"


def test_an_order_that_costs_three_workers_is_given_up_and_no_other() -> None:
    """The one behind it is not blamed: it was given with it once, and never again."""
    with office(1) as (dispatcher, actors):
        poison, other = dispatcher.order(b"poison"), dispatcher.order(b"other")
        for k in range(MOST_DEATHS):
            together = [b"poison", b"other"] if k == 0 else [b"poison"]
            until(lambda k=k, together=together: len(actors) == k + 1 and actors[k].texts == together)
            actors[k].lose()
        with pytest.raises(PoisonedError, match="3 workers ended abruptly over it"):
            poison.result(10)
        until(lambda: len(actors) == MOST_DEATHS + 1 and actors[-1].texts == [b"other"])
        actors[-1].answer()
        assert other.result(10) == b"other"


def test_poison_behind_another_order_is_found_although_it_takes_that_ones_answer_with_it() -> None:
    """The first is done and its answer lost, again and again: it is blamed once, and given alone it is answered."""
    with office(1) as (dispatcher, actors):
        good, poison = dispatcher.order(b"good"), dispatcher.order(b"poison")
        until(lambda: actors and actors[0].texts == [b"good", b"poison"])
        actors[0].lose()
        until(lambda: len(actors) == 2 and actors[1].texts == [b"good"])
        actors[1].answer()
        assert good.result(10) == b"good"
        for k in range(1, 1 + MOST_DEATHS):
            until(lambda k=k: len(actors) == k + 1 and actors[k].texts == [b"poison"])
            actors[k].lose()
        with pytest.raises(PoisonedError):
            poison.result(10)


def test_errors_of_the_work_are_not_tried_again() -> None:
    def fail() -> None:
        raise ZeroDivisionError("oh")

    with office(1) as (dispatcher, actors):
        answer = dispatcher.order(b"0")
        until(lambda: actors and actors[0].given)
        actors[0].given.pop()[1].set_result(fail)
        with pytest.raises(ZeroDivisionError, match="oh"):
            answer.result(10)
        assert len(actors) == 1


def test_a_worker_that_refuses_to_begin_ends_everything_with_its_reason() -> None:
    with office(2, begins=False) as (dispatcher, actors):
        answer = dispatcher.order(b"0")
        until(lambda: len(actors) == 2)
        actors[1].begun.set_exception(BackendError("node x has another version"))
        with pytest.raises(BackendError, match="node x has another version"):
            answer.result(10)
        with pytest.raises(BackendError, match="node x has another version"):
            dispatcher.order(b"1").result(10)
        assert len(actors) == 2


def test_workers_that_are_lost_before_they_begin_are_replaced_but_not_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dispatch, "SECONDS_TO_NEXT_START", 0.01)
    with office(1, begins=False) as (dispatcher, actors):
        answer = dispatcher.order(b"0")
        for k in range(MOST_FAILED_STARTS):
            until(lambda k=k: len(actors) == k + 1)
            assert not answer.done()
            actors[k].begun.set_exception(LostError("gone"))
        with pytest.raises(BackendError, match="5 workers in a row ended before they had begun \\(gone\\)"):
            answer.result(10)


def test_nobody_to_work_is_said_again_and_again(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(dispatch, "SECONDS_TO_WORD", 0.05)
    with office(1, begins=False) as (dispatcher, actors):
        dispatcher.order(b"0")
        until(lambda: len(caplog.records) == 2)
        actors[0].begun.set_result(None)
        until(lambda: actors[0].given)
    assert all("the cluster has no free processor; waiting" in text for text in caplog.messages)


def test_closing_ends_the_workers_and_cancels_what_waits() -> None:
    with office(2) as (dispatcher, actors):
        answers = [dispatcher.order(b"%d" % k) for k in range(6)]
        until(lambda: sum(len(actor.given) for actor in actors) == 2 * AHEAD)
    assert all(actor.ended for actor in actors)
    assert [answer.cancelled() for answer in answers] == [False] * 2 * AHEAD + [True, True]


@pytest.mark.parametrize("seed", range(3))
def test_any_losses_at_any_moment(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Workers with threads of their own, lost at random while they begin, work, or have just answered.

    Every order is answered once, with its own answer, although many are carried out more than once.
    """
    monkeypatch.setattr(dispatch, "SECONDS_TO_NEXT_START", 0.0)
    monkeypatch.setattr(dispatch, "MOST_DEATHS", 100)
    monkeypatch.setattr(dispatch, "MOST_FAILED_STARTS", 100)
    chance, lock = random.Random(seed), threading.Lock()
    carried_out: Counter[bytes] = Counter()

    class Mortal(Actor):
        def begin(self) -> Future[Any]:
            if chance.random() < 0.2:
                self.begun = Future()
                self.begun.set_exception(LostError("gone"))
            return self.begun

        def carry_out(self, order: bytes) -> Future[Any]:
            answer = super().carry_out(order)
            threading.Thread(target=self.work, daemon=True).start()
            return answer

        def work(self) -> None:
            time.sleep(0.001 * chance.random())
            with lock:
                if self.given:
                    carried_out[self.texts[0]] += 1
                    if chance.random() < 0.3:
                        self.lose()
                    else:
                        self.answer()

    with closing(Dispatcher(3, Mortal)) as dispatcher:
        answers = [dispatcher.order(b"%d" % k) for k in range(200)]
        wait(answers, timeout=60)
        assert [answer.result(0) for answer in answers] == [b"%d" % k for k in range(200)]
    assert set(carried_out) == {b"%d" % k for k in range(200)}
    assert carried_out.total() > 200
