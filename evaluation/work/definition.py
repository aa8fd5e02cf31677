"""All that decides what games come to, as plain values: what is kept of games belongs to exactly that."""

from __future__ import annotations

import functools
import hashlib
import importlib
import json
import shlex
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

from agents.base import AgentError
from agents.installed import find_installed
from agents.process.agent import is_process_text
from agents.registry import AGENTS
from evaluation.play import DEAL_LOG
from evaluation.work.job import Job
from spades_env import __version__

PLAYING_ROOMS: Final = ("spades_env", "agents")


def definition_of(job: Job) -> dict[str, Any]:
    """Return everything that decides the log of a job; its agents must be texts, and be loaded before."""
    texts = []
    for agent in job.agents:
        if not isinstance(agent, str | Path):
            name = getattr(agent, "name", agent)
            raise AgentError(f"agent {name!r} is an object; allowed where games are kept: agents given as text")
        texts.append(str(agent))
    return {
        "agents": texts,
        "files": files_of(texts),
        "rules": job.rules.to_dict(),
        "kind": job.kind,
        "seed": job.seed,
        "rows": [list(row) for row in job.rows],
        "teams": list(job.teams),
        "scores": list(job.scores) if job.scores else None,
        "oracles": job.oracles,
        "playouts": job.playouts,
        "bag_price": job.bag_price if job.playouts else None,
        "log": str(DEAL_LOG.descr),
        "spades_env": __version__,
        "code": code_hash(),
    }


def files_of(texts: Iterable[str]) -> dict[str, str]:
    """Return a hash of the files behind each agent's text that has any: policy, program, another package's module."""
    return {text: digest for text in texts if (digest := _file_digest(text))}


@functools.cache
def code_hash() -> str:
    """Return a short hash of the source of rules and agents, as it was when it was first asked for."""
    digest = hashlib.sha256()
    for room in PLAYING_ROOMS:
        place = importlib.import_module(room).__file__
        assert place is not None
        root = Path(place).parent
        for path in sorted(root.rglob("*.py")):
            digest.update(f"{room}/{path.relative_to(root).as_posix()}\0".encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


def digest_of(data: Any) -> str:
    """Return a hash of plain values."""
    return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()


def _file_digest(text: str) -> str | None:
    """Return a hash of the files that `_files` finds, None if there are none."""
    files = _files(text)
    if not files:
        return None
    return hashlib.sha256(b"".join(hashlib.sha256(file.read_bytes()).digest() for file in files)).hexdigest()


def _files(text: str) -> list[Path]:
    """Return the files behind an agent's text: a policy or those of a run's folder; what a command names; a module."""
    if is_process_text(text):
        return [Path(word) for word in shlex.split(text.partition(":")[2]) if Path(word).is_file()]
    path = Path(text)
    if path.is_dir():
        return sorted(path.glob("*.safetensors"))
    if path.is_file():
        return [path]
    name = text.partition(":")[0]
    entry = None if name in AGENTS else find_installed(name)
    module = None if name in AGENTS else sys.modules.get(entry.module if entry else name)
    return [Path(module.__file__)] if module is not None and module.__file__ else []
