"""The benchmark suite: its list of tasks, results kept and refused, the page, the documentation, the command."""

from __future__ import annotations

import dataclasses
import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

import spades_cli.benchmark
from agents.base import AgentError
from agents.registry import load_agent
from evaluation.intervals import Interval
from evaluation.results import ResultsError
from evaluation.suite import docs, orders
from evaluation.suite.page import Board, cell, markdown
from evaluation.suite.store import Store, definition
from evaluation.suite.task import (
    DEFAULT_BATCH,
    Outcome,
    Task,
    TaskResult,
    batch_size_for,
    run_task,
    seconds_per_decision,
)
from evaluation.suite.tasks import ORDER, TASKS, SuiteError, choose_tasks
from evaluation.text import interval_text
from evaluation.work.files import files_of
from spades_cli.benchmark import find_task
from spades_cli.main import main

ROOT = Path(__file__).resolve().parent.parent
BY_ID = {task.id: task for task in TASKS}
BIDS, ENDGAMES, CROSS = BY_ID["bid_only"], BY_ID["endgames"], BY_ID["cross_play"]


# --- The list -----------------------------------------------------------------------------------------------


def test_tasks_are_named_once_and_in_order() -> None:
    assert tuple(task.id for task in TASKS) == ORDER
    assert all(re.fullmatch(r"[a-z]+(_[a-z]+)*", task.id) for task in TASKS)
    assert all(task.version >= 1 and task.games >= 2 and task.decisions > 0 for task in TASKS)


def test_core_is_part_of_full() -> None:
    core, full = choose_tasks("core"), choose_tasks("full")
    assert full == list(TASKS)
    assert set(core) < set(full)
    assert [task.id for task in full if task not in core] == [
        "cross_play",
        "two_player",
        "beliefs",
        "transfer",
        "exploit_small",
        "exploit_trained",
    ]


def test_tasks_are_chosen_by_pattern() -> None:
    assert [task.id for task in choose_tasks("full", "^nil")] == ["nil_decision", "nil_cover", "nil_attack"]
    for suite, only, message in (
        ("all", None, "suite is 'all'; allowed: core, full"),
        ("core", "(", "only: '(' is no regular expression"),
        ("core", "beliefs", "which no task of core matches: bid_only, play_only"),
    ):
        with pytest.raises(SuiteError) as caught:
            choose_tasks(suite, only)
        assert message in str(caught.value)


def test_the_size_follows_the_scale_and_positions_have_an_end() -> None:
    assert [BIDS.games_at(scale) for scale in (1, 0.5, 1e-6, 3)] == [2000, 1000, 2, 6000]
    assert [ENDGAMES.games_at(scale) for scale in (1, 0.5, 3)] == [300, 150, 300]


def test_slow_agents_get_small_batches() -> None:
    assert batch_size_for(BIDS, 1e-7) == DEFAULT_BATCH
    assert batch_size_for(BIDS, 0.03) == 25
    assert batch_size_for(BIDS, 10.0) == 4
    assert 0.0 < seconds_per_decision(load_agent("easy")) < 0.01


def test_a_task_runs_with_any_object_that_acts() -> None:
    shares: list[float] = []
    result = run_task(BIDS, load_agent("lowest"), scale=0.01, batch_size=8, share=shares.append)
    assert shares == [0.4, 0.8, 1.0]
    values = result.to_dict()
    assert (values["n"], values["games"], values["scale"], values["comparable"]) == (20, 20, 0.01, False)
    assert 80 <= values["decisions"] <= 82  # a warm-up or two counts
    assert json.loads(json.dumps(values)) == values


# --- Results kept -------------------------------------------------------------------------------------------


def result(mean: float = 1.5, **outcome: Any) -> dict[str, Any]:
    """A result as a task gives it."""
    found = Outcome(**({"headline": Interval(mean, mean - 1, mean + 1), "n": 10} | outcome))
    return TaskResult(found, 1.0, 10, 40, 0.02, 0.5).to_dict()


