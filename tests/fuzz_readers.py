"""What reads a stranger's bytes, as a table: each reader with good input to spoil. Fuzz tests run over it."""

from __future__ import annotations

import json
import shutil
import signal
import struct
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import report_samples as samples
from record_games import drafted_game, suited_game
from spoiling import Rng, as_json, pick, spoiled, spoiled_value

from agents.equity.files import load_table, save_table
from agents.equity.outcomes import Outcomes
from agents.equity.table import make_table
from agents.process.protocol import read_hello, read_reply
from evaluation.ladder.config import load_ladder
from evaluation.leaderboard import leaderboard
from evaluation.report.build import build_report
from evaluation.report.html import html
from evaluation.report.markdown import markdown
from evaluation.suite.store import Store
from evaluation.suite.task import SEED
from evaluation.tournament.config import load_tournament
from evaluation.work.job import DUPLICATE, Job, Part
from evaluation.work.store import PartStore
from spades_env.actions import parse_action
from spades_env.cards import parse_hand
from spades_env.configs import config_path
from spades_env.engine.state import STATE
from spades_env.game import Game
from spades_env.record import parse_deal, read_records, record_for_seat
from spades_env.rules import PRESETS, Rules

SECONDS = 20
"""No reader may take longer for one input; the first one of a kind may compile."""


LADDER = b"""\
seed: 3
sections:
- title: Levels
  duels:
  - {a: normal, b: easy, games: 20, goal: 5.5}
  - {a: "hard:worlds=5", b: normal, games: 4, kind: matches, goal: 0.5, rules: {preset: modern, jokers: true}}
- title: Endings
  duels:
  - {a: easy, b: random, kind: endings, games: 10, scores: [350, 490]}
  - a: easy
    games: 10
    rules: two_player
"""


class Hang(BaseException):
    """A reader that does not come back; no `except Exception` of the project may take it for a bad file."""


@dataclass(frozen=True)
class Reader:
    """Something that reads bytes: good ones, and how it is given others."""

    name: str
    good: tuple[bytes, ...]
    read: Callable[[bytes, Path], Any]
    is_json: bool = False


def inputs(reader: Reader, number: int, seed: int) -> Iterator[bytes]:
    """Yield endless spoiled input of a reader, which has this number in the table."""
    k = 0
    while True:
        rng = np.random.default_rng([seed, number, k])
        good = pick(rng, reader.good)
        by_value = reader.is_json and rng.integers(3) > 0
        yield _spoiled_json(good, rng) if by_value else spoiled(good, rng)
        k += 1


def _spoiled_json(good: bytes, rng: Rng) -> bytes:
    """One line of JSON Lines, or the whole text, with values changed."""
    lines = good.split(b"\n") if good.count(b"\n") > 1 else [good]
    at = int(rng.integers(len(lines)))
    if lines[at].strip():
        lines[at] = as_json(spoiled_value(json.loads(lines[at]), rng))
    return b"\n".join(lines)


@contextmanager
def time_limit(seconds: float = SECONDS) -> Iterator[None]:
    """Raise Hang in the block after so many seconds."""

    def ring(number: int, frame: Any) -> None:
        raise Hang(f"no answer within {seconds} s")

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _file(name: str, read: Callable[[Path], Any]) -> Callable[[bytes, Path], Any]:
    """A reader of bytes out of a reader of files."""

    def feed(data: bytes, folder: Path) -> Any:
        path = folder / name
        path.write_bytes(data)
        return read(path)

    return feed


def _text(read: Callable[[str], Any]) -> Callable[[bytes, Path], Any]:
    return lambda data, folder: read(data.decode("utf-8", "surrogateescape"))


def _report(path: Path) -> None:
    """All pages that are made of a result file."""
    report = build_report([path], "title", 3)
    html(report)
    markdown(report)
    as_json(report.data)


def _leaderboard(path: Path) -> None:
    leaderboard([path])


def _records() -> tuple[bytes, ...]:
    """Files of records: two deals, a draft, what a seat knows of them."""
    record, draft = suited_game().to_record(), drafted_game().to_record()
    lines = [record, draft, record_for_seat(record, 1), record_for_seat(draft, 0)]
    texts = [as_json(line) + b"\n" for line in lines]
    return (*texts, b"".join(texts))


def _equity(folder: Path) -> bytes:
    """A small table's file."""
    rows = Outcomes(np.array([[20, 0]]), np.zeros((1, 2), np.int64), np.ones(1), "hand", 1, 0)
    path = folder / "good.npz"
    save_table(make_table(Rules.preset("classic", target=20, bag_limit=0), rows), path)
    return path.read_bytes()


def _part(folder: Path) -> tuple[Job, bytes]:
    """A job and a kept part of it."""
    from agents.registry import load_agent
    from evaluation.work.part import play_part

    job = Job(("lowest", "random"), PRESETS["classic"], DUPLICATE)
    part: Part = play_part(job, [load_agent(text) for text in ("lowest", "random")], 0, 3)
    with PartStore(folder / "good", job, {}) as store:
        store.save(part)
    return job, next((folder / "good").glob("*.part")).read_bytes()


def _part_reader(job: Job) -> Callable[[bytes, Path], Any]:
    def feed(data: bytes, folder: Path) -> None:
        place = folder / "parts"
        place.mkdir(exist_ok=True)
        (place / "deals.json").unlink(missing_ok=True)
        for old in place.glob("*.part"):
            old.unlink()
        with PartStore(place, job, {}):
            pass
        (place / "deals-0000000000-0000000003.part").write_bytes(data)
        with PartStore(place, job, {}) as store:
            for kept in store.kept:
                store.load(kept)

    return feed


