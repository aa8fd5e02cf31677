"""Result files read for a report: which kind each is, and a refusal in one line of those that are none or damaged.

This is the one place that tells kinds apart; what a kind's file must have stands in `forms`.
"""

from __future__ import annotations

import copy
import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from evaluation.report.forms import (
    BENCHMARK,
    EVALUATION,
    EXPLOIT,
    EXPLOIT_FORMS,
    FORMS,
    LADDER,
    RECORDS,
    TELLING,
    TOURNAMENT,
    TRAINING,
)
from evaluation.report.shape import ShapeError, check_shape, fill
from spades_env.checks import shown
from spades_env.files import FileError, open_file, read_file
from spades_env.record import RecordError, check_record, parse_line
from spades_env.record.form import FORMAT as DEAL_FORMAT
from spades_env.record.form import MAX_LINE

MAX_BYTES: Final = 64 * 2**20
MAX_RECORD_BYTES: Final = 2**30
RUN_FILE: Final = "results.json"

WRITERS: Final = (
    "the JSON of spades evaluate, ladder, tournament, benchmark or exploit, a folder of spades train, "
    "or game records (.jsonl)"
)


class ReportError(ValueError):
    """A file that a report cannot be made of; the message names it and says why."""


@dataclass(frozen=True)
class Source:
    """A file that was read.

    Attributes:
        name: of the file, or of a run's folder; folders above are no part of a report.
        digest: SHA-256 of its bytes, the first 12 hexadecimal digits.
        data: its values; of records {"records": the first ones, "count": how many there are}, of `spades exploit`
            {"results": all of them}. Fields that may be missing are null.
        told: the same as the file has it.
    """

    name: str
    kind: str
    digest: str
    data: dict[str, Any]
    told: dict[str, Any]


