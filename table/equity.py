"""Equity tables for the agents at the table: made in a process beside the server, kept in files, never waited for.

Near the end of a match `normal`, `hard` and `expert` play for the match, by a table that takes seconds to make, or
minutes on a busy machine (docs/equity.md). Until it is there they play for points.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
import multiprocessing
import os
from pathlib import Path
from typing import Any, Final

import numpy as np
from pebble import ProcessPool

from agents.base import AgentError
from agents.equity.files import load_table, save_table
from agents.equity.table import equity_table, is_remembered, remember
from agents.objective import rows_near_end
from agents.registry import AGENTS
from spades_env.engine.state import StateArray, rules_from_record
from spades_env.rules import Rules

MOST_FILES: Final = 64
"""Rule sets whose tables are kept; people can make as many rule sets as they like."""

log = logging.getLogger("spades.table")


def missing_table(spec: str, views: StateArray, folder: str) -> Rules | None:
    """The rules whose table an agent would need for this decision and has not, else None. `views` has shape (1,)."""
    name, _, options = spec.partition(":")
    plays_for_matches = name in AGENTS and "objective" in AGENTS[name].options and "objective=points" not in options
    if not plays_for_matches or ("objective=match" not in options and not _near_end(views)):
        return None
    rules = rules_from_record(views["known"]["rules"][0]).replace(max_deals=None)
    if is_remembered(rules):
        return None
    path = _path(Path(folder), rules)
    if not path.is_file():
        return rules
    try:
        remember(load_table(path, rules))
    except (AgentError, OSError) as error:
        log.warning("%s: %s", path.name, type(error).__name__)
        return rules
    return None if is_remembered(rules) else rules


def for_points(spec: str) -> str:
    """The same agent, playing for points."""
    name, _, options = spec.partition(":")
    kept = [option for option in options.split(",") if option and not option.startswith("objective=")]
    return f"{name}:{','.join([*kept, 'objective=points'])}"


def make_file(rules: dict[str, Any], path: str) -> None:
    """Make a table; runs in a process of its own, which lets all others go first."""
    os.nice(10)
    save_table(equity_table(Rules.from_dict(rules)), path)


class Shelf:
    """The tables of one server, in a folder."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = str(folder)
        self._pool: ProcessPool | None = None
        self._making = False

    def request(self, rules: Rules) -> None:
        """Have a table made, if none is being made and there is room for one more."""
        folder = Path(self.folder)
        if self._making or (folder.is_dir() and len(list(folder.iterdir())) >= MOST_FILES):
            return
        folder.mkdir(exist_ok=True)
        if self._pool is None:
            self._pool = ProcessPool(max_workers=1, max_tasks=1, context=multiprocessing.get_context("spawn"))
        self._making = True
        job = self._pool.schedule(make_file, args=(rules.to_dict(), str(_path(folder, rules))))
        asyncio.wrap_future(job).add_done_callback(self._made)

    def _made(self, done: asyncio.Future[None]) -> None:
        self._making = False
        if not done.cancelled() and (error := done.exception()) is not None:
            log.warning("an equity table could not be made: %s", type(error).__name__)

    def close(self) -> None:
        """Stop making a table."""
        if self._pool is not None:
            self._pool.stop()
            self._pool.join()


def _near_end(views: StateArray) -> bool:
    return rows_near_end(views, np.zeros(1, np.int64)) > 0


def _path(folder: Path, rules: Rules) -> Path:
    text = json.dumps(rules.replace(max_deals=None).to_dict(), sort_keys=True)
    return folder / f"{hashlib.sha256(text.encode()).hexdigest()[:32]}.npz"
