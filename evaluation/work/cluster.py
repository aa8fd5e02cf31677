"""The connection to a Ray cluster, or a Ray instance of our own. Only this module and `actors` import Ray."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import ray

from evaluation.work.backend import Backend, BackendError

QUIET: Final[dict[str, Any]] = {"include_dashboard": False, "log_to_driver": False, "logging_level": logging.ERROR}


@contextmanager
def connection(backend: Backend, cpus: int) -> Iterator[None]:
    """See `backend.connected`."""
    if ray.is_initialized():
        yield
        return
    if backend.address is None:
        # More workers than processors are allowed, as they are for processes.
        ray.init("local", num_cpus=max(cpus, os.cpu_count() or 1), **QUIET)
    else:
        _join(backend)
    try:
        yield
    finally:
        ray.shutdown()


def _join(backend: Backend) -> None:
    """Connect to a cluster that runs."""
    options = {name: value for name, value in QUIET.items() if name != "include_dashboard"}
    try:
        ray.init(backend.address, **options)
    except (ConnectionError, OSError, ValueError, RuntimeError) as error:
        reason = " ".join(str(error).split())
        raise BackendError(f"backend is '{backend}': no cluster answers there ({reason})") from error
