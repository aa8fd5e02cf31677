"""The forms that a report asks for are those that the commands write: each command's own output is read."""

from __future__ import annotations

import json
from inspect import signature
from pathlib import Path

import pytest

from evaluation.duplicate import evaluate
from evaluation.report.build import build_report
from evaluation.report.html import html
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
    assert "spades evaluate --lineup easy,random,easy,lowest --rules classic --deals 4 --seed 0" in page


@pytest.mark.skipif("luck_playouts" not in signature(evaluate).parameters, reason="no --luck")
def test_luck(folder: Path) -> None:
    assert main(["evaluate", "easy", "random", "--deals", "20", "--luck", "2", "--json", "e.json"]) == 0
    page = html(build_report(["e.json"]))
    assert "luck taken out, worth" in page
    assert "spades evaluate easy random --rules classic --deals 20 --luck 2 --seed 0" in page


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
