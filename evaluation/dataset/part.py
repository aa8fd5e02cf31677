"""One part of a dataset: a Parquet file in memory, and what its deals came to in numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from agents.base import Agent
from evaluation.dataset.columns import schema_of, to_batch
from evaluation.dataset.counts import Counts, count_chunk
from evaluation.dataset.decisions import CHUNK_DEALS, Tick, play_chunk
from evaluation.dataset.spec import DatasetSpec

COMPRESSION_LEVEL: Final = 3
"""Of zstd: 46 bytes for a flat observation of 1,155."""
PLAIN: Final = ("observation", "mask")
"""Columns that a dictionary does not help, and of which lowest and highest values say nothing."""


def make_part(
    spec: DatasetSpec, agents: Sequence[Agent], definition: dict[str, Any], command: str, part: int, tick: Tick | None
) -> tuple[bytes, Counts]:
    """Play the deals of part number `part`; the file's bytes and its counts.

    `agents` are those of `spec.job()`, loaded; `definition` and `command` go into the file.
    """
    schema = schema_of(definition, command)
    names = [str(agent) for agent in definition["agents"]]
    others = [name for name in schema.names if name not in PLAIN]
    counts = Counts.zero(len(names))
    first, count = spec.deals_of(part)
    sink = pa.BufferOutputStream()
    with pq.ParquetWriter(
        sink,
        schema,
        compression="zstd",
        compression_level=COMPRESSION_LEVEL,
        use_dictionary=others,
        write_statistics=others,
        write_page_checksum=True,
    ) as writer:
        for start in range(first, first + count, CHUNK_DEALS):
            chunk = play_chunk(spec, agents, start, min(CHUNK_DEALS, first + count - start), tick)
            counts += count_chunk(spec, chunk)
            writer.write_batch(to_batch(chunk.columns, schema, names), row_group_size=len(chunk.columns["deal"]))
    return sink.getvalue().to_pybytes(), counts
