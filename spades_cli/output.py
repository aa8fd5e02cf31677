"""What the commands share: the option --json, where results go, and a word before the first compilation."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from spades_env.files import write_atomically

INTERRUPTED = 130
"""Exit status of a command that was stopped from the keyboard."""

F = TypeVar("F", bound=Callable[..., Any])


def json_option(function: F) -> F:
    """Add `--json PATH` as parameter `json_path`, checked before any work is done."""
    option = click.option(
        "--json",
        "json_path",
        metavar="PATH",
        callback=_checked,
        help="Write the result as JSON to PATH; - is stdout, and nothing else.",
    )
    return option(function)


def _checked(context: click.Context, parameter: click.Parameter, path: str | None) -> str | None:
    if path is not None and path != "-":
        check_path(path)
    return path


def check_path(path: str) -> None:
    """Refuse a path that cannot be written, with the system's error, now rather than after minutes of work."""
    target = Path(path)
    if not path or target.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path or ".")
    if not target.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)


def write_json(result: Any, json_path: str | None) -> bool:
    """Write `result` to the file, or to stdout for "-"; True if stdout was used."""
    if json_path is None:
        return False
    text = json.dumps(result, indent=2) + "\n"
    if json_path == "-":
        click.echo(text, nl=False)
        return True
    write_atomically(json_path, text)
    return False


def announce_compilation() -> None:
    """Say on stderr that the engine compiles now, if this machine has not compiled it before."""
    from spades_env.engine.kernel import is_compiled

    if not is_compiled():
        click.echo("Compiling the engine for this machine; this happens once and takes a minute or two.", err=True)
