"""Results of the suite in a folder, one for each task, agent and scale."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from evaluation.results import ResultsFile, Values
from evaluation.suite.task import REFERENCE, SEED, Task
from evaluation.work.definition import files_of
from spades_env import __version__

FORM: Final = "spades benchmark results"
VERSION: Final = 1
RESULTS_FILE: Final = "results.json"


class Store:
    """What tasks came to; an interrupted benchmark goes on from it."""

    def __init__(self, folder: Path) -> None:
        self._file = ResultsFile(folder / RESULTS_FILE, FORM, VERSION)

    @property
    def path(self) -> Path:
        """The file."""
        return self._file.path

    def get(self, task: Task, agent: str, scale: float, pool: list[str]) -> Values | None:
        """Return the result of `task` with the agent of text `agent`, None where it has not been run."""
        return self._file.get(definition(task, agent, scale, pool))

    def put(self, task: Task, agent: str, scale: float, pool: list[str], result: Values) -> None:
        """Keep a result."""
        self._file.put(definition(task, agent, scale, pool), result)


def definition(task: Task, agent: str, scale: float, pool: list[str]) -> dict[str, Any]:
    """Return everything that decides a result, as plain values; `pool`: texts of the other agents of the command."""
    others = sorted(set(pool) - {agent}) if task.uses_pool else []
    return {
        "task": task.id,
        "task_version": task.version,
        "games": task.games_at(scale),
        "scale": scale,
        "seed": SEED,
        "agent": agent,
        "pool": others,
        "files": files_of([agent, *others]),
        "reference": REFERENCE,
        "spades_env": __version__,
    }
