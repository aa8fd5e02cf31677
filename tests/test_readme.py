"""The README's and the pages' examples run as they stand; the commands they show exist and take these options."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import click
import pytest

from spades_cli.main import cli

ROOT = Path(__file__).resolve().parent.parent
PAGES = (
    "README.md",
    "docs/env.md",
    "docs/evaluation.md",
    "docs/play.md",
    "docs/training.md",
    "docs/exploitability.md",
    "docs/tournament.md",
    "docs/benchmark.md",
    "docs/leaderboard.md",
)
COMMAND_PAGES = (
    *PAGES,
    "docs/report.md",
    "docs/external_agents.md",
    "docs/agents.md",
    "docs/datasets.md",
    "docs/records.md",
    "docs/table.md",
)
"""The Python examples of the others need files or programs that are not there; their commands are parsed too."""


def blocks(page: str, language: str) -> list[str]:
    """The code blocks of a page in one language ("" for those without)."""
    text = (ROOT / page).read_text(encoding="utf-8")
    return [code for name, code in re.findall(r"^```(\w*)\n(.*?)^```", text, flags=re.M | re.S) if name == language]


@pytest.mark.parametrize(
    ("page", "code"), [(page, code) for page in PAGES for code in blocks(page, "python")], ids=lambda value: value[:20]
)
def test_python_examples_run(page: str, code: str) -> None:
    exec(compile(code, page, "exec"), {"__name__": "__example__"})


def commands() -> list[str]:
    """Every `spades ...` line of the pages, comments cut off."""
    lines = [
        line.split("#")[0].strip() for page in COMMAND_PAGES for code in blocks(page, "") for line in code.splitlines()
    ]
    return [line for line in lines if line.startswith("spades ")]


@pytest.mark.parametrize("line", commands())
def test_commands_shown_can_be_parsed(line: str) -> None:
    words = shlex.split(line.split(">")[0])[1:]
    command = cli.get_command(click.Context(cli), words[0])
    assert command is not None
    command.make_context(words[0], words[1:], resilient_parsing=False)


def test_there_are_examples_and_commands() -> None:
    assert len(commands()) >= 6
    assert sum(len(blocks(page, "python")) for page in PAGES) >= 4


def test_make_targets_of_the_readme_exist() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"make ([a-z-]+)", (ROOT / "README.md").read_text(encoding="utf-8")):
        assert re.search(rf"^{target}:", makefile, flags=re.M), target
