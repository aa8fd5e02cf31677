"""Each rule of the engine broken in turn: a test must notice (tests/mutation, docs/reliability.md).

The table is checked in full and a sample of the mutants is run; --run-slow runs them all.
"""

from __future__ import annotations

import dataclasses
import json
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from mutation.mutant import PLAY, Mutant
from mutation.report import write_report
from mutation.table import MUTANTS, SAMPLE, chosen
from mutation.tree import ROOT, copy_tree, mutated
from mutation.trial import RULE_TESTS, TrialError, check_unbroken, try_mutant

from spades_env.rules import FIELD_NAMES

SAMPLE_TESTS = tuple(sorted({mutant.first for mutant in MUTANTS if mutant.id in SAMPLE}))
NOTHING_BROKEN = Mutant(
    "nothing-broken", "R12", PLAY, "best, turns = -1, 0", "best, turns = -2, 0", "nothing: every card is above -1"
)


def paragraphs() -> set[str]:
    """The numbers of the rule text."""
    return set(re.findall(r"^- (R\d+)\.", (ROOT / "docs" / "rules.md").read_text(encoding="utf-8"), re.MULTILINE))


def test_every_paragraph_and_every_option_has_a_mutant() -> None:
    broken = {name for mutant in MUTANTS for name in mutant.breaks.split()}
    assert len(paragraphs()) == 31
    assert broken == paragraphs() | set(FIELD_NAMES)
    page = (ROOT / "docs" / "reliability.md").read_text(encoding="utf-8")
    assert f"has {len(MUTANTS)} mutants" in page


def test_every_mutant_is_one_change_that_compiles() -> None:
    assert [id for id, count in Counter(mutant.id for mutant in MUTANTS).items() if count > 1] == []
    changes = Counter((mutant.file, mutant.applied(source(mutant.file))) for mutant in MUTANTS)
    assert max(changes.values()) == 1, "two mutants are the same"
    for mutant in MUTANTS:
        compile(mutant.applied(source(mutant.file)), mutant.file, "exec")
        assert mutant.means
        assert mutant.first in RULE_TESTS


def source(file: str) -> str:
    return (ROOT / file).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("no such text", "x", "stands 0 times in spades_env/engine/play.py; allowed: once"),
        ("return", "x", r"stands \d\d times in"),
        ("best, turns = -1, 0", "best, turns = -1, 0", "something other than old"),
    ],
)
def test_a_mutant_that_would_change_nothing_is_refused(old: str, new: str, message: str) -> None:
    mutant = dataclasses.replace(NOTHING_BROKEN, old=old, new=new)
    with pytest.raises(ValueError, match=message):
        mutant.applied(source(PLAY))


def test_mutants_are_chosen_by_id_and_by_pattern() -> None:
    assert chosen(()) == MUTANTS
    assert [mutant.id for mutant in chosen(("r14-never-broken",))] == ["r14-never-broken"]
    assert len(chosen(("r14-*", "r1-*"))) > 8
    with pytest.raises(ValueError, match=r"mutant 'r99-\*' does not exist"):
        chosen(("r99-*",))


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the sources on which the tests of the sample pass."""
    folder = copy_tree(tmp_path_factory.mktemp("mutation") / "tree")
    assert check_unbroken(folder, SAMPLE_TESTS) > 200
    return folder


@pytest.mark.parametrize("id", SAMPLE)
def test_a_mutant_of_the_sample_is_killed(tree: Path, id: str) -> None:
    (mutant,) = chosen((id,))
    before = (tree / mutant.file).read_bytes()
    verdict = try_mutant(tree, mutant, files=())
    assert verdict.killed, mutant.means
    assert verdict.killed_by.startswith(mutant.first)
    assert verdict.message
    assert (tree / mutant.file).read_bytes() == before == (ROOT / mutant.file).read_bytes()


def test_what_breaks_no_rule_survives(tree: Path, tmp_path: Path) -> None:
    """So a kill is the broken rule's, not the machinery's; the report names the survivor."""
    verdict = try_mutant(tree, NOTHING_BROKEN, files=())
    assert not verdict.killed
    write_report(tmp_path / "report.json", [verdict], tests=268)
    report = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    assert report["survivors"] == ["nothing-broken"]
    assert report["results"][0]["killed_by"] is None


def test_a_tree_that_fails_unbroken_is_no_trial(tree: Path) -> None:
    (mutant,) = chosen(("r14-never-broken",))
    with mutated(tree, mutant), pytest.raises(TrialError, match="the unbroken tree fails tests/test_golden_engine"):
        check_unbroken(tree, (mutant.first,))


def test_a_tree_whose_tests_cannot_be_collected_is_no_trial(tree: Path) -> None:
    """A mutant that does not even import says nothing about the rules."""
    mutant = dataclasses.replace(NOTHING_BROKEN, old="SIDE_SUITS = 0b0111", new="SIDE_SUITS = no_such_name")
    with pytest.raises(TrialError, match=r"pytest returned 2 on .*no_such_name"):
        try_mutant(tree, mutant, files=())


def test_the_command_names_what_does_not_exist() -> None:
    command = [sys.executable, "-m", "tests.mutation"]
    done = subprocess.run([*command, "r99-*"], cwd=ROOT, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "Error: mutant 'r99-*' does not exist; allowed: an id of the table, or a pattern as 'r14-*'\n"
    listed = subprocess.run([*command, "--list", "r14-*"], cwd=ROOT, capture_output=True, text=True)
    assert listed.returncode == 0
    assert "r14-never-broken: nothing sets the broken flag" in listed.stdout


@pytest.mark.slow
@pytest.mark.timeout(7200)
def test_every_mutant_is_killed(tmp_path: Path) -> None:
    folder = copy_tree(tmp_path / "tree")
    print(f"{check_unbroken(folder)} tests pass on the unbroken tree")
    survivors = []
    for mutant in MUTANTS:
        verdict = try_mutant(folder, mutant)
        print(f"{mutant.id}: {verdict.killed_by or 'SURVIVES'} ({verdict.seconds:.1f} s)")
        survivors += [] if verdict.killed else [mutant.id]
    print(f"{len(MUTANTS) - len(survivors)} of {len(MUTANTS)} mutants killed")
    assert survivors == []