def test_results_belong_to_all_that_decides_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store(tmp_path)
    store.put(BIDS, "easy", 1.0, ["easy"], result())
    kept = Store(tmp_path).get(BIDS, "easy", 1.0, ["easy", "normal"])
    assert kept is not None
    assert kept["headline"]["mean"] == 1.5
    assert kept["same_code"] is True
    others = [(BIDS, "normal", 1.0), (BIDS, "easy", 0.5), (ENDGAMES, "easy", 1.0)]
    others += [(dataclasses.replace(BIDS, version=2), "easy", 1.0), (dataclasses.replace(BIDS, games=9), "easy", 1.0)]
    for task, agent, scale in others:
        assert store.get(task, agent, scale, ["easy"]) is None
    monkeypatch.setattr("evaluation.suite.store.__version__", "9.9")
    assert store.get(BIDS, "easy", 1.0, ["easy"]) is None


def test_cross_play_belongs_to_the_other_agents_too() -> None:
    assert definition(CROSS, "easy", 1.0, ["easy", "hard"], {}) == definition(CROSS, "easy", 1.0, ["hard"], {})
    assert definition(CROSS, "easy", 1.0, ["easy", "hard"], {}) != definition(CROSS, "easy", 1.0, ["easy"], {})


def test_a_policy_file_with_other_contents_is_another_agent(tmp_path: Path) -> None:
    path = tmp_path / "policy.safetensors"
    path.write_bytes(b"one")
    running = Store(tmp_path / "kept")
    (tmp_path / "kept").mkdir()
    assert running.get(BIDS, str(path), 1.0, []) is None
    path.write_bytes(b"two")
    running.put(BIDS, str(path), 1.0, [], {"headline": None})  # measured with the file as it was at the start
    assert Store(tmp_path / "kept").get(BIDS, str(path), 1.0, []) is None
    path.write_bytes(b"one")
    assert Store(tmp_path / "kept").get(BIDS, str(path), 1.0, []) is not None
    assert definition(BIDS, "normal", 1.0, [], {})["files"] == {}


def test_results_of_other_source_are_marked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Store(tmp_path).put(BIDS, "easy", 1.0, [], result())
    monkeypatch.setattr("evaluation.results.code_hash", lambda: "other")
    kept = Store(tmp_path).get(BIDS, "easy", 1.0, [])
    assert kept is not None
    assert kept["same_code"] is False
    assert cell(BIDS, kept).endswith(" †")


def test_two_stores_of_one_folder_lose_nothing(tmp_path: Path) -> None:
    one, two = Store(tmp_path), Store(tmp_path)
    one.put(BIDS, "easy", 1.0, [], result())
    two.put(BIDS, "normal", 1.0, [], result())
    assert all(Store(tmp_path).get(BIDS, name, 1.0, []) is not None for name in ("easy", "normal"))


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda text: text[: len(text) // 2], "is no JSON text"),
        (lambda text: "[]", "is no file of spades benchmark results"),
        (lambda text: text.replace("benchmark results", "ladder results"), "is no file of spades benchmark results"),
        (lambda text: text.replace('"version": 1', '"version": 7', 1), "has version 7, not 1"),
        (lambda text: text.replace('"mean": 1.5', '"mean": 9.5'), "is damaged: its results and their checksums differ"),
        (lambda text: text.replace('"agent": "easy"', '"agent": "hard"'), "is damaged: its results and their"),
    ],
)
def test_damaged_and_foreign_files_are_refused(tmp_path: Path, change: Any, problem: str) -> None:
    Store(tmp_path).put(BIDS, "easy", 1.0, [], result())
    path = tmp_path / "results.json"
    before = path.read_text(encoding="utf-8")
    path.write_text(change(before), encoding="utf-8")
    assert path.read_text(encoding="utf-8") != before
    with pytest.raises(ResultsError) as caught:
        Store(tmp_path)
    assert problem in str(caught.value)
    assert "move it away" in str(caught.value)


# --- The page -----------------------------------------------------------------------------------------------


def board(tasks: list[Task], scale: float = 1.0, **outcome: Any) -> Board:
    """A board of one agent with the same result in every task."""
    kept = {"versions": {"spades_env": "1"}, "machine": {"processor": "p", "cores": 2, "system": "s"}, "code": "c"}
    results = {("easy", task.id): {**result(**outcome), **kept} for task in tasks}
    return Board(tasks, ["easy"], results, "core", scale, "spades benchmark easy")


