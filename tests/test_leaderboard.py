"""The leaderboard: docs/leaderboard.md is what the committed files make, and results come out the same again."""

from __future__ import annotations

import copy
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from report_samples import benchmark, evaluation, interval, ladder, tournament, training, write

from evaluation.again import Item, chosen, differences, items_of
from evaluation.duplicate import evaluate, evaluate_line_up
from evaluation.leaderboard import FOLDER, PAGE, LeaderboardError, leaderboard, result_files
from evaluation.report.read import ReportError, read_sources
from spades_cli.main import main
from spades_env.rules import Rules

ROOT = Path(__file__).resolve().parent.parent


def test_the_page_is_in_step_with_the_committed_files() -> None:
    """`spades leaderboard` in the checkout's root writes it again."""
    assert (ROOT / PAGE).read_text(encoding="utf-8") == leaderboard(result_files(ROOT / FOLDER))


def test_no_committed_file_names_a_folder_of_some_machine() -> None:
    for path in result_files(ROOT / FOLDER):
        assert not re.search(r"(?<![\w.])/(?:tmp|home|root|work|Users)/", path.read_text(encoding="utf-8")), path


def rows_of(page: str, heading: str) -> list[list[str]]:
    """The cells of the first table below a heading, without its head."""
    below = page.split(f"\n## {heading}", 1)[1]
    lines = re.search(r"(?:^\|.*\n)+", below, re.MULTILINE)
    assert lines is not None
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[0].splitlines()[2:]]


def test_tournaments_are_ranked_with_the_margin_against_normal(tmp_path: Path) -> None:
    data = tournament("hard", "normal", "easy", "cheat")
    data["agents"][3]["illegal_actions"] = 12
    page = leaderboard([write(tmp_path / "t.json", data)])
    rows = rows_of(page, "Ranking, classic")
    assert [row[:2] for row in rows] == [["1", "`hard`"], ["2", "`normal`"], ["3", "`easy`"]]
    assert [row[4] for row in rows] == ["+10.00 [+9.00, +11.00]", "–", "-10.00 [-11.00, -9.00]"]
    assert rows[0][2:4] == ["+0.00 [-2.00, +2.00]", "29.0 ± 2.5"]
    assert rows[0][5:] == ["0.010", "800", "1.2.3", "c0de00000002"]
    assert "Not ranked, with illegal actions: `cheat` (12)." in page
    assert "spades tournament hard normal easy  # t.json" in page


def test_ladders_and_evaluations_are_set_against_normal(tmp_path: Path) -> None:
    files = [
        write(tmp_path / "a.json", evaluation("hard", "normal", 30.0)),
        write(tmp_path / "b.json", evaluation("normal", "suit_odds", 25.0, seed=6)),
        write(tmp_path / "c.json", evaluation("easy", "random", 170.0)),
        write(tmp_path / "d.json", evaluation("odd", "normal", 99.0, illegal_actions=1)),
        write(tmp_path / "l.json", ladder()),
    ]
    rows = rows_of(leaderboard(files), "Against `normal`")
    assert [(row[0], row[2], row[7]) for row in rows] == [
        ("`hard`", "+30.00 [+29.00, +31.00]", "`a.json`"),
        ("`easy`", "+28.20 [+27.20, +29.20]", "`l.json`"),
        ("`suit_odds`", "-25.00 [-26.00, -24.00]", "`b.json`"),
    ]
    assert rows[1][4:7] == ["0.00060", "1.2.3", "c0de00000001"]


def test_another_price_of_bags_is_refused(tmp_path: Path) -> None:
    files = [evaluation(bag_price=-1.0), tournament() | {"bag_price": 0.0}, ladder()]
    files[2]["duels"][0]["measured"]["bag_price"] = -10.0
    for data, price in zip(files, ("-1.0", "0.0", "-10.0"), strict=True):
        with pytest.raises(LeaderboardError, match=rf"f\.json has bag_price {price}; allowed: -9, the rules' own"):
            leaderboard([write(tmp_path / "f.json", data)])
    rules = Rules(bag_points=-1, bag_penalty=50, bag_limit=5)
    leaderboard([write(tmp_path / "f.json", evaluation(bag_price=-11.0, rules=rules.to_dict(), preset=None))])


def test_rules_of_one_s_own_are_told_apart(tmp_path: Path) -> None:
    """Also a ladder's, whatever its file called them."""
    short, long = Rules.preset("table", target=200), Rules.preset("classic", target=600)
    named = ladder()
    named["duels"][0] |= {"rules": short.to_dict(), "rules_text": "mine.yaml"}
    files = [
        write(tmp_path / "a.json", evaluation("hard", "normal", 30.0, rules=short.to_dict(), preset=None)),
        write(tmp_path / "b.json", evaluation("hard", "normal", 40.0, rules=long.to_dict(), preset=None)),
        write(tmp_path / "l.json", named),
    ]
    rows = rows_of(leaderboard(files), "Against `normal`")
    assert [(row[0], row[1]) for row in rows] == [
        ("`hard`", "classic, target=600"),
        ("`hard`", "table, target=200"),
        ("`easy`", "table, target=200"),
    ]
    with pytest.raises(LeaderboardError, match=r"x\.json: unknown rule field 'targte'"):
        leaderboard([write(tmp_path / "x.json", evaluation(rules={"targte": 5}, preset=None))])


