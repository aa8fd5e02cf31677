"""Results of the suite in a folder, one for each task, agent and scale."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from evaluation.results import ResultsFile, Values
from evaluation.suite.task import REFERENCE, SEED, Task
from evaluation.work.files import files_of
from spades_env import __version__

FORM: Final = "spades benchmark results"
VERSION: Final = 1
RESULTS_FILE: Final = "results.json"


class Store:
    """What tasks came to; an interrupted benchmark goes on from it."""

    def __init__(self, folder: Path) -> None:
        self._file = ResultsFile(folder / RESULTS_FILE, FORM, VERSION)
        # Hashed when first asked for, before the agents are loaded: files may change while hours are played.
        self._files: dict[str, str | None] = {}

    @property
    def path(self) -> Path:
        """The file."""
        return self._file.path

    def get(self, task: Task, agent: str, scale: float, pool: list[str]) -> Values | None:
        """Return the result of `task` with the agent of text `agent`, None where it has not been run."""
        return self._file.get(self._definition(task, agent, scale, pool))

    def put(self, task: Task, agent: str, scale: float, pool: list[str], result: Values) -> None:
        """Keep a result."""
        self._file.put(self._definition(task, agent, scale, pool), result)

    def files(self, texts: list[str]) -> dict[str, str]:
        """Return a hash of the files behind each text that has any, as they were when they were first asked for."""
        for text in texts:
            if text not in self._files:
                self._files[text] = files_of([text]).get(text)
        return {text: digest for text in texts if (digest := self._files[text])}

    def _definition(self, task: Task, agent: str, scale: float, pool: list[str]) -> dict[str, Any]:
        self.files([agent, *pool])
        return definition(task, agent, scale, pool, self._files)


def definition(
    task: Task, agent: str, scale: float, pool: list[str], files: Mapping[str, str | None]
) -> dict[str, Any]:
    """Return everything that decides a result, as plain values.

    `pool`: texts of the other agents of the command; `files`: a hash of the files behind each text, None without.
    """
    others = sorted(set(pool) - {agent}) if task.uses_pool else []
    return {
        "task": task.id,
        "task_version": task.version,
        "games": task.games_at(scale),
        "scale": scale,
        "seed": SEED,
        "agent": agent,
        "pool": others,
        "files": {text: files[text] for text in (agent, *others) if files.get(text)},
        "reference": REFERENCE,
        "spades_env": __version__,
    }
