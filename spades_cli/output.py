"""What the commands share: options, where results go, the command that made them, a word before compiling."""

from __future__ import annotations

import errno
import json
import os
import shlex
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any, TypeVar

import click
from click.core import ParameterSource

from spades_env.files import check_target, write_atomically

INTERRUPTED = 130
"""Exit status of a command that was stopped from the keyboard."""

CHANGES_NO_FIGURE = ("json_path", "workers", "backend")
"""Parameters of several commands that change no figure."""

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


def rules_option(function: F) -> F:
    """Add `--rules NAME|FILE` as parameter `rules_spec`."""
    option = click.option(
        "--rules",
        "rules_spec",
        metavar="NAME|FILE",
        default="classic",
        show_default=True,
        help="A preset or a .yaml file of rules.",
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
    check_target(target)
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


def command_line(leave_out: Collection[str] = (), **instead: Any) -> str:
    """Return the invoked command as one line, without options that have their default or change no figure.

    `leave_out` are more parameters of that kind; values in `instead` stand for those that were given.
    """
    context = click.get_current_context()
    words, arguments = ["spades", str(context.info_name)], []
    for parameter in context.command.params:
        name = str(parameter.name)
        value = instead.get(name, context.params.get(name))
        given = context.get_parameter_source(name) is ParameterSource.COMMANDLINE
        if not given or name in (*CHANGES_NO_FIGURE, *leave_out) or value == parameter.get_default(context):
            continue
        if isinstance(parameter, click.Argument):
            arguments += list(value or ())
        elif isinstance(parameter, click.Option):
            values = tuple(value or ()) if parameter.multiple else (value,)
            words += [word for one in values for word in _words(parameter, one)]
    return shlex.join([*words, *arguments])


def _words(option: click.Option, value: Any) -> list[str]:
    """Return an option and its value as they can be given again: a float to its last digit, 2.0 as 2."""
    own = f"--{str(option.name).replace('_', '-')}"
    name = own if own in option.opts else option.opts[0]
    if value is True:
        return [name]
    return [name, repr(value).removesuffix(".0") if isinstance(value, float) else str(value)]