def test_benchmarks_at_full_scale_have_their_table(tmp_path: Path) -> None:
    rows = rows_of(leaderboard([write(tmp_path / "b.json", benchmark())]), "Benchmark")
    assert rows[0][0] == "cross_play v2"
    assert rows[0][2:] == ["+2.00 [+1.00, +3.00]", "+3.00 [+2.00, +4.00]"]
    with pytest.raises(LeaderboardError, match=r"q\.json was run with --scale"):
        leaderboard([write(tmp_path / "q.json", benchmark(0.1))])


def test_every_file_stands_with_its_digest_and_command(tmp_path: Path) -> None:
    path = write(tmp_path / "t.json", tournament())
    before = leaderboard([path])
    assert rows_of(before, "The files")[0][:2] == ["`t.json`", "tournament"]
    path.write_text(path.read_text(encoding="utf-8") + " ", encoding="utf-8")  # one byte more, and the page differs
    assert leaderboard([path]) != before


@pytest.mark.parametrize(
    "data",
    [evaluation("cheating", "normal"), tournament("normal", "cheating"), ladder() | {"command": "spades ladder"}],
)
def test_oracles_are_refused(tmp_path: Path, data: dict[str, Any]) -> None:
    data = copy.deepcopy(data)
    if "duels" in data:
        data["duels"][0]["a"] = "cheating"
    with pytest.raises(LeaderboardError, match=r"f\.json has the agent 'cheating', which sees all hands"):
        leaderboard([write(tmp_path / "f.json", data)])


def test_other_files_are_refused(tmp_path: Path) -> None:
    write(tmp_path / "run" / "results.json", training())
    with pytest.raises(LeaderboardError, match=r"run is of kind training; allowed: tournament"):
        leaderboard([tmp_path / "run"])
    with pytest.raises(ReportError, match=r"x\.json is no result"):
        leaderboard([write(tmp_path / "x.json", {"x": 1})])


def test_the_leaderboard_needs_no_extra() -> None:
    """Jinja2 is the report's alone."""
    code = "import sys; sys.modules['jinja2'] = None; import spades_cli.leaderboard"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stderr


# ---------------------------------------------------------------- played again


def found_items(path: Path, data: dict[str, Any]) -> list[Item]:
    """The parts of a result that can be played again."""
    return items_of(read_sources([write(path, data)], 0)[0])


def test_an_evaluation_comes_out_the_same_again(tmp_path: Path) -> None:
    data = evaluate("easy", "random", "modern", deals=6, matches=2, seed=9).to_dict()
    (item,) = found_items(tmp_path / "e.json", data)
    assert differences(item, item.play()) == []
    data["margin"]["mean"] += 1e-9
    (item,) = found_items(tmp_path / "e.json", data)
    (difference,) = differences(item, item.play())
    assert (difference.label, difference.name) == ("easy v random", "margin")


def test_luck_is_measured_again(tmp_path: Path) -> None:
    data = evaluate("easy", "random", deals=8, seed=9, luck_playouts=2).to_dict()
    (item,) = found_items(tmp_path / "e.json", data)
    assert differences(item, item.play()) == []
    data["control"]["margin"]["mean"] += 1e-9
    (item,) = found_items(tmp_path / "e.json", data)
    assert [difference.name for difference in differences(item, item.play())] == ["control.margin"]


def test_line_ups_and_what_stopped_by_itself_come_out_the_same_again(tmp_path: Path) -> None:
    line_up = evaluate_line_up(["easy", "random", "lowest", "random"], deals=4, seed=9).to_dict()
    (item,) = found_items(tmp_path / "l.json", line_up)
    assert item.label == "easy v random v lowest v random"
    assert differences(item, item.play()) == []
    stopped = evaluate("easy", "random", half_width=30.0, max_deals=5000, seed=9).to_dict()
    assert stopped["stopped"] == "half_width"
    (item,) = found_items(tmp_path / "s.json", stopped)
    assert differences(item, item.play()) == []


def test_a_pair_of_a_tournament_is_an_evaluation_of_its_seed(tmp_path: Path) -> None:
    found = evaluate("easy", "random", deals=6, seed=3)
    data = tournament("easy", "random")
    data["pairs"][0] |= {"games": 6, "margin": found.margin.to_dict()}
    (item,) = found_items(tmp_path / "t.json", data)
    assert differences(item, item.play()) == []
    swapped = tournament("random", "easy")
    swapped["pairs"][0] |= {"games": 6, "margin": found.margin.to_dict()}
    (item,) = found_items(tmp_path / "s.json", swapped)
    assert [difference.name for difference in differences(item, item.play())] == ["margin"]


