"""docs/env.md against the code: sizes, argument names, options and the worked example of the page."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import spades_env
from spades_env.envs.aec import RESET_OPTIONS
from spades_env.observation.blocks import FLAT_SIZE, OBSERVATION_VERSION

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
