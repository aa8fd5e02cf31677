"""`spades report`: every kind of file becomes its section, in one page that needs and runs nothing else."""

from __future__ import annotations

import base64
import copy
import hashlib
import json
import random
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from record_games import play
from report_samples import benchmark, evaluation, exploit, ladder, response, tournament, training, write

from evaluation.report.build import build_report
from evaluation.report.html import html
from evaluation.report.markdown import markdown
from evaluation.report.model import Curves, IntervalRow, Intervals, Series
from evaluation.report.plots import Scale, draw_curves, draw_intervals
from evaluation.report.read import ReportError, read_sources
from evaluation.text import milliseconds, ticks
from spades_cli.main import main
from spades_env.game import Game
from spades_env.record import append_records

VOID = {"meta", "br", "hr", "img", "input", "link"}
EVIL = "<script>alert(1)</script><!--\"'&`|"


class Page(HTMLParser):
    """A page read strictly: every tag is closed in order; tags, attributes and text are kept."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.scripts: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open[-1:] == [tag]
        self.open.pop()

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] in ("script", "style"):
            self.scripts += [data] if self.open[-1] == "script" else []
        else:
            self.text += data


def records(path: Path, count: int = 3, names: list[str] | None = None) -> Path:
    """A file of `count` deals of random play."""
    games = [Game("modern", seed=7, game=k) for k in range(count)]
    for k, game in enumerate(games):
        play(game, random.Random(k))
    append_records(path, [game.to_record(players=names or ["Ann", "Bo", "Cy", "Di"]) for game in games])
    return path


@pytest.fixture
def everything(tmp_path: Path) -> list[Path]:
    """A file of every kind."""
    write(tmp_path / "runs" / "one" / "results.json", training("one"))
    write(tmp_path / "runs" / "two" / "results.json", training("two", seed=2))
    return [
        write(tmp_path / "first.json", evaluation()),
        write(tmp_path / "second.json", evaluation("easy", "random", 170.0)),
        write(tmp_path / "ladder.json", ladder()),
        write(tmp_path / "tournament.json", tournament()),
        write(tmp_path / "benchmark.json", benchmark()),
        write(tmp_path / "small.json", exploit()),
        write(tmp_path / "response.json", response()),
        tmp_path / "runs" / "one",
        tmp_path / "runs" / "two",
        records(tmp_path / "games.jsonl"),
    ]


SECTIONS = ["overview", "tournament", "evaluations", "ladder", "benchmark", "exploit", "training", "deals", "reproduce"]


def test_every_kind_has_its_section_and_the_page_is_well_formed(everything: list[Path]) -> None:
    report = build_report(everything, "All")
    page = Page(html(report))
    assert [attrs["id"] for tag, attrs in page.tags if tag == "section"] == SECTIONS
    ids = [attrs["id"] for _, attrs in page.tags if "id" in attrs]
    assert len(ids) == len(set(ids))
    links = [attrs["href"] for tag, attrs in page.tags if tag == "a"]
    assert links == [f"#{name}" for name in SECTIONS]
    for words in (
        "+30.00 [+29.00, +31.00]",  # an evaluation
        "28.2",  # a duel
        "no such file",  # a duel not available
        "Cross-table",
        "29.0 ± 2.5",  # a rating
        "Definition of cross_play, against normal.",
        "the agent does not say",
        "58.20 [+57.90, +58.50]",  # a trained response
        "spades exploit random --game two_6 --seed 11",
        "spades exploit easy --game two_8 --samples 32 --seed 11",
        "spades exploit lowest --budget 60000 --set evaluation.final_deals=10000 --seed 12",
        "nil_decision: calibration",
        "Margin against easy",
        "spades evaluate hard normal --rules classic --deals 4000 --matches 100 --seed 5",
        "spades tournament hard normal easy",
        "c0de00000003",
        "Some CPU, 2 cores, Linux x86_64",
    ):
        assert words in page.text, words


def test_the_page_needs_nothing_else(everything: list[Path]) -> None:
    text = html(build_report(everything))
    page = Page(text)
    assert not re.search(r"(?:https?:)?//[a-z]", text.replace("// ", ""))
    assert not {tag for tag, _ in page.tags} & {"link", "img", "iframe", "object", "base", "form"}
    assert not [attrs for _, attrs in page.tags for name in attrs if name in ("src", "srcset") or name.startswith("on")]
    assert "url(" not in text
    assert "@import" not in text


def test_only_the_viewers_script_may_run(everything: list[Path]) -> None:
    page = Page(html(build_report(everything)))
    policy = next(attrs["content"] for tag, attrs in page.tags if tag == "meta" and "http-equiv" in attrs)
    scripts = [attrs for tag, attrs in page.tags if tag == "script"]
    assert [attrs.get("type") for attrs in scripts] == ["application/json", None]
    digest = base64.b64encode(hashlib.sha256(page.scripts[-1].encode()).digest()).decode()
    assert policy == f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"


def test_the_same_files_make_the_same_bytes(everything: list[Path]) -> None:
    first, second = build_report(everything), build_report([str(path) for path in everything])
    assert html(first) == html(second)
    assert markdown(first) == markdown(second)
    assert str(everything[0].parent) not in html(first)


def test_names_are_text(tmp_path: Path) -> None:
    """An agent, a player and a title that are tags stay text, in tags, in the deals' JSON and in Markdown."""
    found = evaluation(EVIL, "normal")
    contest = tournament(EVIL, "normal")
    run = training(EVIL)
    suite = benchmark()
    for result in suite["results"]:
        result["agent"] = EVIL
    suite["tasks"][0]["definition"] = EVIL
    names = [EVIL, "</script><script>alert(2)</script>", "]]>", "<img src=x onerror=alert(3)>"]
    files = [
        write(tmp_path / "e.json", found),
        write(tmp_path / "t.json", contest),
        write(tmp_path / "b.json", suite),
        write(tmp_path / "run" / "results.json", run).parent,
        records(tmp_path / "g.jsonl", 1, names),
    ]
    report = build_report(files, f"Title {EVIL}")
    text = html(report)
    page = Page(text)
    assert [tag for tag, _ in page.tags].count("script") == 2
    assert "img" not in [tag for tag, _ in page.tags]
    assert text.count("<!--") == 0
    assert EVIL in page.text
    deal = json.loads(page.scripts[0])[0]
    assert deal["names"] == names
    outside_fences = re.sub(r"^```\n.*?^```$", "", markdown(report), flags=re.MULTILINE | re.DOTALL)
    assert "<script" not in outside_fences
    assert "<img" not in outside_fences


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ("no JSON at all {", "is no JSON text"),
        ([1, 2], "is no result: it has none of their fields"),
        ({"hello": 1}, "is no result: it has none of their fields"),
        ({"format": "spades ladder results", "duels": []}, "it has the format 'spades ladder results'"),
        (evaluation(margin={"mean": 1.0, "low": 0.0}), "(evaluation): margin has no field 'high'"),
        (evaluation(margin={"mean": "1", "low": 0.0, "high": 2.0}), "margin.mean is '1'; allowed: int or float"),
        (evaluation(deals=True), "deals is True; allowed: int"),
        (evaluation(agents=None), "neither agents nor line_up"),
        (evaluation(preset=7), "preset is 7; allowed: str"),
        ({**training(), "history": []}, "history is []"),
        ({**ladder(), "duels": [{"section": "x"}]}, "(ladder): duels[0] has no field 'label'"),
        ({**benchmark(), "tasks": []}, "results name 'cross_play'"),
        ([*exploit(), {"kind": ["exact"]}], "is no result: it has none of their fields"),
        ([*exploit(), {"kind": "exact"}], "(exploit): result 3 has no field 'agent'"),
        (response() | {"margin": None}, "(exploit): result 0.margin is None; allowed: object"),
    ],
)
def test_foreign_and_damaged_files_are_refused_in_one_line(tmp_path: Path, data: Any, words: str) -> None:
    path = tmp_path / "file.json"
    path.write_text(data if isinstance(data, str) else json.dumps(data), encoding="utf-8")
    with pytest.raises(ReportError, match=r"file\.json") as caught:
        build_report([path])
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_infinite_numbers_and_strange_pairs_are_refused(tmp_path: Path) -> None:
    text = json.dumps(evaluation()).replace('"mean": 30.0', '"mean": 1e999')
    (tmp_path / "a.json").write_text(text, encoding="utf-8")
    with pytest.raises(ReportError, match=r"margin\.mean is inf"):
        build_report([tmp_path / "a.json"])
    contest = tournament()
    contest["pairs"][0]["a"] = "stranger"
    with pytest.raises(ReportError, match="pairs name 'stranger'"):
        build_report([write(tmp_path / "b.json", contest)])
    suite = benchmark()
    suite["results"][2]["figures"]["calibration"]["bins"][0]["n"] = "many"
    with pytest.raises(ReportError, match=r"c\.json: nil_decision: calibration\.bins\[0\]\.n is 'many'"):
        build_report([write(tmp_path / "c.json", suite)])


