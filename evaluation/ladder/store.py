"""What finished duels came to, in one file of a folder.

A result belongs to the duel's whole definition; whatever decides the figures and changes, makes another duel.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from evaluation.ladder.config import Duel
from evaluation.ladder.play import Measured
from evaluation.results import ResultsFile
from evaluation.work.files import files_of
from spades_env import __version__

FORM: Final = "spades ladder results"
VERSION: Final = 1
"""Raised when the same definition would give other figures or the file looks different."""
FIELD: Final = "measured"
RESULTS_FILE: Final = "results.json"


class Store:
    """The results of duels; an interrupted ladder goes on from it, a finished one is only shown."""

    def __init__(self, folder: Path) -> None:
        self._file = ResultsFile(folder / RESULTS_FILE, FORM, VERSION, FIELD)
        # Made when first asked for, before the agents are loaded: files may change while hours are played.
        self._definitions: dict[Duel, dict[str, Any]] = {}

    @property
    def path(self) -> Path:
        """The file."""
        return self._file.path

    def get(self, duel: Duel) -> Measured | None:
        """Return what the duel came to, or None where it has not been played; see `ResultsFile.get`."""
        return self._file.get(self._definition(duel))

    def put(self, duel: Duel, measured: Measured) -> None:
        """Keep what a duel came to."""
        self._file.put(self._definition(duel), measured)

    def _definition(self, duel: Duel) -> dict[str, Any]:
        if duel not in self._definitions:
            self._definitions[duel] = full_definition(duel)
        return self._definitions[duel]


def full_definition(duel: Duel) -> dict[str, Any]:
    """Return everything that decides a duel's figures, the contents of agents' files and the version included."""
    files = files_of(text for text in (duel.a, duel.b) if text)
    return {**duel.definition(), "files": files, "spades_env": __version__, "version": VERSION}
