"""The ladder: strict lists, exact and unbiased endings, results kept and refused, goals, the page and the command."""

from __future__ import annotations

import dataclasses
import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import spades_cli.ladder
from evaluation.duplicate import evaluate
from evaluation.endings import play_endings
from evaluation.intervals import mean_interval
from evaluation.ladder.config import Duel, ladder_from, load_ladder
from evaluation.ladder.page import markdown, row_of
from evaluation.ladder.play import Costs, job_of, play_duel
from evaluation.ladder.store import Store, full_definition
from evaluation.results import ResultsError
from evaluation.starts import PURPOSE_SCORES, begin_endings
from evaluation.work.crew import Desk, open_crew
from spades_cli.main import main
from spades_env.configs import ConfigError
from spades_env.engine import rng
from spades_env.engine.state import rules_to_record
from spades_env.rules import PRESETS, Rules

ROOT = Path(__file__).resolve().parent.parent
TINY = """\
seed: 3
sections:
  - title: Levels
    duels:
      - {a: easy, b: conservative, games: 60, goal: 5}
      - {a: easy, b: random, rules: {preset: table, target: 200}, kind: matches, games: 6, goal: 0.4}
      - {a: easy, b: conservative, kind: endings, games: 40, goal: 0.9, scores: [400, 450]}
      - {a: nobody, b: easy, games: 10, goal: 0}
  - title: Alone
    duels:
      - {a: easy, games: 30}
      - {a: easy, rules: table, kind: matches, games: 5, seed: 4}
"""


DAMAGED = "is damaged: its results and their checksums differ"


def duel(**fields: Any) -> Duel:
    """One duel of a list; what is left out is `easy` against `conservative`, 20 deals."""
    fields = {"a": "easy", "b": "conservative", "games": 20} | fields
    return ladder_from({"sections": [{"title": "T", "duels": [fields]}]}, "x")[0]


def played(the_duel: Duel, batch_size: int | None = None) -> dict[str, Any]:
    """What a duel comes to, without what depends on the clock."""
    with open_crew(Desk([job_of(the_duel)])) as crew:
        found = play_duel(the_duel, crew, 0, batch_size=batch_size)
    return {name: value for name, value in found.items() if name not in ("seconds", "ms_per_decision")}


# --- Lists --------------------------------------------------------------------------------------------------


def test_a_list_is_read_with_its_defaults(tmp_path: Path) -> None:
    path = tmp_path / "tiny.yaml"
    path.write_text(TINY, encoding="utf-8")
    duels = load_ladder(str(path))
    assert [d.label for d in duels] == [
        "easy v conservative, classic, deals",
        "easy v random, table, target=200, matches",
        "easy v conservative, classic, endings",
        "nobody v easy, classic, deals",
        "easy self-play, classic, deals",
        "easy self-play, table, matches",
    ]
    assert [d.seed for d in duels] == [3, 3, 3, 3, 3, 4]
    assert [d.section for d in duels] == ["Levels"] * 4 + ["Alone"] * 2
    assert duels[1].rules == Rules.preset("table", target=200)
    assert (duels[0].scores, duels[2].scores) == (None, (400, 450))
    assert duel(kind="endings", rules="table").scores == (150, 290)
    assert duel(kind="endings", rules={"target": 255}).scores == (100, 240)
    assert [duels[0].scaled(factor).games for factor in (1, 0.5, 0.001, 3)] == [60, 30, 2, 180]