def test_nan_as_old_runs_wrote_it_is_null(tmp_path: Path) -> None:
    text = json.dumps(training()).replace('"nil_success": null', '"nil_success": NaN')
    run = tmp_path / "run"
    run.mkdir()
    (run / "results.json").write_text(text, encoding="utf-8")
    assert "NaN" in text
    data = build_report([run]).data
    assert data["sources"][0]["data"]["history"][1]["deals_log"]["nil_success"] is None


def test_records_are_checked_capped_and_counted(tmp_path: Path) -> None:
    many = records(tmp_path / "many.jsonl", 5)
    few = records(tmp_path / "few.jsonl", 2)
    report = build_report([many, few], deals=4)
    page = Page(html(report))
    assert len(json.loads(page.scripts[0])) == 4
    assert "4 of 7 recorded deals" in page.text
    assert [len(source["data"]["records"]) for source in report.data["sources"]] == [2, 2]
    lines = many.read_text(encoding="utf-8").splitlines()
    damaged = json.loads(lines[1])
    damaged["outcome"]["tricks"][0] += 1
    many.write_text("\n".join([lines[0], json.dumps(damaged)]) + "\n", encoding="utf-8")
    with pytest.raises(ReportError, match=r"many\.jsonl, line 2: outcome\.tricks"):
        build_report([many])
    (tmp_path / "empty.jsonl").write_text("", encoding="utf-8")
    with pytest.raises(ReportError, match="is empty"):
        build_report([tmp_path / "empty.jsonl"])


