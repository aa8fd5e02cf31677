"""The rule tests run against a tree: on the unbroken one all must pass, on a mutant one must fail."""

from __future__ import annotations

import os
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from .mutant import Mutant
from .tree import mutated

RULE_TESTS: Final = (
    "tests/test_golden_engine.py",
    "tests/test_rules.py",
    "tests/test_cards.py",
    "tests/test_properties_play.py",
    "tests/test_properties_relabel.py",
    "tests/test_properties_hidden.py",
    "tests/test_engine_vs_referee.py",
    "tests/test_game.py",
    "tests/test_batch.py",
)
"""What a mutant is tried on, fast and catholic files first."""
NOT_RUN: Final = "not bounded_numbers and not damaged_byte and not course_is_refused and not matches_end_and_go_on"
"""Left out: of random numbers, files and refusals rather than of rules, or slow or noisy without compilation."""
SECONDS: Final = 1_800
"""A run of the rule tests that takes longer counts as failed: the mutant plays for ever."""

TESTS_FAILED: Final = 1
"""What pytest returns if, and only if, tests were run and some failed."""


class TrialError(ValueError):
    """The trial says nothing about the rules: the unbroken tree fails, or the tests could not even be collected."""


@dataclass(frozen=True)
class Verdict:
    """What became of one mutant: the test that killed it ("" if none did), why, and how long it took in seconds."""

    mutant: Mutant
    killed_by: str
    message: str
    seconds: float

    @property
    def killed(self) -> bool:
        return bool(self.killed_by)


@dataclass(frozen=True)
class _Run:
    """One run of pytest: how many tests ran, the first that failed ("" if none did), and its message."""

    tests: int
    failed: str
    message: str


def check_unbroken(folder: Path, files: tuple[str, ...] = RULE_TESTS) -> int:
    """Run the tests in `files` on the unbroken tree in `folder`, exactly as on a mutant; how many passed."""
    _check_imports(folder)
    run = _run(folder, files)
    if run.failed:
        raise TrialError(f"the unbroken tree fails {run.failed}: {run.message}; a kill would say nothing")
    return run.tests


def try_mutant(folder: Path, mutant: Mutant, files: tuple[str, ...] = RULE_TESTS) -> Verdict:
    """Break the rule in the tree in `folder` and run the likely killer, then the others of `files`, until one fails."""
    started = time.perf_counter()
    others = tuple(file for file in files if file != mutant.first)
    with mutated(folder, mutant):
        run = _run(folder, (mutant.first,))
        if not run.failed and others:
            run = _run(folder, others)
    return Verdict(mutant, run.failed, run.message, time.perf_counter() - started)


def _environment(folder: Path) -> dict[str, str]:
    """Without JIT nothing is compiled, so a mutant costs no more than the tests themselves."""
    return os.environ | {"NUMBA_DISABLE_JIT": "1", "PYTHONPATH": str(folder), "OMP_NUM_THREADS": "1"}


def _check_imports(folder: Path) -> None:
    """Make sure that the tests will import the copy and not an installed package."""
    code = "import spades_env; print(spades_env.__file__)"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, env=_environment(folder), capture_output=True, text=True, timeout=60
    )
    if not done.stdout.startswith(str(folder)):
        raise TrialError(f"spades_env is imported from {done.stdout.strip() or done.stderr}; allowed: below {folder}")


def _run(folder: Path, files: tuple[str, ...]) -> _Run:
    """Run pytest on test `files` of the tree in `folder` up to the first failure."""
    report = folder / "report.xml"
    report.unlink(missing_ok=True)
    options = ["-x", "-q", "-p", "no:cacheprovider", f"--junitxml={report}", "-k", NOT_RUN, "-W", "ignore"]
    try:
        done = subprocess.run(
            [sys.executable, "-m", "pytest", *options, *files],
            cwd=folder,
            env=_environment(folder),
            capture_output=True,
            text=True,
            timeout=SECONDS,
        )
    except subprocess.TimeoutExpired:
        return _Run(0, f"{files[0]} and others", f"no end after {SECONDS} seconds")
    if done.returncode not in (0, TESTS_FAILED):
        tail = " ".join(done.stdout.split()[-60:])
        raise TrialError(f"pytest returned {done.returncode} on {', '.join(files)}: {tail}")
    return _result(report)


def _result(report: Path) -> _Run:
    """What pytest's JUnit report says."""
    cases = list(ElementTree.parse(report).getroot().iter("testcase"))
    for case in cases:
        for problem in (*case.iter("failure"), *case.iter("error")):
            name = f"{case.get('classname', '').replace('.', '/')}.py::{case.get('name', '')}"
            first_line = (problem.get("message") or "").strip().split("\n")[0]
            return _Run(len(cases), name, first_line[:200])
    return _Run(len(cases), "", "")
