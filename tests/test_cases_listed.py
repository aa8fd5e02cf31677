"""Every case of tests/data/cases.json has a test with its id in the test's name."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

TESTS = Path(__file__).resolve().parent
CASES = json.loads((TESTS / "data" / "cases.json").read_text(encoding="utf-8"))
KINDS = {"scoring": 15, "legality": 9, "bidding": 6, "play": 10, "api": 13}
FILES = ("api", "bots")
OTHERS = ("test_golden_engine.py", "test_evaluation.py", "test_observation.py", "test_referee.py")


def carried(names: str) -> dict[str, list[str]]:
    """The tests among `names`, one a line, that carry each case's id."""
    found: dict[str, list[str]] = {}
    for case in CASES:
        pattern = re.compile(rf"(?:test_case_|test_|[\[-])(?:{case['id']}|{case['id'].lower()})(?=[\]_-])")
        found[case["id"]] = [name for name in names.splitlines() if pattern.search(name.partition("::")[2])]
    return found


def test_the_cases_are_all_there() -> None:
    assert {kind: sum(case["kind"] == kind for case in CASES) for kind in KINDS} == KINDS
    assert len({case["id"] for case in CASES}) == len(CASES) == 53


def test_every_case_has_a_test_with_its_id() -> None:
    files = [str(TESTS / name) for name in (*(f"test_cases_{kind}.py" for kind in FILES), *OTHERS)]
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "--run-slow", "-p", "no:cacheprovider", *files]
    listed = subprocess.run(command, cwd=TESTS.parent, capture_output=True, text=True, check=True).stdout
    assert {case: names for case, names in carried(listed).items() if not names} == {}


def test_a_case_without_a_test_is_missed() -> None:
    found = carried("tests/x.py::test_handed[S01]\ntests/x.py::test_a05_illegal\nx.py::test_bidding_case[normal-B02-0]")
    assert [case for case, names in found.items() if names] == ["S01", "B02", "A05"]