def test_the_shipped_list_loads_whether_or_not_its_agents_exist() -> None:
    duels = load_ladder("ladder")
    assert {d.kind for d in duels} == {"deals", "matches", "endings"}
    assert {"modern", "table", "two_player"} <= {d.rules_text for d in duels}
    assert {"hard v normal, classic, deals", "normal self-play, classic, deals"} <= {d.label for d in duels}


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"gaol": 1}, "x: section 1, duel 1: unknown field 'gaol': did you mean 'goal'?"),
        ({"a": None}, "x: section 1, duel 1: a is None; allowed: text on one line"),
        ({"a": "ea\nsy"}, "text on one line"),
        ({"games": None}, "games is None; allowed: an int 2"),
        ({"games": 1}, "games is 1; allowed: an int 2"),
        ({"games": 2.0}, "games is 2.0; allowed: an int 2"),
        ({"seed": -1}, "seed is -1"),
        ({"kind": "games"}, "kind is 'games'; allowed: deals, matches, endings"),
        ({"rules": "clasic"}, "duel 1: preset 'clasic' does not exist"),
        ({"rules": {"target": 0}}, "duel 1: target=0 is not allowed"),
        ({"rules": None}, "duel 1: rules None not allowed"),
        ({"goal": "10"}, "goal is '10'; allowed: a finite number"),
        ({"goal": True}, "goal is True; allowed: a finite number"),
        ({"kind": "matches", "goal": 50}, "goal is 50; of matches it is a share of wins"),
        ({"b": None, "goal": 1}, "there is no goal"),
        ({"b": None, "kind": "endings"}, "no kind 'endings'"),
        ({"scores": [0, 10]}, "scores are for kind 'endings'"),
        ({"kind": "endings", "scores": [350, 500]}, "multiples of 10 above -1000000 and up to 490"),
        ({"kind": "endings", "scores": [355, 400]}, "multiples of 10"),
        ({"kind": "endings", "scores": [400, 350]}, "multiples of 10"),
        ({"kind": "endings", "scores": [-200, 350], "rules": "modern"}, "above -200"),
    ],
)
def test_what_is_wrong_in_a_duel_is_refused_by_name(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        duel(**fields)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({}, "x: sections is nothing; allowed: a list with at least one entry"),
        ({"sections": []}, "x: sections is an empty list; allowed: a list with at least one entry"),
        ({"duels": []}, "x: unknown field 'duels'"),
        ({"sections": ["a"]}, "x: section 1 is a str"),
        ({"sections": [{"duels": [{}]}]}, "x: section 1: title is None"),
        ({"sections": [{"title": "T", "duels": [[]]}]}, "x: section 1, duel 1 is a list"),
        ({"sections": [{"title": "T", "duels": [{"a": "easy", "games": 9}] * 2}]}, "stands there twice"),
    ],
)
def test_what_is_wrong_in_a_list_is_refused_by_name(data: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        ladder_from(data, "x")
    assert message in str(caught.value)


# --- Endings ------------------------------------------------------------------------------------------------


def test_endings_begin_near_the_target_with_bags_that_scored() -> None:
    states = begin_endings(rules_to_record(PRESETS["classic"]), 5, 0, 2000, (350, 490))
    scores, bags = states["scores"].astype(int), states["bags"].astype(int)
    assert (scores.min(), scores.max(), bags.min(), bags.max()) == (350, 499, 0, 9)
    assert (scores % 10 == bags).all()
    # Every value of both teams comes about as often, whatever the other team has.
    tens = np.unique(scores[:, 0] // 10, return_counts=True)[1]
    assert len(tens) == 15
    assert ((tens - 2000 / 15) ** 2 / (2000 / 15)).sum() < 36.1  # chi-square, 14 degrees: once in a thousand seeds
    assert ((np.bincount(bags[:, 1]) - 200) ** 2 / 200).sum() < 27.9  # 9 degrees
    assert abs(np.corrcoef(scores.T)[0, 1]) < 0.08
    assert (np.diff(np.unique(states["key"], return_counts=True)[1]) == 0).all()
    part = begin_endings(rules_to_record(PRESETS["classic"]), 5, 700, 9, (350, 490))
    assert part.tobytes() == states[700:709].tobytes()
    assert {value for name, value in vars(rng).items() if name.startswith("PURPOSE")}.isdisjoint({PURPOSE_SCORES})


def test_bags_given_are_below_the_limit() -> None:
    """R6: and without a limit 0 to 9 all the same."""
    for limit, most in ((4, 3), (0, 9), (30, 9)):
        record = rules_to_record(Rules(bag_limit=limit))
        assert begin_endings(record, 0, 0, 300, (400, 490))["bags"].max() == most


@pytest.mark.parametrize("preset", PRESETS)
def test_endings_are_unbiased(preset: str) -> None:
    rules = PRESETS[preset]
    near = (rules.target - 150, rules.target - 10)
    found = play_endings("easy", "easy", rules, starts=50, scores=near, seed=1)
    assert (found.results == 0.5).all()
    assert found.win_rate.to_dict() == {"mean": 0.5, "low": 0.5, "high": 0.5}
    # Not because nothing happens, and both matches of a start begin and end alike.
    half = found.log.shape[0] // 2
    assert found.log["scores"][:half].tobytes() == found.log["scores"][half:].tobytes()
    assert {-1, 1} <= set(np.sign(found.log["scores"][:, 0] - found.log["scores"][:, 1]).tolist())
    last = found.log["scores"][np.flatnonzero(np.diff(found.log["deal"], append=0) <= 0)]
    assert len(last) == 100
    assert (last.max(axis=1) >= rules.target).mean() > 0.95  # the others ended by mercy


def test_endings_swapped_give_the_complement_in_any_batch() -> None:
    options: dict[str, Any] = {"starts": 40, "scores": (400, 450), "seed": 2}
    forth = play_endings("easy", "random", PRESETS["modern"], **options)
    back = play_endings("random", "easy", PRESETS["modern"], **options, batch_size=7)
    assert (forth.results == 1 - back.results).all()
    assert forth.log.shape == back.log.shape
    assert forth.win_rate == mean_interval(forth.results)
    assert forth.win_rate.low > 0.5
    fewer = play_endings("easy", "random", PRESETS["modern"], **options | {"starts": 10})
    assert (fewer.results == forth.results[:10]).all()


def test_without_jit_endings_come_out_the_same() -> None:
    code = (
        "from evaluation.endings import play_endings\nfrom spades_env.rules import PRESETS\n"
        "found = play_endings('easy', 'random', PRESETS['table'], starts=2, scores=(250, 290), seed=1)\n"
        "print(found.log.tobytes().hex())\n"
    )
    logs = []
    for disabled in ("0", "1"):
        environment = os.environ | {"NUMBA_DISABLE_JIT": disabled, "PYTHONPATH": str(ROOT)}
        done = subprocess.run(
            [sys.executable, "-c", code], env=environment, cwd=ROOT, capture_output=True, text=True, check=True
        )
        logs.append(done.stdout)
    assert logs[0] == logs[1]
    assert len(logs[0]) > 500


# --- Duels --------------------------------------------------------------------------------------------------


def test_duels_of_deals_and_matches_are_what_evaluate_finds() -> None:
    found = played(duel(games=30, seed=6, rules="modern"))
    expected = evaluate("easy", "conservative", "modern", deals=30, seed=6).to_dict()
    for name, value in found.items():
        other = {"win_rate": "match_win_rate", "illegal_actions": "illegal_actions_by_agent"}.get(name, name)
        assert value == expected[other]
    found = played(duel(games=5, seed=6, kind="matches"))
    expected = evaluate("easy", "conservative", deals=2, matches=5, seed=6).to_dict()
    assert (found["win_rate"], found["stats"]) == (expected["match_win_rate"], expected["match_stats"])
    assert found["margin"] is found["margin_raw"] is None


def test_self_play_is_the_same_games_as_evaluate_against_oneself_once() -> None:
    stats = played(duel(b=None, games=30, seed=6))["stats"]
    assert stats == {"A": evaluate("easy", "easy", deals=30, seed=6).stats(0), "B": None}
    stats = played(duel(b=None, games=5, seed=6, rules="table", kind="matches"))["stats"]
    twice = evaluate("easy", "easy", "table", deals=2, matches=5, seed=6)
    assert stats["A"] == twice.match_stats(0)
    assert stats["A"]["deals_per_match"] == len(twice.match_log) / 10


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"kind": "matches", "games": 5},
        {"kind": "endings"},
        {"b": None},
        {"b": None, "kind": "matches", "games": 5, "rules": "two_player"},
    ],
)
def test_the_same_seed_gives_the_same_figures_in_any_batch(fields: dict[str, Any]) -> None:
    assert played(duel(**fields)) == played(duel(**fields), 3)
    assert played(duel(**fields)) != played(duel(**fields, seed=1))


