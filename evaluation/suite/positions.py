"""Frozen positions in files: the cards dealt and the course of the deal, from which states are made again.

A file is a NumPy archive without pickles, the same bytes whenever it is written with the same contents.
"""

from __future__ import annotations

import io
import zipfile
from functools import cache
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from evaluation.suite.task import SEED
from spades_env.engine.deal import clear_deal, open_deal
from spades_env.engine.kernel import kernel
from spades_env.engine.state import STATE, StateArray, rules_to_record
from spades_env.engine.step import apply_action, new_games
from spades_env.files import write_atomically
from spades_env.rules import Rules

FOLDER: Final = Path(__file__).resolve().parent / "data"
FIRST_POSITION: Final = 1 << 28
"""Game number of the first position of a task: decision keys that no deal of the suite has."""
MOST_ACTIONS: Final = 56
_EPOCH: Final = (1980, 1, 1, 0, 0, 0)

Columns = dict[str, npt.NDArray[Any]]
"""Arrays by name, a row for each position: `dealt`, int64 (n, 4): the cards dealt to each seat; `dealer`, int8 (n,);
`actions`, int8 (n, MOST_ACTIONS): the course of the deal up to the decision, of which `length`, int8 (n,), count."""


def columns_of(states: StateArray) -> Columns:
    """Return what `states_from` needs to make `states`, dtype STATE, shape (n,), again."""
    return {
        "dealt": states["hands"] | states["played"],
        "dealer": states["dealer"].copy(),
        "actions": states["actions"][:, :MOST_ACTIONS].copy(),
        "length": states["n_actions"].copy(),
    }


def states_from(columns: Columns, count: int, rules: Rules | None = None) -> StateArray:
    """Return the first `count` positions as STATE records at 0:0 without bags, each with a key of its own."""
    states: StateArray = np.zeros(count, STATE)
    new_games(states, rules_to_record(rules or Rules()), SEED, FIRST_POSITION)
    deal_and_replay(states, columns["dealt"], columns["dealer"], columns["actions"], columns["length"])
    return states


@kernel
def deal_and_replay(
    states: StateArray,
    dealt: npt.NDArray[np.int64],
    dealers: npt.NDArray[np.int8],
    actions: npt.NDArray[np.int8],
    lengths: npt.NDArray[np.int8],
) -> None:
    """Deal the given cards in every game of `states` and take the given actions."""
    for i in range(states.shape[0]):
        game = states[i]
        game["dealer"] = dealers[i]
        clear_deal(game)
        for seat in range(4):
            game["hands"][seat] = dealt[i, seat]
        open_deal(game)
        for k in range(lengths[i]):
            apply_action(game, int(actions[i, k]))


def save(path: Path, columns: Columns) -> None:
    """Write `columns` to `path`."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, array in sorted(columns.items()):
            content = io.BytesIO()
            np.save(content, array, allow_pickle=False)
            # An entry of its own making has no time of writing in it.
            archive.writestr(zipfile.ZipInfo(f"{name}.npy", _EPOCH), content.getvalue(), zipfile.ZIP_DEFLATED, 9)
    write_atomically(path, buffer.getvalue())


@cache
def load(name: str) -> Columns:
    """Return the columns of the shipped file `name`, read-only."""
    with np.load(FOLDER / f"{name}.npz", allow_pickle=False) as archive:
        columns = {key: archive[key] for key in archive.files}
    for array in columns.values():
        array.flags.writeable = False
    return columns
