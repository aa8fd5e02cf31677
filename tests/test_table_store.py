"""What the store has is what was shown: rooms come back with the same cards, scores and seats; records are records."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("starlette", reason="needs the extra `table`")

from table_rooms import PACE, play_on, settings_of

from spades_env.record.files import check_record, read_records
from spades_env.rules import PRESETS
from table.errors import Refusal
from table.room import Room
from table.store import Store, StoreError


def new_room(store: Store, preset: str, **fields: object) -> Room:
    seats = ["you", "normal"] if PRESETS[preset].players == 2 else ["you", "normal", "open", "easy"]
    if fields.get("mode") == "practice":
        seats = ["normal" if name == "open" else name for name in seats]
    settings = settings_of(rules={"preset": preset}, seats=seats, **fields)
    room = Room(f"CODE{preset[:4].upper()}", settings, bytes(32), store, pace=PACE)
    room.sit("Ann", 0.0, seat=0)
    room.begin(None, 0.0)
    return room


def state(room: Room, seat: int | None) -> dict[str, object]:
    """A state without what depends on who is connected."""
    told = room.state_for(seat, 0.0)
    for one in told["seats"]:
        one["connected"] = one["agent_plays"] = None
    return told | {"clock": None, "spectators": 0}


@pytest.mark.parametrize("preset", PRESETS)
def test_a_room_comes_back_as_it_was(tmp_path: Path, preset: str) -> None:
    store = Store(tmp_path / "a.sqlite")
    room = new_room(store, preset, mode="practice" if preset == "classic" else "play")
    rng = np.random.default_rng(1)
    for k in range(120):
        play_on(room, rng, 1)
        if k % 17 == 16 and room.settings.mode == "practice" and room.course.last_decision(0) is not None:
            room.undo(0, 0.0)
        if k % 10 == 0:
            again = store.read_room(room.code)
            assert again is not None
            assert again.course.game == room.course.game
            for seat in (None, *range(len(room.seats))):
                assert state(again, seat) == state(room, seat)
    store.close()
    reopened = Store(tmp_path / "a.sqlite")
    again = reopened.read_room(room.code)
    assert again is not None
    assert state(again, 0) == state(room, 0)
    play_on(again, np.random.default_rng(2), 30)
    assert again.course.n == room.course.n + 30
    reopened.close()


def test_seats_and_tokens_come_back(tmp_path: Path) -> None:
    store = Store(tmp_path / "a.sqlite")
    room = new_room(store, "classic")
    seat, token = room.sit("Bo", 0.0)
    again = store.read_room(room.code)
    assert again is not None
    assert [s.name for s in again.seats] == ["Ann", None, "Bo", None]
    assert again.connected == []
    assert again.sit_again(token, 0.0) == seat
    with pytest.raises(Refusal):
        again.sit_again(token[:-1] + "x", 0.0)
    raw = (tmp_path / "a.sqlite").read_bytes() + (tmp_path / "a.sqlite-wal").read_bytes()
    assert token.encode() not in raw


def test_finished_deals_are_records(tmp_path: Path) -> None:
    store = Store(tmp_path / "a.sqlite")
    rng = np.random.default_rng(3)
    for preset in PRESETS:
        room = new_room(store, preset)
        while room.course.deals < 3:
            play_on(room, rng, 1)
    records = list(store.records())
    assert len(records) == 12
    for record in records:
        check_record(record)
        assert record["players"][0] == "Ann"
        assert len(record["meta"]["by"]) == len(record["actions"])
    assert store.read_deal("CODECLAS", 2) is not None
    assert store.read_deal("CODECLAS", 3) is None


def test_a_deal_taken_back_is_no_finished_deal(tmp_path: Path) -> None:
    store = Store(tmp_path / "a.sqlite")
    room = new_room(store, "classic", mode="practice")
    rng = np.random.default_rng(4)
    while not room.course.game.deal_over:
        play_on(room, rng, 1)
    assert store.read_deal(room.code, 0) is not None
    room.undo(0, 0.0)
    assert store.read_deal(room.code, 0) is None


def test_a_closed_room_is_not_found(tmp_path: Path) -> None:
    store = Store(tmp_path / "a.sqlite")
    room = new_room(store, "classic")
    room.stand_up(0, 0.0)
    assert store.read_room(room.code) is None
    assert store.has_room(room.code)
    assert store.open_codes() == []


def test_one_server_a_database(tmp_path: Path) -> None:
    store = Store(tmp_path / "a.sqlite")
    with pytest.raises(StoreError, match="in use by another server"):
        Store(tmp_path / "a.sqlite")
    store.close()
    Store(tmp_path / "a.sqlite").close()


def test_other_files_are_refused_and_left_alone(tmp_path: Path) -> None:
    text = tmp_path / "notes.txt"
    text.write_text("my notes, and no database at all" * 100)
    with pytest.raises(StoreError, match=r"notes\.txt"):
        Store(text)
    assert text.read_text().startswith("my notes")
    other = tmp_path / "other.sqlite"
    with sqlite3.connect(other) as db:
        db.execute("create table mine (x)")
    with pytest.raises(StoreError, match=r"other\.sqlite"):
        Store(other)


def test_export_through_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from spades_cli.main import main

    store = Store(tmp_path / "a.sqlite")
    room = new_room(store, "modern")
    rng = np.random.default_rng(5)
    while room.course.deals < 2:
        play_on(room, rng, 1)
    store.close()
    out = tmp_path / "games.jsonl"
    assert main(["table", "--database", str(tmp_path / "a.sqlite"), "--export", str(out)]) == 0
    assert [record["deal"] for record in read_records(out)][:1] == [0]
    assert len(list(read_records(out))) == 2
    assert main(["replay", str(out), "--deal", "1"]) == 0
    assert main(["table", "--database", str(tmp_path / "none.sqlite"), "--export", str(out)]) == 1
    error = capsys.readouterr().err
    assert "none.sqlite" in error
    assert error.splitlines()[-1].startswith("spades: error: ")
