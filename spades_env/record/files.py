"""Files of records: JSON Lines, one deal a line, read one by one so that a file of any length fits."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from spades_env.files import check_target, open_file
from spades_env.game import Game, View
from spades_env.record.form import FORMAT, MAX_LINE, Record, RecordError, parse_line, record_text
from spades_env.record.replay import replayed
from spades_env.record.seat import view_of_record


def check_record(record: Record) -> None:
    """Refuse a record, of a deal or of a seat, that breaks its form or a rule."""
    if isinstance(record, dict) and record.get("format") == FORMAT:
        replayed(record)
    else:
        view_of_record(record)


def table_of(record: Record) -> Game | View:
    """What a record leads to, checked: the game of a deal's record, the view of a seat's."""
    return Game.from_record(record) if record.get("format") == FORMAT else view_of_record(record)


def read_records(path: str | Path) -> Iterator[Record]:
    """Every record of a file, checked in full as it is reached; errors name file and line."""
    with open_file(path) as file:
        number = 0
        while line := file.readline(MAX_LINE + 2):
            number += 1
            try:
                record = parse_line(line.removesuffix(b"\n"))
                check_record(record)
            except RecordError as error:
                raise RecordError(f"{path}, line {number}: {error}") from None
            yield record


def append_records(path: str | Path, records: Iterable[Record]) -> int:
    """Write records behind those that a file has, making it if need be; how many were written.

    Each is checked in full before it is written. A file whose last line is cut off is refused.
    """
    count = 0
    check_target(path)
    with open(path, "ab") as file:
        if file.tell() > 0 and not _ends_a_line(path):
            raise RecordError(f"{path} ends in the middle of a line; allowed: a file of whole records")
        for record in records:
            check_record(record)
            file.write(record_text(record).encode("utf-8") + b"\n")
            count += 1
    return count


def _ends_a_line(path: str | Path) -> bool:
    with open(path, "rb") as file:
        file.seek(-1, os.SEEK_END)
        return file.read(1) == b"\n"
