"""docs/env.md against the code: sizes, argument names, options and the worked example of the page."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import spades_env
from spades_env.envs.aec import RESET_OPTIONS
from spades_env.observation.blocks import FLAT, FLAT_SIZE, OBSERVATION_VERSION

PAGE = (Path(__file__).resolve().parent.parent / "docs" / "env.md").read_text(encoding="utf-8")


def first_column(heading: str) -> list[str]:
    """Names in backticks in the first column of the first table below a heading."""
    section = PAGE.split(f"## {heading}\n", 1)[1].split("\n## ", 1)[0]
    rows = re.findall(r"^\| (`[^|]*)\|", section, flags=re.MULTILINE)
    return [name for row in rows for name in re.findall(r"`([^`]+)`", row)]


def test_the_page_names_every_argument_in_order() -> None:
    parameters = list(inspect.signature(spades_env.SpadesAECEnv).parameters)
    assert first_column("Arguments") == parameters


def test_the_page_names_every_reset_option() -> None:
    assert first_column("Start") == list(RESET_OPTIONS)


def test_the_page_has_the_sections_of_an_environments_page_in_order() -> None:
    wanted = ["Description", "Arguments", "Actions", "Observations", "Start", "Rewards", "End", "Versions"]
    assert [name for name in re.findall(r"^## (.+)$", PAGE, flags=re.MULTILINE) if name in wanted] == wanted


def test_the_page_names_every_block_with_its_entries() -> None:
    section = PAGE.split("## Observations\n", 1)[1].split("\n## ", 1)[0]
    assert f"one row of {FLAT_SIZE} entries" in section
    rows = re.findall(r"^\| (\d+)-(\d+) \| (.+?) \|", section, flags=re.MULTILINE)
    shown = [(name, int(first), int(last)) for first, last, names in rows for name in re.findall(r"`([^`]+)`", names)]
    names = list(dict.fromkeys(re.sub(r"^rules\..*", "rules.*", block.name) for block in FLAT.blocks))
    assert [name for name, _, _ in shown] == names
    assert [int(first) for first, _, _ in rows] == [0, *(int(last) + 1 for _, last, _ in rows[:-1])]
    for name, first, last in shown:
        for block in FLAT.blocks:
            if block.name == name or (name == "rules.*" and block.name.startswith("rules.")):
                assert first <= block.offset <= block.offset + block.length - 1 <= last, block.name
    assert int(rows[-1][1]) == FLAT_SIZE - 1


def test_the_page_knows_sizes_and_versions() -> None:
    assert f"`Box`, {FLAT_SIZE} entries" in PAGE
    assert re.search(rf"^\| `spades_v0` \| {OBSERVATION_VERSION} \|", PAGE, flags=re.MULTILINE)


def test_the_example_of_the_page_runs() -> None:
    code = PAGE.split("```python\n", 1)[1].split("```", 1)[0]
    names: dict[str, object] = {}
    exec(compile(code, "docs/env.md", "exec"), names)
    env = names["env"]
    assert isinstance(env, spades_env.SpadesAECEnv)
    assert env.agents == []
