"""Reading a dataset: batches of NumPy arrays, streamed from the files."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from evaluation.dataset.columns import COLUMNS, METADATA_KEY, schema_of, to_numpy
from evaluation.dataset.decisions import CHUNK_DEALS
from evaluation.dataset.spec import ENCODER_NAMES, DatasetError
from evaluation.dataset.store import Entry, complete_entries, is_whole, read_description
from spades_env.checks import shown, whole_number
from spades_env.observation.blocks import OBSERVATION_VERSION
from spades_env.observation.encoders import ENCODERS

Batch = dict[str, npt.NDArray[Any]]
MIXED_GROUPS: Final = 4
"""Row groups (256 deals each) whose rows are shuffled together; held in memory at once."""
MOST_ROWS: Final = CHUNK_DEALS * 128
"""Of a row group: `step` is an int8, so no deal has more decisions."""


@dataclass(frozen=True)
class Dataset:
    """A complete dataset in a folder.

    Attributes:
        definition: rules, seed, agents, encoder and all else that decides the bytes (docs/datasets.md).
        command: that made it.
    """

    folder: Path
    definition: dict[str, Any]
    command: str
    entries: tuple[Entry, ...]

    @property
    def rows(self) -> int:
        """Number of decisions."""
        return sum(entry.counts["rows"] for entry in self.entries)

    @property
    def agents(self) -> tuple[str, ...]:
        """The agents' texts; column `agent` has places in them."""
        return tuple(self.definition["agents"])

    @property
    def scales(self) -> npt.NDArray[np.float32]:
        """What the bytes of `observation` are multiplied with to come to 0..1 (docs/observation.md); shape (size,)."""
        encoder = ENCODERS.get(self.definition["encoder"])
        if encoder is None:
            raise DatasetError(f"encoder is {self.definition['encoder']!r}: the dataset has no observations")
        return encoder.layout.scales

    def check(self) -> None:
        """Compare every file with its hash; DatasetError names the first that is damaged."""
        for entry in self.entries:
            if not is_whole(self.folder, entry):
                raise DatasetError(f"{self.folder / entry.file} is damaged: make it again")

    def batches(
        self, size: int = 4096, *, columns: Sequence[str] | None = None, seed: int | None = None
    ) -> Iterator[Batch]:
        """Yield all rows once, `size` at a time and the rest at the end, as arrays by column (columns.to_numpy).

        In their order, or shuffled by `seed`: row groups in random order, the rows of four at a time mixed.
        """
        whole_number("size", size, 1, 2**31 - 1, DatasetError)
        names = self._columns(columns)
        rest: Batch = {}
        for rows in self.groups(names) if seed is None else self._mixed(names, seed):
            rows = _joined([rest, rows]) if rest else rows
            count = len(next(iter(rows.values())))
            whole = count - count % size
            for start in range(0, whole, size):
                yield {name: values[start : start + size] for name, values in rows.items()}
            rest = {name: values[whole:] for name, values in rows.items()} if whole < count else {}
        if rest:
            yield rest

    def _columns(self, columns: Sequence[str] | None) -> list[str]:
        there = [name for name, _, _ in COLUMNS if name != "observation" or self.definition["observation_size"]]
        for name in columns or ():
            if name not in there:
                raise DatasetError(f"columns has {name!r}; allowed: {', '.join(there)}")
        if columns is not None and not columns:
            raise DatasetError(f"columns is empty; allowed: some of {', '.join(there)}")
        return there if columns is None else list(columns)

    def groups(self, columns: Sequence[str] | None = None) -> Iterator[Batch]:
        """Yield the row groups in their order, each of whole deals."""
        names = self._columns(columns)
        for entry in self.entries:
            with self._open(entry) as file:
                for group in range(file.num_row_groups):
                    yield _read(file, group, names, entry)

    def _mixed(self, names: list[str], seed: int) -> Iterator[Batch]:
        """Yield a few row groups at a time, drawn by `seed`, their rows in random order."""
        random = np.random.default_rng(seed)
        places = []
        for entry in self.entries:
            with self._open(entry) as file:
                places += [(entry, group) for group in range(file.num_row_groups)]
        order = random.permutation(len(places))
        for start in range(0, len(order), MIXED_GROUPS):
            some = []
            for k in order[start : start + MIXED_GROUPS]:
                entry, group = places[k]
                with self._open(entry) as file:
                    some.append(_read(file, group, names, entry))
            rows = _joined(some)
            shuffled = random.permutation(len(next(iter(rows.values()))))
            yield {name: values[shuffled] for name, values in rows.items()}

    def _open(self, entry: Entry) -> pq.ParquetFile:
        """Open a part; one that is foreign or damaged is refused."""
        path = self.folder / entry.file
        if not path.is_file():
            raise DatasetError(f"{path} is missing: make it again")
        try:
            file = pq.ParquetFile(path, page_checksum_verification=True)
            described = json.loads((file.schema_arrow.metadata or {})[METADATA_KEY])
        except (pa.ArrowException, OSError, KeyError, ValueError, RecursionError):
            raise DatasetError(f"{path} is damaged, or no part of a dataset") from None
        if not isinstance(described, dict) or described.get("definition") != self.definition:
            file.close()
            raise DatasetError(f"{path} is part of another dataset")
        groups = (file.metadata.row_group(group).num_rows for group in range(file.num_row_groups))
        if not file.schema_arrow.equals(schema_of(self.definition, self.command)) or max(groups, default=0) > MOST_ROWS:
            file.close()
            raise DatasetError(f"{path} is damaged, or no part of a dataset: other columns or larger groups of rows")
        return file


def open_dataset(folder: str | Path) -> Dataset:
    """Return the dataset in a folder; DatasetError for one that is incomplete, foreign or of another version."""
    place = Path(folder)
    described = read_description(place)
    if not described["complete"]:
        raise DatasetError(f"{place} is not complete: the command that makes it goes on: {described.get('command')}")
    definition = described["definition"]
    if definition.get("observation_version") != OBSERVATION_VERSION:
        raise DatasetError(
            f"{place} has observations of version {definition.get('observation_version')!r}; "
            f"allowed: {OBSERVATION_VERSION}"
        )
    _check_definition(place, definition)
    return Dataset(place, definition, str(described.get("command", "")), complete_entries(place))


def _check_definition(place: Path, definition: dict[str, Any]) -> None:
    """Refuse a definition without what reading needs."""
    agents, encoder = definition.get("agents"), definition.get("encoder")
    if not isinstance(agents, list) or not all(isinstance(agent, str) for agent in agents):
        raise DatasetError(f"{place}: agents are {shown(agents)}; allowed: a list of texts")
    if encoder not in ENCODER_NAMES:
        raise DatasetError(f"{place}: encoder is {shown(encoder)}; allowed: {', '.join(ENCODER_NAMES)}")
    size = ENCODERS[encoder].layout.size if encoder in ENCODERS else 0
    if definition.get("observation_size") != size:
        raise DatasetError(
            f"{place}: observation_size is {shown(definition.get('observation_size'))}; allowed with {encoder}: {size}"
        )


def _read(file: pq.ParquetFile, group: int, names: list[str], entry: Entry) -> Batch:
    """Return one row group as arrays."""
    try:
        return to_numpy(file.read_row_group(group, columns=names))
    except (pa.ArrowException, OSError) as error:
        raise DatasetError(f"{entry.file} is damaged: {error}") from None


def _joined(parts: list[Batch]) -> Batch:
    """Return rows of several batches as one."""
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