def test_costs() -> None:
    costs = Costs()
    assert 0 < costs.seconds_per_game(duel()) < 1
    assert costs.seconds_per_game(duel(b=None, kind="matches")) == 10 * costs.seconds_per_game(duel(b=None))


# --- Goals and the page -------------------------------------------------------------------------------------


def figures(**changes: Any) -> dict[str, Any]:
    """What a duel might have come to."""
    found = played(duel(games=4)) | {"ms_per_decision": {"A": 0.00012345, "B": 25.3}, "seconds": 1.0, "same_code": True}
    found |= {"code": "c0de", "versions": {"spades_env": "1", "torch": None}}
    found |= {"machine": {"processor": "P", "cores": 2, "system": "S"}}
    return found | changes


def test_a_goal_is_met_by_the_lower_end_alone() -> None:
    margin = {"mean": 12.0, "low": 10.0, "high": 14.0}
    found = figures(margin=margin)
    for goal, status in ((None, "measured"), (9.99, "met"), (10.0, "missed"), (12.0, "missed"), (-1, "met")):
        assert row_of(duel(goal=goal), found)["status"] == status
    share = {"mean": 0.55, "low": 0.51, "high": 0.59}
    for kind in ("matches", "endings"):
        for goal, status in ((0.5, "met"), (0.51, "missed"), (0.55, "missed")):
            row = row_of(duel(goal=goal, kind=kind), figures(margin=margin, win_rate=share))
            assert row["status"] == status
    assert row_of(duel(goal=1), None, "why")["status"] == "not available"