def test_intervals_are_written_in_their_unit() -> None:
    interval = {"mean": 0.5, "low": 0.25, "high": 0.75}
    assert interval_text(interval, "share") == "50.0 % [25.0, 75.0]"
    assert interval_text(interval, "points per deal") == "+0.50 [+0.25, +0.75]"
    assert interval_text(interval, "nats per card") == "0.5000 [0.2500, 0.7500]"


def test_the_page_shows_results_figures_times_and_definitions() -> None:
    figures = {
        "share": 0.25,
        "inner": {"gain": {"mean": 2.0, "low": 1.0, "high": 3.0}, "none": None},
        "stats": {"x": 1},
    }
    page = markdown(board([BIDS, ENDGAMES], figures=figures))
    assert "| `bid_only` v1 | margin, points per deal ↑ " in page
    assert "+1.50 [+0.50, +2.50]" in page
    assert re.search(r"\| `endgames` +\| `inner.gain` +\| 2 \[1, 3\]", page)
    assert "stats" not in page
    assert "0.5 s, 0.50 ms" in page
    assert BIDS.definition in page
    assert "Measured on p, 2 cores, s; spades_env 1; code c." in page
    assert "not comparable" not in page


def test_the_page_says_what_a_reader_must_know() -> None:
    assert "Scale 0.1: a quick look, not comparable" in markdown(board([BIDS], scale=0.1))
    none = markdown(board([BIDS], headline=None, reason="she does not say"))
    assert "No figure in bid_only for easy: she does not say." in none
    assert "In `exploit_small` they are bounds." in markdown(board([BY_ID["exploit_small"]]))
    assert "they are bounds" not in markdown(board([BIDS]))
    assert "**illegal actions 3**" in markdown(board([BIDS], illegal=3))


def test_the_documentation_is_the_code_s() -> None:
    """`python -m evaluation.suite.docs` writes it again."""
    assert (ROOT / "docs" / "benchmark.md").read_text(encoding="utf-8") == docs.page()


def test_the_documentation_names_every_field() -> None:
    page = docs.page()
    values = board([BIDS]).to_dict()
    fields = [*values, *values["results"][0], "same_code", "tasks[]", "results[]"]
    fields += ["calibration", "nil_decision", "by_partner", "worst_gain", "by_rules", "first_card_right"]
    fields += ["by_game", "information_sets", "exploitability_at_least", "budget"]
    fields = [name for name in fields if name not in ("tasks", "results")]
    assert [name for name in fields if f"`{name}`" not in page] == []


# --- The command --------------------------------------------------------------------------------------------


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    """Run `spades benchmark` and return exit status, stdout and stderr."""
    status = main(["benchmark", *arguments])
    out, err = capsys.readouterr()
    return status, out, err


def running(monkeypatch: pytest.MonkeyPatch, stop_at: int | None = None) -> list[str]:
    """The tasks as they are run from now on; Ctrl-C is pressed during number `stop_at`."""
    ids: list[str] = []

    def counted(task: Task, agent: Any, **options: Any) -> TaskResult:
        ids.append(f"{task.id} {agent.name}")
        if len(ids) == stop_at:
            raise KeyboardInterrupt
        return run_task(task, agent, **options)

    monkeypatch.setattr(orders, "run_task", counted)
    return ids


SMALL = ("--only", "bid_only|endgames", "--scale", "0.01")