def _with_checksum(body: bytes, folder: Path) -> Any:
    """A saved game whose state is anything, under a checksum that fits: only the replay can tell."""
    size = len(Game().to_bytes()) - STATE.itemsize
    head = struct.unpack("<8sHIII", Game().to_bytes()[:size])
    return Game.from_bytes(struct.pack("<8sHIII", *head[:3], len(body), zlib.crc32(body)) + body)


def _store(path: Path) -> Any:
    """The results of `spades benchmark` in a folder."""
    return Store(path.parent)


def _dataset_readers(folder: Path) -> list[Reader]:
    """The description, the list of parts and the rows of a dataset, where its library is installed."""
    try:
        from evaluation.dataset.generate import generate
        from evaluation.dataset.read import open_dataset
        from evaluation.dataset.spec import dataset_spec
        from evaluation.dataset.store import DESCRIPTION_FILE, part_file, read_description, read_entries
    except ModuleNotFoundError:
        return []
    whole = folder / "dataset"
    generate(dataset_spec("lowest", 2, encoder="features"), whole)

    def read_rows(name: str) -> Callable[[bytes, Path], Any]:
        """The rows of a dataset of which one file is other bytes."""

        def feed(data: bytes, place: Path) -> None:
            copied = shutil.copytree(whole, place / "rows", dirs_exist_ok=True)
            (copied / name).write_bytes(data)
            for _ in open_dataset(copied).batches(seed=1):
                pass

        return feed

    described = {"format": "spades dataset", "version": 1, "complete": True, "definition": {"seed": 1}, "command": "x"}
    return [
        Reader(
            "dataset's description",
            (as_json(described),),
            _file("dataset.json", lambda path: read_description(path.parent)),
            is_json=True,
        ),
        Reader(
            "dataset's list",
            (b'{"digest": "x", "entry": {"part": 0, "size": 5, "sha256": "x", "counts": {}}}\n',),
            _file("parts.jsonl", lambda path: read_entries(path.parent)),
            is_json=True,
        ),
        Reader("dataset's rows", ((whole / part_file(0)).read_bytes(),), read_rows(part_file(0))),
        Reader(
            "dataset's rows, another description",
            (as_json(json.loads((whole / DESCRIPTION_FILE).read_bytes())),),
            read_rows(DESCRIPTION_FILE),
            is_json=True,
        ),
    ]


def readers(folder: Path) -> list[Reader]:
    """Every reader but those of PyTorch files, which `learned_readers` adds."""
    job, part = _part(folder)
    games = [suited_game(), drafted_game()]
    sample_files = {
        "evaluation": [samples.evaluation(), samples.evaluation(half_width_asked=0.5, command="spades evaluate a b")],
        "ladder": [samples.ladder()],
        "tournament": [samples.tournament(), samples.tournament(kind="matches")],
        "benchmark": [samples.benchmark(), samples.benchmark(0.1)],
        "exploit": [samples.exploit(), samples.response()],
        "training": [samples.training()],
    }
    results = {"format": "spades benchmark results", "version": 1, "results": {"x": {"definition": {"seed": SEED}}}}
    hello = {"type": "hello", "protocol": "spades-agent", "version": 1, "name": "bot"}
    found = [
        Reader(
            "rules", tuple(rules.to_yaml().encode() for rules in PRESETS.values()), _file("x.yaml", Rules.from_yaml)
        ),
        Reader("ladder list", (LADDER,), _file("x.yaml", lambda path: load_ladder(str(path)))),
        Reader(
            "tournament list",
            (config_path("eval/tournament.yaml").read_bytes(),),
            _file("x.yaml", lambda path: load_tournament(str(path))),
        ),
        Reader("records", _records(), _file("x.jsonl", lambda path: list(read_records(path))), is_json=True),
        Reader("saved game", tuple(game.to_bytes() for game in games), lambda data, _: Game.from_bytes(data)),
        Reader("saved game, checksum right", tuple(game.states.tobytes() for game in games), _with_checksum),
        Reader("equity table", (_equity(folder),), _file("x.npz", load_table)),
        Reader("kept part", (part,), _part_reader(job)),
        Reader("results file", (as_json(results),), _file("results.json", _store), is_json=True),
        Reader("deal text", (b"2: AS KS 9H | 2C | 3C | 4C", b"0: pile 7H AS 2C"), _text(parse_deal)),
        Reader("hand text", (b"AS KS QS 9H TD 2C", b"BJ LJ, as"), _text(parse_hand)),
        Reader("action text", (b"bid 3", b"take next", b"Th", b"blind nil"), _text(parse_action)),
        Reader("hello of a process", (as_json(hello),), lambda data, _: read_hello(data), is_json=True),
        Reader(
            "reply of a process", (b'{"id": 7, "action": "bid 3"}',), lambda data, _: read_reply(data, 7), is_json=True
        ),
    ]
    found += _dataset_readers(folder)
    for kind, values in sample_files.items():
        found.append(Reader(f"report of {kind}", tuple(map(as_json, values)), _file("x.json", _report), is_json=True))
        if kind not in ("exploit", "training"):
            found.append(
                Reader(
                    f"leaderboard of {kind}",
                    tuple(map(as_json, values[:1])),
                    _file("x.json", _leaderboard),
                    is_json=True,
                )
            )
    return found