def cells(page: str, line: int) -> list[str]:
    """The cells of a line of the page's first table: 0 is the head, 2 the first duel."""
    table = [text for text in page.splitlines() if text.startswith("| ")]
    return [cell.strip() for cell in table[line].strip("| ").split(" | ")]


def test_the_page_shows_a_duel() -> None:
    found = figures(margin={"mean": 12.345, "low": 10.0, "high": -0.5})
    found["stats"]["A"] |= {
        "nil_attempts": 3,
        "nil_rate": 0.0625,
        "nil_success": 2 / 3,
        "blind_nil_attempts": 2,
        "blind_nil_made": 1,
        "blind_nil_rate": 0.03,
        "set_rate": None,
    }
    the_duel = duel(goal=2.5, rules={"preset": "table", "nil_allowed": False}, games=4000)
    page = markdown([row_of(the_duel, found), row_of(duel(goal=0), None, "why")], "spades ladder --x")
    shown = dict(zip(cells(page, 0), cells(page, 2), strict=True))
    assert (shown["A"], shown["B"]) == ("`easy`", "`conservative`")
    assert (shown["rules"], shown["kind"]) == ("table, nil_allowed=false", "deals")
    assert (shown["games"], shown["seed"]) == ("4,000", "0")
    assert (shown["goal"], shown["A − B [95 %]"], shown["goal met"]) == ("> +2.5", "+12.35 [+10.00, -0.50]", "yes")
    assert shown["nil A"] == "6.25 %, made 66.7 %; blind 3.00 %, made 50.0 %"
    assert shown["nil B"] == "none"
    assert shown["sets A / B"].startswith("– / ")
    assert shown["ms A / B"] == "0.00012 / 25"
    missing = dict(zip(cells(page, 0), cells(page, 3), strict=True))
    assert (missing["goal"], missing["A − B [95 %]"], missing["goal met"]) == ("> 0", "not available", "–")
    assert "2 duels, goals met 1 of 1, not available 1." in page
    assert "Measured on P, 2 cores, S; spades_env 1; code c0de." in page
    assert page.endswith("```\nspades ladder --x\n```\n")
    assert "†" not in page


