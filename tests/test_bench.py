"""`spades bench`: the shape of its report, its arithmetic and its samplers. Durations are never asserted."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from itertools import product

import numpy as np
import pytest

from benchmarks import fresh, ours, report, timing
from benchmarks.aec import STEPS_PER_CALL, play_episodes
from spades_cli import bench as bench_command
from spades_cli.main import main
from spades_env.engine.batch import SpadesBatch

QUICK = ("--rounds", "1", "--seconds", "0.001", "--seed", "3")
LOOPS = ("playout", "batch", "aec")
CONTRACT = {
    "ratio",
    "reason",
    "per_second",
    "per_second_wall",
    "samples",
    "import_seconds",
    "compile_seconds",
    "compile_parts",
    "machine",
    "settings",
    "started",
}
RATIOS = {
    "playout_vs_openspiel_cpp",
    "batch_observation_vs_openspiel_python",
    "batch_observation_vs_openspiel_python_written",
    "aec_vs_pettingzoo_connect_four",
}


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    """Run `spades bench` and return exit status, stdout and stderr."""
    status = main(["bench", *arguments])
    out, err = capsys.readouterr()
    return status, out, err


def only(*groups: str) -> list[str]:
    return [argument for group in groups for argument in ("--only", group)]


def hide(monkeypatch: pytest.MonkeyPatch, *modules: str) -> None:
    """Let imports of these modules fail."""
    for module in modules:
        monkeypatch.setitem(sys.modules, module, None)


def test_report_on_stdout_is_nothing_but_json(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = run(capsys, *QUICK, *only(*LOOPS), "--json", "-")
    assert status == 0
    found = json.loads(out)
    assert "round 1 of 1" in err
    assert set(found) == CONTRACT
    assert set(found["ratio"]) == RATIOS
    assert {"playout", "batch_observation", "aec"} <= set(found["per_second"])
    assert set(found["per_second"]) == set(found["per_second_wall"]) == set(found["samples"])
    assert all(rate > 0 for rate in found["per_second"].values())
    for name, ratio in found["ratio"].items():
        assert ratio > 0 if name not in found["reason"] else ratio is None
    assert {"processor", "cores", "python", "numpy", "numba", "torch", "open-spiel"} <= set(found["machine"])
    assert found["settings"] == {"groups": sorted(LOOPS), "rounds": 1, "seconds": 0.001, "seed": 3}


def test_missing_peers_are_null_with_a_reason(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    hide(monkeypatch, "pyspiel", "pettingzoo.classic.connect_four_v3")
    status, out, _ = run(capsys, *QUICK, *only(*LOOPS), "--json", "-")
    assert status == 0
    found = json.loads(out)
    assert found["ratio"] == dict.fromkeys(RATIOS)
    assert set(found["per_second"]) == {"playout", "batch_observation", "aec"}
    for name in RATIOS - {"aec_vs_pettingzoo_connect_four"}:
        assert found["reason"][name].startswith("OpenSpiel is not installed (pip install open-spiel)")
    assert "connect_four_v3 cannot be imported" in found["reason"]["aec_vs_pettingzoo_connect_four"]


def test_groups_left_out_say_so(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    hide(monkeypatch, "pyspiel")
    status, out, _ = run(capsys, *QUICK, *only("playout"), "--json", "-")
    assert status == 0
    found = json.loads(out)
    assert set(found["per_second"]) == {"playout"}
    assert (found["import_seconds"], found["compile_seconds"]) == (None, None)
    for name in ("import", "compile", "aec_vs_pettingzoo_connect_four"):
        assert found["reason"][name] == "not asked for (--only playout)"


def test_tables_and_file(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: object) -> None:
    hide(monkeypatch, "pyspiel")
    monkeypatch.setenv("COLUMNS", "200")
    path = f"{tmp_path}/bench.json"
    status, out, _ = run(capsys, *QUICK, *only("playout"), "--json", path)
    assert status == 0
    with open(path, encoding="utf-8") as file:
        rate = json.load(file)["per_second"]["playout"]
    assert f"{rate:,.0f}" in out
    assert "playout_vs_openspiel_cpp" in out
    assert "OpenSpiel is not installed" in out


def test_seconds_of_new_processes(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """The first compilation is announced before it starts, and its parts add up."""

    def compile_seconds() -> dict[str, float]:
        assert "up to a minute" in capsys.readouterr().err
        return {"env_step": 1.5, "batch": 2.0}

    monkeypatch.setattr(fresh, "compile_seconds", compile_seconds)
    status, out, _ = run(capsys, *QUICK, *only("import", "compile"), "--json", "-")
    assert status == 0
    found = json.loads(out)
    assert found["compile_seconds"] == 3.5
    assert found["compile_parts"] == {"env_step": 1.5, "batch": 2.0}
    assert found["import_seconds"] > 0


@pytest.mark.slow
def test_first_compilation() -> None:
    parts = fresh.compile_seconds()
    assert set(parts) == {"env_step", "batch", "playout", "easy_evaluation"}
    assert all(seconds > 0 for seconds in parts.values())


def test_a_process_that_fails_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fresh, "IMPORT_CODE", "raise SystemExit('no such luck')")
    with pytest.raises(ChildProcessError, match="ended with status 1: no such luck"):
        fresh.import_seconds()


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (("--rounds", "0"), 2, "0 is not in the range x>=1"),
        (("--seconds", "0"), 2, "0.0 is not in the range x>0"),
        (("--only", "speed"), 2, "'speed' is not one of 'playout', 'batch', 'aec', 'import', 'compile'"),
        (("--json", "none/bench.json"), 1, "none/bench.json: No such file or directory"),
    ],
)
def test_bad_input_is_refused_before_anything_is_measured(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    arguments: tuple[str, ...],
    status: int,
    message: str,
) -> None:
    monkeypatch.setattr(report, "bench", None)  # calling it would fail with another message
    got, out, err = run(capsys, *arguments)
    assert (got, out) == (status, "")
    assert err.count("\n") == 1
    assert message in err


def test_the_command_and_the_report_know_the_same_groups() -> None:
    assert bench_command.GROUPS == report.GROUPS
    assert {loop.group for loop in report.LOOPS} == set(LOOPS)
    names = [loop.name for loop in report.LOOPS]
    assert {name for pair in report.RATIOS.values() for name in pair} == set(names)


# ---------------------------------------------------------------- measuring


def test_works_alternate() -> None:
    """Ours and the peers' take turns; every sample counts its own decisions."""
    calls: list[str] = []

    def work(name: str, decisions: int) -> Callable[[], int]:
        def one() -> int:
            calls.append(name)
            return decisions

        return one

    samples = timing.alternate({"a": work("a", 1), "b": work("b", 10)}, 2, 1e-9, lambda text: None)
    runs = [name for k, name in enumerate(calls) if k == 0 or calls[k - 1] != name]
    assert runs == ["a", "b", "a", "b"]
    assert sum(sample.decisions for sample in samples["a"]) == calls.count("a")
    assert sum(sample.decisions for sample in samples["b"]) == 10 * calls.count("b")
    assert all(sample.wall > 0 and sample.cpu > 0 for rows in samples.values() for sample in rows)