def read_sources(paths: Iterable[str | Path], max_deals: int) -> list[Source]:
    """Read files and run folders in their order; of records `max_deals` of all files together, shared out evenly."""
    sources: list[Source] = []
    files = [Path(path) for path in paths]
    left, waiting = max_deals, sum(map(_is_records, files))
    for path in files:
        if _is_records(path):
            source = _read_records(path, -(-left // waiting))
            left, waiting = left - len(source.data["records"]), waiting - 1
        else:
            source = _read_result(path)
        if any(known.digest == source.digest for known in sources):
            raise ReportError(f"{path} is given twice, or has the same contents as another file; allowed: each once")
        sources.append(source)
    return sources


def _is_records(path: Path) -> bool:
    return path.suffix.lower() == ".jsonl" and not path.is_dir()


def _read_result(path: Path) -> Source:
    """Read a file of results, or those of a training run's folder."""
    file = path / RUN_FILE if path.is_dir() else path
    if path.is_dir() and not file.is_file():
        raise ReportError(f"{path} has no {RUN_FILE}; allowed: the folder of a finished training run")
    try:
        raw = read_file(file, MAX_BYTES)
    except FileError as error:
        raise ReportError(f"{error}; allowed: {WRITERS}") from None
    try:
        # Rates of nothing were once written as NaN, which is no JSON: they are read as null.
        data = json.loads(raw, parse_constant=lambda _: None)
    except (ValueError, RecursionError):
        raise ReportError(f"{file} is no JSON text; allowed: {WRITERS}") from None
    kind = kind_of(data)
    if kind is None:
        raise ReportError(f"{file} is no result: {_looks_like(data)}; allowed: {WRITERS}")
    if kind == EXPLOIT:
        data = {"results": data if isinstance(data, list) else [data]}
    try:
        check_shape(data, FORMS[kind])
        told = copy.deepcopy(data)
        fill(data, FORMS[kind])
        _check_sense(kind, data)
    except ShapeError as error:
        raise ReportError(f"{file} is damaged or of another version ({kind}): {error}") from None
    return Source(path.resolve().name, kind, hashlib.sha256(raw).hexdigest()[:12], data, told)


def kind_of(data: Any) -> str | None:
    """Return which kind of result the values are, or None."""
    if _is_exploit(data):
        return EXPLOIT
    if not isinstance(data, dict) or "format" in data:
        return None
    return next((kind for kind, keys in TELLING if all(key in data for key in keys)), None)


def _is_exploit(data: Any) -> bool:
    """Tell the results of `spades exploit`: a list of exact ones, or one of a trained response."""
    results = data if isinstance(data, list) else [data]
    kinds = [result.get("kind") if isinstance(result, dict) else None for result in results]
    return bool(kinds) and all(isinstance(kind, str) and kind in EXPLOIT_FORMS for kind in kinds)


def _looks_like(data: Any) -> str:
    """Say what a refused file is, where it is one of ours."""
    name = data.get("format") if isinstance(data, dict) else None
    if name == DEAL_FORMAT:
        return "one game record; a file of them ends in .jsonl"
    return f"it has the format {name!r}" if isinstance(name, str) else "it has none of their fields"


def _check_sense(kind: str, data: dict[str, Any]) -> None:
    """Refuse what has the right form and still cannot be."""
    if kind == EVALUATION and data.get("agents") is None and data.get("line_up") is None:
        raise ShapeError("the file has neither agents nor line_up")
    if kind == TRAINING and not data["history"]:
        raise ShapeError("history is []; allowed: at least one evaluation")
    if kind == EXPLOIT:
        for k, result in enumerate(data["results"]):
            check_shape(result, EXPLOIT_FORMS[result["kind"]], f"result {k}")
            fill(result, EXPLOIT_FORMS[result["kind"]])
    if kind == TOURNAMENT:
        labels = {agent["label"] for agent in data["agents"]}
        strangers = [pair[side] for pair in data["pairs"] for side in "ab" if pair[side] not in labels]
        if strangers:
            raise ShapeError(f"pairs name {strangers[0]!r}; allowed: the labels of agents")
    if kind == LADDER:
        for k, duel in enumerate(data["duels"]):
            _check_duel(duel, f"duels[{k}]")
    if kind == BENCHMARK:
        ids = {task["id"] for task in data["tasks"]}
        strangers = [result["task"] for result in data["results"] if result["task"] not in ids]
        if strangers:
            raise ShapeError(f"results name {strangers[0]!r}; allowed: the ids of tasks")


def _check_duel(duel: dict[str, Any], path: str) -> None:
    """Refuse a duel of two agents that was measured and says nothing of its kind, and scores that are no two."""
    measured, needed = duel["measured"], "margin" if duel["kind"] == "deals" else "win_rate"
    if measured is not None and duel["b"] is not None and measured[needed] is None:
        raise ShapeError(f"{path}.measured.{needed} is None; allowed for {shown(duel['kind'])} of two agents: object")
    if duel["scores"] and len(duel["scores"]) != 2:
        raise ShapeError(f"{path}.scores are {len(duel['scores'])}; allowed: null, or two")


def _read_records(path: Path, most: int) -> Source:
    """Check the first `most` records of a file by playing them again, and count the others."""
    if path.stat().st_size > MAX_RECORD_BYTES:
        raise ReportError(f"{path} is larger than {MAX_RECORD_BYTES} bytes; allowed: {WRITERS}")
    digest, count = hashlib.sha256(), 0
    records: list[dict[str, Any]] = []
    with open_file(path) as file:
        while line := file.readline(MAX_LINE + 2):
            count += 1
            digest.update(line)
            if len(line) > MAX_LINE + 1:
                raise ReportError(f"{path}, line {count}: has more than {MAX_LINE} bytes; allowed: one game record")
            if len(records) < most:
                records.append(_record(path, count, line.removesuffix(b"\n")))
    if count == 0:
        raise ReportError(f"{path} is empty; allowed: game records, a line each")
    found = {"records": records, "count": count}
    return Source(path.name, RECORDS, digest.hexdigest()[:12], found, found)


def _record(path: Path, number: int, line: bytes) -> dict[str, Any]:
    """Return the record of a line, refused unless it is a whole deal that the engine can play."""
    try:
        record = parse_line(line)
        if record["format"] != DEAL_FORMAT:
            raise RecordError(f"format is {record['format']!r}; allowed: {DEAL_FORMAT!r}, which shows all hands")
        check_record(record)
    except RecordError as error:
        raise ReportError(f"{path}, line {number}: {error}") from None
    return record