def test_matches_of_a_tournament_are_shares_won_less_lost(tmp_path: Path) -> None:
    rules = Rules.preset("table", target=200)
    won = evaluate("easy", "random", rules, deals=2, matches=3, seed=3).match_win_rate
    assert won is not None
    data = tournament("easy", "random", kind="matches") | {"rules": rules.to_dict(), "preset": None}
    data["pairs"][0] |= {"games": 3, "margin": {k: 2.0 * v - 1.0 for k, v in won.to_dict().items()}}
    (item,) = found_items(tmp_path / "t.json", data)
    assert differences(item, item.play()) == []


def test_quick_parts_are_chosen_first() -> None:
    items = [Item(f"part {k}", seconds, {}, dict) for k, seconds in enumerate((50.0, 5.0, 500.0, 7.0))]
    assert [item.seconds for item in chosen(items, 60.0)] == [5.0, 7.0]
    assert [item.seconds for item in chosen(items, 1e9)] == [5.0, 7.0, 50.0, 500.0]
    assert [item.seconds for item in chosen(items, 0.0)] == [5.0]


def test_what_cannot_be_played_again_by_itself_is_left_out(tmp_path: Path) -> None:
    """One agent alone, and a duel that was not available."""
    assert [item.label for item in found_items(tmp_path / "l.json", ladder())] == [
        "easy v normal, classic, deals",
        "normal v easy, classic, matches",
        "hard v normal, classic, endings",
    ]


LADDER = """
sections:
  - title: Some
    duels:
      - {a: easy, b: random, games: 6}
      - {a: easy, b: random, games: 2, kind: matches, rules: {preset: table, target: 200}}
      - {a: easy, b: random, games: 3, kind: endings}
      - {a: easy, games: 4}
"""


def test_the_command_writes_the_page_and_checks_a_ladder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("l.yaml").write_text(LADDER, encoding="utf-8")
    Path("docs/leaderboard").mkdir(parents=True)
    assert main(["ladder", "--config", "l.yaml", "--json", "docs/leaderboard/l.json"]) == 0
    assert main(["leaderboard"]) == 0
    assert "`l.json`" in Path("docs/leaderboard.md").read_text(encoding="utf-8")
    capsys.readouterr()
    assert main(["leaderboard", "--check", "docs/leaderboard/l.json", "--seconds", "1000"]) == 0
    assert "3 of 3 parts played again, 0 figures differ" in capsys.readouterr().out
    data = json.loads(Path("docs/leaderboard/l.json").read_bytes())
    data["duels"][0]["measured"]["margin"] = interval(1.0)
    data["duels"][0]["measured"]["code"] = "another"
    write(Path("changed.json"), data)
    assert main(["leaderboard", "--check", "changed.json", "--seconds", "1000"]) == 1
    said = capsys.readouterr().out
    assert "1 figures differ" in said
    assert "easy v random, classic, deals: margin is {'mean': 1.0, 'low': 0.0, 'high': 2.0} in the file" in said
    assert "source of rules and agents: another, " in said


def test_bad_input_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)  # no docs here: the folder that was asked for is named, not the page's
    assert main(["leaderboard", "--results", str(tmp_path / "gone")]) == 2
    write(tmp_path / "run" / "results.json", training())
    assert main(["leaderboard", "--check", str(tmp_path / "run")]) == 2
    assert main(["leaderboard", "--check", str(tmp_path / "gone.json")]) == 1
    errors = capsys.readouterr().err.splitlines()
    assert len(errors) == 3
    assert f"results is {str(tmp_path / 'gone')!r}; allowed: a folder of result files" in errors[0]
    assert "has nothing that could be played again by itself" in errors[1]


def test_a_benchmark_comes_out_the_same_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["benchmark", "--only", "^(one_deal|bid_only)$", "--scale", "0.01", "easy", "--json", "b.json"]) == 0
    assert main(["leaderboard", "--check", "b.json", "--seconds", "1000"]) == 0
    assert "2 of 2 parts played again, 0 figures differ" in capsys.readouterr().out


def test_cross_play_is_played_again_with_all_agents_of_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    words = ["--suite", "full", "--only", "^(cross_play|bid_only)$", "--scale", "0.02", "lowest", "highest"]
    assert main(["benchmark", *words, "--json", "b.json"]) == 0
    assert main(["leaderboard", "--check", "b.json", "--seconds", "1000"]) == 0
    assert "3 of 3 parts played again, 0 figures differ" in capsys.readouterr().out
    data = json.loads(Path("b.json").read_bytes())
    for result in data["results"]:
        if result["task"] == "cross_play" and result["agent"] == "highest":
            result["figures"]["by_partner"]["lowest"]["gap"]["mean"] += 1.0
    write(Path("c.json"), data)
    assert main(["leaderboard", "--check", "c.json", "--seconds", "1000"]) == 1
    said = capsys.readouterr().out
    assert "1 figures differ" in said
    assert "cross_play, lowest, highest: figures of highest is" in said
