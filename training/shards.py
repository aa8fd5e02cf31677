"""Shards: files of arrays that say how they were made, written once and refused if they were made otherwise."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from spades_env.checks import shown
from spades_env.files import open_file, write_atomically

MOST_OF_A_DEAL = 2**18
"""Bytes that the decisions of one deal come to at most, unpacked: 128 of them, 1.3 kB each."""
MOST_OF_A_HEADER = 2**18

Header = Mapping[str, Any]
"""What two shards that may be mixed have in common, and the number, as JSON."""
Arrays = dict[str, npt.NDArray[Any]]
ShowShards = Callable[[int, int], None]
"""Called after every shard with how many are there, and of how many."""


class LabelError(ValueError):
    """A shard of labels that cannot be used; the message names the file."""


def shard_path(folder: Path, number: int) -> Path:
    """Where shard `number` lies."""
    return folder / f"labels-{number:05d}.npz"


def make_missing(
    folder: Path, numbers: Sequence[int], make: Callable[[int], bytes], show: ShowShards | None = None
) -> None:
    """Write those of the shards `numbers` that `folder` lacks; one that is half written is never seen."""
    folder.mkdir(parents=True, exist_ok=True)
    for there, number in enumerate(numbers, 1):
        path = shard_path(folder, number)
        if not path.exists():
            write_atomically(path, make(number))
        if show:
            show(there, len(numbers))


def shard_bytes(header: Header, arrays: Arrays) -> bytes:
    """The contents of a shard, a function of its arguments."""
    file = io.BytesIO()
    np.savez_compressed(file, header=np.frombuffer(json.dumps(header).encode(), np.uint8), **arrays)  # type: ignore[arg-type]
    return file.getvalue()


def read_arrays(path: Path, header: Header, names: Sequence[str]) -> Arrays:
    """The arrays `names` of a shard that was made with `header`; one that is damaged or foreign is refused."""
    most = MOST_OF_A_HEADER + header["labels"]["games"] * MOST_OF_A_DEAL
    try:
        found, arrays = _members(path, names, most)
    except Exception as error:  # the readers of zip and npy files raise almost anything at a damaged one
        raise LabelError(f"labels {str(path)!r}: damaged or foreign file ({shown(str(error))})") from None
    if found != json.loads(json.dumps(header)):
        raise LabelError(f"labels {str(path)!r}: made by another configuration, policy, observation or version")
    return arrays


def _members(path: Path, names: Sequence[str], most: int) -> tuple[Any, Arrays]:
    """The header and the arrays of a file; nothing is unpacked of one that says it has more than `most` bytes."""
    with open_file(path) as handle, zipfile.ZipFile(handle) as archive:
        unpacked = sum(info.file_size for info in archive.infolist())
        if unpacked > most:
            raise LabelError(f"{unpacked} bytes unpacked; allowed: up to {most}")
        raw = {name: archive.read(f"{name}.npy") for name in ("header", *names)}
    arrays = {name: np.lib.format.read_array(io.BytesIO(data), allow_pickle=False) for name, data in raw.items()}
    return json.loads(bytes(arrays.pop("header"))), arrays


def shard_paths(folder: Path, shards: int) -> Iterator[Path]:
    """Where shards 0 .. `shards` - 1 lie, in order; one that is missing is named."""
    for number in range(shards):
        path = shard_path(folder, number)
        if not path.exists():
            raise LabelError(f"labels {str(path)!r} are missing; allowed: all of 0..{shards - 1}")
        yield path
