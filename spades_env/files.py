"""Reading and writing files so that nothing waits, grows without bound, or is met half written."""

from __future__ import annotations

import os
import stat
import tempfile
from pathlib import Path
from typing import BinaryIO


class FileError(ValueError):
    """A path that is no ordinary file, or a file that is too large; the message names it."""


def open_file(path: str | os.PathLike[str]) -> BinaryIO:
    """Open an ordinary file for reading; a pipe or a device, which may never begin or never end, is refused."""
    file = open(path, "rb", opener=_without_waiting)  # noqa: SIM115 (closed by whoever asked for it)
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise FileError(f"{path}: a pipe or a device; allowed: an ordinary file")
    return file


def read_file(path: str | os.PathLike[str], most: int) -> bytes:
    """Return the bytes of an ordinary file of at most `most` bytes; a larger one is refused."""
    with open_file(path) as file:
        raw = file.read(most + 1)
    if len(raw) > most:
        raise FileError(f"{path}: larger than {most} bytes, the most it may have")
    return raw


def check_target(path: str | os.PathLike[str]) -> None:
    """Refuse to write to a pipe or a device: a file that is renamed to its path would take its place."""
    target = Path(path)
    if target.exists() and not (target.is_file() or target.is_dir()):
        raise FileError(f"{path}: a pipe or a device; allowed: the path of an ordinary file")


def write_atomically(path: str | os.PathLike[str], data: str | bytes) -> None:
    """Write `data` (text as UTF-8) to `path`: a temporary file beside it, flushed to disk, then renamed."""
    check_target(path)
    target = Path(path)
    raw = data.encode("utf-8") if isinstance(data, str) else data
    handle, temporary = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".tmp", dir=target.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(raw)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, target)
    except BaseException as error:
        os.unlink(temporary)
        if isinstance(error, OSError) and error.errno is not None and error.filename is None:
            error.filename = os.fspath(path)  # a disk that is full does not say for what
        raise


def _without_waiting(path: str, flags: int) -> int:
    """Open a file as `open` does, but a pipe at once, whether or not anybody writes to it."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def _umask() -> int:
    """Return the process's umask; mkstemp makes files private, an ordinary file follows the umask."""
    current = os.umask(0)
    os.umask(current)
    return current
