"""What drives the rooms in memory: agents act, stand-ins take over, deals begin, each at its time."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable

from table.places import Hosted
from table.room import Room, Step
from table.thinking import Thinkers

log = logging.getLogger("spades.table")


class Driver:
    """Drives rooms by the clock `now`; `tell` tells everybody in a room its state."""

    def __init__(self, thinkers: Thinkers, now: Callable[[], float], tell: Callable[[Hosted], None]) -> None:
        self._thinkers, self._now, self._tell = thinkers, now, tell

    async def drive(self, hosted: Hosted) -> None:
        """Let happen what happens by itself, for as long as the room is in memory."""
        while True:
            try:
                await self._drive_once(hosted)
            except asyncio.CancelledError:
                raise
            except Exception:
                log.exception("room %s: a step failed", hosted.room.code)
                await asyncio.sleep(1.0)

    async def _drive_once(self, hosted: Hosted) -> None:
        hosted.changed.clear()
        step = hosted.room.next_step(self._now())
        if step is None:
            await hosted.changed.wait()
        elif step.what == "think":
            await self._think(hosted, step)
        elif await _waited(hosted.changed, step.at - self._now()) and self._is_due(hosted.room, step):
            if step.what == "deal":
                hosted.room.deal_by_itself(self._now())
            else:
                hosted.room.stand_in(step.seat, self._now())
            self._tell(hosted)

    async def _think(self, hosted: Hosted, step: Step) -> None:
        """Let an agent act at the time of the step; one who thinks long begins at once."""
        room, name = hosted.room, hosted.room.seats[step.seat].agent
        n = room.course.n
        if self._thinkers.is_quick(name):
            if await _waited(hosted.changed, step.at - self._now()) and self._is_due(room, step):
                self._agent_acts(hosted, step, n, self._thinkers.decide_now(name, room.course.game))
            return
        thought = asyncio.create_task(self._thinkers.decide(name, room.course.game))
        try:
            while n == room.course.n:
                now_step = room.next_step(self._now())
                if now_step is None or now_step.what != "think":
                    return
                hosted.changed.clear()
                if await _waited(hosted.changed, now_step.at - self._now(), thought):
                    self._agent_acts(hosted, step, n, thought.result())
        finally:
            thought.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.gather(thought, return_exceptions=True)

    def _agent_acts(self, hosted: Hosted, step: Step, n: int, action: int) -> None:
        if self._is_due(hosted.room, step) and hosted.room.agent_acts(step.seat, n, action, self._now()):
            self._tell(hosted)

    def _is_due(self, room: Room, step: Step) -> bool:
        """Whether the step is still the one to come, now: somebody may have paused or come back meanwhile."""
        now = self._now()
        due = room.next_step(now)
        return due is not None and (due.what, due.seat) == (step.what, step.seat) and due.at <= now


async def _waited(changed: asyncio.Event, seconds: float, thought: asyncio.Task[int] | None = None) -> bool:
    """Wait so long, and for the thought: True; or False as soon as the room has changed."""
    if thought is not None and not thought.done():
        waiter = asyncio.create_task(changed.wait())
        try:
            await asyncio.wait({thought, waiter}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            waiter.cancel()
        return False  # what is next may have changed meanwhile: ask again
    try:
        await asyncio.wait_for(changed.wait(), max(seconds, 0.0))
    except TimeoutError:
        return True
    return False