def test_rates_are_medians() -> None:
    samples = [timing.Sample(10, 5.0, 1.0), timing.Sample(90, 3.0, 1.0), timing.Sample(20, 2.0, 1.0)]
    assert timing.per_cpu_second(samples) == 20.0
    assert timing.per_wall_second(samples) == 10.0


def test_sampler_is_uniform_over_the_legal_actions() -> None:
    """Every legal action of 40 early positions comes up, none else, by a chi-square bound at fixed seed."""
    batch = SpadesBatch(40, "classic", seed=5)
    for n in range(12):
        batch.step(batch.sample_actions(5, n))
    masks = batch.action_masks()
    draws = 4_000
    counts = np.zeros(masks.shape)
    out = np.empty(len(batch), np.int64)
    for n in range(draws):
        ours.sample_from_masks(masks, np.uint64(9), n, out)
        counts[np.arange(len(batch)), out] += 1
    assert not counts[masks == 0].any()
    expected = draws / masks.sum(axis=1, keepdims=True) * np.ones(masks.shape)
    legal = masks == 1
    chi_square = ((counts - expected)[legal] ** 2 / expected[legal]).sum()
    freedom = legal.sum() - len(batch)
    assert abs(chi_square - freedom) < 5 * np.sqrt(2 * freedom)


def test_sampler_can_draw_every_action() -> None:
    """Each of the 73 actions alone, and each pair of neighbours."""
    masks = np.eye(73, dtype=np.int8)
    out = np.empty(73, np.int64)
    ours.sample_from_masks(masks, np.uint64(1), 0, out)
    assert out.tolist() == list(range(73))
    seen = set()
    pairs = np.eye(73, dtype=np.int8) + np.eye(73, k=1, dtype=np.int8)
    for n in range(40):
        ours.sample_from_masks(pairs, np.uint64(1), n, out)
        seen |= set(enumerate(out.tolist()))
    assert seen == {(k, k + d) for k, d in product(range(73), (0, 1)) if k + d < 73}


def test_playout_counts_decisions() -> None:
    """56 a deal: 4 bids and 52 cards."""
    assert ours.playout(seed=2)() == 56 * ours.DEALS_PER_CALL


def test_episodes_follow_one_another() -> None:
    """The loop plays exactly as many steps as it says, across the ends of episodes."""

    class Countdown:
        """An environment of one agent and three decisions an episode, then its dead step."""

        def __init__(self) -> None:
            self.resets = self.decisions = self.dead_steps = 0

        def reset(self, seed: int | None = None) -> None:
            self.resets += 1
            self.agents, self.left = ["player_0"], 3

        def agent_iter(self, limit: int) -> object:
            while self.agents and limit > 0:
                limit -= 1
                yield self.agents[0]

        def last(self) -> tuple[object, float, bool, bool, object]:
            mask = np.array([0, 1, 0, 1], np.int8)
            return {"action_mask": mask}, 0.0, self.left == 0, False, {}

        def step(self, action: int | None) -> None:
            if action is None:
                self.dead_steps += 1
                self.agents = []
            else:
                assert action in (1, 3)
                self.decisions += 1
                self.left -= 1

    environment = Countdown()
    work = play_episodes(environment, seed=1)
    assert work() == work() == STEPS_PER_CALL
    assert environment.decisions == 3 * STEPS_PER_CALL * 2 // 4
    assert environment.dead_steps == STEPS_PER_CALL * 2 // 4
    assert environment.resets == environment.dead_steps + 1
