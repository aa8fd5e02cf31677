"""All that decides what games come to, as plain values: what is kept of games belongs to exactly that."""

from __future__ import annotations

import functools
import hashlib
import importlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from evaluation.play import DEAL_LOG
from evaluation.work.job import Job, texts_of
from spades_env import __version__

PLAYING_SOURCES: Final = (
    ("spades_env", "**/*.py"),
    ("agents", "**/*.py"),
    ("agents", "learned/champion/*.safetensors"),
    ("evaluation", "play.py"),
    ("evaluation", "starts.py"),
    ("evaluation", "variance/luck.py"),
    ("evaluation", "work/part.py"),
)
"""Packages and files of theirs that decide what a game comes to; the champion's weights among them."""


def definition_of(job: Job, files: Mapping[str, str]) -> dict[str, Any]:
    """Return everything that decides the log of a job; its agents must be texts.

    `files`: a hash of the files behind each text that has any, as they were when the agents were loaded.
    """
    texts = texts_of(job)
    return {
        "agents": texts,
        "files": {text: files[text] for text in texts if text in files},
        "rules": job.rules.to_dict(),
        "kind": job.kind,
        "seed": job.seed,
        "rows": [list(row) for row in job.rows],
        "teams": list(job.teams),
        "scores": list(job.scores) if job.scores else None,
        "oracles": job.oracles,
        "playouts": job.playouts,
        "bag_price": job.bag_price if job.playouts else None,
        **({"keys": list(job.keys)} if any(job.keys) else {}),
        "log": str(DEAL_LOG.descr),
        "spades_env": __version__,
        "code": code_hash(),
    }


@functools.cache
def code_hash() -> str:
    """Return a short hash of the source of rules, agents and play, as it was when it was first asked for."""
    return hash_of_sources(PLAYING_SOURCES)


@functools.cache
def hash_of_sources(sources: tuple[tuple[str, str], ...]) -> str:
    """Return a short hash of the files of (package, pattern), as they were when it was first asked for."""
    digest = hashlib.sha256()
    for room, pattern in sources:
        place = importlib.import_module(room).__file__
        assert place is not None
        root = Path(place).parent
        for path in sorted(root.glob(pattern)):
            digest.update(f"{room}/{path.relative_to(root).as_posix()}\0".encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


def digest_of(data: Any) -> str:
    """Return a hash of plain values."""
    return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()