def test_the_command_goes_on_after_an_interruption(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    ids = running(monkeypatch, stop_at=3)
    status, out, err = run(capsys, *SMALL, "easy", "lowest")
    assert (status, out) == (130, "")
    assert "the same command goes on" in err
    assert ids == ["bid_only easy", "endgames easy", "bid_only lowest"]
    again = running(monkeypatch)
    assert run(capsys, *SMALL, "easy", "lowest")[0] == 0
    assert again == ["bid_only lowest", "endgames lowest"]
    third = running(monkeypatch)
    status, out, _ = run(capsys, *SMALL, "easy", "lowest")
    assert (status, third) == (0, [])
    assert "bid_only" in out
    assert "not comparable" in out


def test_the_command_writes_page_and_json(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    status, out, _ = run(capsys, *SMALL, "--out", "here", "--json", "-", "easy", "easy")
    found = json.loads(out)
    assert status == 0
    assert found == json.loads((tmp_path / "here" / "benchmark.json").read_text(encoding="utf-8"))
    line = "spades benchmark --only 'bid_only|endgames' --scale 0.01 easy"
    assert found["command"] == line
    assert line in (tmp_path / "here" / "benchmark.md").read_text(encoding="utf-8")
    assert [(r["agent"], r["task"], r["games"]) for r in found["results"]] == [
        ("easy", "bid_only", 20),
        ("easy", "endgames", 3),
    ]
    assert found["comparable"] is False


def test_workers_change_no_figure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my_bots.py").write_text("from agents.rules.extremes import LowestAgent as Bot\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    chosen = (
        "--suite",
        "full",
        "--only",
        "bid_only|endgames|cross_play",
        "--scale",
        "0.02",
        "easy",
        "my_bots:Bot",
    )
    found = []
    for workers in ("1", "2"):
        status, out, err = run(capsys, *chosen, "--workers", workers, "--out", workers, "--json", "-")
        assert status == 0, err
        found.append(json.loads(out))
        assert err.count(", easy: ") == 3
    one, two = found
    assert [r["agent"] for r in one["results"]] == ["easy"] * 3 + ["my_bots:Bot"] * 3
    times = ("seconds", "ms_per_decision")
    for mine, other in zip(one["results"], two["results"], strict=True):
        assert {k: v for k, v in mine.items() if k not in times} == {k: v for k, v in other.items() if k not in times}
    assert one["command"].replace("--out 1", "") == two["command"].replace("--out 2", "")


def test_a_worker_refuses_an_agent_whose_files_have_changed() -> None:
    order = orders.Order("bid_only", "easy", (), {"easy": "of another file"}, 0.01, 1e-6, 1.0)
    with pytest.raises(AgentError, match="agent 'easy': its files have changed since the start"):
        next(orders.run_orders([order], 2, find_task, lambda *_: None))


def test_a_worker_that_dies_is_reported_with_the_agents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "bot_that_ends.py").write_text("import os\nos._exit(3)\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    text = "bot_that_ends:Bot"
    order = orders.Order("bid_only", text, (), files_of([text]), 0.01, 1e-6, 1.0)
    with pytest.raises(AgentError, match=r"a worker process ended abruptly .* tasks of bot_that_ends:Bot were run"):
        next(orders.run_orders([order], 2, find_task, lambda *_: None))


def test_the_command_lists_tasks(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(capsys, "--list", "--suite", "full")
    assert status == 0
    assert all(task.id in out for task in TASKS)


def test_a_task_that_trains_needs_the_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "training.suite_task", None)
    monkeypatch.setattr(spades_cli.benchmark, "choose_tasks", lambda *_: [BIDS, BY_ID["exploit_trained"]])
    status, out, err = run(capsys, "--scale", "0.01", "--json", "-", "easy")
    assert status == 0
    assert [result["task"] for result in json.loads(out)["results"]] == ["bid_only"]
    assert "exploit_trained: not available: 'training.suite_task' is not installed (extra train)\n" in err
    monkeypatch.setattr(spades_cli.benchmark, "choose_tasks", lambda *_: [BY_ID["exploit_trained"]])
    status, out, err = run(capsys, "easy")
    assert (status, out, err.count("\n")) == (1, "", 1)
    assert "is needed and not installed" in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "no AGENT is given"),
        (["nobody"], "agent 'nobody' does not exist"),
        (["--suite", "half", "easy"], "'half' is not one of"),
        (["--only", "x", "easy"], "which no task of core matches"),
        (["--workers", "0", "easy"], "workers is 0; allowed: an int 1"),
        (["--scale", "0", "easy"], "is not in the range"),
        (["--scale", "nan", "easy"], "'--scale': nan is not a finite number."),
        (["cheating"], "sees the hidden cards"),
        (["--json", "no/such/folder.json", "easy"], "No such file"),
    ],
)
def test_wrong_input_is_one_line(
    arguments: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    status, out, err = run(capsys, *arguments)
    assert status in (1, 2)
    assert out == ""
    assert message in err
    assert err.count("\n") == 1
    assert not (tmp_path / "benchmark").exists()
