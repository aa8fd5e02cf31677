"""The columns of a dataset as an Arrow schema, and rows between NumPy and Arrow without a copy of the observations."""

from __future__ import annotations

import json
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from spades_env.actions import NUM_ACTIONS
from spades_env.engine.state import PHASE_NAMES

FORMAT: Final = "spades decisions"
VERSION: Final = 1
MASK_BYTES: Final = -(-NUM_ACTIONS // 8)
METADATA_KEY: Final = b"spades_env"
"""Under it the schema's metadata has a JSON text: format, version, definition and command."""
AGENT: Final = pa.dictionary(pa.int8(), pa.string())

Column = tuple[str, Any, str]

COLUMNS: Final[tuple[Column, ...]] = (
    ("deal", pa.int32(), "number of the deal; with the seed it decides the cards"),
    ("seat", pa.int8(), "seat that decides, 0 to 3 clockwise from South; partners are 0 and 2, 1 and 3"),
    ("step", pa.int8(), "actions of the deal before this one, of all seats"),
    ("phase", pa.int8(), "what is decided: " + ", ".join(f"{k} {name}" for k, name in enumerate(PHASE_NAMES[:5]))),
    ("observation", None, "what the seat knows, encoded: unsigned bytes, laid out as docs/observation.md says"),
    ("mask", pa.binary(MASK_BYTES), f"legal actions: bit a, lowest first, is 1 if action a of {NUM_ACTIONS} is legal"),
    ("action", pa.int8(), "what was done, an action id"),
    ("explored", pa.bool_(), "the action was drawn among the legal ones instead of chosen by the agent"),
    ("agent", AGENT, "the agent on the seat"),
    ("margin", pa.float32(), "outcome: points of the seat's team minus the other's, bags at bag_price"),
    ("margin_raw", pa.int32(), "outcome: the same as scored"),
    ("points", pa.int32(), "outcome: points of the seat's team as scored"),
    ("bid", pa.int8(), "outcome: tricks that the seat bid in the end, 0 any nil"),
    ("tricks", pa.int8(), "outcome: tricks that the seat took"),
    ("nil", pa.int8(), "outcome: 1 her nil was made, 0 it failed, -1 she bid none"),
)
"""Name, Arrow type (None: bytes of the encoder's size, or no such column) and meaning. No column has nulls."""

BYTES: Final = ("observation", "mask")
"""Columns of which a value is a row of bytes."""


def schema_of(definition: dict[str, Any], command: str) -> pa.Schema:
    """Return the schema of every part of the dataset of a definition (`DatasetSpec.definition`)."""
    size = definition["observation_size"]
    types = {name: pa.binary(size) if kind is None else kind for name, kind, _ in COLUMNS}
    fields = [
        pa.field(name, types[name], nullable=False, metadata={"meaning": meaning})
        for name, _, meaning in COLUMNS
        if size or name != "observation"
    ]
    described = {"format": FORMAT, "version": VERSION, "definition": definition, "command": command}
    return pa.schema(fields, {METADATA_KEY: json.dumps(described).encode()})


def to_batch(columns: dict[str, npt.NDArray[Any]], schema: pa.Schema, names: list[str]) -> pa.RecordBatch:
    """Return rows (decisions.Chunk.columns) as Arrow's; `names` are the agents', by number."""
    arrays = []
    for field in schema:
        values = columns[field.name]
        if field.name in BYTES:
            buffer = pa.py_buffer(np.ascontiguousarray(values))
            arrays.append(pa.FixedSizeBinaryArray.from_buffers(field.type, len(values), [None, buffer]))
        elif field.name == "agent":
            arrays.append(pa.DictionaryArray.from_arrays(pa.array(values, pa.int8()), pa.array(names, pa.string())))
        else:
            arrays.append(pa.array(values, field.type))
    return pa.record_batch(arrays, schema=schema)


def to_numpy(table: pa.Table) -> dict[str, npt.NDArray[Any]]:
    """Return the columns of a table as arrays of n rows.

    `observation` is uint8 (n, size), `mask` bool (n, 73), `agent` int8, a place in the agents of the definition.
    """
    found: dict[str, npt.NDArray[Any]] = {}
    for name in table.column_names:
        column = table.column(name).combine_chunks()
        column = column.chunk(0) if isinstance(column, pa.ChunkedArray) else column
        if name in BYTES:
            found[name] = _rows_of_bytes(column)
        elif name == "agent":
            found[name] = column.indices.to_numpy(zero_copy_only=False)
        else:
            found[name] = column.to_numpy(zero_copy_only=False)
    if "mask" in found:
        bits = np.unpackbits(found["mask"], axis=1, count=NUM_ACTIONS, bitorder="little")
        found["mask"] = bits.view(np.bool_)
    return found


def _rows_of_bytes(column: pa.FixedSizeBinaryArray) -> npt.NDArray[np.uint8]:
    """Return a column of bytes as uint8 (n, size), on Arrow's own memory."""
    size, n = column.type.byte_width, len(column)
    if n == 0:
        return np.empty((0, size), np.uint8)
    flat = np.frombuffer(column.buffers()[1], np.uint8, count=n * size, offset=column.offset * size)
    return flat.reshape(n, size)
