"""Compiled kernels are never older than the sources: a change in a callee's file reaches callers in other files."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from spades_env.engine import step
from spades_env.engine.kernel import JIT_ENABLED
from spades_env.engine.sources import source_files, sources_hash

ROOT = Path(__file__).resolve().parent.parent
ASK = "from spades_env.engine.play import follow_mask\nfrom caller import answer\nprint(answer(5))"
CALLER = """
from spades_env.engine.kernel import kernel
from spades_env.engine.callee import times

@kernel
def answer(x: int) -> int:
    return times(x) + 1
"""
CALLEE = """
from spades_env.engine.kernel import kernel

@kernel
def times(x: int) -> int:
    return {factor} * x
"""


def ask(root: Path) -> int:
    env = {**os.environ, "PYTHONPATH": str(root), "NUMBA_CACHE_DIR": str(root / "cache")}
    done = subprocess.run([sys.executable, "-c", ASK], cwd=root, env=env, capture_output=True, text=True, check=True)
    return int(done.stdout)


@pytest.mark.skipif(not JIT_ENABLED, reason="nothing is compiled without JIT")
def test_a_change_in_another_file_is_compiled_in(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "spades_env", tmp_path / "spades_env", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "caller.py").write_text(CALLER)
    callee = tmp_path / "spades_env" / "engine" / "callee.py"
    callee.write_text(CALLEE.format(factor=2))
    assert ask(tmp_path) == 11
    assert ask(tmp_path) == 11
    callee.write_text(CALLEE.format(factor=3))
    assert ask(tmp_path) == 16


@pytest.mark.skipif(not JIT_ENABLED, reason="nothing is compiled without JIT")
def test_every_kernel_has_the_stamp() -> None:
    index = step.legal_masks._cache._cache_file  # type: ignore[attr-defined]
    assert index._source_stamp[1] == sources_hash(ROOT / "spades_env/engine/step.py")
    assert len(index._source_stamp[1]) == 64


def test_a_module_is_made_of_what_it_imports_from_and_nothing_else() -> None:
    files = {path.relative_to(ROOT).as_posix() for path in source_files(ROOT / "agents/search/searcher.py")}
    assert {"agents/rules/normal/tables.py", "spades_env/engine/play.py", "spades_env/cards.py"} <= files
    assert not any(name.startswith(("spades_env/envs", "evaluation", "agents/learned")) for name in files)
    from_a_test = {path.name for path in source_files(ROOT / "tests/light_agents.py")}
    assert {"light_agents.py", "searcher.py"} <= from_a_test


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("from one import x", {"one.py"}),
        ("from pack import inner", {"pack/inner.py"}),
        ("from pack import inner, value", {"pack/inner.py", "pack/__init__.py"}),
        ("from pack import (\n    value,\n)", {"pack/__init__.py"}),
        ("    import one, pack.inner as y", {"one.py", "pack/inner.py"}),
        ("from numpy import array", set()),
    ],
)
def test_forms_of_imports(tmp_path: Path, line: str, expected: set[str]) -> None:
    for name in ("one.py", "pack/__init__.py", "pack/inner.py"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("")
    main = tmp_path / "main.py"
    main.write_text(line)
    assert {path.relative_to(tmp_path).as_posix() for path in source_files(main)} - {"main.py"} == expected
