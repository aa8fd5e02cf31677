"""Every reader of files and lines on spoiled input: read, or refused by ValueError or OSError, in time and bounds."""

from __future__ import annotations

import resource
import time
from pathlib import Path

import pytest
from fuzz_readers import Reader, inputs, readers, time_limit

FEW = 25
"""Inputs of each reader in the quick group."""
SECONDS = 12.0
"""Of each reader in the slow group."""
MOST_GROWTH = 2**30
"""Bytes by which the process may grow: no reader allocates what a file only claims."""


def all_readers(folder: Path) -> list[Reader]:
    """Every reader; those of PyTorch's files where it is installed."""
    found = readers(folder)
    try:
        from fuzz_learned import learned_readers
    except ModuleNotFoundError:
        return found
    return found + learned_readers(folder)


def feed(reader: Reader, data: bytes, folder: Path) -> bool:
    """Whether the reader took the input; an exception of another kind fails the test, and the input is in a file."""
    refused: Exception | None = None
    try:
        with time_limit():
            reader.read(data, folder)
    except (ValueError, OSError) as error:
        refused = error
    except BaseException:
        (folder / "failed.bin").write_bytes(data)
        raise
    assert refused is None or str(refused), f"{reader.name}: an error that says nothing: {refused!r}"
    return refused is None


def memory() -> int:
    """Most bytes that this process has had in memory."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def test_good_input_is_read(tmp_path: Path) -> None:
    """Otherwise the fuzz would be of files that fail for another reason."""
    not_whole = {"results file", "dataset's list"}  # checksums of other contents
    for reader in all_readers(tmp_path):
        if "description" not in reader.name and reader.name not in not_whole:
            for good in reader.good:
                reader.read(good, tmp_path)


def test_some_spoiled_input(tmp_path: Path) -> None:
    before = memory()
    taken = 0
    table = all_readers(tmp_path)
    for number, reader in enumerate(table):
        for _, data in zip(range(FEW), inputs(reader, number, 1), strict=False):
            taken += feed(reader, data, tmp_path)
    print(f"{FEW * len(table)} inputs of {len(table)} readers, {taken} of them taken")
    assert 0 < taken < FEW * len(table) / 2
    assert memory() - before < MOST_GROWTH


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_much_spoiled_input(tmp_path: Path) -> None:
    before = memory()
    total = taken = 0
    for number, reader in enumerate(all_readers(tmp_path)):
        count, end = 0, time.monotonic() + SECONDS
        for data in inputs(reader, number, 2):
            taken += feed(reader, data, tmp_path)
            count += 1
            if time.monotonic() > end:
                break
        print(f"{reader.name}: {count} inputs")
        total += count
    print(f"fuzz of readers: {total} inputs, {taken} of them taken")
    assert memory() - before < MOST_GROWTH