def test_a_seats_record_is_refused(tmp_path: Path) -> None:
    game = Game("classic", seed=1)
    from spades_env.record import record_for_seat

    append_records(tmp_path / "seat.jsonl", [record_for_seat(game.to_record(), 0)])
    with pytest.raises(ReportError, match="format is 'spades-seat'; allowed: 'spades-deal', which shows all hands"):
        build_report([tmp_path / "seat.jsonl"])


def test_a_file_given_twice_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "a.json", evaluation())
    with pytest.raises(ReportError, match="given twice"):
        read_sources([path, path], 0)


def test_line_ups_have_two_teams(tmp_path: Path) -> None:
    found = evaluation(line_up=["hard", "easy", "normal", "easy"])
    del found["agents"]
    page = Page(html(build_report([write(tmp_path / "a.json", found)])))
    assert "hard & normal − easy & easy, classic" in page.text
    assert "--lineup hard,easy,normal,easy" in page.text


def test_a_command_without_a_number_of_deals(tmp_path: Path) -> None:
    page = Page(html(build_report([write(tmp_path / "a.json", evaluation(half_width_asked=0.25))])))
    assert "spades evaluate hard normal --rules classic --half-width 0.25 --matches 100 --seed 5" in page.text


def test_markdown_has_every_figure(everything: list[Path]) -> None:
    text = markdown(build_report(everything, "All"))
    assert text.startswith("# All\n\n## Overview\n")
    for title in ("Tournament", "Evaluations", "Ladder", "Benchmark", "Training", "Sample deals", "How to reproduce"):
        assert f"\n## {title}\n" in text
    assert "| hard − normal, classic" in text
    rows = [line for line in text.splitlines() if line.startswith("|")]
    blocks = re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE)
    assert sum(block.count("\n") for block in blocks) == len(rows)
    for block in blocks:  # as many cells in every line of a table
        counts = {len(re.findall(r"(?<!\\)\|", line)) for line in block.splitlines()}
        assert len(counts) == 1, block


