"""Rooms and finished deals in SQLite: everything that was told to anybody is in the file before it is told.

Write-ahead log with `synchronous=NORMAL`: a commit survives the death of the process at any moment (not the loss of
power, after which the last moments may be missing but the file is whole).
"""

from __future__ import annotations

import json
import os
import sqlite3
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from filelock import FileLock, Timeout

from spades_env.rules import RulesError
from table.course import Event
from table.room import Room
from table.seat import Seat
from table.settings import Settings

SCHEMA_VERSION: Final = 1
_APPLICATION: Final = 0x53504445
"""SQLite's application_id of our files: "SPDE"."""
_SCHEMA: Final = """
create table rooms (
    code text primary key,
    secret blob not null,
    settings text not null,
    seats text not null,
    begun integer not null,
    closed integer not null,
    created real not null,
    changed real not null
) without rowid;
create table events (
    code text not null,
    n integer not null,
    kind text not null,
    value integer not null,
    by integer not null,
    primary key (code, n)
) without rowid;
create table deals (
    code text not null,
    k integer not null,
    ended real not null,
    record text not null,
    primary key (code, k)
) without rowid;
"""


class StoreError(ValueError):
    """A database that cannot be used; the message names it."""


class Store:
    """The database of one server. Two servers on one file would give a table two courses: the second is refused."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self._lock = FileLock(f"{self.path}.lock", thread_local=False)
        try:
            self._lock.acquire(timeout=0)
        except Timeout:
            raise StoreError(f"{self.path} is in use by another server; allowed: one server a database") from None
        try:
            self._db = self._open()
        except (sqlite3.Error, StoreError) as error:
            self._lock.release()
            raise StoreError(f"{self.path}: {error}") from None

    def _open(self) -> sqlite3.Connection:
        db = sqlite3.connect(self.path, isolation_level=None, check_same_thread=False)
        application, version = (
            db.execute(f"pragma {name}").fetchone()[0] for name in ("application_id", "user_version")
        )
        if version == 0 and db.execute("select count(*) from sqlite_master").fetchone()[0] == 0:
            db.execute("pragma journal_mode = wal")
            ours = f"pragma application_id = {_APPLICATION}; pragma user_version = {SCHEMA_VERSION};"
            db.executescript(f"begin; {_SCHEMA} {ours} commit;")
        elif application != _APPLICATION or version != SCHEMA_VERSION:
            db.close()
            raise StoreError("no database of this version of spades table")
        db.execute("pragma journal_mode = wal")
        db.execute("pragma synchronous = normal")
        return db

    def close(self) -> None:
        """Close the file; another server may use it."""
        self._db.close()
        self._lock.release()

    # ------------------------------------------------------------ writing

    def write_room(self, room: Room) -> None:
        """Keep settings, seats and whether the room has begun or is closed."""
        seats = [
            {"agent": s.agent, "free": s.free, "name": s.name, "token": s.token.hex() if s.token else None}
            for s in room.seats
        ]
        now = time.time()
        self._db.execute(
            "insert into rooms values (?, ?, ?, ?, ?, ?, ?, ?) on conflict (code) do update set "
            "settings = excluded.settings, seats = excluded.seats, begun = excluded.begun, "
            "closed = excluded.closed, changed = excluded.changed",
            (
                room.code,
                room.secret,
                json.dumps(room.settings.to_dict()),
                json.dumps(seats),
                room.begun,
                room.closed,
                now,
                now,
            ),
        )

    def write_event(self, code: str, n: int, event: Event, record: Mapping[str, Any] | None, deals: int) -> None:
        """Append event number `n`, with the record of the deal if it has ended; `deals` are those finished."""
        if record is None and event.kind != "undo":
            self._db.execute("insert into events values (?, ?, ?, ?, ?)", (code, n, event.kind, event.value, event.by))
            return
        with self._transaction():
            self._db.execute("insert into events values (?, ?, ?, ?, ?)", (code, n, event.kind, event.value, event.by))
            self._db.execute("delete from deals where code = ? and k >= ?", (code, deals - (record is not None)))
            if record is not None:
                text = json.dumps(record, separators=(",", ":"))
                self._db.execute("insert into deals values (?, ?, ?, ?)", (code, deals - 1, time.time(), text))

    def _transaction(self) -> _Transaction:
        return _Transaction(self._db)

    # ------------------------------------------------------------ reading

    def has_room(self, code: str) -> bool:
        """Whether the code was ever given away."""
        return self._db.execute("select 1 from rooms where code = ?", (code,)).fetchone() is not None

    def read_room(self, code: str) -> Room | None:
        """A room as it stands, its events played again; None if there is none of this code or it is closed."""
        row = self._db.execute(
            "select secret, settings, seats, begun from rooms where code = ? and closed = 0", (code,)
        ).fetchone()
        if row is None:
            return None
        secret, settings, seats, begun = row
        try:
            chosen = Settings.from_dict(json.loads(settings))
        except RulesError as error:
            raise StoreError(f"{self.path}: room {code}: {error}") from None
        room = Room(code, chosen, secret, self, seats=[_seat(told) for told in json.loads(seats)], begun=bool(begun))
        for event in self.events(code):
            room.course.take(event)
        return room

    def events(self, code: str) -> Iterator[Event]:
        """The events of a room in order."""
        rows = self._db.execute("select n, kind, value, by from events where code = ? order by n", (code,))
        for count, (n, kind, value, by) in enumerate(rows):
            if n != count:
                raise StoreError(f"{self.path}: room {code}: event {count} is missing")
            yield Event(kind, value, by)

    def open_codes(self) -> list[str]:
        """Codes of the rooms that are not closed."""
        return [code for (code,) in self._db.execute("select code from rooms where closed = 0 order by created")]

    def read_deal(self, code: str, k: int) -> str | None:
        """The record of a finished deal as JSON text."""
        row = self._db.execute("select record from deals where code = ? and k = ?", (code, k)).fetchone()
        return None if row is None else str(row[0])

    def records(self) -> Iterator[dict[str, Any]]:
        """The records of all finished deals, table by table."""
        rows = self._db.execute(
            "select record from deals join rooms using (code) order by rooms.created, rooms.code, deals.k"
        )
        for (text,) in rows:
            yield json.loads(text)


class _Transaction:
    """All or nothing of what is written inside."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db

    def __enter__(self) -> None:
        self._db.execute("begin immediate")

    def __exit__(self, kind: object, value: object, traceback: object) -> None:
        self._db.execute("commit" if kind is None else "rollback")


def _seat(told: dict[str, Any]) -> Seat:
    token = told["token"]
    return Seat(
        agent=told["agent"],
        free=told["free"],
        name=told["name"],
        token=None if token is None else bytes.fromhex(token),
    )
