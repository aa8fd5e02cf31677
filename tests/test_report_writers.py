"""The forms that a report asks for are those that the commands write: each command's own output is read."""

from __future__ import annotations

import json
from inspect import signature
from pathlib import Path

import pytest

from evaluation.duplicate import evaluate
from evaluation.report.build import build_report, command_of, places_of
from evaluation.report.html import html
from evaluation.report.read import read_sources
from evaluation.work.definition import code_hash
from spades_cli.main import main

DUELS = """
sections:
  - title: Some
    duels:
      - {a: easy, b: random, games: 4, goal: 1}
      - {a: easy, b: random, games: 2, kind: matches, rules: {preset: table, target: 200}}
      - {a: easy, b: random, games: 2, kind: endings}
      - {a: easy, games: 4}
      - {a: nobody.safetensors, b: easy, games: 4}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def sections_of(*paths: str) -> list[str]:
    """The sections of a report of files, which has to become a page."""
    report = build_report(paths)
    html(report)
    return [section.id for section in report.sections]


def test_evaluate(folder: Path) -> None:
    assert main(["evaluate", "easy", "random", "--deals", "4", "--matches", "2", "--json", "e.json"]) == 0
    assert sections_of("e.json") == ["overview", "evaluations", "reproduce"]


def test_line_ups_and_records(folder: Path) -> None:
    words = [
        "evaluate",
        "--lineup",
        "easy,random,easy,lowest",
        "--deals",
        "4",
        "--record",
        "g.jsonl",
        "--json",
        "e.json",
    ]
    assert main(words) == 0
    assert sections_of("e.json", "g.jsonl") == ["overview", "evaluations", "deals", "reproduce"]
    page = html(build_report(["e.json", "g.jsonl"]))
    assert "By seat: easy &amp; easy − random &amp; lowest, classic" in page
    assert "spades evaluate --lineup easy,random,easy,lowest --deals 4\n" in page.replace("<", "\n")


@pytest.mark.skipif("luck_playouts" not in signature(evaluate).parameters, reason="no --luck")
def test_luck(folder: Path) -> None:
    assert main(["evaluate", "easy", "random", "--deals", "20", "--luck", "2", "--json", "e.json"]) == 0
    page = html(build_report(["e.json"]))
    assert "luck taken out, worth" in page
    assert "spades evaluate --deals 20 --luck 2 easy random" in page


def test_ladder(folder: Path) -> None:
    (folder / "duels.yaml").write_text(DUELS, encoding="utf-8")
    assert main(["ladder", "--config", "duels.yaml"]) == 0
    assert sections_of("ladder/ladder.json") == ["overview", "ladder", "reproduce"]


@pytest.mark.parametrize("more", [[], ["--matches"]])
def test_tournament(folder: Path, more: list[str]) -> None:
    words = ["tournament", "easy", "random", "lowest", "highest", "--games", "24", "--min-games", "4", *more]
    assert main([*words, "--seat-games", "10"]) == 0
    assert sections_of("tournament/tournament.json") == ["overview", "tournament", "reproduce"]


def test_benchmark(folder: Path) -> None:
    assert main(["benchmark", "--only", "one_deal|ad_hoc|bid_only", "--scale", "0.02", "easy"]) == 0
    assert sections_of("benchmark/benchmark.json") == ["overview", "benchmark", "reproduce"]
    found = json.loads((folder / "benchmark" / "benchmark.json").read_bytes())
    assert len(found["results"]) == 3


def test_exploit(folder: Path) -> None:
    assert main(["exploit", "lowest", "random", "--game", "two_6", "--samples", "2", "--json", "x.json"]) == 0
    assert sections_of("x.json") == ["overview", "exploit", "reproduce"]
    assert "spades exploit --game two_6 --samples 2 lowest random" in html(build_report(["x.json"]))


def test_every_result_tells_its_code_and_command(folder: Path) -> None:
    """The hash of the source stands under "Measured on", whichever command wrote the file."""
    assert main(["evaluate", "easy", "random", "--deals", "4", "--workers", "1", "--json", "e.json"]) == 0
    assert main(["exploit", "lowest", "--game", "two_6", "--json", "x.json"]) == 0
    assert main(["tournament", "easy", "random", "--games", "10", "--min-games", "4"]) == 0
    found = json.loads((folder / "e.json").read_bytes())
    assert (found["command"], found["code"]) == ("spades evaluate --deals 4 easy random", code_hash())
    assert json.loads((folder / "tournament" / "tournament.json").read_bytes())["code"] == code_hash()
    for path in ("e.json", "x.json", "tournament/tournament.json"):
        (source,) = read_sources([path], 0)
        assert [code for code, _, _ in places_of(source)] == [code_hash()]
    assert command_of(read_sources(["e.json"], 0)[0]) == found["command"]