def test_the_page_marks_shares_old_results_and_illegal_actions() -> None:
    share = {"mean": 0.5123, "low": 0.49, "high": 0.53}
    found = figures(win_rate=share, margin=None, margin_raw=None, same_code=False, illegal_actions={"A": 3, "B": 0})
    page = markdown([row_of(duel(kind="endings", goal=0.5), found)], "c")
    shown = dict(zip(cells(page, 0), cells(page, 2), strict=True))
    assert (shown["kind"], shown["goal"], shown["margin_raw"]) == ("endings 350–490", "> 50 %", "–")
    assert shown["A − B [95 %]"] == "51.23 % [49.00, 53.00]"
    assert shown["goal met"] == '**no** † **illegal actions {"A": 3, "B": 0}**'
    assert "**†**: played before the source last changed" in page


def test_every_table_of_the_page_is_rectangular() -> None:
    rows = [row_of(duel(b=b, kind=kind), None, "why") for b in ("easy", None) for kind in ("deals", "matches")]
    rows += [row_of(duel(b=None), figures()), row_of(duel(), figures())]
    lines = [line for line in markdown(rows, "c").splitlines() if line.startswith("|")]
    assert len(lines) == 2 * 2 + 6
    assert {line.count("|") for line in lines} == {17, 12}
    assert all(line.endswith(" |") for line in lines)


# --- Kept results -------------------------------------------------------------------------------------------


def test_results_are_kept_and_belong_to_the_whole_definition(tmp_path: Path) -> None:
    store = Store(tmp_path)
    measured = {"margin": {"mean": 1.0}}
    store.put(duel(goal=1), measured)
    again = Store(tmp_path)
    found = again.get(duel(goal=2))  # the goal decides no figure
    assert found is not None
    assert found["margin"] == {"mean": 1.0}
    assert found["same_code"] is True
    for change in (
        {"a": "easy:error=0.1"},
        {"b": "random"},
        {"b": None},
        {"games": 21},
        {"seed": 1},
        {"kind": "matches"},
        {"rules": {"bag_points": 2}},
    ):
        assert again.get(duel(**change)) is None
    ending = duel(kind="endings")
    store.put(ending, measured)
    assert store.get(dataclasses.replace(ending, scores=(350, 480))) is None
    assert len(json.loads((tmp_path / "results.json").read_text(encoding="utf-8"))["results"]) == 2


def test_a_changed_version_or_policy_file_is_another_duel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "run" / "policy.safetensors"
    file.parent.mkdir()
    definitions = []
    for content in (b"one", b"two"):
        file.write_bytes(content)
        definitions += [full_definition(duel(a=str(file))), full_definition(duel(b=str(file.parent)))]
    with monkeypatch.context() as patch:
        patch.setattr("evaluation.ladder.store.__version__", "9.9")
        definitions.append(full_definition(duel(b=str(file.parent))))
    assert len({json.dumps(definition) for definition in definitions}) == 5


def test_other_source_code_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Store(tmp_path).put(duel(), {})
    monkeypatch.setattr("evaluation.results.code_hash", lambda: "other")
    found = Store(tmp_path).get(duel())
    assert found is not None
    assert found["same_code"] is False


def test_two_processes_can_share_a_folder(tmp_path: Path) -> None:
    one, two = Store(tmp_path), Store(tmp_path)
    one.put(duel(seed=1), {})
    two.put(duel(seed=2), {})
    assert Store(tmp_path).get(duel(seed=1)) is not None


