"""The option `--backend` of the commands whose work can be done on a cluster."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from evaluation.work.backend import Backend, check_installed

F = TypeVar("F", bound=Callable[..., Any])


class BackendType(click.ParamType):
    """A backend, which must be installed."""

    name = "backend"

    def convert(self, value: Any, parameter: click.Parameter | None, context: click.Context | None) -> Backend:
        """Return the Backend that a text stands for; BackendError for anything else."""
        return check_installed(Backend.of(value))


def backend_option(function: F) -> F:
    """Add `--backend local|ray[:ADDRESS]` as parameter `backend`."""
    option = click.option(
        "--backend",
        type=BackendType(),
        default="local",
        show_default=True,
        metavar="local|ray[:ADDRESS]",
        help="Where the workers are: processes of this machine; actors of a Ray instance of its own here; or of the "
        "Ray cluster at ADDRESS (HOST:PORT, ray://HOST:PORT or auto). Never the result; docs/cluster.md.",
    )
    return option(function)