def test_the_command_writes_all_three(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "a.json", evaluation())
    assert main(["report", "a.json", "--markdown", "a.md", "--json", "all.json", "--title", "T"]) == 0
    assert "<title>T</title>" in Path("report.html").read_text(encoding="utf-8")
    assert Path("a.md").read_text(encoding="utf-8").startswith("# T\n")
    merged = json.loads(Path("all.json").read_text(encoding="utf-8"))
    assert (merged["format"], merged["version"], merged["title"]) == ("spades report", 1, "T")
    assert merged["sources"][0]["data"] == evaluation()
    assert merged["sources"][0]["sha256"] == hashlib.sha256(Path("a.json").read_bytes()).hexdigest()[:12]
    capsys.readouterr()
    assert main(["report", "a.json", "--out", "missing/r.html"]) == 1
    assert main(["report", "gone.json"]) == 1
    assert main(["report", "a.json", "--deals", "501"]) == 2
    assert main(["report"]) == 2
    errors = capsys.readouterr().err.splitlines()
    assert len(errors) == 4
    assert all(line.startswith("spades: error: ") for line in errors)
    assert "gone.json: No such file" in errors[1]


# ---------------------------------------------------------------- plots


def test_interval_plots_keep_order_and_the_line() -> None:
    rows = [
        IntervalRow("a", {"mean": 5.0, "low": 3.0, "high": 7.0}),
        IntervalRow("b", {"mean": -1.0, "low": -3.0, "high": 1.0}),
    ]
    drawn = draw_intervals(Intervals("t", rows, "points per deal"))
    places = [
        drawn["rows"][1]["low"],
        drawn["rows"][1]["mean"],
        drawn["line"],
        drawn["rows"][0]["low"],
        drawn["rows"][0]["high"],
    ]
    assert places == sorted(places)
    assert places[0] > 0
    assert places[-1] < 100
    assert [row["side"] for row in drawn["rows"]] == ["above", "around"]


def test_a_single_value_still_has_a_scale() -> None:
    zero = {"mean": 0.0, "low": 0.0, "high": 0.0}
    drawn = draw_intervals(Intervals("t", [IntervalRow("a", zero)], "points per deal"))
    assert drawn["rows"][0]["mean"] == drawn["line"] == 50.0


def test_curves_leave_out_what_lies_below_the_floor() -> None:
    points = [(0.0, -200.0, -201.0, -199.0), (1.0, 1.0, 0.0, 2.0), (2.0, 3.0, 2.0, 4.0)]
    drawn = draw_curves(Curves("t", "x", "points per deal", [Series("a", points)], floor=-5.0))
    assert len(drawn["series"][0]["dots"]) == 2
    assert all(0 <= y <= 100 for _, y in drawn["series"][0]["dots"])


@pytest.mark.parametrize(("low", "high"), [(0.0, 1.0), (-187.3, 12.0), (1e-6, 2e-6), (0.0, 450_000.0), (-0.5, -0.49)])
def test_ticks_are_round_few_and_inside(low: float, high: float) -> None:
    found = ticks(low, high)
    assert 2 <= len(found) <= 8
    step = found[1] - found[0]
    assert all(low - step * 1e-6 <= value <= high + step * 1e-6 for value in found)
    assert f"{step:.0e}"[0] in "125"


def test_scale_puts_the_ends_inside() -> None:
    scale = Scale.over([10.0, 20.0])
    assert 0 < scale.at(10.0) < scale.at(20.0) < 100


@pytest.mark.parametrize(("value", "text"), [(None, "–"), (0.93, "0.93"), (29.4, "29"), (0.00012345, "0.00012")])
def test_milliseconds(value: float | None, text: str) -> None:
    assert milliseconds(value) == text


def test_samples_are_not_changed_by_a_report(tmp_path: Path) -> None:
    data = tournament()
    before = copy.deepcopy(data)
    build_report([write(tmp_path / "t.json", data)])
    assert data == before