def test_a_file_of_an_older_program_is_still_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """tests/data/ladder_results.json was written by 0.1.0 before the file became that of `ResultsFile`."""
    shutil.copy(ROOT / "tests" / "data" / "ladder_results.json", tmp_path / "results.json")
    monkeypatch.setattr("evaluation.ladder.store.__version__", "0.1.0")
    the_duel = duel(a="lowest", b="random", games=10)
    found = Store(tmp_path).get(the_duel)
    assert found is not None
    assert (found["margin"]["mean"], found["code"], found["same_code"]) == (100.45, "76d90f4c41d3", False)
    Store(tmp_path).put(duel(), {})
    assert Store(tmp_path).get(the_duel) == found


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda text: text[: len(text) // 2], "is no JSON text"),
        (lambda text: "\udcff", "is no JSON text"),
        (lambda text: "[" * 100_000, "is no JSON text"),
        (lambda text: "[]", "is no file of spades ladder results"),
        (lambda text: '{"config": {}, "history": [], "final": {}}', "is no file of spades ladder results"),
        (lambda text: text.replace('"version": 1', '"version": 2', 1), "has version 2, not 1"),
        (lambda text: text.replace('"mean": 1.5', '"mean": 9.5'), DAMAGED),
        (lambda text: text.replace('"games": 20', '"games": 99'), DAMAGED),
        (lambda text: text.replace('"digest"', '"digits"'), DAMAGED),
        (lambda text: text.replace('"results": {', '"results": {"x": 1,'), DAMAGED),
    ],
)
def test_damaged_and_foreign_files_are_refused(tmp_path: Path, change: Any, problem: str) -> None:
    Store(tmp_path).put(duel(), {"margin": {"mean": 1.5}})
    path = tmp_path / "results.json"
    before = path.read_text(encoding="utf-8")
    after = change(before)
    assert after != before
    path.write_bytes(after.encode("utf-8", "surrogateescape"))
    with pytest.raises(ResultsError) as caught:
        Store(tmp_path)
    assert str(caught.value) == f"{path} {problem}: move it away, or write elsewhere with --out"


# --- The command --------------------------------------------------------------------------------------------


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    """Run `spades ladder` and return exit status, stdout and stderr."""
    status = main(["ladder", *arguments])
    out, err = capsys.readouterr()
    return status, out, err


