"""Equity tables on disk: an .npz file with the chances and a JSON description. Loading never unpickles."""

from __future__ import annotations

import io
import json
import os
import zipfile
from pathlib import Path
from typing import Any, Final

import numpy as np

from agents.base import AgentError
from agents.equity.grid import grid_of, table_shape
from agents.equity.lookup import TableArray
from agents.equity.table import EquityTable
from spades_env.checks import shown
from spades_env.files import write_atomically
from spades_env.rules import FIELD_NAMES, Rules, RulesError

FORMAT: Final = "spades_env.equity"
FORMAT_VERSION: Final = 1
"""Changes with the meaning of the numbers: the grid's constants in `grid` and the order of the table's axes."""
MAX_BYTES: Final = 64 * 2**20
MEMBERS: Final = ("values.npy", "description.npy")
FACTS: Final[dict[str, type]] = {
    "agent": str,
    "deals": int,
    "seed": int,
    "outcomes": int,
    "sweeps": int,
    "change": float,
}
"""Fields of an `EquityTable` that stand in the description as they are."""


def save_table(table: EquityTable, path: str | os.PathLike[str]) -> None:
    """Write `table` to `path`, whole or not at all."""
    description = {"format": FORMAT, "version": FORMAT_VERSION, "rules": table.rules.to_dict()}
    description |= {name: getattr(table, name) for name in FACTS}
    text = np.frombuffer(json.dumps(description).encode(), np.uint8)
    buffer = io.BytesIO()
    np.savez_compressed(buffer, values=table.values, description=text)
    write_atomically(path, buffer.getvalue())


def load_table(path: str | os.PathLike[str], rules: Rules | None = None) -> EquityTable:
    """The table in a file, refused with one line if it is damaged, another's, or (with `rules`) for other rules."""
    file = Path(path)
    if not file.is_file():
        raise AgentError(f"equity table {str(path)!r}: there is no such file")
    if file.stat().st_size > MAX_BYTES:
        raise AgentError(f"equity table {str(path)!r}: {file.stat().st_size} bytes; allowed: up to {MAX_BYTES}")
    values, text = _members(file)
    description = _description(file, text)
    found = _rules(file, description.get("rules"))
    if rules is not None and rules.replace(max_deals=None) != found:
        wanted = rules.to_dict()
        odd = [name for name, value in found.to_dict().items() if name != "max_deals" and wanted[name] != value]
        raise AgentError(f"equity table {str(file)!r}: made for other rules: {', '.join(odd)} differ")
    grid = grid_of(found)
    shape = table_shape(grid)
    if values.shape != shape or values.dtype != np.float32:
        raise AgentError(f"equity table {str(file)!r}: values are {values.dtype} {values.shape}, not float32 {shape}")
    if not bool(np.all((values >= 0.0) & (values <= 1.0))):  # NaN is neither
        raise AgentError(f"equity table {str(file)!r}: values are no chances from 0 to 1")
    values = np.ascontiguousarray(values)
    values.flags.writeable = False
    return EquityTable(found, values, grid, **{name: description[name] for name in FACTS})


def _members(file: Path) -> tuple[TableArray, bytes]:
    """The two arrays of the file, the second as bytes; sizes are checked before anything is unpacked."""
    try:
        with zipfile.ZipFile(file) as archive:
            sizes = {info.filename: info.file_size for info in archive.infolist()}
            fits = sorted(sizes) == sorted(MEMBERS) and sum(sizes.values()) <= MAX_BYTES
            raw = [archive.read(name) for name in MEMBERS] if fits else []
        arrays = [np.lib.format.read_array(io.BytesIO(member), allow_pickle=False) for member in raw]
    except Exception as error:  # the readers of zip and npy files raise almost anything at one made to harm
        raise AgentError(f"equity table {str(file)!r}: damaged or no .npz file ({shown(str(error))})") from None
    if not fits:
        raise AgentError(f"equity table {str(file)!r}: not an equity table of spades_env")
    return arrays[0], arrays[1].tobytes()


def _description(file: Path, text: bytes) -> dict[str, Any]:
    """The JSON description, with format, version and facts checked."""
    try:
        description = json.loads(text)
    except (ValueError, RecursionError):
        raise AgentError(f"equity table {str(file)!r}: its description cannot be read") from None
    if not isinstance(description, dict):
        raise AgentError(f"equity table {str(file)!r}: its description is no object")
    for name, value in (("format", FORMAT), ("version", FORMAT_VERSION)):
        if description.get(name) != value:
            raise AgentError(f"equity table {str(file)!r}: {name} is {shown(description.get(name))}; known: {value!r}")
    for name, kind in FACTS.items():
        if type(description.get(name)) is not kind:
            raise AgentError(f"equity table {str(file)!r}: {name} is {shown(description.get(name))}")
    return description


def _rules(file: Path, given: object) -> Rules:
    """The rules in a description, which names every field."""
    if not isinstance(given, dict) or set(given) != set(FIELD_NAMES):
        raise AgentError(f"equity table {str(file)!r}: its rules do not name every field once")
    try:
        return Rules.from_dict(given)
    except RulesError as error:
        raise AgentError(f"equity table {str(file)!r}: rules: {error}") from None
