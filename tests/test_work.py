"""Games as work: any cut and any number of workers give the same bytes; kept parts; crashes; the command's --resume."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from light_agents import SPECS

from agents.base import AgentError
from agents.registry import load_agent
from agents.rules.easy import EasyAgent
from evaluation.duplicate import evaluate
from evaluation.ladder.config import ladder_from
from evaluation.ladder.store import Store
from evaluation.play import Tally
from evaluation.sequential import next_look
from evaluation.work.crew import Desk, open_crew
from evaluation.work.definition import PLAYING_SOURCES, code_hash
from evaluation.work.files import POLICY_FILE, files_behind, files_of
from evaluation.work.job import ALONE, DUPLICATE, Job, Played, put_together
from evaluation.work.part import PartError, play_part
from evaluation.work.run import MOST_GAMES, Pace, play_all, run
from evaluation.work.store import PartStore, StoreError
from spades_cli.main import main
from spades_env.rules import PRESETS, Rules

ROOT = Path(__file__).resolve().parent.parent
CLASSIC = PRESETS["classic"]
EASY = Job(("easy", "conservative"), CLASSIC, seed=3)


def same(one: Played, other: Played) -> None:
    """Check that the same was played, times apart."""
    assert one.log.tobytes() == other.log.tobytes()
    assert [(t.decisions, t.illegal) for t in one.tallies] == [(t.decisions, t.illegal) for t in other.tallies]


def all_of(job: Job, games: int, **options: Any) -> Played:
    """All games of a job, played in this process."""
    with open_crew(Desk([job])) as crew:
        return play_all(crew, 0, games, **options)


# --- Any cut, any worker ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("job", "games"),
    [
        (EASY, 60),
        (Job((SPECS["hard"], "easy"), CLASSIC), 5),
        (Job(("easy", "random"), Rules(target=200), kind="matches"), 7),
        (Job(("easy", "random"), PRESETS["two_player"], kind="matches", seed=1), 3),
        (Job(("easy",), PRESETS["modern"], ALONE, "matches"), 6),
        (Job(("easy", "random"), CLASSIC, kind="endings", scores=(400, 450)), 20),
        (Job(("easy", "random", "lowest"), CLASSIC, ((0, 1, 2, 1), (1, 0, 1, 2), (2, 1, 0, 1), (1, 2, 1, 0))), 9),
    ],
    ids=["deals", "search", "matches", "two_player", "alone", "endings", "rotations"],
)
def test_the_cut_changes_nothing(job: Job, games: int) -> None:
    whole = all_of(job, games, batch_size=games)
    same(all_of(job, games, batch_size=2), whole)
    same(all_of(job, games), whole)
    # A part alone is that part of the whole, whatever was played before.
    agents = [load_agent(spec) for spec in job.agents]
    middle = play_part(job, agents, games // 2, 2)
    among = (whole.log["game"] >= games // 2) & (whole.log["game"] < games // 2 + 2)
    assert middle.log.tobytes() == whole.log[among].tobytes()


def test_workers_change_nothing() -> None:
    """Several jobs and an agent of each kind in one crew of processes; an agent that is an object is sent."""
    jobs = [
        Job((SPECS["hard"], EasyAgent(0.0)), CLASSIC),
        Job(("easy", "random"), Rules(target=150), kind="matches"),
        EASY,
    ]
    with open_crew(Desk(jobs), 2) as crew:
        found = [play_all(crew, k, games, batch_size=size) for k, games, size in ((0, 4, 1), (1, 6, 2), (2, 900, 64))]
    for job, played, games in zip(jobs, found, (4, 6, 900), strict=True):
        same(played, all_of(job, games))


def test_rows_have_the_same_cards_and_the_order_of_the_log_is_row_game_deal() -> None:
    log = all_of(Job(("easy", "random"), Rules(target=100), kind="matches"), 12, batch_size=5).log
    key = list(zip(log["row"].tolist(), log["game"].tolist(), log["deal"].tolist(), strict=True))
    assert key == sorted(key)
    assert (log["team_of_a"] == log["row"]).all()
    first = log[log["deal"] == 0]
    assert (first["dealer"][:12] == first["dealer"][12:]).all()


def test_teams_are_those_given() -> None:
    job = Job(("easy", "random"), CLASSIC, DUPLICATE, teams=(1, 0))
    assert (all_of(job, 3).log["team_of_a"] == [1, 1, 1, 0, 0, 0]).all()


def test_parts_are_put_together_by_row() -> None:
    parts = [play_part(EASY, [load_agent("easy"), load_agent("conservative")], first, 3) for first in (0, 3)]
    played = put_together(parts, 2)
    assert played.log["game"].tolist() == [*range(6), *range(6)]
    assert played.tallies[0].decisions == sum(part.tallies[0].decisions for part in parts)
    assert Tally(1, 2, 3.0) + Tally(4, 5, 6.0) == Tally(5, 7, 9.0)


def test_parts_end_at_looks_and_grow_with_speed() -> None:
    with open_crew(Desk([EASY])) as crew:
        parts = list(run(crew, 0, 1300, batch_size=300))
    ends = [part.first + part.count for part in parts]
    assert ends == [300, 500, 550, 605, 665, 731, 804, 884, 972, 1069, 1175, 1292, 1300]
    assert all(next_look(end - 1) == end for end in ends[1:-1])
    pace = Pace(None)
    sizes = [pace.size]
    for seconds_a_game in (1e-5, 1e-5, 1e-5, 1e-5, 1e-5, 1e-5, 0.1, 50.0):
        part = parts[0].__class__(0, pace.size, parts[0].log, (), seconds_a_game * pace.size)
        pace.note(part)
        sizes.append(pace.size)
    assert sizes == [4, 32, 256, 2048, 16384, MOST_GAMES, MOST_GAMES, 20, 1]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"kind": "games"}, "kind is 'games'; allowed: deals, matches, endings"),
        ({"kind": "endings"}, "scores is None"),
        ({"scores": (1, 2)}, r"scores is \(1, 2\)"),
        ({"rows": ((0, 2, 0, 2),)}, "four numbers below 2"),
        ({"rows": ()}, "four numbers below 2"),
        ({"teams": (0,)}, "0 or 1 for each of 2 rows"),
        ({"teams": (0, 2)}, "0 or 1 for each of 2 rows"),
    ],
)
def test_impossible_jobs_are_refused(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Job(("easy", "random"), CLASSIC, **fields)


# --- What goes wrong ----------------------------------------------------------------------------------------


class Breaks:
    """Raises, or ends her process, at the first decision of a deal with more than `after` before it."""

    name = "breaks"

    def __init__(self, how: str, after: int) -> None:
        self.how, self.left = how, after

    def act(self, views: Any, keys: Any) -> Any:
        """As told."""
        self.left -= 1
        if self.left < 0 and self.how == "raise":
            raise ZeroDivisionError("oh")
        if self.left < 0:
            os._exit(3)
        return load_agent("lowest").act(views, keys)


def test_an_exception_of_an_agent_names_agent_and_games() -> None:
    with pytest.raises(PartError, match=r"^deals 4\.\.7: agent 'breaks': ZeroDivisionError: oh$"):
        evaluate(Breaks("raise", 40), "easy", deals=20, batch_size=4)
    with pytest.raises(PartError, match=r"^deals \d\.\.\d: agent 'breaks': ZeroDivisionError: oh$"):
        evaluate(Breaks("raise", 20), "easy", deals=8, batch_size=4, workers=2)


def test_a_worker_that_dies_is_reported_with_the_games_in_flight() -> None:
    with pytest.raises(PartError, match=r"^deals 0\.\.3, .*: a worker process ended abruptly"):
        evaluate(Breaks("exit", 20), "easy", deals=40, batch_size=4, workers=2)


def test_what_cannot_be_sent_or_kept_is_refused_by_name(tmp_path: Path) -> None:
    class Local(EasyAgent):
        """Cannot be pickled: nobody finds her class by name."""

    with pytest.raises(AgentError, match=r"^agent 'easy.*' cannot be sent to another process"):
        evaluate(Local(), "easy", deals=2, workers=2)
    with pytest.raises(AgentError, match="is an object; allowed where games are kept: agents given as text"):
        evaluate(EasyAgent(), "easy", deals=2, store=tmp_path)
    for workers in (0, 1.5, True):
        with pytest.raises(ValueError, match="workers is"):
            evaluate("easy", "easy", deals=2, workers=workers)  # type: ignore[arg-type]


# --- Kept parts ---------------------------------------------------------------------------------------------


def parts_in(folder: Path) -> list[str]:
    """Names of the kept parts."""
    return sorted(path.name for path in folder.glob("*.part"))


def playing(monkeypatch: pytest.MonkeyPatch, stop_at: int | None = None) -> list[tuple[int, int]]:
    """The (first, count) of parts as they are played from now on; Ctrl-C is pressed during number `stop_at`."""
    played: list[tuple[int, int]] = []

    def play(job: Job, agents: Any, first: int, count: int) -> Any:
        if len(played) == stop_at:
            raise KeyboardInterrupt
        played.append((first, count))
        return play_part(job, agents, first, count)

    monkeypatch.setattr("evaluation.work.crew.play_rows", play)
    return played


def test_an_interrupted_evaluation_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    options: dict[str, Any] = {"deals": 40, "matches": 6, "seed": 5}
    whole = evaluate("easy", "random", **options)
    playing(monkeypatch, stop_at=3)
    with pytest.raises(KeyboardInterrupt):
        evaluate("easy", "random", **options, batch_size=8, store=tmp_path)
    assert len(parts_in(tmp_path)) == 3
    played = playing(monkeypatch)
    again = evaluate("easy", "random", **options, batch_size=10, store=tmp_path)
    assert played[0] == (24, 10)
    assert again.log.tobytes() == whole.log.tobytes()
    assert again.match_log.tobytes() == whole.match_log.tobytes()
    assert [tally.decisions for tally in again.tallies] == [tally.decisions for tally in whole.tallies]
    played.clear()
    third = evaluate("easy", "random", **options, store=tmp_path)
    assert played == []
    without_seconds = {name: value for name, value in again.to_dict().items() if name != "seconds"}
    assert without_seconds.items() <= third.to_dict().items()


def test_gaps_are_filled_and_parts_that_reach_too_far_left_out(tmp_path: Path) -> None:
    whole = evaluate("easy", "random", deals=30, batch_size=10, store=tmp_path)
    (tmp_path / "deals-0000000010-0000000010.part").unlink()
    again = evaluate("easy", "random", deals=30, batch_size=7, store=tmp_path)
    assert again.log.tobytes() == whole.log.tobytes()
    assert parts_in(tmp_path)[1:3] == ["deals-0000000010-0000000007.part", "deals-0000000017-0000000003.part"]
    # Fewer deals: the last part reaches over their end, so its beginning is played again, and counted once.
    fewer = evaluate("easy", "random", deals=25, store=tmp_path)
    assert (fewer.margins == whole.margins[:25]).all()
    assert sum(tally.decisions for tally in fewer.tallies) == 25 * 2 * 56
    more = evaluate("easy", "random", deals=40, store=tmp_path)
    assert (more.margins[:30] == whole.margins).all()
    assert sum(tally.decisions for tally in more.tallies) == 40 * 2 * 56


def test_kill_9_in_the_middle_loses_and_doubles_nothing(tmp_path: Path) -> None:
    """Two workers, killed once with the parent; they end by themselves, and the same command finishes."""
    folder = tmp_path / "kept"
    command = [sys.executable, "-m", "spades_cli.main", "evaluate", SPECS["hard"], "easy", "--deals", "60"]
    command += ["--batch-size", "2", "--workers", "2", "--resume", str(folder), "--json", str(tmp_path / "x.json")]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    process = subprocess.Popen(command, env=environment, cwd=ROOT, start_new_session=True, stderr=subprocess.PIPE)
    wait_for(lambda: len(parts_in(folder)) >= 3 or process.poll() is not None)
    os.kill(process.pid, signal.SIGKILL)
    # The workers share the pipe of stderr: it ends when the last of them has ended.
    process.communicate(timeout=60)
    assert not (tmp_path / "x.json").exists(), "it was finished before it could be killed"
    kept = parts_in(folder)
    subprocess.run(command, env=environment, cwd=ROOT, check=True)
    assert set(kept) <= set(parts_in(folder))
    found = json.loads((tmp_path / "x.json").read_text(encoding="utf-8"))
    expected = json.loads(json.dumps(evaluate(SPECS["hard"], "easy", deals=60).to_dict()))
    assert found.pop("command") == f"spades evaluate --deals 60 {SPECS['hard']} easy"
    times = ("seconds", "ms_per_decision", "versions", "machine")
    assert {k: v for k, v in found.items() if k not in times} == {k: v for k, v in expected.items() if k not in times}


def wait_for(happens: Callable[[], bool]) -> None:
    """Wait up to two minutes."""
    end = time.monotonic() + 120
    while not happens():
        assert time.monotonic() < end
        time.sleep(0.05)


def test_another_evaluation_is_refused_by_what_differs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    policy = tmp_path / "mine.py"
    policy.write_text("from agents.rules.extremes import LowestAgent as Mine\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    folder = tmp_path / "kept"
    evaluate("mine:Mine", "easy", deals=4, store=folder)
    for a, options, difference in (
        ("mine:Mine", {"seed": 1}, "seed is 0 there and 1 here"),
        ("random", {}, "agents is ['mine:Mine', 'easy'] there and ['random', 'easy'] here"),
        ("mine:Mine", {"rules": "table"}, "rules is"),
    ):
        with pytest.raises(StoreError, match=r"deals\.json belongs to other games: ") as caught:
            evaluate(a, "easy", deals=4, store=folder, **options)  # type: ignore[arg-type]
        assert difference in str(caught.value)
    policy.write_text("from agents.rules.extremes import HighestAgent as Mine\n", encoding="utf-8")
    with pytest.raises(StoreError, match="agents' files have changed"):
        evaluate("mine:Mine", "easy", deals=4, store=folder)
    monkeypatch.setattr("evaluation.work.definition.code_hash", lambda: "other")
    policy.write_text("from agents.rules.extremes import LowestAgent as Mine\n", encoding="utf-8")
    with pytest.raises(StoreError, match="played by other source code: move it away, or give another folder"):
        evaluate("mine:Mine", "easy", deals=4, store=folder)


def test_files_that_belong_to_an_agent(tmp_path: Path) -> None:
    program = tmp_path / "bot.sh"
    found = []
    for content in ("one", "two"):
        program.write_text(content, encoding="utf-8")
        found.append(files_of([f"process[limit=2]:sh {program}", "easy", "hard:worlds=5", str(program)]))
    assert [set(one) for one in found] == [{f"process[limit=2]:sh {program}", str(program)}] * 2
    assert not set(found[0].values()) & set(found[1].values())


def flip(data: bytes) -> bytes:
    """Change one bit in the middle."""
    return data[: len(data) // 2] + bytes([data[len(data) // 2] ^ 1]) + data[len(data) // 2 + 1 :]


@pytest.mark.parametrize(
    ("name", "change", "problem"),
    [
        ("deals-0000000000-0000000004.part", flip, "is damaged, or no part of these games"),
        ("deals-0000000000-0000000004.part", lambda data: data[:-1], "is damaged, or no part of these games"),
        ("deals-0000000000-0000000004.part", lambda data: b"", "is damaged, or no part of these games"),
        ("deals-0000000000-0000000004.part", lambda data: b"[1]\n", "is damaged, or no part of these games"),
        (
            "deals-0000000000-0000000004.part",
            lambda data: data.replace(b'"first": 0', b'"first": 4', 1),
            "is damaged, or no part of these games",
        ),
        ("deals.json", lambda data: data[:-9], "is no JSON text"),
        ("deals.json", lambda data: b"[]", "is no description of kept games"),
        ("deals.json", lambda data: data.replace(b'"seed": 0', b'"seed": 9', 1), "belongs to other games: seed is 9"),
    ],
)
def test_damaged_and_foreign_files_are_refused(tmp_path: Path, name: str, change: Any, problem: str) -> None:
    evaluate("easy", "random", deals=4, store=tmp_path)
    path = tmp_path / name
    path.write_bytes(change(path.read_bytes()))
    with pytest.raises(StoreError) as caught:
        evaluate("easy", "random", deals=4, store=tmp_path)
    assert str(caught.value).startswith(f"{path} {problem}")
    assert str(caught.value).endswith(": move it away, or give another folder")


def test_parts_without_their_description_and_a_folder_in_use_are_refused(tmp_path: Path) -> None:
    evaluate("easy", "random", deals=4, store=tmp_path)
    with PartStore(tmp_path / "other", EASY, {}), pytest.raises(StoreError, match="is in use by another process"):
        PartStore(tmp_path / "other", EASY, {}).__enter__()
    (tmp_path / "deals.json").unlink()
    with pytest.raises(StoreError, match="is missing beside its parts"):
        evaluate("easy", "random", deals=4, store=tmp_path)


def test_the_command_goes_on_after_ctrl_c(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = ["evaluate", "easy", "random", "--deals", "40", "--batch-size", "8", "--resume", str(tmp_path)]
    playing(monkeypatch, stop_at=2)
    assert main(arguments) == 130
    out, err = capsys.readouterr()
    assert out == ""
    assert err.splitlines()[-1].endswith(f"finished parts are in {tmp_path}, the same command goes on")
    played = playing(monkeypatch)
    assert main([*arguments, "--json", "-"]) == 0
    assert played == [(16, 8), (24, 8), (32, 8)]
    assert json.loads(capsys.readouterr().out)["margin"] == evaluate("easy", "random", deals=40).margin.to_dict()


def test_ladders_that_share_a_folder_lose_no_result(tmp_path: Path) -> None:
    def duel(seed: int) -> Any:
        fields = {"a": "easy", "b": "random", "games": 2, "seed": seed}
        return ladder_from({"sections": [{"title": "T", "duels": [fields]}]}, "x")[0]

    def put(store: Store, seeds: range) -> None:
        for seed in seeds:
            store.put(duel(seed), {})

    writers = [threading.Thread(target=put, args=(Store(tmp_path), range(k, 60, 3))) for k in range(3)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    store = Store(tmp_path)
    assert all(store.get(duel(seed)) is not None for seed in range(60))


def test_the_ladder_with_workers_comes_to_the_same(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    duels = "{a: easy, b: random, games: 20}, {a: easy, rules: table, kind: matches, games: 3}, {a: nobody, games: 9}"
    Path("mine.yaml").write_text(f"sections: [{{title: T, duels: [{duels}]}}]", encoding="utf-8")
    found = []
    for workers in ("1", "2"):
        arguments = ["--config", "mine.yaml", "--out", workers, "--workers", workers, "--json", "-"]
        assert main(["ladder", *arguments]) == 0
        found.append([row["measured"] or {} for row in json.loads(capsys.readouterr().out)["duels"]])
    for one, two in zip(*found, strict=True):
        assert {**one, "seconds": 0, "ms_per_decision": 0} == {**two, "seconds": 0, "ms_per_decision": 0}
    assert np.count_nonzero(found[0]) == 2


# --- The files behind agents --------------------------------------------------------------------------------


def test_files_behind_agents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    for name, text in {
        "files_bot.py": "from files_helper import X\nimport numpy\nimport agents.base",
        "files_helper.py": "import files_deeper",
        "files_deeper.py": "",
        "files_pack/__init__.py": "",
        "files_pack/one.py": "",
        "files_pack/two.py": "",
        "bot.js": "",
        "run/policy.safetensors": "",
        "run/checkpoint.safetensors": "",
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)

    def names(text: str) -> list[str]:
        return [file.resolve().relative_to(tmp_path.resolve()).as_posix() for file in files_behind(text)]

    assert names("files_bot:Bot") == ["files_bot.py", "files_deeper.py", "files_helper.py"]
    assert names("files_pack.one:Bot") == ["files_pack/__init__.py", "files_pack/one.py", "files_pack/two.py"]
    assert names("process[limit=2]:node bot.js --x") == ["bot.js"]
    assert names("run") == names("run/policy.safetensors") == ["run/policy.safetensors"]
    assert files_of(["run"])["run"] == files_of(["run/policy.safetensors"])["run/policy.safetensors"]
    for text in ("normal", "hard:worlds=3", "cheating", "no_such_module:Bot", "sys:x"):
        assert names(text) == [], text


def test_the_policy_of_a_folder_is_the_one_that_plays() -> None:
    weights = pytest.importorskip("agents.learned.weights")
    assert weights.POLICY_FILE == POLICY_FILE


def test_what_a_module_imports_belongs_to_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "deep_bot.py").write_text("from deep_helper import RandomAgent as Bot")
    (tmp_path / "deep_helper.py").write_text("from agents.rules.uniform import RandomAgent")
    evaluate("deep_bot:Bot", "easy", deals=4, store=tmp_path / "kept")
    evaluate("deep_bot:Bot", "easy", deals=6, store=tmp_path / "kept")
    (tmp_path / "deep_helper.py").write_text("from agents.rules.uniform import RandomAgent  # changed")
    with pytest.raises(StoreError, match="agents' files have changed"):
        evaluate("deep_bot:Bot", "easy", deals=6, store=tmp_path / "kept")


def test_a_worker_refuses_an_agent_whose_files_have_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "late_bot.py").write_text("from agents.rules.uniform import RandomAgent as Bot")
    job = Job(("late_bot:Bot", "easy"), CLASSIC)
    started = Desk([job]).files()
    assert set(started) == {"late_bot:Bot"}
    Desk([job], started).agents(0)
    (tmp_path / "late_bot.py").write_text("from agents.rules.easy import EasyAgent as Bot")
    with pytest.raises(AgentError, match="'late_bot:Bot': its files have changed since the start"):
        Desk([job], started).agents(0)


def test_code_that_decides_games_is_in_the_hash(monkeypatch: pytest.MonkeyPatch) -> None:
    for room, pattern in PLAYING_SOURCES:
        assert list((ROOT / room).glob(pattern)), (room, pattern)
    before = code_hash()
    code_hash.cache_clear()
    monkeypatch.setattr("evaluation.work.definition.PLAYING_SOURCES", PLAYING_SOURCES[:-1])
    assert code_hash() != before
    code_hash.cache_clear()


def test_a_ladder_finds_the_result_of_a_module_before_it_is_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ladder_bot.py").write_text("from agents.rules.uniform import RandomAgent as Bot")
    duel = ladder_from(
        {"sections": [{"title": "x", "duels": [{"a": "ladder_bot:Bot", "b": "easy", "games": 2}]}]}, "x"
    )[0]
    Store(tmp_path).put(duel, {})
    load_agent("ladder_bot:Bot")
    assert Store(tmp_path).get(duel) is not None