@pytest.fixture
def tiny(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A list of duels in the current folder, which is a new one."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "tiny.yaml"
    path.write_text(TINY, encoding="utf-8")
    return path


def playing(monkeypatch: pytest.MonkeyPatch, stop_at: int | None = None) -> list[str]:
    """The labels of duels as they are played from now on; Ctrl-C is pressed during number `stop_at`."""
    labels: list[str] = []

    def play(the_duel: Duel, *rest: Any) -> Any:
        labels.append(the_duel.label)
        if len(labels) == stop_at:
            raise KeyboardInterrupt
        return play_duel(the_duel, *rest)

    monkeypatch.setattr(spades_cli.ladder, "play_duel", play)
    return labels


def without_times(found: dict[str, Any]) -> dict[str, Any]:
    """The JSON without what depends on the clock."""
    for row in found["duels"]:
        for name in ("seconds", "ms_per_decision"):
            (row["measured"] or {}).pop(name, None)
    return found


def test_the_ladder_end_to_end(capsys: pytest.CaptureFixture[str], tiny: Path) -> None:
    status, out, err = run(capsys, "--config", "tiny.yaml")
    assert status == 0
    assert out == Path("ladder/ladder.md").read_text(encoding="utf-8")
    missing = [line for line in err.splitlines() if "not available" in line]
    assert len(missing) == 1
    assert missing[0].startswith("nobody v easy, classic, deals: not available: agent 'nobody' does not exist")
    found = json.loads(Path("ladder/ladder.json").read_text(encoding="utf-8"))
    assert [row["status"] for row in found["duels"]] == [
        *("met", "met", "missed", "not available"),
        *("measured", "measured"),
    ]
    assert (
        found["duels"][0]["measured"]["margin"] == evaluate("easy", "conservative", deals=60, seed=3).margin.to_dict()
    )
    assert "6 duels, goals met 2 of 3, not available 1." in out
    assert out.index("## Levels") < out.index("## Alone")
    assert found["command"] == "spades ladder --config tiny.yaml"
    # The command at the end shows the same page, and plays nothing: times are the same, too.
    command = out.rstrip().splitlines()[-2]
    assert run(capsys, *shlex.split(command)[2:])[1] == out


def test_an_interrupted_ladder_goes_on(
    capsys: pytest.CaptureFixture[str], tiny: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    labels = playing(monkeypatch, stop_at=3)
    status, out, err = run(capsys, "--config", "tiny.yaml", "--out", "a")
    assert (status, out) == (130, "")
    assert err.splitlines()[-1] == (
        "spades: interrupted; finished duels are in a/results.json, the same command goes on"
    )
    assert not Path("a/ladder.md").exists()
    stopped = labels.copy()
    labels = playing(monkeypatch)
    assert run(capsys, "--config", "tiny.yaml", "--out", "a")[0] == 0
    assert len(labels) == 3
    assert sorted({*stopped[:2], *labels}) == sorted([*stopped[:2], *labels])
    labels.clear()
    assert run(capsys, "--config", "tiny.yaml", "--out", "a")[0] == 0
    assert labels == []
    # An uninterrupted run comes to the same figures.
    run(capsys, "--config", "tiny.yaml", "--out", "b")
    a, b = (without_times(json.loads(Path(name, "ladder.json").read_text(encoding="utf-8"))) for name in "ab")
    assert a["duels"] == b["duels"]


def test_what_is_changed_in_the_list_is_played_again(
    capsys: pytest.CaptureFixture[str], tiny: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    labels = playing(monkeypatch)
    run(capsys, "--config", "tiny.yaml")
    first = json.loads(Path("ladder/ladder.json").read_text(encoding="utf-8"))
    labels.clear()
    changed = TINY.replace("games: 60, goal: 5", "games: 60, goal: 500").replace("target: 200", "target: 210")
    tiny.write_text(changed, encoding="utf-8")
    run(capsys, "--config", "tiny.yaml")
    assert labels == ["easy v random, table, target=210, matches"]
    second = json.loads(Path("ladder/ladder.json").read_text(encoding="utf-8"))
    assert second["duels"][0]["status"] == "missed"
    assert second["duels"][0]["measured"] == first["duels"][0]["measured"]


def test_only_scale_and_json(capsys: pytest.CaptureFixture[str], tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    labels = playing(monkeypatch)
    arguments = ("--config", "tiny.yaml", "--only", "^easy v .* (deals|endings)", "--scale", "0.5", "--json", "-")
    status, out, _ = run(capsys, *arguments)
    found = json.loads(out)
    assert status == 0
    assert labels == ["easy v conservative, classic, deals", "easy v conservative, classic, endings"]
    assert [row["games"] for row in found["duels"]] == [30, 20]
    assert found == json.loads(Path("ladder/ladder.json").read_text(encoding="utf-8"))
    assert shlex.split(found["command"]) == ["spades", "ladder", *arguments[:-2]]


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (("--config", "laddr"), 2, "config 'eval/laddr.yaml' is not shipped"),
        (("--config", "none.yaml"), 1, "none.yaml: No such file"),
        (("--config", "tiny.yaml", "--only", "nothing"), 2, "--only 'nothing' is in none of the 6 duels of tiny.yaml"),
        (("--config", "tiny.yaml", "--only", "("), 2, "--only '(' is no regular expression"),
        (("--config", "tiny.yaml", "--scale", "0"), 2, "--scale"),
        (("--config", "tiny.yaml", "--out", "tiny.yaml"), 1, "tiny.yaml: File exists"),
        (("--config", "tiny.yaml", "--out", "damaged"), 2, "damaged/results.json is no JSON text: move it away"),
    ],
)
def test_errors_are_one_line(
    capsys: pytest.CaptureFixture[str], tiny: Path, arguments: tuple[str, ...], status: int, message: str
) -> None:
    Path("damaged").mkdir()
    Path("damaged/results.json").write_text("{", encoding="utf-8")
    got, out, err = run(capsys, *arguments)
    assert (got, out) == (status, "")
    assert err.startswith("spades: error: ")
    assert err.count("\n") == 1
    assert message in err
    assert Path("damaged/results.json").read_text(encoding="utf-8") == "{"
