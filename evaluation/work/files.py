"""The files that decide what an agent's text plays: a policy, a module with what it imports, a program.

Of a package all its modules count; of a module those beside it that it imports, directly or through others; of a
command the files that it names, but not what these load; of an installed agent its package.
"""

from __future__ import annotations

import hashlib
import importlib.util
import shlex
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from agents.base import AgentError
from agents.installed import find_installed
from agents.process.agent import is_process_text
from agents.registry import AGENTS, ORACLES, split_policy
from spades_env.engine.sources import ROOT, source_files

POLICY_FILE: Final = "policy.safetensors"
"""What a run's folder plays (agents.learned.weights)."""


def files_of(texts: Iterable[str]) -> dict[str, str]:
    """Return a hash of the contents of the files behind each agent's text that has any."""
    return {text: digest for text in texts if (digest := _digest(text))}


def _digest(text: str) -> str | None:
    """Return a hash of the files of `files_behind`, None if there are none; a copy under another name has the same."""
    files = files_behind(text)
    if not files:
        return None
    return hashlib.sha256(b"".join(hashlib.sha256(file.read_bytes()).digest() for file in files)).hexdigest()


def files_behind(text: str) -> list[Path]:
    """Return the files behind an agent's text, in a fixed order; none for an agent of ours."""
    name = text.partition(":")[0]
    if name in AGENTS or text in ORACLES:
        return []
    if is_process_text(text):
        return [Path(word) for word in shlex.split(text.partition(":")[2]) if Path(word).is_file()]
    if policies := split_policy(text)[0]:
        files = [path / POLICY_FILE if path.is_dir() else path for path in map(Path, policies)]
        return [file for file in files if file.is_file()]
    if Path(text).is_file():
        return [Path(text)]
    try:
        entry = find_installed(name)
    except AgentError:  # two packages offer it: whoever loads it says so
        return []
    return _module_files(entry.module if entry else name)


def _module_files(module: str) -> list[Path]:
    """Return the source files of a module's whole package, or of the module and what it imports from beside it."""
    top = module.partition(".")[0]
    try:
        spec = importlib.util.find_spec(top)
    except (ImportError, ValueError):  # no such module, or one made by hand
        spec = None
    if spec is None or spec.origin is None or not spec.has_location:
        return _beside(Path.cwd(), top)
    origin = Path(spec.origin)
    if spec.submodule_search_locations:
        return sorted(origin.parent.rglob("*.py"))
    return _with_imports(origin) if origin.suffix == ".py" else [origin]


def _beside(folder: Path, top: str) -> list[Path]:
    """Return the files of a module or package of the current folder, from where agents may be imported, too."""
    if str(folder) in sys.path:
        return []
    package, single = folder / top, folder / f"{top}.py"
    if (package / "__init__.py").is_file():
        return sorted(package.rglob("*.py"))
    return _with_imports(single) if single.is_file() else []


def _with_imports(file: Path) -> list[Path]:
    """Return `file` and the source files outside the project that it imports from beside it."""
    return sorted(path for path in source_files(file) if path == file or not path.is_relative_to(ROOT))
