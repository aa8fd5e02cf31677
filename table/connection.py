"""One WebSocket: reads frames, asks house and room, sends answers. Whatever a client sends, she gets an answer."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
from collections.abc import Mapping
from typing import Any, Final

from starlette.websockets import WebSocket, WebSocketDisconnect

from table import protocol
from table.errors import Refusal
from table.house import House
from table.limits import Bucket
from table.options import welcome
from table.places import Place
from table.protocol import VERSION, clean_name, clean_text, number_of, parse_frame
from table.quick import Waiting

GOING_AWAY: Final = 1001
CLOSE_SECONDS: Final = 1.0
"""How long a connection that is over may take to say so."""

log = logging.getLogger("spades.table")


class Connection:
    """A client. `address` is where she comes from."""

    def __init__(self, socket: WebSocket, house: House, address: str) -> None:
        self._socket, self._house, self.address = socket, house, address
        self._outbox: asyncio.Queue[Mapping[str, Any]] = asyncio.Queue(house.limits.waiting_messages)
        self._dropped = asyncio.Event()
        self._place: Place | None = None
        self._waiting: Waiting | None = None
        self._greeted = False
        now = house.now()
        self._frames = Bucket(house.limits.frames_per_second, house.limits.frames_burst, now)
        self._lines = Bucket(house.limits.lines_per_second, house.limits.lines_burst, now)
        self._hint: asyncio.Task[None] | None = None

    # ------------------------------------------------------------ in and out

    async def run(self) -> None:
        """Serve until either side ends it."""
        await self._socket.accept()
        tasks = [asyncio.create_task(job) for job in (self._write(), self._read(), self._dropped.wait())]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            self._end()
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            with contextlib.suppress(Exception):
                await asyncio.wait_for(self._socket.close(GOING_AWAY), CLOSE_SECONDS)

    def send(self, message: Mapping[str, Any]) -> None:
        """Queue a message; a client that does not read is dropped."""
        try:
            self._outbox.put_nowait(message)
        except asyncio.QueueFull:
            self._dropped.set()

    async def _write(self) -> None:
        while True:
            message = await self._outbox.get()
            text = json.dumps(message, ensure_ascii=False, separators=(",", ":"))
            with contextlib.suppress(WebSocketDisconnect):
                await self._socket.send_text(text)

    async def _read(self) -> None:
        while True:
            message = await self._socket.receive()
            if message["type"] == "websocket.disconnect":
                return
            text = message.get("text")
            self._receive(text if isinstance(text, str) else None)

    def _end(self) -> None:
        """The connection is gone: her seat waits for her, her place in a queue does not."""
        if self._hint is not None:
            self._hint.cancel()
        if self._waiting is not None:
            self._house.quick.leave(self._waiting)
        if self._place is not None:
            self._house.leave(self._place, for_good=False)
            self._place = None

    # ------------------------------------------------------------ frames

    def _receive(self, text: str | None) -> None:
        """Answer one frame."""
        r = None if text is None else number_of(text)
        try:
            if not self._frames.take(self._house.now()):
                raise Refusal("too_fast", "too many frames")
            if text is None:
                raise Refusal("bad_frame", "a binary message; allowed: text")
            self._answer(parse_frame(text))
        except Refusal as refusal:
            self._answered(refusal.message(), r)
        except Exception:
            log.exception("a frame failed")
            self._answered(Refusal("failed").message(), r)

    def _answered(self, message: dict[str, Any], r: int | None) -> None:
        self.send(message if r is None else message | {"r": r})

    def _answer(self, frame: protocol.AnyFrame) -> None:
        if isinstance(frame, protocol.Hello):
            if frame.v != VERSION:
                raise Refusal("version", f"v is {frame.v}; allowed: {VERSION}")
            self._greeted = True
            self._answered(welcome(self._house.agents), frame.r)
            return
        if not self._greeted:
            raise Refusal("hello_first")
        if isinstance(frame, protocol.Create | protocol.Join | protocol.Quick):
            self._come(frame)
        else:
            self._at_table(frame)

    def _come(self, frame: protocol.Create | protocol.Join | protocol.Quick) -> None:
        """Make or find a room."""
        if self.place is not None or self._waiting is not None:
            raise Refusal("already")
        name = clean_name(frame.name)
        if isinstance(frame, protocol.Quick):
            self._waiting = self._house.quick.join(self, name, frame.rules, self._seated)
            if self._place is not None:
                self._waiting = None
            return
        if isinstance(frame, protocol.Create):
            self._place, token = self._house.create(self, frame.settings, name)
        else:
            self._place, token = self._house.join(self, frame.code, name, frame.token)
        self._answered(self._house.joined(self._place, token), frame.r)
        self._house.tell(self._place.hosted)

    def _seated(self, place: Place) -> None:
        """The quick match has a table."""
        self._place, self._waiting = place, None

    @property
    def place(self) -> Place | None:
        """Where she is; None also if another connection took her seat over, or the room was closed."""
        if self._place is not None and self._place not in self._place.hosted.places:
            self._place = None
        return self._place

    def _at_table(self, frame: protocol.AnyFrame) -> None:
        """Whatever is asked for in a room."""
        if isinstance(frame, protocol.Leave) and self._waiting is not None:
            self._house.quick.leave(self._waiting)
            self._waiting = None
            self._answered({"t": "left"}, frame.r)
            return
        place = self.place
        if place is None:
            raise Refusal("not_here")
        if isinstance(frame, protocol.Leave):
            self._place = None
            self._house.leave(place, for_good=True)
            self._answered({"t": "left"}, frame.r)
        elif isinstance(frame, protocol.Say):
            self._say(frame, place)
        elif isinstance(frame, protocol.Hint):
            self._ask_hint(frame, place)
        elif isinstance(frame, protocol.Deal | protocol.Report):
            self._answered(self._record(frame, place), frame.r)
        elif isinstance(frame, protocol.Voice | protocol.Rtc):
            self._voice(frame, place)
        else:
            self._change(frame, place)
            self._house.tell(place.hosted, answer_to=self, r=frame.r)

    def _change(self, frame: protocol.AnyFrame, place: Place) -> None:
        """What changes the table, and is answered by its state."""
        room, now = place.hosted.room, self._house.now()
        watches = room.settings.mode == "watch"
        if place.seat is None and not watches:
            raise Refusal("not_seated")
        if isinstance(frame, protocol.SetSpeed):
            room.set_speed(frame.speed, now)
        elif isinstance(frame, protocol.Pause):
            room.pause(frame.on, now)
        elif isinstance(frame, protocol.StepOn):
            if not watches:
                raise Refusal("not_allowed", "only in mode 'watch'")
            room.step()
        elif isinstance(frame, protocol.Next):
            room.next_deal(place.seat, frame.n, now)
        elif isinstance(frame, protocol.Again):
            room.again(now)
        elif place.seat is None:
            raise Refusal("not_seated")
        elif isinstance(frame, protocol.Begin):
            room.begin(place.seat, now)
        elif isinstance(frame, protocol.Act):
            room.act(place.seat, frame.n, frame.action, now)
        elif isinstance(frame, protocol.Claim):
            room.claim(place.seat, frame.n, now)
        elif isinstance(frame, protocol.Undo):
            room.undo(place.seat, now)

    # ------------------------------------------------------------ talk and voice

    def _say(self, frame: protocol.Say, place: Place) -> None:
        """A line of talk goes to everybody in the room; nothing of it is kept."""
        if (frame.text is None) == (frame.emoji is None):
            raise Refusal("bad_text", "text or emoji, one of them")
        if place.seat is None:
            raise Refusal("not_seated")
        text = frame.emoji if frame.text is None else clean_text(frame.text)
        if not self._lines.take(self._house.now()):
            raise Refusal("too_fast", "too many lines")
        name = place.hosted.room.seats[place.seat].name
        said = {"t": "said", "seat": place.seat, "name": name, "text": text, "emoji": frame.emoji is not None}
        for other in place.hosted.places:
            other.peer.send(said | ({"r": frame.r} if other is place and frame.r is not None else {}))

    def _voice(self, frame: protocol.Voice | protocol.Rtc, place: Place) -> None:
        """Switch voice on or off, or hand a message of WebRTC to another person who has it on."""
        room = place.hosted.room
        if place.seat is None:
            raise Refusal("not_seated")
        if isinstance(frame, protocol.Voice):
            room.seats[place.seat].voice = frame.on
            self._house.tell(place.hosted, answer_to=self, r=frame.r)
            return
        others = [other for other in place.hosted.places if other.seat == frame.to and other is not place]
        if not others or not room.seats[place.seat].voice or not room.seats[frame.to].voice:
            raise Refusal("not_allowed", "both must have switched voice on")
        others[0].peer.send({"t": "rtc", "from": place.seat, "kind": frame.kind, "data": frame.data})

    # ------------------------------------------------------------ hints and records

    def _ask_hint(self, frame: protocol.Hint, place: Place) -> None:
        """Ask the room's hint agent, off the loop; one question at a time."""
        room = place.hosted.room
        seat = room.seat_for_hint(place.seat)
        if frame.n != room.course.n:
            raise Refusal("stale")
        if self._hint is not None and not self._hint.done():
            raise Refusal("too_fast", "the last hint is not there yet")
        self._hint = asyncio.create_task(self._hinted(frame, place, seat))

    async def _hinted(self, frame: protocol.Hint, place: Place, seat: int) -> None:
        room = place.hosted.room
        try:
            told = await self._house.thinkers.explain(room.settings.hint, room.course.game)
            self._answered({"t": "hint", "n": frame.n, "seat": seat, **told}, frame.r)
        except Refusal as refusal:
            self._answered(refusal.message(), frame.r)

    def _record(self, frame: protocol.Deal | protocol.Report, place: Place) -> dict[str, Any]:
        """A finished deal as it was, or this one as far as she may know it."""
        room = place.hosted.room
        if isinstance(frame, protocol.Deal):
            text = self._house.store.read_deal(room.code, frame.k)
            if text is None:
                raise Refusal("no_such_deal")
            return {"t": "deal", "k": frame.k, "record": json.loads(text), "text": text}
        record = room.report(place.seat)
        name = f"spades-{room.code}-{record['match'] + 1}-{record['deal'] + 1}.jsonl"
        return {"t": "record", "record": record, "text": json.dumps(record, separators=(",", ":")), "file": name}
